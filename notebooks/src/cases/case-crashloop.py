# %% [markdown]
# # Case · a static member in CrashLoopBackOff
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# The group moved to KIP-848 last week; all pods have a `group.instance.id`. Tonight a node killed one of them. Its replacement starts, dies within a second, starts, dies: `CrashLoopBackOff`. The image has not changed.

# %%
from rebalance_kit.notebook import gaps, reveal, run

killed = """
scenario: killed-static
topics: {orders: 6}
end: 120s
configs: {auto.offset.reset: earliest}
members: {count: 3, prefix: consumer-, instance_prefix: pod-, topics: [orders]}
actions: [{at: 30s, do: restart, member: consumer-2, after: 10s, crash: true}]
"""
new = run(killed, "consumer")

# %% [markdown]
# ## The surprise
#
# What does the process die of, and until when would every restart die of it?

# %%
reveal(
    "\n".join(
        f"{end.at_ms / 1000:.1f} s  {end.actor}: {end.detail['error'] or end.detail['how']}"
        for end in new.of("process_ended")
    )
)

# %% [markdown]
# <details><summary>Answer</summary>
#
# `UNRELEASED_INSTANCE_ID`. A process that is killed says no goodbye (member epoch −2), so to the coordinator the old holder of the instance id is alive until its session ends: 45 s by default. KIP-848 refuses a *new* process with a held id; the classic protocol would have fenced the *old* one, and the pod would be back at once.
#
# </details>

# %% [markdown]
# ## The fix
#
# Nothing in the image. Wait for the session's end, or remove the member with the Admin client. Then make kills rare (a grace period above the time of `close()`, enough memory), or the session of this group shorter (`consumer.session.timeout.ms`; below 45 s only after the brokers' `group.consumer.min.session.timeout.ms` has come down), or drop the instance id. Here is the same kill in a classic group:

# %%
print(gaps(run(killed, "eager"), since_s=25))

# %% [markdown]
# **Look for** `UNRELEASED_INSTANCE_ID` in the pod's log before you roll back.
#
# More: notebook 08, *What can go wrong*; the pre-flight list of notebook 09.
