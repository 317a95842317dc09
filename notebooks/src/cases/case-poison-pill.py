# %% [markdown]
# # Case · the record that kills whoever reads it
#
# **5 minutes**, one incident. Everything runs here; nothing else is needed.
#
# ## The incident
#
# One pod dies of an exception. A minute later another one, with the same stack trace. Then the third. (Sessions last 10 s in this run.)

# %%
from rebalance_kit.notebook import gaps, reveal, removals, run

pill = run(
    """
scenario: pill
topics: {orders: 6}
end: 150s
configs: {auto.offset.reset: earliest, session.timeout.ms: 10000}
members: {count: 3, prefix: pod-, topics: [orders]}
actions:
  - {at: 20s, do: crash, member: pod-1}
  - {at: 33s, do: crash, member: pod-2}
  - {at: 47s, do: crash, member: pod-3}
""",
    "cooperative",
)
print(removals(pill, since_s=15))

# %% [markdown]
# ## The surprise
#
# (The three crashes are scripted: the kit has no record that kills. Each one comes soon after its pod was given the partition.) Why does the *next* pod die, although the one that crashed committed nothing wrong?

# %%
reveal(gaps(pill, since_s=15))

# %% [markdown]
# <details><summary>Answer</summary>
#
# A crash commits nothing, so the next owner begins at the last commit, *before* the record that killed the first. The rebalance hands the bad record on with its partition. Nothing in the group protocol knows that a record is bad: members, sessions and assignments all work as they should.
#
# </details>

# %% [markdown]
# ## The fix
#
# Catch the exception per record: send it to a dead-letter topic, commit past it, go on. In an emergency, stop the group and step over the record: read its offset in the last log line of a pod that died (4711, say), and set the next one, `kafka-consumer-groups --bootstrap-server b:9092 --group billing --reset-offsets --topic orders:0 --to-offset 4712 --execute` (the group must be Empty). `--shift-by 1` would not do: it counts from the last *commit*, which may lie many records before the bad one. Do not restart, and do not raise timeouts. When did each pod end?

# %%
print(
    "\n".join(
        f"{end.at_ms / 1000:.1f} s  {end.actor}: {end.detail['how']}" for end in pill.of("process_ended")
    )
)

# %% [markdown]
# **Look for** the same partition and offset in the last log line of each pod.
#
# More: notebook 07b.
