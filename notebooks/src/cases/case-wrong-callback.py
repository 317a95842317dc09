# %% [markdown]
# # Case · a callback copied from an eager client
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# A new pod, a Python service on librdkafka, joins a group that runs cooperative-sticky. From then on two partitions have no reader, and nobody commits. The pod is up, heartbeats arrive, and nothing has crashed.

# %%
from rebalance_kit.notebook import consumer_groups, describe, reveal, run

wrong = run("wrong-librdkafka-callback")
print(consumer_groups(wrong, 85))

# %% [markdown]
# ## The surprise
#
# Which member does the group wait for, and what is that member waiting for?

# %%
reveal(describe(wrong))

# %% [markdown]
# <details><summary>Answer</summary>
#
# The group waits for consumer-3, and consumer-3 for its own application. Its `on_assign` calls `assign()`, which is right for range and roundrobin. Under cooperative-sticky and KIP-848 librdkafka refuses that call (`_STATE`), changes nothing, and goes on waiting for `incremental_assign()`. The hand-over needs a second rebalance, and this member does not join it. It calls `poll()` and heartbeats, so nothing takes it out before the join phase has lasted `max.poll.interval.ms`, five minutes. Until then librdkafka members commit nothing, because they wait in the join phase.
#
# </details>

# %% [markdown]
# ## The fix
#
# Make no (un)assign call in the callback, and the Python client makes the right one; or ask `consumer.rebalance_protocol()` first. The same two partitions with right callbacks in all three:

# %%
from dataclasses import replace

from rebalance_kit import scenario

plain = scenario("wrong-librdkafka-callback")
print(describe(run(replace(plain, members=tuple(replace(each, callback="right") for each in plain.members)))))

# %% [markdown]
# **Look for** lines that begin with `%4` and *Erroneous state* in the pod's log.
#
# More: notebook 07, and [Your client](../docs/your-client.md).
