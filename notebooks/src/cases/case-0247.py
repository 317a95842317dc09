# %% [markdown]
# # Case · the call at 02:47
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# Lag on `orders` grows. One of three pods ran out of memory; Kubernetes started it again within seconds. Yet **all** partitions go unread, and the two healthy pods sit idle, without an error in their logs. The consumers have default settings.

# %%
from rebalance_kit.notebook import gaps, reasons, reveal, run

back = run("recovered-member", "eager")
print(reasons(back, since_s=25))

# %% [markdown]
# ## The surprise
#
# One rebalance, begun by the pod that came back. For how long do the *healthy* pods read nothing, and what are they waiting for?

# %%
reveal(gaps(back, since_s=25))

# %% [markdown]
# <details><summary>Answer</summary>
#
# For 27 seconds: what was left of the dead pod's session. The restarted pod is a stranger with a new member id. Its join starts an eager rebalance; everybody gives up everything, and then the group waits for the *dead* id, whose session is still running. Had the pod come back after the session's end, nobody healthy would have stopped for more than an instant. Restarting the healthy pods makes it worse.
#
# </details>

# %% [markdown]
# ## The fix
#
# Give each pod a `group.instance.id` (a StatefulSet's `$HOSTNAME`): the restarted pod takes its old place. Or let the healthy ones read on, with cooperative-sticky or KIP-848. Only the partitions of the pod that crashed wait then:

# %%
print(gaps(run("recovered-member", "cooperative"), since_s=25))

# %% [markdown]
# **Look for** *Preparing to rebalance … Adding new member*, with no *Stabilized* after it, while `kafka-consumer-groups --state` says PreparingRebalance.
#
# More: notebook 01, section 5; notebook 08.
