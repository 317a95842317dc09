# %% [markdown]
# # Case · a topic was deleted, and another one went silent
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# An administrator deletes `orders-old`, which has had no traffic for weeks. Half a minute later lag grows on every partition of `orders`. `kafka-consumer-groups` says *Stable*, nobody has rebalanced, all pods are healthy. The team adds two pods.

# %%
from rebalance_kit.notebook import consumer_groups, gaps, reasons, reveal, run

hang = run("defect-deleted-topic-hangs", "eager")
print(consumer_groups(hang, 60, "state"))
print(consumer_groups(hang, 60))

# %% [markdown]
# ## The surprise
#
# Too little capacity? Compare CURRENT-OFFSET with what it was. For how long does nobody read `orders`?

# %%
reveal(gaps(hang, since_s=20))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Committed offsets do not move: nobody finishes anything, so more pods cannot help. Each consumer wants to commit before it joins again, the deleted topic included; the answer `UNKNOWN_TOPIC_OR_PARTITION` counts as one to be retried, up to `max.poll.interval.ms` (a minute in this run, **five minutes** by default). An eager member has stopped reading everything by then. Recorded with the 4.3.1 Java client.
#
# </details>

# %% [markdown]
# ## The fix
#
# Restart the consumers. Next time take the topic out of the subscription before you delete it, commit in your own code, or run cooperative or KIP-848: the same deletion there leaves `orders` flowing, or moves one partition.

# %%
print(gaps(run("defect-deleted-topic-hangs", "cooperative"), since_s=20))
print(reasons(hang, since_s=20))

# %% [markdown]
# **Look for** lag on all partitions, *Stable*, and committed offsets that do not move.
#
# More: notebook 15.
