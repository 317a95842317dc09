# %% [markdown]
# # Case · half of the group is on KIP-848
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# A rolling upgrade to `group.protocol=consumer` was stopped in the middle. Two of three pods are still classic. Somebody says: *old and new clients in one group make the broker fall back to classic, or somebody is refused.*

# %%
from rebalance_kit.notebook import describe, epochs, reveal, run

mixed = run("migration", None)

# %% [markdown]
# ## The surprise
#
# What is the group now, who assigns the partitions, and what may happen next?

# %%
reveal(epochs(mixed, since_s=30, until_s=70))

# %% [markdown]
# <details><summary>Answer</summary>
#
# It is a *consumer* group with classic members since the first KIP-848 member joined. The coordinator assigns for all of them, and answers the classic ones in their own language. Nobody is refused, nothing falls back, and it can stay so for as long as you like. The epoch goes on from the generation. Only when the *last* KIP-848 member leaves does the group become classic again.
#
# </details>

# %% [markdown]
# ## The fix
#
# Go on, or go back: both are one more rolling bounce. `kafka-consumer-groups --members --verbose` shows in the column UPGRADED which pods are still classic.
#
# ![A mixed group from its first to its last bounce](images/mixed-group.svg)

# %%
print(describe(mixed))

# %% [markdown]
# **Look for** TYPE `Consumer` in `kafka-groups --list`, and `GROUP_ID_NOT_FOUND` if `group.consumer.migration.policy` forbids the change.
#
# More: notebook 09.
