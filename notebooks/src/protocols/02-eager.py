# %% [markdown]
# # 02 · Eager: stop the world
#
# **55 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Fundamentals*, *Troubleshooting*.
#
# After this notebook you can
#
# - name the four steps of an eager rebalance and the two requests that carry it (CCDAK Fundamentals);
# - say who computes the assignment, and work it out for the range assignor (CCDAK Application Development);
# - follow a classic group through its four states (CCAAK Fundamentals);
# - explain why one slow member stops a whole eager group, and for how long at most (CCAAK Troubleshooting).
#
# Eager is what Java consumers do unless told otherwise, in every version up to Kafka 4.3: the default
# `partition.assignment.strategy` runs eager (notebook 03 shows why).
#
# ## The four steps
#
# 1. **Revoke everything.** Each member, except the one that started the rebalance, hears of it in the answer to its heartbeat
#    (`REBALANCE_IN_PROGRESS`). In its next `poll()` it commits (with auto-commit on), runs `onPartitionsRevoked` with *all* its partitions,
#    and owns nothing.
# 2. **JoinGroup.** It asks to be part of the next generation and says what it subscribes to. The coordinator holds
#    its answer back until *all* members have asked. This is the **join phase**.
# 3. **The leader computes.** All are answered; one of them, the leader, gets the list of members with their
#    subscriptions and runs the **assignor**, the rule that decides who gets what.
# 4. **SyncGroup, and resume.** The leader sends the whole assignment, the others an empty request; each answer
#    holds the member's own share. `onPartitionsAssigned` runs, and reading goes on.
#
# ## What the range assignor does
#
# `range` is the first assignor of the default list. It sorts partitions and members, and hands out the partitions of each topic in
# **blocks**; if the blocks cannot be equal, the first members get one more. Twelve partitions:
#
# | members | consumer-1 | consumer-2 | consumer-3 | consumer-4 |
# |---|---|---|---|---|
# | three | 0 1 2 3 | 4 5 6 7 | 8 9 10 11 | |
# | four | 0 1 2 | 3 4 5 | 6 7 8 | 9 10 11 |
#
# Range does not look at who owned what before. `roundrobin` hands them out one by one and does not look either. `sticky` is as even, and
# leaves each partition where it was as far as balance allows.
#
# ### Predict
#
# Three members read twelve partitions and a fourth joins. How many partitions are unread for a time, and how many **change hands**? (The table above answers the second question.)

# %%
from rebalance_kit.notebook import predict, run

guess = predict({"unread": None, "change hands": None})
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import metrics

join = run("join", "eager")
cost = metrics(join)
guess.beside({"unread": cost.partitions_unread, "change hands": cost.partitions_moved})

# %% [markdown]
# Three partitions *have* to move, because the newcomer must get its share of three. Range moves six: every block boundary shifts. And all twelve
# are unread for a time, even those that stay where they are.
#
# ## The messages
#
# **Watch for** three things: the newcomer asks twice; the answer to its second JoinGroup is held back until the old members have asked; and
# only the leader's SyncGroup carries a payload. (The cell below the picture, `twin(...)`, prints it as text.)

# %% tags=["nbval-ignore-output"]
from rebalance_kit import messages

talk = messages(join, since_s=34, until_s=35)
talk

# %%
from rebalance_kit.notebook import describe, twin

twin(talk)

# %% [markdown]
# Solid lines are requests, dashed ones answers; the colour is the member's. Heartbeats without news are left out.
#
# **Myth:** "the group coordinator assigns the partitions." In the classic protocol it never does: it stores and hands
# out what the leader has computed, without looking into it.
#
# **Myth:** "the first consumer that sends JoinGroup is the leader." Nearly: it is the first that the coordinator *adds*,
# which for a dynamic member happens at its second JoinGroup, the one with the id it was given. It stays leader
# as long as it stays in the group and misses no join phase.
#
# ## The callbacks
#
# ### Predict
#
# `consumer-1` keeps three of its four partitions and gets no other. How many partitions is its `onPartitionsAssigned` called with?

# %%
guess = predict({"partitions": None})
guess

# %% tags=["answer"]
from rebalance_kit.notebook import callbacks, passed_to

guess.beside({"partitions": passed_to(join, "assigned", since_s=30, member="consumer-1")})

# %%
callbacks(join, since_s=30)

# %% [markdown]
# With the three that it had a moment before: its `onPartitionsRevoked` was called with all four, so now it gets back what it keeps. Whatever the application keeps per partition (caches,
# open files, connections, half-filled batches) is closed and built again, for every partition in the group.
#
# ## The world stops
#
# **Watch for** the thin vertical band after second 34 that runs through *all* rows.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import chart

chart(join, since_s=33, until_s=37)

# %%
describe(join)

# %% [markdown]
# Be fair to eager. After *rebalance begins* the old members kept reading until they heard of it, and since their heartbeats came at about the same time, each gap lasted a fraction of a second. When
# all members are healthy and quick, eager is not slow. It is *broad*.
#
# ## The state machine
#
# This is what you saw, as the coordinator sees it. The picture is drawn from the table that the engine runs on; the numbers
# count the steps of this run.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.view import state_machine

machine = state_machine(join)
machine

# %%
from rebalance_kit.notebook import states

states(join)

# %% [markdown]
# - **PreparingRebalance**: the coordinator collects JoinGroup requests. It ends when all known members have asked, or
#   after the *rebalance timeout*, the greatest `max.poll.interval.ms` among them. A dynamic member that has not asked by then is removed.
# - **CompletingRebalance**: the generation exists, its assignment does not yet. The broker's log calls this moment
#   *Stabilized*, and in an eager group nobody reads anything at that moment.
# - **Stable**: the leader's assignment is stored and handed out.
# - **Empty**: no member is left. (**Dead**, not drawn: the group's data are no longer on this broker.)
#
# ### The first rebalance is special
#
# Look at the first lines: the group was *Empty*, and the first phase lasted for nine seconds although no member was busy.

# %%
from rebalance_kit.notebook import explain

explain("group.initial.rebalance.delay.ms")

# %% [markdown]
# The delay saves a new deployment from one rebalance per pod: everyone who joins while the coordinator waits shares the first
# rebalance. It waits for three seconds and, whenever someone has joined in the meantime, for another three, up to the rebalance timeout. Here members joined in the first three seconds and
# in the second three, so it waited a third time. Only an Empty group waits like that. Every later phase ends as soon as all members have asked, or at the rebalance timeout.
#
# ## Everybody waits for the slowest
#
# A consumer that is busy with a long batch does not call `poll()`, so it cannot join. Nothing is wrong with that: the
# limit is `max.poll.interval.ms`, five minutes by default. Now a fourth consumer joins while one of the three is busy.
#
# ### Predict
#
# `consumer-2` is busy for 25 s, from second 29 to second 54. The newcomer asks to join at about second 35. For how many seconds does `consumer-1`,
# which is healthy, get no record at all?

# %%
guess = predict({"eager": None, "cooperative": None, "KIP-848": None}, within=3)
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import longest_without_records, stall, three

busy = three(stall("join", "consumer-2", at_s=29, for_s=25, end_s=90))
waited = {
    protocol: longest_without_records(each, "consumer-1", since_s=29) for protocol, each in busy.items()
}
guess.beside({"eager": waited["eager"], "cooperative": waited["cooperative"], "KIP-848": waited["consumer"]})

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import one_clock

picture = one_clock(busy, event="consumer-2 is busy", after_s=31)
picture

# %%
describe(picture)

# %% [markdown]
# At their heartbeats, soon after second 35, the healthy members gave everything up. Then they waited for a JoinGroup that could not come before second 54. Had the
# batch taken longer, they could have waited for up to five minutes, the default of `max.poll.interval.ms`; then the busy client would have left on its own. A slow `onPartitionsRevoked` has the
# same effect: the member cannot join before its callback has returned. This is what *stop the world* means: **the gaps of an eager group last as long as its slowest member needs**. Under the other two protocols the red block is the busy member's own partitions, which nobody reads whatever the protocol; the short bars
# are partitions on their way to the newcomer.
#
# ## A rolling deploy
#
# Ten consumers are restarted one after another, 20 s apart, each away for 5 s. Each one leaves and joins again.
#
# ### Predict
#
# How many rebalances is that, and how many minutes pass from the first restart until the last rebalance is over?

# %%
guess = predict({"rebalances": None, "minutes": None}, within={"rebalances": 1, "minutes": 1})
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import scenario

deploy = scenario("""
scenario: rolling-deploy
title: A rolling deploy of ten
topics: {orders: 40}
end: 260s
configs: {auto.offset.reset: earliest}
members: {count: 10, prefix: consumer-, topics: [orders]}
actions: [{at: 30s, do: rolling_restart, every: 20s, after: 5s}]
""")
ten = metrics(run(deploy, "eager"))
guess.beside({"rebalances": ten.rebalances, "minutes": ten.converge_s / 60})

# %% [markdown]
# Each restart is a leave and a join: two rebalances per consumer, twenty in three minutes, each with a gap for every partition. After each of
# them every cache is cold again. With fifty consumers it would be a hundred rebalances. Static membership avoids these rebalances if the session timeout is longer
# than a restart (notebook 08). The other protocols need as many rebalances or more, but they stop only what moves (notebook 05).
#
# ## Which assignors are eager?
#
# `range`, `roundrobin` *and* `sticky`. Sticky keeps partitions where they are, and its members still give all of them
# up first. **Watch for** the difference between *unread* and *moved*:

# %%
from rebalance_kit.notebook import costs

assignors = {
    "range": run("join", "eager"),
    "roundrobin": run("join", "roundrobin"),
    "sticky": run("join", "sticky"),
}
costs(assignors, "partitions unread", "elsewhere at the end")

# %% [markdown]
# Sticky moves only the three partitions that have to move, and yet all twelve are unread for a time. Being sticky decides *what* moves; being eager
# decides *who stops*.
#
# ## Duplicates
#
# In a planned *eager* rebalance a member commits before it gives partitions up (with auto-commit on), so nothing is read twice. A member that crashes
# commits nothing, and the next owner begins at the last commit. How many records that repeats depends on when the crash falls between two
# commits, so look at a hundred crashes. Each of the dead member's four partitions gets ten records per second, and auto-commit runs every five
# seconds (`auto.commit.interval.ms`), so between 0 and 4 × 10 × 5 = 200 records come twice:

# %%
from rebalance_kit.notebook import draws, spread

spread(draws("crash", protocols=["eager"]), "records_redelivered")

# %% [markdown]
# Anything from 0 to nearly 200, typically about 100.
#
# ## One interesting failure
#
# A **rebalance storm** is one rebalance after another. In this one two consumers take turns exceeding `max.poll.interval.ms` (12 s here), and `consumer-3` is healthy all the time.
# Play it, and look at the lane of `consumer-3`. Then choose **Cooperative** and look again. For a member that has stopped polling, the thin
# inner ring shows how much of `max.poll.interval.ms` is left.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("storm", "eager")

# %%
storm = run("storm", "eager")
print(
    "longest time without a record at consumer-3:",
    longest_without_records(storm, "consumer-3", since_s=30),
    "s",
)

# %% [markdown]
# `consumer-3` is healthy, and yet it reads nothing for eleven seconds. `consumer-2` comes back just as `consumer-1` stalls: the join of `consumer-2` begins a rebalance, and `consumer-3` gives everything up at its
# next heartbeat and then waits for `consumer-1` until the limit of 12 s has passed. Under the other two protocols it never stops.
#
# ### The worst moment for a crash
#
# A crash does the most harm in the middle of a hand-over. Here two consumers take three seconds for each callback. A third one joins, and `consumer-2` dies inside its `onPartitionsRevoked`, at second 34.3.
#
# 1. The lab opens just after the crash. Press **Predict**, and restart `consumer-2`. Does a restart help the others?
# 2. Press **Undo**, then **Compare**. **Watch for** the rows *No owner* and *unread partition-seconds*.

# %% tags=["nbval-ignore-output"]
Lab("crash-in-hand-over", "eager", at_ms=36_000)

# %%
costs(three("crash-in-hand-over"), "unread", "longest gap of the whole group", "rebalances", "fault")

# %% [markdown]
# <details><summary>Answers</summary>
#
# 1. No. The restarted process is a new member; the group still waits for the dead member's id, whose session ends 45 s after its last
#    heartbeat. Only then can the join phase end.
# 2. Under eager all six partitions go unread until then, because `consumer-1` has given everything up, too. Under the other two only the dead member's
#    partitions go unread that long; under cooperative, so does what was on its way to the newcomer. What `consumer-1` keeps goes unread for three seconds at a time, during its callbacks. With `consumer-2` dead, nobody reads anything then (3.00 in the table).
#
# </details>
#
# Why does the row *rebalances* say 0 under eager? The table counts from the crash on, and the eager rebalance had begun three seconds *before*
# it. What you see is that one rebalance, which cannot end before the dead member's session does.
#
# ## Check yourself
#
# Feedback comes with each answer; every key has been verified by running the engine.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("eager")

# %% [markdown]
# ## Recap card
#
# - Revoke all, JoinGroup, the leader computes, SyncGroup, resume.
# - The coordinator collects and hands out; a client, the leader, decides with an assignor.
# - Every partition is unread in every rebalance, even those that do not move.
# - The slowest member decides for how long, with `max.poll.interval.ms` as the limit.
# - `range`, `roundrobin` and `sticky` are all eager.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("02")
