# %% [markdown]
# # 15 · Myths put to the test, Streams and Connect
#
# **25 minutes** Exams: CCDAK *Fundamentals*, *Streams*, *Connect*; CCAAK *Connect*, *Troubleshooting*.
#
# After this notebook you can
#
# - refute six widespread statements about rebalancing, each with a run (CCDAK Fundamentals);
# - say how Kafka Streams spreads tasks, and what standbys and warm-ups are for (CCDAK Streams);
# - say how Connect spreads connectors and tasks, and why a bounced worker's tasks wait (CCDAK Connect, CCAAK Connect);
# - tell share groups from consumer groups in one sentence (CCDAK Fundamentals).
#
# The first half is run by the engine. The second half is **read, not run**: the kit does not simulate Streams or Connect. Each of its
# statements names its source.

# %% tags=["hide-input"]
from dataclasses import replace

from rebalance_kit import Quiz, metrics, scenario, simulate
from rebalance_kit.notebook import (
    callbacks,
    columns,
    longest_without_records,
    next_notebook,
    predict,
    reasons,
    run,
)
from rebalance_kit.notebook import states, three

# %% [markdown]
# ## Six statements
#
# All of them can be found in tutorials.
#
# ### Predict
#
# True or false?

# %%
statements = {
    "1. A broker that fails makes the group rebalance": None,
    "2. Heartbeats prove that a consumer makes progress": None,
    "3. The group uses the leader's first assignor": None,
    "4. Any Java consumer that sees new partitions starts a rebalance": None,
    "5. A stalled consumer only hurts its own partitions": None,
    "6. group.initial.rebalance.delay.ms delays every rebalance": None,
}
guess = predict(statements, options=("true", "false", "true, except under eager"))
guess

# %% [markdown]
# ### 1. A broker that fails makes the group rebalance
#
# The coordinator's broker goes away, and another one takes over the group. Rebalances after that:

# %%
failover = three("coordinator-failover")
print({protocol: metrics(trace).rebalances for protocol, trace in failover.items()})

# %% [markdown]
# **False.** The new coordinator reads the group from `__consumer_offsets` and finds it `Stable`; members keep id and generation.
# A rebalance follows only if a member cannot reach the new coordinator for a whole session.
#
# ### 2. Heartbeats prove progress
#
# A member stops polling for 20 s; `max.poll.interval.ms` is 12 s. Heartbeats that the coordinator answered meanwhile:

# %% tags=["hide-input"]
stalled = run("poll-timeout", "eager")
(begin,) = (row.at_ms for row in stalled.of("action"))
(left,) = (row.at_ms for row in stalled.of("member_removed"))
beats = [
    row
    for row in stalled.of("response")
    if row.detail["api"] == "Heartbeat" and row.detail["to"] == "consumer-2" and begin < row.at_ms < left
]
print(f"{len(beats)} heartbeats in {(left - begin) / 1000:.1f} s without a poll()")

# %% [markdown]
# **False.** They come from another thread. Progress is what the poll timer checks.
#
# ### 3. The group uses the leader's first assignor
#
# consumer-1 leads and lists `range, roundrobin`; the other three list `roundrobin, range`.

# %% tags=["hide-input"]
preferences = [["range", "roundrobin"], *[["roundrobin", "range"]] * 3]
join = scenario("join")
members = tuple(
    replace(spec, configs={"auto.offset.reset": "earliest", "partition.assignment.strategy": wanted})
    for spec, wanted in zip(join.members, preferences, strict=True)
)
voted = simulate(replace(join, members=members))
rows = [("generation", "leader", "assignor")]
rows += [
    (str(row.generation), row.detail["leader"], row.detail["assignor"]) for row in voted.of("generation")
]
print(columns(rows))

# %% [markdown]
# **False.** Each member votes for the first name in its list that all members support; the most votes win.
#
# ### 4. Any consumer that sees new partitions starts a rebalance

# %%
print(reasons(run("partitions-added", "eager"), since_s=20))

# %% [markdown]
# **False** for Java and the classic protocol: only the **leader** compares its metadata with what it assigned. Until its next refresh (at most
# `metadata.max.age.ms`, five minutes) nobody reads the new partitions. Under KIP-848 the broker notices by itself.
# (librdkafka's followers do re-join.)
#
# ### 5. A stalled consumer only hurts its own partitions
#
# In a storm of stalls, for how many seconds at most did the *healthy* consumer-3 get no records?

# %%
print(
    {way: round(longest_without_records(trace, "consumer-3", 30), 1) for way, trace in three("storm").items()}
)

# %% [markdown]
# **True, except under eager**: there everybody has revoked, and waits until the stalled member joins again or is removed.
#
# ### 6. `group.initial.rebalance.delay.ms` delays every rebalance

# %%
print(states(run("join", "eager")))

# %% [markdown]
# **False.** It delays the first one, from `Empty` (and again by as much for every member that arrives meanwhile). The
# join phase of a group with members ends when all have joined again.

# %% tags=["hide-input"]
said = run("join", "eager").of("group_state")
begun, delays = 0, []
for row in said:
    begun = row.at_ms if row.detail["to"] == "PreparingRebalance" else begun
    delays += [row.at_ms - begun] if row.detail["to"] == "CompletingRebalance" else []
culprits = {row.detail["leader"] for row in run("partitions-added", "eager").of("generation")}
silent = {way: longest_without_records(trace, "consumer-3", 30) > 0 for way, trace in three("storm").items()}
found = (
    any(metrics(trace).rebalances for trace in failover.values()),
    not beats,
    next(iter(voted.of("generation"))).detail["assignor"] == "range",
    f"Leader {culprits.pop()}" not in reasons(run("partitions-added", "eager"), since_s=20),
    all(delay >= 3_000 for delay in delays),
)
truth = ["true" if one else "false" for one in found]
truth.insert(
    4,
    "true, except under eager"
    if silent == {"eager": True, "cooperative": False, "consumer": False}
    else "false",
)
guess.beside(dict(zip(guess.answers, truth, strict=True)))

# %% [markdown]
# ## Kafka Streams
#
# A Streams application is a consumer group whose assignor deals **tasks**, not partitions.
#
# | question | answer | source |
# |---|---|---|
# | how many tasks? | per sub-topology the greatest partition count of its input topics | Streams architecture guide |
# | how many can work at once? | instances × `num.stream.threads`, and not more than tasks | the same |
# | who deals? | classic: `StreamsPartitionAssignor`, in the leader. `group.protocol=streams`: the coordinator | KIP-441, KIP-1071 |
# | what if a stateful task moves? | its new owner reads the changelog first, which may take hours | KIP-441 |
# | how is that avoided? | `num.standby.replicas` keeps copies that follow the changelog. They process no input | Streams configs |
# | what is a warm-up? | a task's *next* owner restores while the old one works on (`max.warmup.replicas`); a probing rebalance (`probing.rebalance.interval.ms`, 10 min) looks whether it is ready (`acceptable.recovery.lag`) | KIP-441 |
# | what does a restart cost? | static membership helps as it does for consumers, with one instance id per instance; each thread adds a suffix | KIP-345 |
#
# KIP-1071 gives Streams a group type of its own (`group.protocol=streams`): task assignment by the broker, with standbys and
# warm-ups; brokers offer it once the feature `streams.version` is raised (early access in 4.1). There is no online migration from a
# classic application: stop all instances, then start them with the setting.
#
# **Calculate:** two sub-topologies, whose inputs have 8 and 12 partitions; three instances with four threads. Tasks? Idle threads?
#
# <details><summary>Answer</summary>
#
# 8 + 12 = 20 tasks for 12 threads: none is idle, eight threads have two tasks and four have one.
#
# </details>
#
# ## Kafka Connect
#
# Workers with one `group.id` form a group, too. What they share out are connectors and tasks; the leader is a worker.
#
# | question | answer | source |
# |---|---|---|
# | which protocol? | `connect.protocol=sessioned` (default), `compatible`, `eager` | KIP-415, KIP-507 |
# | a worker leaves. When do its tasks move? | after `scheduled.rebalance.max.delay.ms` (5 min), so that a bounced worker finds them again | KIP-415 |
# | a task fails | it stays `FAILED`. **No** rebalance; restart it through REST | Connect user guide |
# | `tasks.max=10` on a topic with four partitions, sink | ten tasks may be made, four get partitions | Connect user guide |
# | two clusters with one `group.id` | they fight about one group; different config topics make it worse | Connect user guide |
# | what do sink tasks join? | a consumer group of their own, `connect-NAME`; all that you know from 00 to 09 applies there | Connect user guide |
#
# So a sink connector has **two** groups: the workers' group, which deals tasks, and the consumer group of its tasks, which deals
# partitions. Lag is looked up in the second, `kafka-consumer-groups --group connect-NAME`.
#
# **Decide:** a worker is restarted and is away for two minutes. Its four tasks do nothing for those two minutes. Is this a fault?
#
# <details><summary>Answer</summary>
#
# No: the delayed rebalance keeps them for it. If two minutes are too long, lower `scheduled.rebalance.max.delay.ms`; then every bounce
# moves tasks twice.
#
# </details>
#
# ## Share groups, in a paragraph
#
# A **share group** (KIP-932; production-ready since 4.2) is not a consumer group: its members share *records*, not partitions. Several
# members read one partition; each record is acquired under a lock (`group.share.record.lock.duration.ms`, 30 s), acknowledged
# one by one, delivered again if not, and given up after five attempts (`group.share.delivery.count.limit`). Order within a partition is
# lost. There is nothing to revoke, so there is no rebalance of the kind this course is about.
#
# ## Check yourself

# %% tags=["nbval-ignore-output"]
Quiz("streams", count=5)

# %% tags=["nbval-ignore-output"]
Quiz("connect", count=5)

# %% [markdown]
# ## Recap card
#
# - A new coordinator loads the group as it was.
# - Heartbeats are a thread; progress is `poll()`.
# - Assignors are voted on. New partitions wait for the leader's metadata.
# - Only eager makes the healthy wait for the slow.
# - Streams: tasks, standbys, warm-ups. Connect: two groups, and five minutes of patience.
# - Share groups share records.

# %% tags=["hide-input"]
next_notebook("15")
