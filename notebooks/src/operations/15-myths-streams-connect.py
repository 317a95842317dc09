# %% [markdown]
# # 15 · Myths put to the test, Streams and Connect
#
# **30 minutes**. Exams: CCDAK *Fundamentals*, *Streams*, *Connect*; CCAAK *Connect*, *Troubleshooting*.
#
# After this notebook you can
#
# - judge six widespread statements about rebalancing, each with a run (CCDAK Fundamentals);
# - say how Kafka Streams spreads tasks, and what standbys and warm-ups are for (CCDAK Streams);
# - say how Connect spreads connectors and tasks, and why a restarted worker's tasks wait (CCDAK Connect, CCAAK Connect);
# - tell share groups from consumer groups in one sentence (CCDAK Fundamentals).
#
# The engine runs the first half. The second half is **read, not run**: the kit does not simulate Streams, Connect or
# share groups. Each of its statements names its source.

# %% tags=["hide-input"]
from dataclasses import replace

from rebalance_kit import Quiz, metrics, scenario, simulate
from rebalance_kit.notebook import columns, longest_without_records, next_notebook, predict, reasons, run
from rebalance_kit.notebook import reveal, states, three

# %% [markdown]
# ## Six statements
#
# You can find all of them in tutorials.
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
    "5. A stalled consumer makes healthy consumers stop": None,
    "6. group.initial.rebalance.delay.ms delays every rebalance": None,
}
guess = predict(statements, options=("true", "false", "only under eager"))
guess

# %% [markdown]
# ### 1. A broker that fails makes the group rebalance
#
# The coordinator's broker fails, and another broker takes over the group. How many rebalances follow?

# %% tags=["answer"]
failover = three("coordinator-failover")
reveal(
    columns(
        [("eager", "cooperative", "KIP-848"), [str(metrics(trace).rebalances) for trace in failover.values()]]
    )
)

# %% [markdown]
# **False.** The new coordinator reads the group from `__consumer_offsets` and finds it `Stable`; members keep their ids and the generation (under KIP-848, the epoch).
# A rebalance follows only if a member cannot reach the new coordinator before its session ends, or if the leader is told
# something new about the topics: racks that are missing while a broker is away (notebook 01), or an incomplete answer from a broker
# that is still starting.
#
# ### 2. Heartbeats prove that a consumer makes progress
#
# A member stops polling for 20 s; `max.poll.interval.ms` is 12 s. How many of its heartbeats does the coordinator answer meanwhile?

# %% tags=["answer", "hide-input"]
stalled = run("poll-timeout", "eager")
(begin,) = (row.at_ms for row in stalled.of("action"))
(left,) = (row.at_ms for row in stalled.of("member_removed"))
beats = [
    row
    for row in stalled.of("response")
    if row.detail["api"] == "Heartbeat" and row.detail["to"] == "consumer-2" and begin < row.at_ms < left
]
reveal(f"{len(beats)} heartbeats in {(left - begin) / 1000:.1f} s without a poll()")

# %% [markdown]
# **False.** Heartbeats come from another thread than `poll()`. Only the poll timer checks progress.
#
# ### 3. The group uses the leader's first assignor
#
# consumer-1 leads and lists `range, roundrobin`; the other three list `roundrobin, range`.

# %% tags=["answer", "hide-input"]
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
reveal(columns(rows))

# %% [markdown]
# **False.** Each member votes for the first name in its list that all members support; the most votes win.
#
# ### 4. Any Java consumer that sees new partitions starts a rebalance
#
# The topic gets two more partitions; `metadata.max.age.ms` is 10 s in this run. Who makes the group rebalance?

# %% tags=["answer"]
reveal(reasons(run("partitions-added", "eager"), since_s=20))

# %% [markdown]
# **False.** Under the classic protocol, only the **leader** compares the topics' partitions with those that it
# has assigned. Until it refreshes its metadata (after at most `metadata.max.age.ms`, by default five minutes) nobody reads the new
# partitions. Under KIP-848 the broker notices by itself. (In librdkafka, members that are not the leader re-join, too.)
#
# ### 5. A stalled consumer makes healthy consumers stop
#
# In the storm of notebook 08, for how many seconds at a stretch did the *healthy* consumer-3 get no records?

# %% tags=["answer"]
storms = three("storm")
waits = [f"{longest_without_records(trace, 'consumer-3', 30):.1f} s" for trace in storms.values()]
reveal(columns([("eager", "cooperative", "KIP-848"), waits]))

# %% [markdown]
# **Only under eager**: there every member has revoked its partitions, and waits until the stalled member joins
# again or is removed. Under cooperative and KIP-848 consumer-3 never stops. (But a partition that is on its way from one member to another may have to
# wait for the stalled one under cooperative, even if a healthy member gave it up: notebook 03.)
#
# ### 6. `group.initial.rebalance.delay.ms` delays every rebalance
#
# Three members begin a group, and a fourth one joins it later. How long does each of the two join phases last?

# %% tags=["answer"]
reveal(states(run("join", "eager")))

# %% [markdown]
# **False.** It delays only the first one, from `Empty`: by 3 s, and by another 3 s whenever a member has arrived during
# the last 3 s, here 9 s in all. The join phase of a group with members ends when all have joined again, here after
# about a tenth of a second.

# %% tags=["answer", "hide-input"]
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
    4, "only under eager" if silent == {"eager": True, "cooperative": False, "consumer": False} else "false"
)
guess.beside(dict(zip(guess.answers, truth, strict=True)))

# %% [markdown]
# ## Kafka Streams
#
# A Streams application is a consumer group whose assignor deals **tasks**, not partitions.
#
# | question | answer | source |
# |---|---|---|
# | how many tasks? | for each sub-topology (a connected part of the processing graph), the greatest partition count of its input topics | Streams architecture guide |
# | how many can work at once? | as many as there are threads (instances × `num.stream.threads`), and no more than there are tasks | the same |
# | who deals? | classic: `StreamsPartitionAssignor`, in the leader. `group.protocol=streams`: the coordinator | KIP-441, KIP-1071 |
# | what if a stateful task moves? | its new owner first rebuilds the state from the changelog topic, which may take hours | KIP-441 |
# | how is that avoided? | `num.standby.replicas` keeps copies that follow the changelog. They process no input | Streams configs |
# | what is a warm-up? | a task's *next* owner restores while the old one goes on working (`max.warmup.replicas`); a probing rebalance (`probing.rebalance.interval.ms`, 10 min) checks whether it is ready (`acceptable.recovery.lag`) | KIP-441 |
# | what makes a restart cheaper? | static membership, as for consumers: one instance id per instance, to which each thread adds a suffix. With `group.protocol=streams`, brokers before 4.4 refuse a `group.instance.id` (`INVALID_REQUEST`, fatal) | KIP-345; Streams developer guide of 4.4 |
# | what does `close()` do? | a classic Streams instance sends **no** LeaveGroup, so its tasks have no owner until its session (45 s) ends. Being back sooner helps only with a `group.instance.id`: without one it comes back as a stranger. Since 4.2 `close(CloseOptions.groupMembershipOperation(LEAVE_GROUP))` makes it send one; older versions had `leaveGroup(true)`, for static members alone | `KafkaStreams.close` and `CloseOptions` (`REMAIN_IN_GROUP`) of 4.3, KIP-1153 |
#
# KIP-1071 gives Streams a group type of its own (`group.protocol=streams`), in which the broker assigns the tasks. It was early access in 4.1, and its core has been production-ready since 4.2: a sticky assignor with standbys, but no warm-ups
# yet. Brokers offer it once the feature `streams.version` is raised. There is no online migration from a classic
# application: stop all instances (not on brokers of 4.2.0, where the conversion has a defect: KAFKA-20254, fixed in 4.2.1), **wait until their sessions have ended** (they do not leave when they close), then start
# them with the setting. (Source: *Streams Rebalance Protocol* in the
# Streams developer guide of 4.2.)
#
# **Calculate:** an application has two sub-topologies, whose inputs have 8 and 12 partitions. It runs as three
# instances with four threads each. How many tasks are there, and how many threads are idle?
#
# <details><summary>Answer</summary>
#
# There are 8 + 12 = 20 tasks for 12 threads. None is idle: eight threads have two tasks and four have one.
#
# </details>
#
# ## Kafka Connect
#
# Workers with the same `group.id` form a group, too. They share out connectors and tasks, and one of the workers is the leader.
#
# | question | answer | source |
# |---|---|---|
# | which protocol? | `connect.protocol=sessioned` (default), `compatible`, `eager` | KIP-415, KIP-507 |
# | a worker leaves. When do its tasks move? | after `scheduled.rebalance.max.delay.ms` (5 min), so that a restarted worker gets them back | KIP-415 |
# | a task fails | it stays `FAILED` on its worker, and the workers do **not** rebalance; restart it through REST. (A failed *sink* task's consumer leaves its group, and the other tasks take its partitions) | Connect user guide; `WorkerSinkTask` |
# | a sink with `tasks.max=10` reads a topic with four partitions | up to ten tasks run, and four of them get partitions | Connect user guide |
# | two clusters with one `group.id` | their workers join one group, although the clusters are meant to be separate; give each its own `group.id` and topics | Connect user guide |
# | what do sink tasks join? | a consumer group of their own, `connect-NAME`; everything in notebooks 00 to 09 applies to it | Connect user guide |
#
# So a sink connector has **two** groups: the workers' group, which deals tasks, and the consumer group of its tasks, which deals
# partitions. Look up lag in the second, with `kafka-consumer-groups --describe --group connect-NAME`.
#
# **Decide:** a worker is restarted and is away for two minutes. Its four tasks do nothing meanwhile. Is that a bug?
#
# <details><summary>Answer</summary>
#
# No: the delayed rebalance keeps them for it. If two minutes are too long, lower `scheduled.rebalance.max.delay.ms`;
# then every restart that takes longer than the new delay moves tasks twice.
#
# </details>
#
# ## Share groups, in a paragraph
#
# A **share group** (KIP-932; production-ready since 4.2) is not a consumer group: its members share *records*, not
# partitions. Several members read one partition; each record is acquired under a lock
# (`group.share.record.lock.duration.ms`, 30 s), acknowledged on its own, delivered again if it is not, and given up
# after five attempts (`group.share.delivery.count.limit`). Order within a partition is lost. Members *can* share a partition; but while there are no more members than partitions, the coordinator gives each partition to one of them, takes it away again when others come, and a member that crashes leaves it unread until `group.share.session.timeout.ms` (45 s) has passed. Records that it had acquired stay locked for up to 30 s more.
#
# ## Check yourself

# %% tags=["nbval-ignore-output"]
Quiz("streams", count=5)

# %% tags=["nbval-ignore-output"]
Quiz("connect", count=5)

# %% [markdown]
# ## Recap card
#
# - A broker that takes over as coordinator loads the group as it was.
# - Heartbeats come from a thread of their own. Only `poll()` shows progress.
# - Assignors are voted on. New partitions wait for the leader's metadata.
# - Only eager makes healthy members stop and wait for a slow one.
# - Streams deals tasks; standbys and warm-ups spare a task's new owner the rebuild. A Connect sink has two groups, and a
#   lost worker's tasks wait five minutes.
# - Share groups share out records, consumer groups partitions.

# %% tags=["hide-input"]
next_notebook("15")
