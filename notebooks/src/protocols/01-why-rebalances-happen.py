# %% [markdown]
# # 01 · Why rebalances happen
#
# **55 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*, *Observability*; CCAAK *Fundamentals*,
# *Troubleshooting*, *Cluster Configuration*, *Observability*.
#
# After this notebook you can
#
# - list the events that make a group rebalance, with the usual root cause of each (CCAAK Troubleshooting);
# - list events that people *think* cause a rebalance but that do not (CCDAK Fundamentals);
# - read the reason that the coordinator of a classic group logs, in Kafka's own words (CCAAK Observability);
# - explain the call at 02:47 from notebook 00 (CCAAK Troubleshooting).
#
# ## What makes a group rebalance?
#
# These terms are used throughout:
#
# - A **dynamic member** is the normal case: each new process gets a new *member id*. A **static member** has a
#   `group.instance.id`, so that a restarted process can be recognised.
# - The **leader** of a classic group (eager, cooperative) is one of its consumers. It computes the assignment for all members.
# - **Eager** and **cooperative** run on the *classic protocol*, in which every new plan is a **generation**. **KIP-848** counts
#   **group epochs** instead: the epoch goes up by one whenever the members, their subscriptions or the partitions change.
#
# A consumer has to call `poll()`, which returns its records, at least once per `max.poll.interval.ms`: five minutes by default.
#
# ### Predict
#
# Which of these make the group rebalance?

# %%
from rebalance_kit.notebook import predict

guess = predict(
    {
        "a broker is restarted": None,
        "a consumer works for a minute without calling poll(), default settings": None,
        "a static member restarts and returns in time": None,
        "an administrator adds partitions": None,
        "a crashed consumer is started again": None,
    },
    options=["yes", "no"],
)
guess

# %% [markdown]
# Keep your answers; they are checked at the end.
#
# ## The trigger table
#
# A group has to agree again whenever one of three things changes: **who** is in it, **what** its members subscribe to,
# or **how many partitions** there are.
#
# | event | why the group must act | usual root cause | scenario |
# |---|---|---|---|
# | a member joins | it must be given partitions | start-up, autoscaling, the second half of a restart | `join` |
# | a member leaves | its partitions need an owner; the member announces that it goes (LeaveGroup) | rolling deploy, scale-down, `close()` | `leave` |
# | a member crashes | its partitions need an owner; its session has to expire first | out of memory, node loss, network partition | `crash` |
# | processing takes too long | the member has not called `poll()` for `max.poll.interval.ms`, so its partitions need another owner | slow database or API, batches too large | `poll-timeout` |
# | a member comes back | a new process is a new member | Kubernetes or systemd restarts it | `recovered-member` |
# | a subscription changes | some members may now read other topics | `subscribe()` with other topics in a new version of the code | `subscription-change` |
# | a pattern matches other topics than before | as above, though no code has changed | a topic was created | `regex-surprise` |
# | a topic is deleted | its partitions are gone; before that, eager members with auto-commit may read *nothing* for up to `max.poll.interval.ms` (notebook 15) | clean-up | `defect-deleted-topic-hangs` |
# | partitions are added | the new ones need an owner | an administrator ran `kafka-topics --alter --partitions` | `partitions-added` |
#
# We trigger each event once, and then some that do **not** make a group rebalance.
#
# ## 1 A member joins
#
# **Watch for** the reason, in the words of the broker's log line "Preparing to rebalance group ...":

# %%
from rebalance_kit.notebook import reasons, run

reasons(run("join", "eager"), since_s=30)

# %% [markdown]
# The newcomer asks to join *twice*. Its first request has no member id; the coordinator answers with one
# (`MEMBER_ID_REQUIRED`), and the consumer asks again with it. That is why the reason says "need to re-join with the given member-id".
# Under KIP-848 there is no such round trip and no group-wide rebalance phase; the group epoch goes up by one. (The broker's line
# about the new epoch names no reason; the one below is our wording. This fourth join brings epoch 5 because a group starts at epoch 1: notebook 04.)

# %%
reasons(run("join", "consumer"), since_s=30)

# %% [markdown]
# ## 2 A member leaves
#
# `close()` of a dynamic member calls `onPartitionsRevoked` and sends LeaveGroup, so the group does not have to wait for a session to expire. With
# `enable.auto.commit=true` (the default) it commits first. If you commit yourself, commit before `close()` or in
# `onPartitionsRevoked`; otherwise the next owner reads again what you had already processed. **A static member of a classic group sends no LeaveGroup** (unless
# `close()` is told to send one, since 4.1): it is expected back, and until its session expires its partitions stay with it.

# %%
from rebalance_kit.notebook import gaps

leave = run("leave", "cooperative")
print(reasons(leave, since_s=30))
print(gaps(leave))

# %% [markdown]
# The leave was announced, and still the partitions of `consumer-2` go unread for a moment: the survivors hear of it at their next heartbeat, not before. (Why did
# `consumer-2` have every third partition? The *assignor*, the rule that distributes the partitions, hands them out one by one in the cooperative runs of this
# notebook and in blocks in the eager ones: notebooks 02 and 06.)
#
# ## 3 A member crashes
#
# ### Predict
#
# A consumer dies at a random moment. Heartbeats come every 3 s, and the session timeout is 45 s. How many seconds later does the
# coordinator act, at the earliest and at the latest?

# %%
guess_crash = predict({"earliest": None, "latest": None}, within=1)
guess_crash

# %% tags=["answer"]
from rebalance_kit import metrics
from rebalance_kit.notebook import draws

crashes = draws("crash", protocols=["cooperative"])
detected = crashes.distribution(lambda each: each.detect_s, "cooperative").values
guess_crash.beside({"earliest": detected[0], "latest": detected[-1]})

# %%
crash = run("crash", "cooperative")
reasons(crash, since_s=30)

# %% [markdown]
# The session expired: `session.timeout.ms` (45 s since Kafka 3.0, 10 s before) had passed since the last heartbeat, which can be up to 3 s old at a crash. A lost node, a process
# killed by the kernel and a cut network cable look the same to the coordinator: no heartbeat arrives. (They differ for the records: a consumer that has only lost the coordinator reads on until it hears of its removal, and the next owners read the same records again. The lesson *A consumer is cut off from the coordinator* plays it.)
#
# **Look at** the long bar *owner dead, frozen or busy*: during that time nobody knew that the consumer was dead. (Notebook 02 explains the records
# that *come twice*.)

# %% tags=["nbval-ignore-output"]
from rebalance_kit.notebook import chart

chart(crash)

# %%
from rebalance_kit.notebook import describe

describe(crash)

# %% [markdown]
# ## 4 Processing takes too long
#
# One consumer waits 20 s for a database. To see the effect quickly, `max.poll.interval.ms` is set to 12 s here; the default is five
# minutes. Its heartbeats come from a background thread, so the database does not delay them.
#
# ### Predict
#
# What ends its membership: the coordinator, or the client itself?

# %%
guess_slow = predict({"who ends it": None}, options=["coordinator", "client"])
guess_slow

# %% tags=["answer"]
from rebalance_kit.notebook import removals

slow = run("poll-timeout", "eager")
guess_slow.beside({"who ends it": "client" if "leave" in removals(slow, since_s=30) else "coordinator"})

# %%
removals(slow, since_s=30)

# %% [markdown]
# The client itself: it notices that `poll()` has not been called in time and sends LeaveGroup. (Had the coordinator removed it, the line would
# say *heartbeat expiration*, as in section 3.) The broker's line "Preparing to rebalance" speaks of a *leave*, and only another line quotes the client's
# reason (since Kafka 3.2). A higher `session.timeout.ms` changes nothing. What helps is a higher
# `max.poll.interval.ms`, or less work per `poll()` (`max.poll.records`). When the consumer is done, it joins again, so one slow batch causes two rebalances:

# %%
reasons(slow, since_s=30)

# %% [markdown]
# ## 5 A member comes back: the call at 02:47
#
# A crashed consumer is started again 15 s later, well before its old session expires. Surely that helps?
#
# ### Predict
#
# Of the six partitions, two belonged to the dead consumer. For about how many seconds are the other *four* unread, under eager?

# %%
guess_back = predict({"seconds": None}, within=5)
guess_back

# %% tags=["answer"]
from rebalance_kit.notebook import costs, median

many = draws("recovered-member")
guess_back.beside({"seconds": median(many, "group_gap_s")["eager"]})

# %%
costs(many, "longest gap of the whole group", "partitions unread", "longest gap of a partition", "unread")

# %% [markdown]
# To the coordinator the new process is a stranger, because a dynamic member gets a new id each time its process starts. The stranger's join starts a
# rebalance. Under eager, the healthy members give everything up and join; then all of them wait for the *dead* id, whose session is still
# running. (They wait for less than 45 − 15 seconds: at the crash the session had already been running since the last heartbeat, and the wait begins only when the stranger has
# joined and the healthy members have heard of it.) That is what the healthy pods were waiting for at 02:47: the restarted pod was fast, and so it started a rebalance that could not end before
# the old session did. Had it come back after the session had expired, there would have been two rebalances, one for the expired session and one for the join, and each would have
# stopped the healthy pods for a fraction of a second.
#
# What can you change? Under cooperative or KIP-848 the healthy pods would have kept reading, as the table shows. With a `group.instance.id` the
# restarted pod takes its old place without a rebalance (see *A static member returns in time* below).
#
# Look at the gaps of one such run under KIP-848. One healthy member's partition goes unread too, for another reason: it was **moved**
# to the newcomer (again called `consumer-2`, under a new member id), which was given a share at once. The coordinator counted four members then, the dead one among them, and
# distributed the partitions among all four; when the dead one's session ended, it distributed them again. The longest gap is longer here, because a freed partition also waits
# for its new owner's next heartbeat; in a classic group all members are already waiting in the rebalance.

# %%
gaps(run("recovered-member", "consumer"))

# %% [markdown]
# The lab below opens the case under eager. Move the cursor through the wait: the bold line above the picture names the member the group is waiting for, the Joined badges show
# who has rejoined, and **Why** quotes the rule. Then go back to a moment before the restart and crash another consumer. An action
# taken earlier in time starts a new branch; the old one is kept, and **History** (H) compares them.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("recovered-member", "eager")

# %% [markdown]
# <details><summary>What the second crash does</summary>
#
# Crash `consumer-1` three seconds before the restart, and the group waits for *two* dead ids. The one healthy pod that is left reads nothing for 39 s, not 27 s: until the
# later of the two sessions has ended. Every crash in a join phase prolongs it.
#
# </details>
#
# ## 6 A subscription changes
#
# `consumer-2` subscribes to a second topic. A member of a classic group rejoins at once. Under KIP-848 the member reports the change with its next
# heartbeat, up to 5 s later:

# %%
print(reasons(run("subscription-change", "eager"), since_s=30))
print(reasons(run("subscription-change", "consumer"), since_s=30))

# %% [markdown]
# A consumer can also subscribe to a *pattern*, a regular expression such as `orders-.*`. A new topic that matches it changes the subscription, though no code
# has changed, as soon as a member refreshes its *metadata* (its copy of the list of topics and partitions). Here is a complete
# scenario, in which each member refreshes its metadata every ten seconds; the built-in scenarios are written the same way:

# %%
pattern = """
scenario: pattern
title: A topic appears that a pattern matches
topics: {orders-eu: 4}
end: 60s
configs: {metadata.max.age.ms: 10000}
members: {count: 2, prefix: consumer-, topics: [], pattern: "orders-.*"}
actions: [{at: 30s, do: create_topic, topic: orders-us, partitions: 2}]
"""
from rebalance_kit import scenario

reasons(run(scenario(pattern), "eager"), since_s=20)

# %% [markdown]
# ## 7 Partitions are added
#
# ### Predict
#
# An administrator adds partitions. Who starts the rebalance of a classic group: any consumer, the leader, or the coordinator?

# %%
guess_added = predict({"who starts it": None}, options=["any consumer", "leader", "coordinator"])
guess_added

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import three

added = three("partitions-added")
why = reasons(added["eager"], since_s=20)
guess_added.beside({"who starts it": "leader" if "Leader" in why else "any consumer"})

# %%
why

# %% [markdown]
# The partitions had been added at second 32. Among Java consumers the **leader** alone compares the numbers of partitions, whenever it refreshes its metadata. (In librdkafka any member does, and joins again.) It does so every `metadata.max.age.ms`: five minutes by default, ten seconds
# in this scenario. (The pattern of section 6 is evaluated by each member.) Under KIP-848 the **broker** notices on its own, at the next heartbeat of any member:

# %%
reasons(added["consumer"], since_s=20)

# %% [markdown]
# Until the group has reacted, nobody reads the new partitions. (The table below does not count that, because it counts from the first time
# that a partition is read.) And what about the old ones?

# %%
costs(added, "partitions unread", "longest gap of a partition")

# %% [markdown]
# Only eager interrupts them: the four *old* partitions are given up and handed out again with the new ones. The leader gives up its own first and then waits
# until the only other member hears of the rebalance at its next heartbeat, hence the two seconds. Nothing has to be taken from a
# member, so under cooperative and KIP-848 the old partitions keep flowing.
#
# ## What does *not* make a group rebalance
#
# ### A broker goes down and comes back
#
# Each partition has a *partition leader*, the broker that serves it. (It is not the leader of a group.) When a broker goes down, others take over the partitions that it led, and, if it was the group's coordinator, this role as well. The members keep their ids; the group keeps its generation
# and its assignment, because both are stored in the topic `__consumer_offsets`. The new coordinator starts every session anew.

# %%
print("broker restart:", reasons(run("broker-restart", "eager"), since_s=20))
print("coordinator moves:", reasons(run("coordinator-failover", "eager"), since_s=20))

# %% [markdown]
# Two exceptions. A member that cannot reach the *new* coordinator for a whole session timeout is removed. And there may be *racks*, labels that say where a broker
# or a consumer runs, such as its availability zone. If the consumers of a classic group set `client.rack`, the group can rebalance, because its leader sees that the racks of the brokers that hold a copy of a partition
# (its *replicas*) have changed (up to and including 4.3). (People also say "rebalance" when partition leaders move between brokers. That has nothing to do with consumer groups.)
#
# ### A static member returns in time
#
# All members have a `group.instance.id`. One restarts and returns within its session timeout: the same name, the same partitions. The price is
# that nobody reads them in the meantime.

# %%
static = run("static-restart-in-time", "eager")
print(reasons(static, since_s=20))
print(gaps(static))

# %% [markdown]
# And if it comes back too late? Its session expires, which causes one rebalance, and its return causes another. (A static member is added at its first request, which has
# no reason yet.)

# %%
reasons(run("static-restart-too-late", "eager"), since_s=20)

# %% [markdown]
# ### A consumer is busy for longer than the session timeout
#
# `consumer-2` works for a minute without calling `poll()`. The session timeout is 45 s, but its heartbeats come from another
# thread, and a minute is less than `max.poll.interval.ms`:

# %%
from rebalance_kit.notebook import quiet, stall

# quiet: the scenario "crash" without its crash
busy = run(stall(quiet("crash"), "consumer-2", at_s=30, for_s=60), "eager")
print(reasons(busy, since_s=20))
print(gaps(busy, since_s=20))

# %% [markdown]
# No rebalance, and its four partitions went unread for a minute. Heartbeats prove that a process is alive, not that
# it makes progress.
#
# ## The scenarios in one table
#
# Rebalances (classic) or new group epochs (KIP-848) that one run of each event causes:

# %%
from rebalance_kit.notebook import fired

planned = ["join", "leave", "subscription-change", "partitions-added", "static-restart-in-time"]
unplanned = ["crash", "network-cut", "poll-timeout", "recovered-member", "regex-surprise"]
fired([*planned, *unplanned, "broker-restart", "coordinator-failover"])

# %% [markdown]
# Two things stand out. Where eager has a 1, cooperative may have a 2: when something must be taken from a living member, a cooperative change
# takes a second generation (notebook 03). And one cause may have several effects: a consumer that is too slow leaves *and* comes
# back. In `recovered-member`, the newcomer's join and the end of the old session are two epochs under KIP-848; in a classic group both fall into one rebalance. So it is in `regex-surprise`: each of the two members reports the new topic, which makes two epochs, and the first report to a classic group brings the others along.
#
# ## Your guesses

# %% tags=["answer", "hide-input"]
guess.beside(
    {
        "a broker is restarted": metrics(run("broker-restart", "eager")).rebalances > 0,
        "a consumer works for a minute without calling poll(), default settings": metrics(busy).rebalances
        > 0,
        "a static member restarts and returns in time": metrics(static).rebalances > 0,
        "an administrator adds partitions": metrics(added["eager"]).rebalances > 0,
        "a crashed consumer is started again": metrics(run("recovered-member", "eager")).rebalances > 0,
    }
)

# %% [markdown]
# ## Try it: one rebalance or two?
#
# In the lab below a consumer leaves.
#
# 1. Add a consumer right after the leave. A new process needs about a second before it asks to join. One rebalance or two? Open *Speed and step* in the playback bar (the button that ends in
#    *by event*), choose *rebalance*, and go from one to the next with *Step forward*.
# 2. Open the lessons *A pattern finds one topic too many* and *A broker bounces, and consumers know racks* from the
#    title's menu: rebalances that no application asked for. Which member started them? **Logs** shows everything that an operator would have seen.

# %% tags=["nbval-ignore-output"]
Lab("leave", "eager", at_ms=31_000)

# %% [markdown]
# <details><summary>Answers</summary>
#
# 1. Two. The survivors' heartbeats come 0.4 s after this leave, so the first rebalance is over before the new process asks. If the leave came just after their
#    heartbeats, it would be one: the request would arrive while the coordinator still waits for the survivors.
# 2. The pattern: each member evaluates the pattern itself, and the first one whose metadata shows the new topic rejoins with a changed subscription.
#    The racks: the leader, at its metadata refresh, once when the broker goes and once when it is back.
#
# </details>
#
# ## Check yourself
#
# **1.** The broker's log says that a member *left*. Nobody stopped it, and its process is still running, without an exception. What most likely happened?
#
# <details><summary>Answer</summary>
#
# `poll()` was not called for `max.poll.interval.ms`, and the client left on its own.
#
# </details>
#
# **2.** What is the difference between a crash and a leave, to the coordinator?
#
# <details><summary>Answer</summary>
#
# A leave is announced; a crash is detected only when the session expires. (A static member of a classic group does not announce that it goes.)
#
# </details>
#
# **3.** At 02:47: would restarting the two healthy pods have helped?
#
# <details><summary>Answer</summary>
#
# No. The group waits for the *dead* id, and only its session timeout ends that wait. (The Admin client cannot remove the dead member alone: it removes
# a single *static* member, but dynamic ones only all at once, the healthy ones included. With a `group.instance.id` the restarted pod takes its old place without a rebalance.)
#
# </details>
#
# **4.** A broker restarts. What does the group do?
#
# <details><summary>Answer</summary>
#
# Nothing, as long as its members reach the new coordinator within a session timeout and no rack information changes.
#
# </details>
#
# ## Recap card
#
# - Members, subscriptions, partitions: when one of these changes, the group has to agree again.
# - Crashes are detected by missing heartbeats (session timeout), slow processing by the client itself (`max.poll.interval.ms`).
# - New partitions are noticed at a metadata refresh, in Java by the leader, in librdkafka by any member; under KIP-848 by the broker.
# - A dynamic member that is restarted is a stranger; under eager, a quick restart after a crash makes the healthy members wait for the dead id.
# - Restarted brokers and static members that return in time change neither members, subscriptions nor partitions.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("01")
