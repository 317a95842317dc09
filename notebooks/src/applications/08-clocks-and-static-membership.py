# %% [markdown]
# # 08 · Clocks and static membership
#
# **45 minutes**, and 25 for its exercises. Exams: CCDAK *Application Development*; CCAAK *Cluster Configuration*, *Troubleshooting*, *Deployment*.
#
# After this notebook you can
#
# - name the four clocks of a member, who runs each, and what restarts it (CCDAK Application Development);
# - choose timeouts by rule, and say what each choice costs (CCAAK Cluster Configuration);
# - say when static membership pays, and when it hurts (CCAAK Deployment);
# - work out a rolling restart on Kubernetes with numbers (CCAAK Deployment);
# - recognise a rebalance storm, and end it (CCAAK Troubleshooting).

# %% tags=["hide-input"]
from dataclasses import replace

from rebalance_kit import Lab, Quiz, metrics, scenario, simulate
from rebalance_kit.view import clocks
from rebalance_kit.notebook import columns, draws, gaps, median, next_notebook, predict, run
from rebalance_kit.notebook import reasons, removals, reveal, spread, with_configs

# %% [markdown]
# ## Four clocks
#
# "The consumer timed out" can mean four things. **Watch for** who runs the clock: the coordinator's clocks go on when
# the process dies, and the client's clocks die with it.

# %%
clocks()

# %% [markdown]
# The heartbeat comes from a **background thread**. It keeps the session alive even when the application hangs in its
# own code. That is why the client has a clock for `poll()` as well: `max.poll.interval.ms` notices an application that
# no longer polls. When it runs out, the *client* leaves the group, and the broker logs a member that *left*. (A static
# member does not leave; see *Static membership* below.)
#
# ### Predict
#
# Which clock ends the membership in each case? The members are dynamic, and all settings have their defaults.

# %%
clock_names = ("session.timeout.ms", "max.poll.interval.ms", "rebalance timeout", "none")
guess = predict(
    {
        "kill -9": None,
        "a database call of ten minutes": None,
        "a GC pause of one minute": None,
        "a broker that is back after five seconds": None,
    },
    options=clock_names,
)
guess

# %% tags=["answer", "hide-input"]
seen = {}
for case, name in zip(
    guess.answers, ("crash", "poll-timeout", "freeze", "coordinator-failover"), strict=True
):
    removed = list(run(name, "eager").of("member_removed"))
    how = removed[0].detail["how"] if removed else "none"
    seen[case] = {"session": "session.timeout.ms", "leave": "max.poll.interval.ms", "none": "none"}[how]
guess.beside(seen)

# %% [markdown]
# A stop-the-world GC pause stops all threads, the heartbeat thread included, so it looks like a crash. (A collection that runs beside the application stops none, however long it takes.) (For the database
# call, the run sets `max.poll.interval.ms=12000` and stalls for 20 s, which stands for ten minutes and the default of
# five.)
#
# The fourth clock, the rebalance timeout, ends none of these memberships. It is for a member that polls and heartbeats
# and still does not finish the rebalance, such as the librdkafka member with the wrong callback in notebook 07. (Under
# KIP-848 it runs per member: from the answer that tells the member to give partitions up until it acknowledges that.)
#
# ## The rules
#
# | rule | enforced by | what happens otherwise |
# |---|---|---|
# | `heartbeat.interval.ms` ≤ a third of `session.timeout.ms` | nobody; a recommendation | one or two heartbeats that are lost or late can cost the membership |
# | `heartbeat.interval.ms` < `session.timeout.ms` | the Java client | the constructor throws `KafkaException: Failed to construct kafka consumer`, caused by an `IllegalArgumentException` |
# | `group.min.session.timeout.ms` (6 s) ≤ session ≤ `group.max.session.timeout.ms` (30 min) | the broker | `INVALID_SESSION_TIMEOUT`; the client ends |
# | `max.poll.interval.ms` > your worst batch | nobody | the client leaves the group in the middle of its work |
# | `max.poll.interval.ms` ≥ `session.timeout.ms` | librdkafka only | librdkafka refuses to start |
# | under KIP-848, session and heartbeat are set on the **broker** | the client | it does not start; in Java: `session.timeout.ms cannot be set when group.protocol=CONSUMER` |
#
# Under KIP-848 the keys are `group.consumer.session.timeout.ms` (45 s) and `group.consumer.heartbeat.interval.ms` (5
# s), each with a minimum and a maximum on the broker. One group can have its own value: `kafka-configs
# --bootstrap-server b:9092 --entity-type groups --entity-name billing --alter --add-config
# consumer.session.timeout.ms=50000`. For a session shorter than 45 s, first lower
# `group.consumer.min.session.timeout.ms` on the brokers: its default is 45 s, too.
#
# ### What a shorter session buys
#
# One of three consumers is killed. The run is repeated 40 times, with the crash at a different moment each time, once with a
# session of 12 s and once with the default.
#
# ### Predict
#
# For how many seconds do the dead member's partitions go unread? Give the medians.

# %%
guess = predict({"session.timeout.ms=12000": None, "session.timeout.ms=45000": None}, within=3)
guess

# %% tags=["answer"]
short = draws(with_configs(scenario("crash"), {"session.timeout.ms": 12_000}), 40, ("eager",))
usual = draws(scenario("crash"), 40, ("eager",))
longest = [median(each, "longest_gap_s")["eager"] for each in (short, usual)]
guess.beside(dict(zip(guess.answers, longest, strict=True)))

# %% tags=["answer"]
reveal(spread(usual, "longest_gap_s"))

# %% [markdown]
# The gap is the session timeout, minus the age of the last heartbeat at the crash (up to 3 s), plus the time until the
# survivors hear of it at their next heartbeat (again up to 3 s) and have joined again. The two nearly cancel out. A short
# session finds a dead member sooner, but it also declares a slow one dead (a long GC pause, a network blip). That false alarm costs two rebalances: one when it is removed and one when it comes back.
#
# ## How to choose
#
# | you see | set |
# |---|---|
# | a crash must be noticed within 15 s | `session.timeout.ms=12000`, `heartbeat.interval.ms=3000`; watch for false alarms |
# | GC pauses of 20 s | session above 20 s plus three heartbeats; better: shorter GC pauses |
# | the log says *consumer poll timeout has expired* | fewer records per poll (`max.poll.records`), or a worker thread and `pause()`; only then a longer `max.poll.interval.ms` |
# | a batch takes up to 8 minutes, and has to | `max.poll.interval.ms` = 2 × 8 minutes; a join phase may now wait that long for this member |
# | rolling deploys rebalance all day | static membership (no rebalance at all), or cooperative or KIP-848 (no fewer rebalances, but only the partitions that move stop) |
#
# The longest batch is `max.poll.records` × the time per record. 500 records of 700 ms make 350 s, which is more than 5
# minutes. Lower the first number before you raise the limit. (Here a record takes 40 ms and the limit is 12 s. The member falls behind, so its batches grow to 500 records,
# 20 s each; with `max.poll.records=100` it would stay in the group, and still lag.)

# %%
print(removals(run("slow-consumer", "eager"), since_s=25))
print(removals(run(with_configs("slow-consumer", {"max.poll.records": 100}), "eager"), since_s=25))

# %% [markdown]
# ## Static membership
#
# A member with a `group.instance.id` is **static**. Two things change:
#
# - `close()` sends no LeaveGroup (classic), or says that the member will be back (KIP-848, member epoch −2). The group
#   waits for it for one session timeout. The same holds when `max.poll.interval.ms` runs out: its heartbeats stop, and
#   others get its partitions only one session timeout later.
# - When a process with the same instance id joins, it *replaces* the old one and gets its partitions back. In a group that is `Stable` this needs no rebalance, provided that the vote for the assignor stays as it was. In a group that is in `CompletingRebalance` at that moment (two pods of a rolling restart can meet there) the coordinator begins another one on purpose, so that no member waits for an assignment that was made for its old id.
#
# ### Predict
#
# Three consumers read six partitions under eager. They are restarted one after the other, and each is away for
# **twenty** seconds (in the runs of notebook 05, five). How many unread partition-seconds does that make in total? Give medians
# over 40 runs that differ only by chance.

# %%
guess = predict({"dynamic members": None, "static members": None}, within=10)
guess


# %% tags=["answer", "hide-input"]
def slower(name):
    """The scenario with restarts of twenty seconds instead of five."""
    plain = scenario(name)
    (action,) = plain.actions
    slow = replace(action, args={**action.args, "every_ms": 40_000, "after_ms": 20_000})
    return replace(plain, end_ms=240_000, actions=(slow,))


dynamic, static = draws(slower("rolling-restart"), 40), draws(slower("rolling-restart-static"), 40)
guess.beside(
    {
        f"{name} members": median(each, "unread_partition_s")["eager"]
        for name, each in (("dynamic", dynamic), ("static", static))
    }
)

# %% tags=["answer", "hide-input"]
table = [("medians of 40 draws", *median(dynamic, "rebalances"))]
for name, each in (("dynamic", dynamic), ("static", static)):
    for label, measure, form in (
        ("rebalances", "rebalances", ".0f"),
        ("unread partition-seconds", "unread_partition_s", ".1f"),
    ):
        table.append((f"{name}: {label}", *(format(value, form) for value in median(each, measure).values())))
reveal(columns(table))

# %% [markdown]
# Static members cause no rebalance at all, and leave far more unread: each of three members is away for twenty seconds
# with two partitions, which makes 3 × 20 × 2 = 120 partition-seconds, and a little for each start. That is the bargain, not a
# defect: while a static member is away, **nobody** reads its partitions. While a dynamic
# member is away, others read its partitions, so it does not matter how long its restart takes.
#
# Among the dynamic members eager has the fewest unread partition-seconds. Its join
# phase is over as soon as all have heard of it, and gives everything out at once. A partition that moves under
# cooperative waits for a second generation (hence nine rebalances, not six), and under KIP-848 for the new owner's next
# heartbeat. But the more partitions a group has, the more eager costs, because it stops them all.
#
# So static membership pays if a rebalance is expensive for you (large state stores, cold caches, many members under
# eager) and if restarts are short. It does not make a restart cheaper for the partitions of the one that restarts.
#
# ### What can go wrong
#
# **Too late.** In notebook 01 a static member was away for longer than its session. That is the worst of both worlds: its
# partitions go unread for three quarters of a minute, and the rebalances come anyway.
#
# **The same id twice.** A deployment is copied with its settings, and a second process starts with the same
# `group.instance.id`. You saw it in notebook 04b: a classic coordinator believes the newcomer, and the old process is
# fenced. If a supervisor restarts the old process, it takes the place back, so the two fence each other in turn. KIP-848
# refuses the newcomer until the *session* of the old member ends, unless the old member has said in `close()` that it
# will be back.
#
# That last rule has a consequence which deserves a run of its own.
#
# ### Predict
#
# A node runs out of memory and kills the process of a static member. Ten seconds later the pod is back, with the same
# instance id. The session timeout is 45 s. For about how many seconds do its partitions go unread?

# %%
waits = ("about 11 s", "about 45 s", "about 300 s")
guess = predict({"classic (eager)": None, "KIP-848": None}, options=waits)
guess

# %% tags=["answer", "hide-input"]
restart = scenario("static-restart-too-late")
(action,) = restart.actions
killed = replace(restart, actions=(replace(action, args={**action.args, "crash": True, "after_ms": 10_000}),))
back = {
    "classic (eager)": simulate(killed, protocol="eager"),
    "KIP-848": simulate(killed, protocol="consumer"),
}


def nearest_wait(trace):
    """The choice nearest to the longest gap of the run."""
    longest_s = metrics(trace).longest_gap_s
    return min(waits, key=lambda wait: abs(longest_s - int(wait.split()[1])))


guess.beside({name: nearest_wait(trace) for name, trace in back.items()})

# %% tags=["answer"]
reveal(gaps(back["classic (eager)"]))

# %% tags=["answer"]
ends = [
    f"{end.at_ms / 1000:.1f} s, {end.actor}: {end.detail['error'] or end.detail['how']}"
    for end in back["KIP-848"].of("process_ended")
]
reveal("\n".join([gaps(back["KIP-848"]), *ends]))

# %% [markdown]
# A classic group has its member back after eleven seconds. Under KIP-848 the restarted pod **dies**, with
# `UNRELEASED_INSTANCE_ID`: the killed process said no goodbye (member epoch −2), so for the coordinator the old member
# lives until its session ends. Kubernetes starts the pod again, and it dies again. This `CrashLoopBackOff` lasts until the first attempt after
# the session's end, which may come a minute later, because Kubernetes waits longer after each attempt. Do not look for a bug in the image, and keep the
# session short if such kills are frequent.
#
# **Scaling down.** A static member that is gone for good keeps its partitions unread for a whole session. Remove it
# with the Admin client (under KIP-848 too, as a recording with a 4.3 broker shows; the first brokers with KIP-848 refused it):
#
# ```java
# admin.removeMembersFromConsumerGroup("billing",
#     new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("billing-3")))).all().get();
# ```
#
# Since Kafka 4.1 a process can also leave for good by itself: `consumer.close(CloseOptions.groupMembershipOperation(LEAVE_GROUP))`.
#
# ## A rolling restart on Kubernetes, with numbers
#
# A StatefulSet of six pods reads 24 partitions. A pod needs 8 s to stop, and 22 s to start and become ready. Kubernetes
# restarts one pod at a time.
#
# | | dynamic, cooperative or KIP-848 | static, classic | static, KIP-848 |
# |---|---|---|---|
# | how | the pod closes its consumer on SIGTERM | `group.instance.id=$HOSTNAME` | the same |
# | away per pod | 30 s | 30 s | 30 s |
# | rebalances | two per pod or more: it leaves, it joins | none | none |
# | partitions unread while the pod is away | its 4, for the moment of one rebalance | its 4, for the whole 30 s | the same |
# | unread partition-seconds, all six | a few seconds per partition that moves, as in the table above | 6 × 4 × 30 = 720 | 720 |
# | the setting that must hold | `terminationGracePeriodSeconds` > time of `close()` | the client's `session.timeout.ms` > 30 s, with a margin | the broker's or the group's session timeout > 30 s; and a grace period that is long enough: a pod that is killed never says that it will be back, and is refused |
# | after a crash | others take over when the session ends | the restarted pod goes on at once | the restarted pod is refused until the session ends |
#
# Choose by what hurts more. If a lag of 30 s on four partitions is fine and moving state is expensive, use static
# members. If not, use dynamic members with cooperative or KIP-848, and let others read meanwhile.
#
# A StatefulSet gives stable names (`billing-0`), which is what `group.instance.id` needs. A Deployment does not: a new
# random name per pod makes a *new* static member each time, and the old one blocks its partitions until its session ends.
#
# ## Storms
#
# In a **rebalance storm**, a group begins its next rebalance before it has recovered from the last one. The usual cause
# is batches that exceed `max.poll.interval.ms`. A member leaves, its partitions slow the others down, and the next
# member exceeds the limit.

# %%
print(reasons(run("storm", "eager"), since_s=25))

# %% [markdown]
# The reasons are one *leave* and many *joins*. (The other leaves fall into a join phase that is already open, and begin
# no rebalance of their own. The phase that begins at 49.2 s, for example, still waits for consumer-2 when consumer-2
# leaves.) Nothing says "storm". The cause, `consumer poll timeout has expired`, is the reason that
# the client gives in its LeaveGroup: look for it in the broker's line *has left group*, and as a warning in the client's log.
#
# The cure, in this order:
#
# 1. **Make batches smaller**: lower `max.poll.records`, so that the worst batch stays below half the limit.
# 2. Take the work out of the polling thread (`pause()` and a worker).
# 3. Raise `max.poll.interval.ms`.
# 4. Move to cooperative or KIP-848, so that the healthy members go on reading. This does not end the storm, but makes it cheaper.
#
# ### Try it
#
# In the lab: raise `max.poll.interval.ms` in **Settings** until you find a value that ends the storm.

# %% tags=["nbval-ignore-output"]
Lab("storm", "eager", at_ms=29_000)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Each stall lasts 20 s, so 21000 ends the storm. (In this run 20000 is just enough, because each stall begins right after
# a `poll()`. A real limit needs a margin.)
#
# </details>
#
# ## Exercise: timeouts for an objective
#
# Choose the timeouts of a group so that it meets six objectives. *Copy it into my folder* makes the file `my-exercises/c5-timeouts-for-an-slo/answer.py`;
# open it in JupyterLab, fill in the values, save it, and press *Check my answer*. (The answer is a configuration and no code, hence a file and not a cell.)

# %% tags=["hide-input", "nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

timeouts = Exercise("c5-timeouts-for-an-slo")
display(Markdown(timeouts.story), timeouts)

# %% [markdown]
# ## Check yourself
#
# 1. `session.timeout.ms=10000`, `heartbeat.interval.ms=5000`. What is wrong?
# 2. The application computes for seven minutes in one batch; all defaults. Who ends the membership, and what does the broker log?
# 3. A group uses KIP-848, and the team sets `session.timeout.ms=30000` on the clients. What happens?
# 4. Members are static, a restart takes 60 s, and the session timeout is the default. Does static membership help?
#
# <details><summary>Answers</summary>
#
# 1. The heartbeat interval is half of the session, not a third: one lost heartbeat and a late one after it end the session.
# 2. The client, after five minutes. The broker logs a member that *left*, with the reason *consumer poll timeout has expired*.
# 3. The consumer refuses to start: under KIP-848 the broker sets the session timeout.
# 4. No. 60 s is longer than 45 s, so every restart is an expiry *and* a join. Raise the session timeout, or use dynamic members.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("static", count=8)

# %% [markdown]
# ## Recap card
#
# - Heartbeats prove that the *process* lives; `poll()` proves that the *application* does.
# - The broker watches the session. The client watches its own poll interval.
# - Set the heartbeat interval to at most a third of the session. Keep the worst batch below half the poll interval.
# - A static member that is back within the session causes no rebalance, and nobody reads its partitions meanwhile.
# - Two processes with one instance id: classic fences the old one, KIP-848 refuses the new one while the old one's session lives,
#   even if its process is dead.
# - End a storm with smaller batches first.

# %% tags=["hide-input"]
next_notebook("08")
