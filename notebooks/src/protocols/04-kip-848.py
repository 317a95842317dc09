# %% [markdown]
# # 04 · KIP-848: the broker decides
#
# **35 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Fundamentals*, *Observability*.
#
# After this notebook you can
#
# - explain the three epochs, and what *reconciliation* means (CCDAK Fundamentals);
# - follow one partition from its old owner to the new one, heartbeat by heartbeat (CCAAK Observability);
# - explain why only the partitions that a slow member holds wait for it (CCAAK Fundamentals);
# - predict how long a moving partition is unread (CCDAK Application Development).
#
# KIP-848 has been generally available since Kafka 4.0. Clients ask for it with one line, `group.protocol=consumer`. This notebook shows the
# mechanism; the next one, 04b, is about settings, versions and mixed groups.
#
# ## What is gone, what is new
#
# | classic (eager, cooperative) | KIP-848 |
# |---|---|
# | JoinGroup, SyncGroup, Heartbeat, LeaveGroup | one request: **ConsumerGroupHeartbeat** |
# | the leader, a client, computes the assignment | the **coordinator** computes it, by default with the assignor `uniform` |
# | a barrier: everybody waits for everybody | no barrier: each member moves independently |
# | generation | **group epoch**, **target epoch**, **member epoch** |
#
# - **group epoch**: a counter that goes up when members, subscriptions or partitions change. (A static member that is back before its session expires changes nothing.)
# - **target epoch** (in Kafka: assignment epoch): the group epoch for which the current target assignment was computed. The **target
#   assignment** says what each member *should* own.
# - **member epoch**: the target epoch up to which this member has given up what it had to. It may still wait for partitions.
#
# Think of the shift manager, who now writes the plan. Each plan has a number; each waiter reports every few seconds, hears
# what to do next, and works towards the plan at his own pace.
#
# ## One join, message by message
#
# Two members share six partitions; a third one joins.

# %%
from rebalance_kit import scenario

third_joins = scenario("""
scenario: third-joins
title: A third consumer joins
topics: {orders: 6}
end: 60s
configs: {auto.offset.reset: earliest, group.protocol: consumer}
members:
  - {count: 2, prefix: consumer-, start: {about: 3s, within: 3s}, topics: [orders]}
  - {name: consumer-3, topics: [orders], start: {about: 33s, within: 3s}}
""")

# %% [markdown]
# ### Predict
#
# How many partitions go unread, and how many change hands?

# %%
from rebalance_kit.notebook import predict, run

guess = predict({"partitions that were unread": None, "partitions that move": None})
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import metrics

join = run(third_joins)
cost = metrics(join)
guess.beside(
    {"partitions that were unread": cost.partitions_unread, "partitions that move": cost.partitions_moved}
)

# %% [markdown]
# **Watch for** the epochs that members send and get. A heartbeat with epoch 0 is a request to join. After that, a heartbeat that
# lists owned partitions is an **acknowledgement**: "this is what I own now".

# %% tags=["nbval-ignore-output"]
from rebalance_kit import messages

talk = messages(join, since_s=33, until_s=39)
talk

# %%
from rebalance_kit.notebook import twin

twin(talk)

# %% [markdown]
# ## Three epochs
#
# The state of the group follows from the epochs and from what members wait for: **Assigning** while the target is behind the group epoch, **Reconciling**
# while some member is behind the target or waits for a partition, **Stable** when each member is at the target and waits for nothing.

# %%
from rebalance_kit.notebook import epochs

epochs(join, since_s=30)

# %% [markdown]
# Read the table from top to bottom:
#
# 1. The join bumps the group epoch, and the target is computed at once, inside the newcomer's heartbeat.
# 2. The newcomer is at the new epoch straight away, with *nothing*: its share still belongs to others.
# 3. Each old owner hears at its own next heartbeat what it has to give up. Its epoch stays behind until it has acknowledged.
# 4. The newcomer gets what is free at *its* next heartbeat. Just before that, all epochs are 4, and the group is still Reconciling.
#
# (Why is the group at epoch 3 before the join? Since Kafka 4.3 a new group starts at 1, and each of the two members bumped the epoch when it joined. In
# older versions a group starts at 0.)
#
# ## The states of a member
#
# A KIP-848 client is a state machine of its own. JOINING, RECONCILING, ACKNOWLEDGING and STABLE are the healthy way round: it is told something new, gives up and takes, says so, and is done. FENCED and STALE are
# the two ways to lose everything: the coordinator has removed it, or it has not polled in time. The picture is drawn from the engine's own table.
#
# ![The states of a KIP-848 member's client](images/kip-848-member.svg)
#
# ## Target and current
#
# The way from what a member owns to what it should own is **reconciliation**, and each member does it independently. Here are three moments of this run: just
# after the target was computed, when the coordinator answers the first old owner, and at the end.

# %%
from rebalance_kit.notebook import target_beside_current

target_beside_current(join, "target")

# %%
target_beside_current(join, "first revocation")

# %%
target_beside_current(join, "end")

# %% [markdown]
# **UNREVOKED_PARTITIONS**: the coordinator has told the member to give something up, and the member has not yet acknowledged that it did. **UNRELEASED_PARTITIONS**: it
# waits for something that another member still holds. **STABLE**: neither; that is why `consumer-1` is STABLE in the first two tables, although its target is smaller: it has not been told yet.
#
# (*Current* is what the coordinator counts as the member's. In the second table `orders-5` is no
# longer in it, although `consumer-2` reads on until the answer reaches it. `kafka-consumer-groups` of 4.3 lists it under CURRENT-ASSIGNMENT until the acknowledgement: notebook 14.)
#
# ## The callbacks

# %%
from rebalance_kit.notebook import callbacks, states

callbacks(join, since_s=30)

# %% [markdown]
# As under cooperative: `onPartitionsRevoked` gets what leaves; `onPartitionsAssigned` gets what is new, even if that is nothing.
# The old owners' calls still show epoch 3, because epoch 4 comes only with the answer to the acknowledgement.
#
# **Watch for** the partitions that leave one lane seconds before they arrive in another.

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import chart

chart(join, since_s=31, until_s=42)

# %%
from rebalance_kit.notebook import describe

describe(join)

# %%
states(join, since_s=25)

# %% [markdown]
# Compare the last state with the last callback. The group reads Stable at 38.264 s, when the coordinator has *handed out* the last partitions. The
# newcomer starts with them at 38.316 s. So Stable means "handed out", not "being read".
#
# ## Myth: "KIP-848 moves partitions at once"
#
# The broker pushes nothing. A move waits for the old owner's heartbeat, and then for the new owner's. The gap begins when the old owner hears of it: it stops fetching, commits and
# calls `onPartitionsRevoked`. So the gap lasts at most one heartbeat interval, plus the callbacks, plus up to a second until the new owner's first record. How much of the interval it takes is a matter of chance, so look at a hundred joins.
#
# ### Predict
#
# The broker's interval is 5 s. The longest gap of a join is 4.1 s in the median. What is it with an interval of 10 s?

# %%
from rebalance_kit.notebook import draws, spread

five = draws(third_joins, protocols=["consumer"])
guess = predict({"seconds": None}, within=1.5)
print(spread(five, "longest_gap_s"))
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import median, with_broker

ten = draws(
    with_broker(third_joins, {"group.consumer.heartbeat.interval.ms": 10_000}, end_s=90),
    protocols=["consumer"],
)
guess.beside({"seconds": median(ten, "longest_gap_s")["KIP-848"]})

# %%
spread(ten, "longest_gap_s")

# %% [markdown]
# It roughly doubles. The interval is the clock of KIP-848, and the broker sets it:

# %%
from rebalance_kit.notebook import explain

explain("group.consumer.heartbeat.interval.ms")

# %% [markdown]
# ## No barrier: a slow member delays itself
#
# The experiment of notebook 03: one of two members needs six seconds in each callback, and a third joins. Under cooperative, both partitions that
# moved were unread for twelve seconds. **Watch for** `orders-2`, which the *quick* member gives up.

# %%
describe(run("slow-callback", "consumer"))

# %% [markdown]
# `orders-2` is read again within one heartbeat interval, without waiting for the slow member. What the slow member itself gives up (`orders-5`) takes longer
# than under cooperative: it is unread while the slow member runs `onPartitionsRevoked` and `onPartitionsAssigned` (only then does the member acknowledge), and until the
# new owner's next heartbeat. What it keeps (`orders-3` and `orders-4`) goes unread during its callbacks, as in notebook 03.
#
# ## Try it: one interesting failure
#
# A third member has just joined, and `consumer-2` will have to give something up. **Freeze** `consumer-2` now.
#
# 1. Who waits for it, and for how long? **Members** shows the target of each member beside what it owns.
# 2. Press **Undo**, choose **Eager** and freeze it again. Who waits now?

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab(third_joins, "consumer", at_ms=33_300)

# %% [markdown]
# <details><summary>Answers</summary>
#
# 1. Only the newcomer, and only for the one partition that the frozen member holds and should give up. It gets its other partition from `consumer-1` within
#    seconds. The frozen member's partitions are unread until its session expires, 45 s after its last heartbeat, and then until the new owners' next heartbeats.
# 2. Everyone. `consumer-1` has given everything up and waits, with the newcomer, until the frozen member's session expires: more than forty seconds without a
#    single record.
#
# </details>
#
# ## Check yourself
#
# **1.** A group has group epoch 7, target epoch 7, and members at 7, 7 and 6. What state is it in, and what is missing?
#
# <details><summary>Answer</summary>
#
# Reconciling. The third member has not sent a heartbeat since the target was computed, or has not yet acknowledged what it must give up.
#
# </details>
#
# **2.** A newcomer has member epoch 7, equal to the group's, and owns nothing. Is something wrong?
#
# <details><summary>Answer</summary>
#
# No. Its share still belongs to others (UNRELEASED_PARTITIONS). It gets each partition at one of its own heartbeats after the old owner has released it.
#
# </details>
#
# **3.** Under KIP-848 one member needs a minute to give up a partition. What do the others do in that minute?
#
# <details><summary>Answer</summary>
#
# They keep reading, and receive whatever else is free. They wait for that partition alone.
#
# </details>
#
# ## Recap card
#
# - The group epoch counts changes; the target epoch says for which change the assignment was computed.
# - The member epoch says how far a member has got. All equal, and nobody waits for a partition: Stable.
# - One request, ConsumerGroupHeartbeat, carries joins, assignments and acknowledgements; the broker pushes nothing, so the heartbeat interval is the clock.
# - No barrier: others wait only for what a slow member gives up. What it keeps goes unread during its callbacks.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("04")
