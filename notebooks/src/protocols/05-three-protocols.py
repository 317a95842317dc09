# %% [markdown]
# # 05 · One scenario, three protocols
#
# **25 minutes.** Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Cluster Configuration*, *Deployment*,
# *Troubleshooting*.
#
# After this notebook you can
#
# - read the cost table of a rebalance: who stops, how long, what moves, what is read twice;
# - say for which events the choice of protocol matters, and for which it does not;
# - answer "is eager slow?" without repeating a slogan.
#
# The rule of this notebook: the *same* events, on the *same* clock, under eager, cooperative and consumer (KIP-848),
# and all numbers come out of the runs.

# %%
from rebalance_kit import compare, comparison_figure, describe_comparison, flow_figure
from rebalance_kit import gantt_figure, metrics, sentences, show, three
from rebalance_kit.notebook import beside, columns, in_lines, longest_silence, passed_to, spread, story

# %% [markdown]
# ## 1 A crash
#
# Three consumers, twelve partitions, all settings at their defaults. One consumer is killed.
#
# ### Predict
#
# How many of the twelve partitions go unread? Does any protocol have a clearly shorter gap? Which? (Keep the second
# answer in mind.)

# %%
guess = {"eager": None, "cooperative": None, "consumer": None}

# %%
crash = three("crash")
print(beside(guess, {way: metrics(run).partitions_unread for way, run in crash.items()}))

# %% [markdown]
# **Watch for** the row *noticed after*, and compare it with *longest gap of a partition*.

# %%
print(describe_comparison(list(crash.values())))

# %%
print(in_lines("\n".join(sentences(compare(crash)))))

# %% [markdown]
# The longest gap is nearly all *noticing*, and no protocol shortens that. One run is one sample, though: how long
# it takes depends on how old the last heartbeat was at the moment of the crash, and on when a survivor heartbeats
# next. So ask twenty runs, with twenty seeds:

# %%
print("longest gap of a partition after a crash, in seconds, over 20 seeds")
print(spread("crash", lambda run: metrics(run).longest_gap_s))

# %% [markdown]
# **A crash costs all three about the same.** The ranges overlap. The consumer protocol spreads wider, since its
# heartbeat interval is 5 s by default and the classic one is 3 s: the last heartbeat may be older when the crash
# comes, and a survivor's next one later.
#
# What differs is who else is touched. **Watch for** the rows of the healthy consumers in the two charts:

# %% tags=["nbval-ignore-output"]
show(gantt_figure(crash["eager"]), "")

# %%
print(story(crash["eager"]))

# %% tags=["nbval-ignore-output"]
show(gantt_figure(crash["cooperative"]), "")

# %%
print(story(crash["cooperative"]))

# %% [markdown]
# ## 2 A healthy join
#
# Now an autoscaler starts a fourth consumer. Nobody is ill, all callbacks are quick.
#
# ### Predict
#
# Under which protocol is the longest gap of any *single* partition the shortest, as a rule?

# %%
guess = {"shortest, as a rule": None}

# %%
from statistics import median

joins = [three("join", seed=seed) for seed in range(1, 21)]
longest = {way: median(metrics(runs[way]).longest_gap_s for runs in joins) for way in joins[0]}
print(beside(guess, {"shortest, as a rule": min(longest, key=longest.get)}))

# %%
print("longest gap of a partition in a join, in seconds, over 20 seeds")
print(spread("join", lambda run: metrics(run).longest_gap_s))
print()
print("partitions that were unread in a join, over 20 seeds")
print(spread("join", lambda run: metrics(run).partitions_unread))

# %% [markdown]
# Most people are surprised here. Under **eager** the members hear of the rebalance at their common heartbeat, give
# everything up, join, and have everything back at once: each gap is short, and *every* partition has one. Under
# **cooperative** only the partitions that move go unread, but as a rule each of them for about one heartbeat interval,
# until the second generation hands it out. (*Least* shows the exception: when the newcomer's SyncGroup comes too late
# for the first generation, the second one follows at once.) Under **consumer** a moved partition is unread from its
# revocation until the new owner's next heartbeat.
#
# So is the consumer protocol slow? Its clock is the heartbeat interval that the *broker* sets, 5 s by default; the
# classic client's own is 3 s. Give both the same interval and look again:

# %%
from dataclasses import replace

from rebalance_kit import scenario

broker = {"group.consumer.heartbeat.interval.ms": 3000, "group.consumer.min.heartbeat.interval.ms": 3000}
print("longest gap of a partition in a join, in seconds, all heartbeats every 3 s, over 20 seeds")
print(spread(replace(scenario("join"), broker=broker), lambda run: metrics(run).longest_gap_s))

# %% [markdown]
# At equal intervals the two do not differ: the ranges overlap. A real cluster can be quicker still: in the recorded run
# `join.consumer.4.3.1` (heartbeats of 3 s) the longest gap was 297 ms, because the new owner's heartbeat happened to come
# just after the partition was released; in `join.cooperative.4.3.1` it was 3,036 ms. The phase of the heartbeats decides, and
# one recording is one draw. Here is one of the *simulated* runs in full.

# %%
join = joins[2]
print(describe_comparison(list(join.values())))

# %% tags=["nbval-ignore-output"]
show(comparison_figure(list(join.values())), "")

# %% [markdown]
# Unread partition-seconds (the bars) add up all gaps of all partitions; use them when lag is your main cost.
# Here is what they leave out: under eager each member runs `onPartitionsRevoked` and
# `onPartitionsAssigned` for *all* its partitions, commits them all, and whatever was kept for them (caches, open
# files, connections) is built again.

# %%
rows = [
    (way, str(passed_to(run, "revoked", since_s=30)), str(passed_to(run, "assigned", since_s=30)))
    for way, run in join.items()
]
print(columns([("partitions passed to callbacks", "revoked", "assigned"), *rows]))

# %% [markdown]
# ## 3 The slowest member decides
#
# So far everybody was quick. Now one of two consumers needs six seconds in each rebalance callback (it flushes state
# to a slow store), and a third consumer joins.
#
# **Watch for** *longest gap of the whole group* and *partitions unread*.

# %%
slow = three("slow-callback")
print(describe_comparison(list(slow.values())))

# %% [markdown]
# Under eager everybody waits for the slow one: nobody gets the new plan before the last member has given its
# partitions up. Cooperative and consumer members go on reading. This, not the healthy case, is why "stop the world"
# has its bad name: **the gaps of an eager group are as long as its slowest member takes**, up to `max.poll.interval.ms`.

# A storm makes it worse: two consumers take turns to be too slow for `max.poll.interval.ms`, while `consumer-3` is
# healthy all the time. How long does *it* get no record?

# %%
storm = three("storm")
rows = [(way, f"{longest_silence(run, 'consumer-3', since_s=30):.1f} s") for way, run in storm.items()]
print(columns([("protocol", "longest time without a record at consumer-3, which is healthy"), *rows]))

# %% [markdown]
# ## 4 Fifty consumers, five hundred partitions, one restart
#
# The story that every talk about rebalancing tells: fifty consumers, ten partitions each, and *one* of them is
# restarted for a new version. It leaves, and is back seven seconds later.
#
# ### Predict
#
# How many of the 500 partitions go unread?

# %%
guess = {"eager": None, "cooperative": None, "consumer": None}

# %%
fifty = three("fifty-by-five-hundred")
print(beside(guess, {way: metrics(run).partitions_unread for way, run in fifty.items()}))

# %% [markdown]
# **Watch for** the moment, soon after `consumer-17` has left at 46.4 s, at which all squares fall into *No owner* (drag the slider slowly); then
# look for it in the second picture.

# %% tags=["nbval-ignore-output"]
show(flow_figure(fifty["eager"]), "")

# %%
print(story(fifty["eager"]))

# %% tags=["nbval-ignore-output"]
show(flow_figure(fifty["cooperative"]), "")

# %%
print(story(fifty["cooperative"]))

# %%
print(describe_comparison(list(fifty.values())))

# %% [markdown]
# What the table shows, including what speaks for eager:
#
# - **eager** touches all 500 partitions, twice (once for the leave, once for the join); each single gap is short
#   because all fifty are healthy and quick. Put one slow callback in, and section 3 happens to 500 partitions.
# - **cooperative** and **consumer** touch only the partitions of the restarted member and those handed back to it.
# - under every protocol the restarted member's partitions go unread until the others hear that it left.
# - *partitions moved* compares the end with the beginning. The range assignor of the eager run deals out the same way
#   whenever the same members are there, so nothing seems to have moved; the sticky assignors spread the
#   leaver's ten partitions over the others and later gave it ten different ones; nothing makes them swap back.
#
# In a rolling deploy this happens once per consumer: fifty times. **Watch for** the number of rebalances in a rolling
# restart of only three:

# %%
print(describe_comparison(list(three("rolling-restart").values())))

# %% [markdown]
# And with static membership (a `group.instance.id` for each), back before the session ends:

# %%
print(describe_comparison(list(three("rolling-restart-static").values())))

# %% [markdown]
# No rebalance at all; the price is that a restarted member's partitions stay unread until it is back, since nobody takes
# them over. Whether that is better depends on how long your restarts take.

# %% [markdown]
# ## 5 What is read twice
#
# No protocol removes duplicates: what an owner had read since its last commit, the next owner reads again.

# %%
rows = [
    (name, *(str(metrics(run).records_redelivered) for run in three(name).values()))
    for name in ("join", "leave", "crash", "poll-timeout", "freeze")
]
print(columns([("records delivered twice", "eager", "cooperative", "consumer"), *rows]))

# %% [markdown]
# In planned changes (join, leave) members commit before they give partitions up, so almost nothing is read twice. After
# an unplanned change, whatever came since the last commit is read again, under every protocol. The *freeze* adds
# something: a classic consumer that thaws can still hand its backlog to the application before it learns that it was
# removed; the client of the consumer protocol learns it first.

# %% [markdown]
# ## In one table
#
# | event | what decides the gap | does the protocol matter? |
# |---|---|---|
# | crash | session timeout minus the age of the last heartbeat | for the dead member's partitions: no. For all others: eager stops them too |
# | healthy join | eager: one round for all; cooperative: a heartbeat interval for what moves; consumer: up to two heartbeats for what moves | yes: many short gaps or few long ones |
# | leave (close) | the survivors' next heartbeat | only in how many partitions are affected |
# | one slow member | its callback, or its poll loop | very much: under eager all wait for it |
# | rolling restart | number of members times the above | yes; static membership matters more |
#
# ## Try it
#
# - Give the crash a session timeout of 10 s: a scenario is a value, `dataclasses.replace(scenario("crash"), ...)`, or
#   the YAML in the README and give it to `scenario`. Which rows of the table change, which do not?
# - Open any of these runs in the lab: `Lab("slow-callback", "eager")`, and freeze somebody at the wrong moment. Then
#   press **Compare** (V): three columns on one clock, from the same actions, with the cost table of this notebook.
# - **Settings** changes a timeout for all members; a value that Kafka refuses shows Kafka's own words at its field.
# - **Copy link** gives a token that rebuilds what you see. Send it to somebody who says that eager is always worse.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("slow-callback", "eager", at_ms=46_000)

# %% [markdown]
# ## Check questions

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("three-protocols")

# %% [markdown]
# ## Recap
#
# - A crash costs the three protocols about the same; the session timeout decides.
# - In a healthy join, eager has the shortest gap per partition, but every partition has one.
# - Eager's real price is breadth, and that all wait for the slowest.
# - Duplicates come from the commit policy and the kind of event, hardly from the protocol.
#
# **Next:** 06, the assignors: who gets which partition, and why exactly that one.
