# %% [markdown]
# # 05 · One scenario, three protocols
#
# **50 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Cluster Configuration*, *Deployment*,
# *Troubleshooting*.
#
# After this notebook you can
#
# - read the cost table of a rebalance: who stops, how long, what moves, what is read twice (CCAAK Troubleshooting);
# - say for which events the choice of protocol matters, and for which it does not (CCAAK Deployment);
# - explain when eager is slow and when it is not (CCDAK Fundamentals).
#
# The rule of this notebook: the *same* events, at the *same* moments, under eager, cooperative and KIP-848. What no rule decides (when
# processes start, where between two heartbeats a crash falls) is drawn at random, a hundred times (fewer in sections 4 and 5). Each entry of a table
# headed *draws* is the **median**, with the **middle half** in parentheses: a quarter of the runs lie below it, a quarter above. The last column orders the protocols whose middle
# halves do not overlap; *no difference* means only that they overlap. In the row *rebalances*, KIP-848 is left out of the comparison, because it counts epochs.
#
# ## 1 A crash
#
# Three consumers, twelve partitions, all settings at their defaults. One consumer is killed. As in notebook 00, no protocol has a
# clearly shorter gap.
#
# ### Predict
#
# Under which protocol does the longest gap *vary* most from crash to crash?

# %%
from rebalance_kit.notebook import predict

guess = predict({"varies most": None}, options=["eager", "cooperative", "KIP-848"])
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import costs, draws, fewest

crash = draws("crash")
halves = {
    name: crash.distribution(lambda each: each.longest_gap_s, name).middle_half for name in crash.labels
}
guess.beside({"varies most": max(halves, key=lambda name: halves[name][1] - halves[name][0])})

# %%
costs(
    crash,
    "partitions unread",
    "longest gap of a partition",
    "fault detected",
    "longest gap of the whole group",
)

# %% [markdown]
# The longest gap is nearly all *detection*: the session timeout minus the age of the last heartbeat (in a classic group, of the last heartbeat or commit). No protocol shortens the session timeout, and the middle halves overlap:
# **a crash costs all three about the same**. KIP-848 spreads wider because its heartbeat interval is 5 s and the classic one is 3 s: the last
# heartbeat may be older when the crash comes, and a survivor's next one later.
#
# What differs is who else is touched. **Watch for** the thin red line through the healthy rows of the first strip.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import describe, one_clock, three

picture = one_clock(three("crash"), event="consumer-2 is killed", after_s=48)
picture

# %%
describe(picture)

# %% [markdown]
# ## 2 A healthy join
#
# Now an autoscaler starts a fourth consumer. All members are healthy and all callbacks are quick.
#
# ### Predict
#
# Eager stops all twelve partitions for an instant; the other two stop three of them for seconds. Which has the *fewest* unread partition-seconds?

# %%
guess = predict({"fewest": None}, options=["eager", "cooperative", "KIP-848", "no difference"])
guess

# %% tags=["answer"]
join = draws("join")
guess.beside({"fewest": fewest(join, "unread_partition_s")})

# %%
costs(join)

# %% [markdown]
# Most people are surprised. Under **eager** all members hear of the rebalance at about the same time, give everything up, join, and have everything
# back at once: each gap is short, and *every* partition has one. Under **cooperative** only the partitions that move are unread, and each of them for about
# one heartbeat interval, until the second generation hands it out. Under **KIP-848** a moved partition is unread from its revocation until the new owner's next heartbeat. Here is the
# whole range:

# %%
from rebalance_kit.notebook import spread

spread(join, "longest_gap_s")

# %% [markdown]
# Two extremes are worth a look. *Maximum* under eager: the newcomer asked to join just between the heartbeats of two members, so one member heard of it at once and gave everything up, and the others heard of it almost an
# interval later. *Minimum* under cooperative: an old member had already revoked and rejoined when the newcomer's SyncGroup came. The answer told the newcomer to rejoin as well, so the second generation followed at once.
#
# So is KIP-848 slow? Its clock is the heartbeat interval that the *broker* sets, 5 s by default; the classic client's own is 3 s. Give both the same interval (for which the broker's minimum has to come down as well):

# %%
from rebalance_kit.notebook import with_broker

every_3_s = {"group.consumer.heartbeat.interval.ms": 3000, "group.consumer.min.heartbeat.interval.ms": 3000}
costs(draws(with_broker("join", every_3_s)), "longest gap of a partition", "unread")

# %% [markdown]
# At equal intervals KIP-848 is not slower than cooperative, and in total its partitions are unread for a shorter time. What you saw before was the default, not the protocol.
#
# Recordings of real clusters agree. Take all recorded runs of Java clients with heartbeats every 3 s, and every newcomer in them that got what others had to give up. Between
# `onPartitionsRevoked` of the old owner and `onPartitionsAssigned` of the newcomer lay, in the median (and in the middle half):
#
# - cooperative: 13 newcomers, 3.0 s (1.7 to 3.1);
# - KIP-848: 53 newcomers, 1.9 s (0.6 to 2.9).
#
# One recording alone would have misled you: 297 ms in one *join* of a KIP-848 group, 3,036 ms in that of a cooperative one. Here is that *join* in the engine. It counts until
# records arrive again, which adds a few tenths of a second:

# %%
from rebalance_kit import scenario

recorded = """
scenario: as-recorded
topics: {orders: 6}
end: 60s
configs: {auto.offset.reset: earliest}
members:
  - {count: 3, prefix: c, topics: [orders], start: {about: 3s, within: 3s}}
  - {name: c4, topics: [orders], start: {about: 33s, within: 3s}}
"""
spread(draws(with_broker(scenario(recorded), every_3_s)), "longest_gap_s")

# %% [markdown]
# The recorded KIP-848 *join* is at the lucky end, near the minimum of the hundred: the new owner's heartbeat happened to come just after the release. One recording is one
# draw. Three seconds in the cooperative recording are not an accident; they are the rule.
#
# What no gap shows is the work that a rebalance makes. Under eager each member runs `onPartitionsRevoked` and `onPartitionsAssigned` for *all* its partitions and commits the offsets of all, and whatever
# was kept per partition (caches, open files, connections) is built again:

# %%
from rebalance_kit.notebook import columns, passed_to

joined = three("join")
columns(
    [
        ("partitions passed to", "eager", "cooperative", "KIP-848"),
        ("onPartitionsRevoked", *(str(passed_to(each, "revoked", since_s=30)) for each in joined.values())),
        ("onPartitionsAssigned", *(str(passed_to(each, "assigned", since_s=30)) for each in joined.values())),
    ]
)

# %% [markdown]
# ## 3 The slowest member decides
#
# So far all members were quick. Now one of two consumers needs six seconds in each rebalance callback, because it flushes state
# to a slow store, and a third consumer joins.
#
# ### Predict
#
# Add up the gaps of all partitions. One run cost 60.6 unread partition-seconds under cooperative (notebook 03) and 43.1 under KIP-848 (04). Which protocol has the
# *most* over a hundred draws?

# %%
guess = predict({"most": None}, options=["eager", "cooperative", "KIP-848", "no difference"])
guess

# %% tags=["answer"]
from rebalance_kit.notebook import more

slow = draws("slow-callback")
guess.beside({"most": more(slow, "unread_partition_s")})

# %%
costs(slow, "longest gap of the whole group", "unread", "longest gap of a partition", "partitions unread")

# %% [markdown]
# The first row is what gives stop-the-world its bad name: under eager, for six seconds *nobody* reads *anything*, because nobody gets the new plan before the slow member has
# given its partitions up. Under the other two that never happens. **The gaps of an eager group last as long as its slowest member needs**, up to `max.poll.interval.ms`.
#
# But the next two rows rank the protocols differently. KIP-848 has the fewest unread partition-seconds and the longest single gap, and cooperative has the most unread partition-seconds. Callbacks run in the thread that polls, so during each
# callback the slow member reads none of its own partitions, not even those it keeps. Eager calls back twice, once for revoked and once for assigned. Cooperative adds a generation, and with
# it another call of `onPartitionsAssigned`. Under KIP-848 the slow member's own moving partition waits for both callbacks and for the new owner's next heartbeat.
# The lesson: keep callbacks short under every protocol.
#
# ## 4 Fifty consumers, five hundred partitions, one restart
#
# Talks about rebalancing like to tell this story: fifty consumers, ten partitions each, and *one* of them is
# restarted for a new version. It leaves, and is back seven seconds later.
#
# ### Predict
#
# How many of the 500 partitions go unread?

# %%
guess = predict(
    {"eager": None, "cooperative": None, "KIP-848": None}, within={"cooperative": 2, "KIP-848": 2}
)
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import metrics

fifty = three("fifty-by-five-hundred")
touched = {protocol: metrics(each).partitions_unread for protocol, each in fifty.items()}
guess.beside(
    {"eager": touched["eager"], "cooperative": touched["cooperative"], "KIP-848": touched["consumer"]}
)

# %% [markdown]
# That is one run of each protocol, and so is the table below. Under eager, **watch for** the two lines that run through all the rows, one soon after `consumer-17` has left and one when it is back.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import chart

chart(fifty["eager"], since_s=45, until_s=57)

# %%
from rebalance_kit.notebook import twin

twin(fifty["eager"])

# %%
costs(
    fifty,
    "partitions unread",
    "unread partition-seconds",
    "hand-overs",
    "given back",
    "elsewhere at the end",
    "longest gap of a partition",
)

# %% [markdown]
# What the table shows, including the points in eager's favour:
#
# - **Eager** touches all 500 partitions, twice (once for the leave, once for the join); the gaps of the healthy members are short
#   because all of them are quick. Add one slow callback, and section 3 happens to 500 partitions.
# - **Cooperative** and **KIP-848** touch the ten partitions of the restarted member and the ten that it is given afterwards. (The two sets may share a partition. Under KIP-848 they do, so 19 are unread; the shared one ends where it was, so 18 move.)
# - Under every protocol the restarted member's partitions go unread until the others hear that it left. (Under eager that is the longest gap.)
# - *Hand-overs* count every change of reader: eager has by far the most. *Elsewhere at the end* compares the end with the beginning. Range assigns in the same way whenever the member ids sort in the same order, as they do here when `consumer-17` is back, so nothing seems to have moved. The sticky
#   assignors spread the leaver's ten partitions over the others and, when it is back, take one partition from each member
#   that has one too many, seldom the very one that had come from it; nothing makes them restore the old shares.
#
# In a rolling deploy this happens once per consumer: fifty times. Here is a rolling restart of only three consumers, each away for five seconds, without and with static membership (a `group.instance.id` each, back before the session
# expires):

# %%
from rebalance_kit.notebook import across

restarts = ["rolling-restart", "rolling-restart-static"]
print(across(restarts, "rebalances"))
print(across(restarts, "unread"))

# %% [markdown]
# (Cooperative usually needs three rebalances for each restart: one for the leave, two for the join.) With static membership there is no rebalance at all. The price is that a restarted member's partitions stay unread until it is back, because nobody takes
# them over; here that costs *more* unread partition-seconds than the rebalances of dynamic members under eager or cooperative, and about as many as under KIP-848. Whether it is better depends on how long your restarts take and on how large your group is.
#
# ## 5 What is read twice
#
# No protocol removes duplicates: what an owner had read since its last commit, the next owner reads again.

# %%
across(["join", "leave", "crash", "poll-timeout", "freeze"], "records redelivered")

# %% [markdown]
# In planned changes (join, leave) members commit before giving partitions up (auto-commit on), so almost nothing is read twice. (A cooperative member commits before it
# rejoins and reads on until it revokes. The new owner reads again what came in between.) After an unplanned change,
# everything since the last commit is read again, under any protocol: up to five seconds of records (`auto.commit.interval.ms`), here ten per second and partition. The *freeze* adds something: a classic consumer that thaws can still fetch records that others have processed and hand them to the application, before it learns that it was removed. A KIP-848 client usually learns it sooner, but nothing in its `poll()` waits for the heartbeat's answer, so it is a race. (In our three recordings of a freeze with the 4.3.1 Java client 480 and 460 records came twice in the classic groups and 44 in the KIP-848 group; in the one with librdkafka under KIP-848 it was 472. One run each.)
#
# ## In one table
#
# | event | what decides the gap | does the protocol matter? |
# |---|---|---|
# | crash | session timeout minus the age of the last heartbeat (classic: or commit) | for the dead member's partitions: no. For all others: eager stops them too |
# | healthy join | eager: one round for all; cooperative: one heartbeat interval for what moves; KIP-848: up to one interval for what moves | yes: many short gaps or few long ones |
# | leave (close) | the survivors' next heartbeat | yes: eager stops all partitions; under KIP-848 the gap is longer, because the survivors' heartbeats come every 5 s |
# | one slow member | its callback, or its poll loop | very much: under eager all wait for it |
# | rolling restart | dynamic members: a leave and a join for each; static members: how long each restart takes | dynamic members: yes. Static members that return in time: no |
#
# ## Try it
#
# - Open any of these runs in the lab, freeze a member at the wrong moment, and press **Compare** (V): three columns on one clock, from the same actions.
# - **Settings** changes a timeout for all members; if Kafka refuses a value, its field says so in Kafka's own words. Give a crash a
#   session timeout of 10 s (a KIP-848 client refuses that key: its column keeps the 45 s of the broker). Which rows of the cost table change?
# - **Copy link** gives a token that rebuilds what you see. Send it to a colleague who says that eager is always worse.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("slow-callback", "eager", at_ms=46_000)

# %% [markdown]
# <details><summary>Answer</summary>
#
# With a session timeout of 10 s a classic group detects the crash 35 s earlier (the KIP-848 group as late as before), and the dead member's partitions are read again about as much earlier (how soon after the detection
# depends on the survivors' next heartbeats). So *fault detected*, *settled*, the longest gap, the unread partition-seconds and the greatest lag all shrink. These stay the same: how many partitions go unread, how many move, and how many records come
# twice. Under eager the healthy members still stop for an instant only.
#
# </details>
#
# ## Check yourself

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("three-protocols")

# %% [markdown]
# ## Recap card
#
# - A crash costs the three protocols about the same; the session timeout decides.
# - In a healthy join, eager has the shortest gap per partition, but every partition has one.
# - Eager's real price is breadth, and that all wait for the slowest.
# - Duplicates come from the commit policy and the kind of event. The protocol matters most where a frozen member wakes up: in our draws, and in our recording of the 4.3.1 Java client, KIP-848 repeated far fewer records; librdkafka did not.
# - One run is one draw: compare medians and middle halves.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("05")
