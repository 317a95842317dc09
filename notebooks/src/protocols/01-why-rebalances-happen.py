# %% [markdown]
# # 01 · Why rebalances happen
#
# **25 minutes.** Exams: CCDAK *Fundamentals*, *Application Development*, *Observability*; CCAAK *Fundamentals*,
# *Troubleshooting*, *Cluster Configuration*.
#
# After this notebook you can
#
# - list the events that make a group rebalance, with the usual root cause of each;
# - list events that people *think* make it rebalance, and that do not;
# - read the reason that the coordinator of a classic group logs, in Kafka's own words.
#
# ## The trigger table
#
# A group has to agree anew whenever one of three things changes: **who** is in it, **what** its members subscribe to,
# or **how many partitions** there are.
#
# | event | why the group must act | usual root cause | fired below as |
# |---|---|---|---|
# | a member joins | it must be given partitions | start-up, autoscaling, the second half of a restart | `join` |
# | a member leaves | its partitions need an owner; it says so (LeaveGroup) | rolling deploy, scale-down, `close()` | `leave` |
# | a member crashes | its partitions need an owner; nobody says so, its session must end first | out of memory, node loss, network partition, very long garbage collection | `crash` |
# | processing takes too long | `poll()` was not called for `max.poll.interval.ms`: the client leaves by itself | slow database or API, batches too large | `poll-timeout` |
# | a member comes back | a new process is a new member | supervisor or Kubernetes restarts the container | `recovered-member` |
# | a subscription changes | who may read what has changed | `subscribe()` with other topics, a new version of the code | `subscription-change` |
# | a pattern matches another topic | as above, though no code was changed | a topic was created or deleted | written out below |
# | partitions are added | the new ones need an owner | an administrator ran `kafka-topics --alter --partitions` | `partitions-added` |
#
# We fire every one of them once, and then some that do **not** make a group rebalance.

# %%
from dataclasses import replace

from rebalance_kit import Action, Lab, gantt_figure, metrics, scenario, show, simulate, three
from rebalance_kit.notebook import beside, columns, fired, gaps, reasons, story

# %% [markdown]
# ### Predict
#
# Which of these make the group rebalance? Write `True` or `False`.

# %%
guess = {
    "a broker is restarted": None,
    "a consumer works for a minute without calling poll(), all settings default": None,
    "a static member restarts and is back in time": None,
    "an administrator adds partitions": None,
    "a crashed consumer is started again": None,
}

# %% [markdown]
# Keep your guesses; the answers are at the end.
#
# ## 1 A member joins
#
# **Watch for** the reason, in the words of the broker's log line "Preparing to rebalance group ...":

# %%
join = three("join")
print(reasons(join["eager"], since_s=30))

# %% [markdown]
# The newcomer asks to join *twice*: at first it has no member id, is given one (`MEMBER_ID_REQUIRED`), and asks again
# with it. That is why its reason says "need to re-join with the given member-id". Under the consumer protocol (KIP-848) there is no
# such round, and no *rebalance* as a phase of the whole group: the **group epoch** rises. (Its log line gives
# the new number and no reason; the words below are ours.)

# %%
print(reasons(join["consumer"], since_s=30))

# %% [markdown]
# ## 2 A member leaves
#
# `close()` of a dynamic member commits, runs the callback, and sends LeaveGroup. Nobody has to wait for a session.

# %%
leave = three("leave")
print(reasons(leave["eager"], since_s=30))
print()
print(gaps(leave["cooperative"]))

# %% [markdown]
# Even so the partitions go unread for a moment: the survivors learn of it at their next heartbeat, not before.
#
# ## 3 A member crashes
#
# ### Predict
#
# The consumer dies at about second 30 (in this run at 29.7 s), all settings at their defaults. At which second does
# the coordinator act?

# %%
crash = three("crash")
print(reasons(crash["eager"], since_s=30))

# %% [markdown]
# The reason is a **session that ended**: `session.timeout.ms` (45 s since Kafka 3.0, 10 s before) after the last
# heartbeat. A lost node, a process killed by the kernel and a cut network cable look the same to the coordinator:
# no heartbeat arrives. **Look at** the long bar *owner dead, frozen or busy*: during that time nobody knew that it was dead.

# %% tags=["nbval-ignore-output"]
show(gantt_figure(crash["cooperative"]), "")

# %%
print(story(crash["cooperative"]))

# %% [markdown]
# ## 4 Processing takes too long
#
# One consumer waits 20 s for a database; to see it quickly, `max.poll.interval.ms` is set to 12 s here (default: five
# minutes). Its heartbeats come from a background thread and are healthy all the time.
#
# ### Predict
#
# Who ends its membership: the coordinator, or the client itself?

# %%
slow = three("poll-timeout")
print(reasons(slow["eager"], since_s=30))

# %%
gone = [row for row in slow["eager"].of("member_removed") if row.at_ms > 30_000][0]
print("who:", gone.detail["name"])
print("how it was removed:", gone.detail["how"])
print("what it said:", gone.detail["reason"])

# %% [markdown]
# The client itself: it notices that `poll()` was not called, and sends LeaveGroup. So the broker's log shows a *leave*,
# not a failed heartbeat, and raising `session.timeout.ms` cures nothing: the cure is a higher
# `max.poll.interval.ms`, or less work per `poll()` (`max.poll.records`). When the consumer is done, it joins again, which is the second
# rebalance in the list.
#
# ## 5 A member comes back
#
# A crashed consumer is started again after 15 s, well before its old session ends. Surely that helps?
#
# **Watch for** how long the partitions of the *healthy* consumers go unread under eager.

# %%
back = three("recovered-member")
print(gaps(back["eager"]))

# %% [markdown]
# To the coordinator the new process is a stranger: a dynamic member gets a new id in each life. The newcomer starts a
# rebalance, the healthy members give everything up, and then all wait for the *dead* id, whose session is still
# running. The other two protocols keep the healthy ones reading:

# %%
print(gaps(back["cooperative"]))
print()
print(gaps(back["consumer"]))

# %% [markdown]
# This is the interesting failure of this notebook: a *faster* restart made it worse for eager members than no restart.
# Open it and move the cursor through the wait: the bold sentence says for whom the group waits, the seats at the
# coordinator show who has come, **Why** gives the rule. Then go back to a moment before the restart and crash somebody
# else: acting in the past makes a branch of its own, nothing is lost, and **History** (H) compares two branches.

# %% tags=["nbval-ignore-output"]
Lab("recovered-member", "eager")

# %% [markdown]
# ## 6 A subscription changes

# %%
changed = three("subscription-change")
print(reasons(changed["eager"], since_s=30))
print()
print(reasons(changed["consumer"], since_s=30))

# %% [markdown]
# The same happens when a *pattern* comes to match another topic. Nobody touched the application; somebody created a
# topic with a fitting name. Here is a scenario written out, which is all that the kit's own scenarios are:

# %%
pattern = scenario("""
scenario: pattern
title: A topic appears that a pattern matches
topics: {orders-eu: 4}
end: 60s
configs: {metadata.max.age.ms: 10000}
members:
  - {name: consumer-1, topics: [], pattern: "orders-.*"}
  - {name: consumer-2, topics: [], pattern: "orders-.*"}
actions:
  - {at: 30s, do: create_topic, topic: orders-us, partitions: 2}
""")
print(reasons(simulate(pattern, protocol="eager"), since_s=20))

# %% [markdown]
# ## 7 Partitions are added
#
# ### Predict
#
# An administrator adds partitions at about second 30. Who notices first, in a classic group: any consumer, the group's
# leader, or the coordinator?

# %%
added = three("partitions-added")
print(reasons(added["eager"], since_s=20))
print()
print(reasons(added["consumer"], since_s=20))

# %% [markdown]
# In a classic group the **leader** (one of the consumers) compares the topics at its metadata refresh, every
# `metadata.max.age.ms`: five minutes by default, ten seconds here. With the consumer protocol the **broker** sees it
# itself, at the next heartbeat of any member. Until the group has reacted, nobody reads the new partitions.
#
# **Watch for** how many partitions go unread under each protocol:

# %%
unread = [str(metrics(run).partitions_unread) for run in added.values()]
print(columns([("partitions unread", *added), ("", *unread)]))

# %% [markdown]
# ## What does *not* make a group rebalance
#
# ### A broker goes down and comes back
#
# Partition leaders move, the group's coordinator may move; the members keep their ids, the group keeps its generation
# and its assignment, since it is stored in the topic `__consumer_offsets`.

# %%
print("broker restart:", reasons(simulate(scenario("broker-restart"), protocol="eager"), since_s=20))
print("coordinator moves:", reasons(simulate(scenario("coordinator-failover"), protocol="eager"), since_s=20))

# %% [markdown]
# (The exception is an absence so long that sessions end meanwhile. "Rebalance" is also what people call the moving of
# partition *leaders* between brokers, which has nothing to do with consumer groups.)
#
# ### A static member is back in time
#
# Three members have a `group.instance.id`. One restarts and is back within its session timeout: the same name is back
# on the same partitions. The price: nobody read them meanwhile.

# %%
static = three("static-restart-in-time")
print(reasons(static["eager"], since_s=20))
print(gaps(static["eager"]))

# %% [markdown]
# And if it comes back too late?

# %%
late = simulate(scenario("static-restart-too-late"), protocol="eager")
print(reasons(late, since_s=20))

# %% [markdown]
# ### A consumer is busy, for longer than the session timeout
#
# It works for a minute without calling `poll()`. The session timeout is 45 s. Its heartbeats come from another
# thread, and a minute is less than `max.poll.interval.ms`:

# %%
quiet = replace(scenario("crash"), actions=())
stall = Action(30_000, "stall", "consumer-2", {"for_ms": 60_000})
busy = simulate(quiet.with_action(stall), protocol="eager")
print(reasons(busy, since_s=20))
print(gaps(busy, since_s=20))

# %% [markdown]
# No rebalance, and its partitions were read by nobody for a minute. Heartbeats prove that a process lives, not that
# it makes progress.
#
# ## All of them in one table
#
# Rebalances (classic) or new group epochs (consumer) that each event causes:

# %%
print(fired(["join", "leave", "crash", "poll-timeout", "recovered-member"]))
print()
print(fired(["subscription-change", "partitions-added"]))
print()
print(fired(["broker-restart", "coordinator-failover", "static-restart-in-time"]))

# %% [markdown]
# **Watch for** a 2 under cooperative where eager has a 1: a cooperative change takes a second generation when
# something must be taken from a living member. And one event may cause several: a stalled consumer leaves *and* comes
# back.
#
# ## Your guesses

# %%
down = simulate(scenario("broker-restart"), protocol="eager")
runs = [down, busy, static["eager"], added["eager"], back["eager"]]
print(beside(guess, {name: metrics(run).rebalances > 0 for name, run in zip(guess, runs)}))

# %% [markdown]
# ## Try it
#
# - Let the busy consumer above stall for six minutes (`360_000`, and `replace(quiet, end_ms=450_000)`). What changes?
# - In the lab below a consumer leaves. Add one within the same second: one rebalance or two? Set **Jump** to
#   *rebalance* and count them with the arrow keys of the transport.
# - Open the lessons *A pattern finds one topic too many* and *A broker bounces, and consumers know racks* from the
#   title's menu: two rebalances that no consumer asked for. **Logs** shows what an operator would have to go by.

# %% tags=["nbval-ignore-output"]
Lab("leave", "eager")

# %% [markdown]
# ## Check yourself
#
# | question | answer |
# |---|---|
# | The broker's log says that a member *left*, and nobody stopped it. What happened? | `poll()` was not called for `max.poll.interval.ms` |
# | What is the difference between a crash and a leave, for the coordinator? | a leave is announced; a crash is detected only when the session expires |
# | Who notices added partitions in a classic group? | the group's leader, at its metadata refresh |
# | A broker restarts. What does the group do? | nothing |
#
# ## Recap
#
# Members, subscriptions, partitions: when one of these changes, the group agrees anew. Crashes are found by missing heartbeats
# (session timeout), hangs by the client itself (`max.poll.interval.ms`), new partitions by the leader or, with KIP-848, by the
# broker. Restarted brokers and static members that are back in time change neither members, subscriptions nor partitions.
#
# **Next:** [02 · eager](02-eager.ipynb), what exactly happens between the trigger and the end.
