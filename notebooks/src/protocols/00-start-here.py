# %% [markdown]
# # 00 · Start here
#
# **10 minutes.** Exams: CCDAK *Fundamentals*, CCAAK *Fundamentals*.
#
# After this notebook you can
#
# - say what a consumer group rebalance is, to somebody who has never heard of Kafka;
# - crash a consumer in the lab and read what happens to every partition;
# - name the three ways in which Kafka can rebalance a group.
#
# Run the cells from top to bottom (**Shift + Enter** runs one and moves on). Each picture is followed by the same
# facts in words. Whenever a question stands before a cell, answer it *before* you run the cell: a guess that turns
# out wrong is the quickest way to learn.

# %% [markdown]
# ## Is everything here?

# %%
import io

from rebalance_kit.doctor import run_doctor

details = io.StringIO()
run_doctor(details)
print(details.getvalue().splitlines()[-1])

# %% [markdown]
# *Try it:* `print(details.getvalue())` in a cell of your own lists each package, and what a missing one disables.
# Nothing in notebooks 00 to 05 needs Java, Docker or a broker: all runs are simulated by an engine that exchanges
# the messages Kafka's brokers and clients exchange, in Kafka 4.3 unless a cell says otherwise.

# %% [markdown]
# ## Four waiters, sixteen tables
#
# A restaurant has sixteen tables and four waiters, four tables each. In the middle of the evening Dan tells the
# shift manager that he is sick and goes home. His four tables need another waiter. There are two ways to go on:
#
# 1. **Everybody drops everything.** All waiters leave their tables and meet, somebody writes a new plan for all
#    sixteen tables, and then everybody starts again. Simple, and nobody eats meanwhile.
# 2. **Only the orphaned tables move.** Ana, Ben and Chloe go on serving; only Dan's four tables get a new waiter.
#
# | restaurant | Kafka |
# |---|---|
# | a table | a **partition**: at any time it has one waiter at most |
# | a waiter | a **consumer**, member of a consumer group |
# | all waiters of the evening | the **consumer group** |
# | the shift manager | the **group coordinator**, one of the brokers |
# | who serves which table | the **assignment** |
# | making a new plan and moving to it | a **rebalance** |
# | "I am sick, I go home" | the consumer is closed and sends **LeaveGroup** |
# | a waiter who faints in the cellar | a **crash**: nobody says anything, so nobody knows |
#
# ### Predict
#
# Dan says that he leaves. How many of the sixteen tables have nobody for a moment, under each of Kafka's three ways
# to rebalance? Write numbers in place of `None`.

# %%
guess = {"eager": None, "cooperative": None, "consumer": None}

# %%
from rebalance_kit import metrics, three
from rebalance_kit.notebook import beside, story

restaurant = three("restaurant")
print(beside(guess, {way: metrics(run).partitions_unread for way, run in restaurant.items()}))

# %% [markdown]
# *Eager* is the first way; *cooperative* and *consumer* (the protocol of KIP-848) are two versions of the second.
#
# **Watch for** the grey band at the bottom, *No owner*. Press **Play**, or drag the slider.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import flow_figure, show

show(flow_figure(restaurant["eager"]), "")

# %%
print(story(restaurant["eager"]))

# %% [markdown]
# Now the same evening under the cooperative protocol. **Watch for** the tables that do *not* move.

# %% tags=["nbval-ignore-output"]
show(flow_figure(restaurant["cooperative"]), "")

# %%
print(story(restaurant["cooperative"]))

# %% [markdown]
# Compare the two lists of gaps before you go on. Eager stops *all* tables, but the healthy waiters' tables only for
# an instant; cooperative stops just Dan's four. Which of the two is worse depends on what a
# stop costs you and on the slowest waiter. Notebooks 02, 03 and 05 are about that.

# %% [markdown]
# ## The lab: two consumers, four partitions
#
# This is the lab. Two consumers share the four partitions of the topic `orders`, and nothing has happened yet.
#
# 1. Select the first consumer and press **Crash**. The lab plays what follows.
# 2. **Watch for** the gap between the crash and the moment at which the coordinator *notices* it.
# 3. Choose **Cooperative**, then **Consumer** above the picture: the same crash, another protocol.
# 4. Open **Why**: one line a step, and the rule of Kafka behind the step at the cursor. **Logs** has the lines that a
#    broker and the consumers would write, **Messages** the requests between them; all tabs share the cursor.
# 5. Press **Undo**, then **Predict** and **Crash** once more: say first what will happen. The outcome stays hidden
#    until you press *Lock in*.
#
# The bar at the foot of each partition is the queue of records that wait for a reader. Every button has a key; **?**
# lists them. The title opens the other lessons.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab(at_ms=20_000)

# %% [markdown]
# Everything that the buttons do can be done in code as well, which is how a notebook can repeat it exactly. Here is
# a lab of its own, with the whole run in words.

# %%
lab = Lab(at_ms=20_000)
lab.crash("consumer-1")
print(lab.story)

# %% [markdown]
# ### Predict
#
# `consumer-2` was healthy all the time. Under eager its partitions went unread too. For how many of the four partitions
# is there a gap under the other two protocols, and is the gap of the dead consumer's partitions any shorter?

# %%
lab.protocol = "cooperative"
print(lab.story)

# %%
lab.protocol = "consumer"
print(lab.story)

# %% [markdown]
# Two things are worth remembering already:
#
# - **What differs:** under eager the healthy consumer stops as well, under the other two it never does.
# - **What does not:** the partitions of the dead consumer wait about three quarters of a minute under each of them.
#   The coordinator cannot know of a crash before the **session timeout** has passed since the last heartbeat,
#   45 seconds by default since Kafka 3.0. No protocol shortens the session timeout; the seconds by which the three runs
#   differ are the age of the last heartbeat at the moment of the crash (heartbeats come every 3 s in the classic
#   protocol, every 5 s in the consumer protocol).
#
# What matters is how a consumer goes away. A *crash* is noticed only after the session timeout; a consumer that
# *leaves* says so and is noticed at once. Check it, and compare the gaps with those of the crash:

# %%
polite = Lab(at_ms=20_000)
polite.leave("consumer-1")
print(polite.story)

# %% [markdown]
# ## One interesting failure
#
# **Freeze** a consumer instead of crashing it (a very long garbage collection), and thaw it after its session has
# ended. To the coordinator a frozen consumer is dead; to itself it has never been away. What it does in its first
# moments after the thaw is a classic source of duplicates. The lab below is the lesson about it: **play** it, and
# **watch for** the member with the question mark.

# %% tags=["nbval-ignore-output"]
Lab("freeze")

# %% [markdown]
# The same run in code:

# %%
from rebalance_kit.notebook import callbacks

frozen = three("freeze")["eager"]
print(callbacks(frozen, since_s=60))
print()
print("delivered twice:", metrics(frozen).records_redelivered, "records")

# %% [markdown]
# **Watch for** `onPartitionsLost`: the thawed consumer is told that its partitions are gone, after others have had
# them for a while. Your code must not commit them any more: another member may have gone further.

# %% [markdown]
# ## Check yourself
#
# 1. A waiter faints in the cellar. Who notices first, and by what?
# 2. Under which of the three protocols does a healthy consumer stop when another one leaves?
# 3. Why do the dead consumer's partitions wait about equally long in all three?
#
# *(1: the coordinator, by missing heartbeats for the length of the session timeout. 2: eager alone. 3: since the
# wait is for the session to end, before any rebalance begins.)*
#
# ## Recap
#
# A consumer group is a set of consumers that share the partitions of their topics; a rebalance is how the group
# agrees anew on who reads what. Eager drops everything and starts again, cooperative and the consumer protocol move
# what must move.
#
# **Next:** [01 · why rebalances happen](01-why-rebalances-happen.ipynb), every trigger fired once.
