# %% [markdown]
# # Case · a rolling deploy of twelve pods
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# Twelve pods read 48 partitions with default settings. A deploy restarts them one after another, each away for five seconds. It takes four minutes, and the lag graph looks like a saw.

# %%
from rebalance_kit.notebook import columns, reveal, run
from rebalance_kit import metrics

deploy = """
scenario: deploy
topics: {orders: 48}
end: 330s
configs: {auto.offset.reset: earliest}
members: {count: 12, prefix: pod-, STATIC topics: [orders]}
actions: [{at: 30s, do: rolling_restart, every: 20s, after: 5s}]
"""
dynamic, static = deploy.replace("STATIC ", ""), deploy.replace("STATIC", "instance_prefix: billing-,")
runs = {
    "eager": run(dynamic, "eager"),
    "cooperative": run(dynamic, "cooperative"),
    "eager, static": run(static, "eager"),
}

# %% [markdown]
# ## The surprise
#
# How many rebalances is that under eager? And which of the three leaves the fewest partition-seconds unread?

# %%
rows = [("one run each", *runs), ("rebalances", *(str(metrics(each).rebalances) for each in runs.values()))]
rows.append(
    ("unread partition-seconds", *(f"{metrics(each).unread_partition_s:.0f}" for each in runs.values()))
)
reveal(columns(rows))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Two per pod under eager, one when it leaves and one when it joins; more under cooperative, where a move takes two generations. Static members cause **none**, and nobody reads a pod's partitions while it is away: that is the price, and it grows with the time that a restart takes. Which costs least depends on your restart, not on the protocol's fame.
#
# </details>

# %% [markdown]
# ## The fix
#
# Is a restart shorter than the session, and moving state expensive? Then static members: nothing moves. Otherwise dynamic members with cooperative or KIP-848, so that only what moves stops. Do not raise timeouts to make rebalances fewer. How long was the worst gap of one partition?

# %%
print(
    columns(
        [
            ("one run each", *runs),
            ("longest gap, s", *(f"{metrics(each).longest_gap_s:.1f}" for each in runs.values())),
        ]
    )
)

# %% [markdown]
# **Look for** *the consumer is being closed* as the reason of each LeaveGroup.
#
# More: notebook 05, section 4; notebook 08.
