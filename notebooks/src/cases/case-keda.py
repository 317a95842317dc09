# %% [markdown]
# # Case · the autoscaler that makes the lag it measures
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# KEDA scales a group by its lag: at a threshold from four pods to eight, and back when the lag is gone. Since it was switched on, lag has had a new, regular pattern. Traffic is constant.

# %%
from rebalance_kit.notebook import columns, gaps, reveal, run
from rebalance_kit import metrics

scaled = """
scenario: keda
topics: {orders: 24}
end: 200s
configs: {auto.offset.reset: earliest}
members: {count: 4, prefix: pod-, topics: [orders]}
actions:
  - {at: 30s, do: scale_to, members: 8}
  - {at: 90s, do: scale_to, members: 4}
  - {at: 150s, do: scale_to, members: 8}
"""
runs = {name: run(scaled, name) for name in ("eager", "cooperative", "consumer")}

# %% [markdown]
# ## The surprise
#
# Traffic never changed, and there was capacity all the time. What does each scaling step cost?

# %%
rows = [("one run each", "eager", "cooperative", "KIP-848")]
rows.append(("hand-overs", *(str(metrics(each).handovers) for each in runs.values())))
rows.append(("partitions unread", *(str(metrics(each).partitions_unread) for each in runs.values())))
rows.append(
    ("unread partition-seconds", *(f"{metrics(each).unread_partition_s:.0f}" for each in runs.values()))
)
rows.append(("records twice", *(str(metrics(each).records_redelivered) for each in runs.values())))
reveal(columns(rows))

# %% [markdown]
# <details><summary>Answer</summary>
#
# Every step is a rebalance, and every rebalance is lag: under eager on all partitions, briefly, since all members are healthy; under the others on those that move, for longer. The scaler reads that lag as load. With a short cooldown it scales again before the group has settled, and the pattern feeds itself.
#
# </details>

# %% [markdown]
# ## The fix
#
# Scale by a measure that a rebalance does not move (records per second, CPU), or make cooldown and polling interval several times longer than a rebalance and its catching up. Never above the number of partitions: a pod too many owns nothing. No protocol makes the steps free: eager stops every partition for an instant, the others stop those that move for seconds each. Here are the gaps of the first step under KIP-848:

# %%
print("\n".join(gaps(runs["consumer"], since_s=28).splitlines()[:8]))

# %% [markdown]
# **Look for** lag peaks that *follow* a change of the number of members.
#
# More: notebooks 05 and 14.
