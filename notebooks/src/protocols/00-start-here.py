# %% [markdown]
# # 00 · Start here
#
# **45 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Fundamentals*, *Troubleshooting*.
# (CCDAK and CCAAK are Confluent's certifications for developers and administrators.)
#
# After this notebook you can
#
# - explain to a colleague who has never used Kafka what a consumer group rebalance is (CCDAK Fundamentals);
# - crash, stop and freeze a consumer in the lab and read what happens to each partition (CCAAK Troubleshooting);
# - name the three ways in which Kafka rebalances a group and one difference between them (CCAAK Fundamentals).
#
# **Three paths** lead through the course, with the minutes that it takes to read them (130 words a minute; each prediction, cell and picture counted):
#
# | path | notebooks | minutes |
# |---|---|---:|
# | **three hours** | 00, 01, 03, 05, 08, 14: read, predict and look; leave labs and quizzes out | 189 |
# | **exam** | 00 to 09, 14 and 15b with labs and quizzes, then the mock exam of 16 | 541 |
# | **everything** | all of them; 10 to 12 are an elective on logs with Spark, and the exercises come on top | 685 |
#
# Five minutes for a colleague? The **cases** at the end of this notebook are one incident each.
#
# All you need to know beforehand: Kafka's servers, the *brokers*, keep *records* in *topics*; each topic is divided into *partitions*;
# *consumers* read the records.
#
# Picture a restaurant: the tables are partitions, the waiters are consumers. Dan, one of four waiters, goes home. Here are the three ways
# in which his tables get another waiter, on one clock.
#
# ![Three strips of sixteen rows, one for each protocol; red where nobody serves a table](images/three-protocols.svg)

# %% tags=["hide-input"]
from rebalance_kit.notebook import describe, one_clock, three

restaurant = three("restaurant")
describe(one_clock(restaurant, event="Dan goes home"))

# %% [markdown]
# Each row is a table, each colour a waiter, and red means that nobody serves the table. Look at the healthy waiters, Ana,
# Ben and Chloe: in the first strip they stop too, if only for a moment. In the other two they never do. The rest of this
# course explains why, and for how long.
#
# ## A phone rings at 02:47
#
# *Lag on `orders` is growing*: records are written faster than they are read. One of three pods ran out of memory. Kubernetes started it again fifteen seconds later, so
# everything should be fine. Yet **all** partitions go unread, and not only for a moment: the two healthy pods sit idle as well, their CPU
# near zero, without an error in their logs. What are they waiting for? Would restarting them help?
#
# Keep this call in mind. You will run it in notebook 01, where you also learn what to change.
#
# ## Is everything here?

# %%
from rebalance_kit.notebook import doctor

doctor()

# %% [markdown]
# (`rebalance-kit doctor` in a terminal lists each package, and what you lose without it.) Run the cells from top to bottom;
# **Shift + Enter** runs one and moves on. Notebooks 00 to 09 and 14 need no Java, Docker or broker: an engine
# simulates the clients and brokers of Kafka 4.3 and the messages by which they form a group.
#
# Below *Predict*, write your guess in place of each `None`: a number, or one of the given words in quotes, such as `"not at all"`. Run the cell, then run
# the next one, which puts the run beside your guess. (As long as every answer is `None`, what the run says stays folded.) A wrong guess is the quickest
# way to learn.
#
# ## Four waiters, sixteen tables
#
# A restaurant has sixteen tables and four waiters, who serve four tables each. In the middle of the evening Dan tells the
# shift manager that he is ill, and goes home. His four tables need another waiter. There are two ways to go on:
#
# 1. **Everybody drops everything.** All waiters leave their tables and meet, one of them writes a new plan for all
#    sixteen tables, and then everybody starts again. It is simple, and meanwhile nobody is served.
# 2. **Only the orphaned tables move.** Ana, Ben and Chloe keep serving; only Dan's four tables get a new waiter.
#
# | restaurant | Kafka |
# |---|---|
# | a table | a **partition**: it has at most one waiter at a time |
# | a waiter | a **consumer**, which is a *member* of a consumer group |
# | all waiters of the evening | the **consumer group** |
# | the shift manager | the **group coordinator**, one of the brokers |
# | who serves which table | the **assignment** |
# | making a new plan and moving to it | a **rebalance** |
# | "I am ill, I am going home" | the consumer is closed and **leaves** (it sends LeaveGroup) |
# | a waiter who faints in the cellar | a **crash**: no message is sent, so nobody knows |
# | a waiter who falls asleep on a chair | a **frozen** process: it will wake up and not know how late it is |
# | that waiter, awake, at a table that is no longer his | a **zombie** |
#
# Kafka calls the first way **eager**. The second way comes in two forms: **cooperative** (since Kafka 2.4) and **KIP-848**, the new protocol
# of Kafka 4.0, named after the Kafka Improvement Proposal that describes it. You select it with `group.protocol=consumer`.
#
# A partition that nobody reads (a table that nobody serves) is **unread**, and the time for which it is unread is a **gap**. Add up the gaps of all
# partitions and you have *unread partition-seconds*: four partitions unread for two seconds each make eight.
#
# **Watch for** the grey band *No owner* below the waiters, and for the red *unread* at the foot. Press **Play**, or drag the slider.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import flow

flow(*restaurant.values())

# %%
describe(restaurant["eager"])

# %% [markdown]
# (*16 of 16 flow* means that all sixteen tables are served. A *generation* is the number of the plan: each new plan gets the next one.
# Ana, Ben and Chloe go on serving after *rebalance begins*, until the shift manager has told them of it.)
#
# Under eager *all* tables go unserved, those of the healthy waiters only for an instant. Under cooperative and KIP-848 only Dan's four do,
# in this run for a little longer: 1.6 s and 1.8 s instead of 1.4 s. Eager is far worse as soon as one waiter is slow, because all the others wait for
# him (notebook 02).
#
# ## A waiter faints
#
# Dan said that he was leaving. A waiter who faints in the cellar says nothing. He is missed only when nobody has seen him for a
# while. Consumers send the coordinator a **heartbeat** every few seconds, and a member without heartbeats is removed when its
# **session timeout** has passed, 45 seconds by default since Kafka 3.0.
#
# ### Predict
#
# Two consumers share the four partitions of the topic `orders`. One crashes. How many of the *four* partitions are unread at some time, under each
# protocol? And for about how many seconds is the dead consumer's share unread?

# %%
from rebalance_kit.notebook import predict

guess = predict(
    {"unread, eager": None, "unread, cooperative": None, "unread, KIP-848": None, "seconds": None},
    within={"seconds": 5},
)
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import metrics

crash = {protocol: metrics(run) for protocol, run in three("two-consumers-crash").items()}
guess.beside(
    {
        "unread, eager": crash["eager"].partitions_unread,
        "unread, cooperative": crash["cooperative"].partitions_unread,
        "unread, KIP-848": crash["consumer"].partitions_unread,
        "seconds": crash["eager"].longest_gap_s,
    }
)

# %% [markdown]
# One run is one crash at one moment. Repeat the crash a hundred times at random moments, the same moments for each protocol. Each entry is
# the median; the parentheses give the range of the middle half of the runs (no parentheses: all of that half gave the same value). The last column names the protocols
# whose ranges do not overlap. A gap *of the whole group* is time in which nobody reads anything.
#
# Of the folded rows: *hand-overs* count changes of a partition's reader; *given back* counts partitions that a member gave up and got back itself. *Elsewhere at the end* compares
# the end with the beginning; *elsewhere without need* is what could have stayed where it was, with shares of the same size. *Settled after* is the time until the group is stable again and
# every partition is read; the *greatest lag* is that of all partitions together, at its peak.

# %%
from rebalance_kit.notebook import costs, draws

costs(draws("two-consumers-crash"))

# %% [markdown]
# Two things are already worth remembering:
#
# - **What differs:** under eager the healthy consumer stops as well, for an instant, so all four partitions have a gap. Under the
#   other two it never stops.
# - **What does not differ:** the dead consumer's partitions are unread for about three quarters of a minute under each protocol, because
#   everyone waits for the session to expire; only then does a rebalance begin. Runs differ by a few seconds. The older the last heartbeat
#   was at the crash, the sooner the session expires. The survivor hears of it at its own next heartbeat, so a gap can be longer than 45 s. (Heartbeats come every 3 s in the classic protocol, on which eager and cooperative run,
#   and every 5 s under KIP-848.)
#
# ## The lab
#
# This is the lab: two consumers, four partitions, and at second 20 the first consumer crashes. Each consumer has a lane with a disc (the process)
# and the squares of its partitions.
#
# 1. Press **Play**, and **watch for** how long it takes until the coordinator *notices* the crash.
# 2. Choose **Cooperative**, then **Consumer** (that is KIP-848) above the picture: the same crash, another protocol.
# 3. Open **Why**: it quotes the Kafka rule behind the step at the cursor, the moment that the picture shows. **Logs** has the lines that the broker and the consumers would write,
#    **Messages** the requests between them. All tabs share the cursor.
# 4. Press **Undo** until nobody has crashed. Choose **Predict**, select a consumer and press **Crash**. This time the lab first asks what will happen; the outcome stays hidden
#    until you press *Lock in*.
#
# The bar below each partition is the queue of records that wait for a reader. Every button has a key; **?**
# lists them. The title opens the other lessons.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

lab = Lab(at_ms=20_000)
lab.crash("consumer-1")
lab

# %% [markdown]
# What a button does, code can do as well, so a notebook can repeat it exactly. This time the consumer is closed properly: it **leaves**.
#
# ### Predict
#
# For about how long are its partitions unread now, under eager? (Heartbeats come every 3 s, and the session timeout is 45 s.)

# %%
guess = predict({"unread for": None}, options=["not at all", "at most 3 s", "about 45 s"])
guess

# %% tags=["answer"]
lab = Lab(at_ms=20_000)
lab.leave("consumer-1")
guess.beside({"unread for": "at most 3 s" if metrics(lab.trace).longest_gap_s <= 3 else "about 45 s"})

# %%
describe(lab)

# %% [markdown]
# What matters is how a consumer goes away. A crash is noticed only after the session timeout; a consumer that leaves says so and is
# noticed at once. The other consumer still has to hear of it, and it hears at its next heartbeat.
#
# ## One interesting failure
#
# A waiter falls asleep on a chair. He does not serve and does not report, so after the session timeout the manager gives his tables to others. Then he wakes
# up. As far as he knows, he has never been away. In a process, that is a very long GC pause (the garbage collector stops all threads) or a suspended virtual machine.
#
# ### Predict
#
# Kafka's Java client tells the application about its partitions in three callbacks: `onPartitionsAssigned` (you got these),
# `onPartitionsRevoked` (you are about to give these up), and `onPartitionsLost`. Three consumers share six partitions under eager, and `consumer-2` freezes for
# a minute. Which callback does it hear first when it wakes at second 91?

# %%
guess = predict({"first callback": None}, options=["assigned", "revoked", "lost"])
guess

# %% tags=["answer"]
from rebalance_kit.notebook import callbacks, first_callback, run

frozen = run("freeze", "eager")
guess.beside({"first callback": first_callback(frozen, "consumer-2", since_s=80)})

# %%
callbacks(frozen, since_s=80)

# %% [markdown]
# **Lost**: its partitions went to others when its session expired, in generation 2. The sleeper missed that generation, so the first row still says 1. It must no longer commit
# offsets for them (a committed *offset* says how far a group has read a partition), because the new owner may have read further. Before `onPartitionsLost` runs, it may still fetch records
# and pass them to the application, although the new owner has processed them in the meantime. Those records are processed twice. (The other rows are the eager rebalance that its return starts.)
#
# Now **play** the lesson and **watch for** the member with the question mark: the zombie.

# %% tags=["nbval-ignore-output"]
Lab("freeze")

# %% [markdown]
# ## Check yourself
#
# **1.** A waiter faints in the cellar. Who notices first, and how?
#
# <details><summary>Answer</summary>
#
# The coordinator, when no heartbeat has arrived for the session timeout.
#
# </details>
#
# **2.** Under which of the three protocols does a healthy consumer stop when another one leaves?
#
# <details><summary>Answer</summary>
#
# Only under eager. Cooperative and KIP-848 move what the leaver had and nothing else.
#
# </details>
#
# **3.** Why are the dead consumer's partitions unread for about equally long under all three?
#
# <details><summary>Answer</summary>
#
# Because everyone waits for the session to expire; only then does a rebalance begin, and no protocol shortens that wait. The remaining differences
# come from heartbeats: how old the dead consumer's last one was, and how soon the survivor sends its next one.
#
# </details>
#
# ## Recap card
#
# - A consumer group shares the partitions of its topics; a rebalance is how it agrees again on who reads what.
# - **Eager**: all members drop all partitions and start again. **Cooperative** and **KIP-848** move only what has to move.
# - A *leave* is announced and noticed at once. A *crash* is noticed when the session timeout has passed (45 s by default).
# - A consumer that wakes up too late is told `onPartitionsLost`: do not commit.
#
# ## The course
#
# Below the list: cases to send to a colleague, one incident, one surprise and one fix each.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import course_map

course_map()

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import case_map

case_map()

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("00")
