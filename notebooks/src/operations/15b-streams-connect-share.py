# %% [markdown]
# # 15b · Streams, Connect and share groups
#
# **30 minutes**. Exams: CCDAK *Streams*, *Connect*, *Fundamentals*; CCAAK *Connect*, *Troubleshooting*.
#
# After this notebook you can
#
# - say how Kafka Streams spreads tasks, and what standbys and warm-ups are for (CCDAK Streams);
# - say how Connect spreads connectors and tasks, and why a restarted worker's tasks wait (CCDAK Connect);
# - say which of its two groups a sink connector's lag belongs to (CCAAK Connect);
# - tell share groups from consumer groups, and say what a crash costs them (CCDAK Fundamentals).
#
# All of this is **read, not run**: the kit does not simulate Streams, Connect or share groups. Each statement names its source. One question,
# though, a run can answer.

# %% tags=["hide-input"]
from rebalance_kit import Quiz
from rebalance_kit.notebook import gaps, next_notebook, predict, reveal, run

# %% [markdown]
# ## Kafka Streams
#
# A Streams application is a consumer group whose assignor assigns **tasks**, not partitions. One task reads one partition number of every input topic of its sub-topology (a
# connected part of the processing graph). It keeps its state in a local store, and every change of the store goes to a *changelog topic*, from which another instance can rebuild it.
#
# ![Tasks of two sub-topologies over the threads of three instances](images/streams-tasks.svg)
#
# | question | answer | source |
# |---|---|---|
# | how many tasks? | for each sub-topology, the greatest partition count of its input topics | Streams architecture guide |
# | how many can work at once? | as many as there are threads (instances × `num.stream.threads`), and no more than there are tasks | the same |
# | who assigns? | classic: `StreamsPartitionAssignor`, in the leader. `group.protocol=streams`: the coordinator | KIP-441, KIP-1071 |
# | what if a stateful task moves? | its new owner first rebuilds the state from the changelog topic, which may take hours | KIP-441 |
# | how is that avoided? | `num.standby.replicas` keeps copies that follow the changelog. They process no input | Streams configs |
# | what is a warm-up? | a task's *next* owner restores while the old one goes on working (`max.warmup.replicas`); a probing rebalance (`probing.rebalance.interval.ms`, 10 min) checks whether it is ready (`acceptable.recovery.lag`) | KIP-441 |
# | what makes a restart cheaper? | static membership, as for consumers: one instance id per instance, to which each thread adds a suffix. With `group.protocol=streams`, brokers before 4.4 refuse a `group.instance.id` (`INVALID_REQUEST`, fatal) | KIP-345; Streams developer guide of 4.4 |
# | what does `close()` do? | a classic instance sends **no** LeaveGroup. Since 4.2 `close(CloseOptions.groupMembershipOperation(LEAVE_GROUP))` makes it send one; older versions had `leaveGroup(true)`, for static members. With `group.protocol=streams` an instance always leaves | `KafkaStreams.close`, `CloseOptions` (`REMAIN_IN_GROUP` by default) of 4.3; KIP-1153 |
#
# ### Predict
#
# An instance without a `group.instance.id` is restarted and is back after 15 s. It sent no LeaveGroup, so to the coordinator this is a crash and a newcomer. For how long
# do its tasks have no owner? The session timeout is 45 s. (The run that answers it is one of plain consumers under cooperative: to the coordinator they are the same.)

# %%
guess = predict({"its tasks have no owner for": None}, options=("about 15 s", "about 45 s"))
guess

# %% tags=["answer", "hide-input"]
restarted = run("recovered-member", "cooperative")
longest_s = max(float(line.split()[3]) for line in gaps(restarted).splitlines()[1:])
guess.beside({"its tasks have no owner for": "about 15 s" if longest_s < 30 else "about 45 s"})

# %% tags=["answer"]
reveal(gaps(restarted))

# %% [markdown]
# About 45 s: the newcomer has another member id, and its join phase waits for the old one. Hurrying the restart does not help. Static membership does: with a `group.instance.id` the instance is back
# in its place when it is up. So does an explicit LEAVE_GROUP, if others are to take over.
#
# ### The streams protocol
#
# KIP-1071 gives Streams a group type of its own (`group.protocol=streams`), in which the broker assigns the tasks. It was early access in 4.1, and its core has been production-ready
# since 4.2: a sticky assignor with standbys, but no warm-ups yet. Brokers offer it once the feature `streams.version` is raised. There is no online migration from a classic
# application: stop all instances, **wait until their sessions have ended** (they do not leave when they close), then start them with the setting.
#
# **Do not do that on brokers of 4.2.0.** Their conversion of a classic group has a critical defect (KAFKA-20254); since 4.2.1 it is safe. (Source: *Streams Rebalance Protocol* in the Streams
# developer guide of 4.2 and 4.3, with that warning.)
#
# **Calculate:** an application has two sub-topologies, whose inputs have 8 and 12 partitions. It runs as three
# instances with four threads each. How many tasks are there, and how many threads are idle?
#
# <details><summary>Answer</summary>
#
# There are 8 + 12 = 20 tasks for 12 threads. None is idle: eight threads have two tasks and four have one, as in the picture.
#
# </details>
#
# ## Kafka Connect
#
# Workers with the same `group.id` form a group, too. They share connectors and tasks between them, and one of the workers is the leader.
#
# ![The workers' group assigns tasks; the group connect-NAME assigns partitions](images/connect-groups.svg)
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
# So a sink connector has **two** groups. Look up lag in the second, with `kafka-consumer-groups --describe --group connect-NAME`.
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
# ## Share groups
#
# A **share group** (KIP-932; production-ready since 4.2) is not a consumer group: its members can share a partition, and what they share is its *records*.
#
# ![Three members, two partitions: one partition has two readers, and each record a state of its own](images/share-group.svg)
#
# Each record is acquired under a lock (`group.share.record.lock.duration.ms`, 30 s), acknowledged on its own, delivered again if it is not, and given up after five attempts
# (`group.share.delivery.count.limit`). Order within a partition is lost.
#
# It is often said that such a group has nothing to revoke and no gaps. That is true only where a partition has several readers. The coordinator's assignor (4.3: `SimpleAssignor`) gives each partition to
# `members ÷ partitions` members, rounded up; while there are **no more members than partitions, that is one**. When members join, it takes partitions away from those that have too many
# (`revokeOverfilledMembers`). And when the only reader of a partition crashes, nobody reads it until `group.share.session.timeout.ms` (45 s) has passed; what that reader had acquired stays locked for up to
# 30 s. (By source: no share group was run.)
#
# ## Check yourself
#
# **1.** A classic Streams application without instance ids is deployed pod by pod, and each pod is back within ten seconds. Its tasks lag for three quarters of a minute each time. What do you change?
#
# <details><summary>Answer</summary>
#
# Give each instance a `group.instance.id`; or let `close()` leave the group (4.2 and newer), so that the others take over at once.
#
# </details>
#
# **2.** Four members of a share group read eight partitions, and one of them is killed. What waits, and for how long?
#
# <details><summary>Answer</summary>
#
# Its two partitions have no other reader, so they wait until its session has ended: 45 s by default. The records that it had acquired wait until their locks have run out, 30 s after they were acquired.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("streams", count=5)

# %% tags=["nbval-ignore-output"]
Quiz("connect", count=5)

# %% [markdown]
# ## Recap card
#
# - Streams assigns tasks; standbys and warm-ups save the new owner from rebuilding state.
# - A *classic* Streams instance does not leave when it closes: without an instance id, its tasks wait for the session, however soon it is back.
# - Classic to `streams` is an offline migration, and never on 4.2.0.
# - A Connect sink has two groups, and a lost worker's tasks wait five minutes.
# - A share group shares records. While members do not outnumber partitions, each partition has one reader, and a crash costs a session.

# %% tags=["hide-input"]
next_notebook("15b")
