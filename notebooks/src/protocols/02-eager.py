# %% [markdown]
# # 02 · Eager: stop the world
#
# **30 minutes.** Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Fundamentals*, *Troubleshooting*.
#
# After this notebook you can
#
# - name the four steps of an eager rebalance and the two requests that carry it;
# - say who computes the assignment (it is not the broker);
# - follow a classic group through its four states;
# - say why one slow member stops a whole eager group, and for how long at most.
#
# Eager is what Java consumers do unless told otherwise, in every version up to Kafka 4.3: the default
# `partition.assignment.strategy` runs eager (notebook 03 shows why).

# %%
from dataclasses import replace

from rebalance_kit import Action, Lab, Quiz, describe_comparison, gantt_figure, messages
from rebalance_kit import metrics, scenario, show, simulate, state_machine, three
from rebalance_kit.notebook import beside, callbacks, columns, explain, longest_silence, states, story

# %% [markdown]
# ## The four steps
#
# 1. **Revoke everything.** Each member hears of the rebalance in the answer to its heartbeat
#    (`REBALANCE_IN_PROGRESS`). In its next `poll()` it commits, runs `onPartitionsRevoked` with *all* its partitions,
#    and owns nothing.
# 2. **JoinGroup.** It asks to be part of the next generation and says what it subscribes to. The coordinator parks
#    the request until *all* members have asked.
# 3. **The leader computes.** All are answered; one of them, the leader, gets the list of all members with their
#    subscriptions and runs the assignor.
# 4. **SyncGroup, and resume.** The leader sends the whole assignment, everybody else an empty request; each answer
#    holds the member's own share. `onPartitionsAssigned` runs, and reading goes on.
#
# ### Predict
#
# Three members read twelve partitions, a fourth joins. How many partitions go unread, and how many change hands?

# %%
guess = {"unread": None, "changed hands": None}

# %%
join = simulate(scenario("join"), protocol="eager")
cost = metrics(join)
print(beside(guess, {"unread": cost.partitions_unread, "changed hands": cost.partitions_moved}))

# %% [markdown]
# ## The messages
#
# **Watch for** three things: the newcomer asks twice; its second JoinGroup is parked until the old members come; and
# one SyncGroup alone carries something.

# %% tags=["nbval-ignore-output"]
talk = messages(join, since_s=30, until_s=35)
talk

# %%
print(talk.text)

# %% [markdown]
# Full lines are requests, dashed ones answers; the colour is the member's. Heartbeats without news are left out.
#
# **Myth:** "the group coordinator assigns the partitions." In the classic protocol it never does: it stores and hands
# out what the leader has computed, without looking into it.

# %%
computed = [row for row in join.of("assignment_computed") if row.at_ms > 30_000]
rows = [(f"{row.at_ms / 1000:.3f} s", row.actor, row.detail["assignor"]) for row in computed]
print(columns([("computed at", "by", "with"), *rows]))

# %% [markdown]
# **Myth:** "the first consumer that sends JoinGroup is the leader." Nearly: the first that the coordinator *adds*,
# which for a dynamic member happens at its second JoinGroup, the one with the id it was given. It stays leader
# as long as it stays in the group and misses no join phase.
#
# ## The callbacks
#
# ### Predict
#
# `consumer-1` keeps three of its four partitions. With which partitions is its `onPartitionsRevoked` called?

# %%
print(callbacks(join, since_s=30))

# %% [markdown]
# With *all* of them, also those it gets back a moment later. Whatever the application keeps for a partition (caches,
# open files, connections, half-filled batches) is closed and built again, for every partition in the group.
#
# ## The world stops
#
# **Watch for** the thin vertical band after second 34 that runs through *all* rows.

# %% tags=["nbval-ignore-output"]
show(gantt_figure(join), "")

# %%
print(story(join))

# %% [markdown]
# The band is thin. Look at it closely, at a second of the same run:

# %% tags=["nbval-ignore-output"]
close = gantt_figure(join)
close["layout"]["xaxis"]["range"] = [computed[0].at_ms / 1000 - 0.4, computed[0].at_ms / 1000 + 0.6]
show(close, "")

# %% [markdown]
# Be fair to eager: between *rebalance begins* and the new generation the old members kept reading. They stopped
# only when they heard of it, and since their heartbeats came at about the same time, each gap lasted a fraction of a second. If
# everybody is healthy and quick, eager is not slow. It is *broad*.
#
# ## The state machine
#
# What you saw, as the coordinator sees it. The picture is drawn from the table that the engine runs on; the numbers
# count the steps this run took.

# %% tags=["nbval-ignore-output"]
machine = state_machine(join)
machine

# %%
print(machine.text)

# %% [markdown]
# - **PreparingRebalance**: the coordinator collects JoinGroup requests. It ends when all known members have asked, or
#   after the *rebalance timeout*, which is the greatest `max.poll.interval.ms` among them.
# - **CompletingRebalance**: the generation exists, its assignment does not yet. The broker's log calls this moment
#   *Stabilized*, and in an eager group nobody reads anything at that moment.
# - **Stable**: the leader's assignment is stored and handed out.
# - (**Dead**, not drawn: the group's data are no longer on this broker.)

# %%
print(states(join))

# %% [markdown]
# ### The first rebalance is special
#
# Look at the first lines: the group was *Empty*, and the first phase lasted for seconds although nobody had to be
# waited for.

# %%
print(explain("group.initial.rebalance.delay.ms"))

# %% [markdown]
# It saves a new deployment from one rebalance per pod: whoever arrives within the delay is taken in together, and each
# window in which somebody arrives adds another one. Only an Empty group waits like that. Every later phase ends as
# soon as all members have asked.
#
# ## Everybody waits for the slowest
#
# A consumer that is busy with a long batch does not call `poll()`, so it cannot join. Nothing is wrong with that: the
# limit is `max.poll.interval.ms`, five minutes. Now a fourth consumer joins meanwhile.
#
# ### Predict
#
# `consumer-2` is busy for 25 s from second 29 on. `consumer-1` is healthy. For how many seconds does `consumer-1`
# read nothing at all, in whole seconds, under eager and under the other two?

# %%
guess = {"eager": None, "cooperative": None, "consumer": None}

# %%
stall = Action(29_000, "stall", "consumer-2", {"for_ms": 25_000})
busy = three(replace(scenario("join"), end_ms=90_000).with_action(stall))
silent = {way: round(longest_silence(run, "consumer-1", since_s=29)) for way, run in busy.items()}
print(beside(guess, silent))

# %% tags=["nbval-ignore-output"]
show(gantt_figure(busy["eager"]), "")

# %%
print(story(busy["eager"]))

# %% [markdown]
# The healthy ones gave everything up at their heartbeat and then waited for a JoinGroup that could not come. With the
# default `max.poll.interval.ms` they might have waited five minutes. The same holds for a slow `onPartitionsRevoked`:

# %%
print(describe_comparison(list(three("slow-callback").values())))

# %% [markdown]
# **Watch for** the row *longest gap of the whole group*. This is the true cost of stop-the-world.
#
# ## A rolling deploy
#
# Ten consumers are restarted one after another, 20 s apart, each away for 5 s. Each leaves, and joins.
#
# ### Predict
#
# How many rebalances is that, and how many minutes until the group is stable again?

# %%
guess = {"rebalances": None, "minutes": None}

# %%
deploy = scenario("""
scenario: rolling-deploy
title: A rolling deploy of ten
topics: {orders: 40}
end: 260s
configs: {auto.offset.reset: earliest}
members: {count: 10, prefix: consumer-, topics: [orders]}
actions:
  - {at: 30s, do: rolling_restart, every: 20s, after: 5s}
""")
ten = metrics(simulate(deploy, protocol="eager"))
print(beside(guess, {"rebalances": ten.rebalances, "minutes": round(ten.converge_s / 60)}))

# %%
fifty = metrics(simulate(scenario("fifty-by-five-hundred"), protocol="eager"))
print("fifty consumers, ONE restart:", fifty.rebalances, "rebalances")
print("partitions that were unread:", fifty.partitions_unread, "of", fifty.partitions)
print(
    "a deploy of all fifty at this pace:",
    50 * fifty.rebalances,
    "rebalances, each with a gap for every partition",
)

# %% [markdown]
# That is a **rebalance storm**: for minutes on end the group is never done, each partition's caches are cold again
# and again, and lag builds up. The ways out are static membership, longer timeouts,
# and the other protocols (notebooks 03 and 04).
#
# ## Which assignors are eager?
#
# `range`, `roundrobin` *and* `sticky`. Sticky keeps partitions where they are, and its members still give all of them
# up first. **Watch for** the difference between *unread* and *moved*:

# %%
runs = three("join", ("eager", "roundrobin", "sticky", "cooperative"))
costs = {way: metrics(run) for way, run in runs.items()}
rows = [(way, str(cost.partitions_unread), str(cost.partitions_moved)) for way, cost in costs.items()]
print(columns([("assignor (eager means range)", "unread", "moved"), *rows]))

# %% [markdown]
# ## Duplicates
#
# In a planned rebalance a member commits before it gives up (with auto-commit on), so nothing is read twice. A member that crashes
# commits nothing: the next owner begins at the last commit.

# %%
runs = {name: simulate(scenario(name), protocol="eager") for name in ("join", "leave", "crash")}
rows = [(name, str(metrics(run).records_redelivered)) for name, run in runs.items()]
print(columns([("event", "records delivered twice"), *rows]))

# %% [markdown]
# ## One interesting failure
#
# In this storm two consumers take turns to exceed `max.poll.interval.ms`, and `consumer-3` is healthy all the time.
# Play it, and look at the lane of `consumer-3`. Then choose **Cooperative** and look again. The thin ring inside the
# disc is what is left of `max.poll.interval.ms` to a member that does not poll.

# %% tags=["nbval-ignore-output"]
Lab("storm", "eager")

# %%
storm = simulate(scenario("storm"), protocol="eager")
print("longest time without a record at consumer-3:", longest_silence(storm, "consumer-3", since_s=30), "s")

# %% [markdown]
# ### Who waits for whom?
#
# The worst moment for a crash is the middle of a hand-over. Two consumers take three seconds for each callback, a
# third one joins, and `consumer-2` dies inside its `onPartitionsRevoked`.
#
# 1. Press **Predict**, then restart `consumer-2`: does a restart help the others?
# 2. Press **Compare**. **Watch for** the rows *No owner* and *unread partition-seconds*.

# %% tags=["nbval-ignore-output"]
Lab("crash-in-hand-over", "eager", at_ms=33_000)

# %%
print(describe_comparison(list(three("crash-in-hand-over").values())))

# %% [markdown]
# The table counts from the crash on. Under eager the rebalance had begun three seconds *before* it, so the row
# *rebalances* says 0 although the whole group waits: what you see is that one rebalance, which cannot end before the
# dead member's session does.

# %% [markdown]
# ## Check questions
#
# Feedback comes with each answer; every key has been verified by running the engine.

# %% tags=["nbval-ignore-output"]
Quiz("eager")

# %% [markdown]
# ## Recap
#
# Revoke all, JoinGroup, the leader computes, SyncGroup, resume. The coordinator collects and hands out, a client
# decides. Every partition goes unread in every rebalance; the slowest member decides how long, with
# `max.poll.interval.ms` as the limit.
#
# **Next:** [03 · cooperative](03-cooperative.ipynb): the same messages, and only what must move stops.
