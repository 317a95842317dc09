# %% [markdown]
# # I · Instructor: Who reads this partition now? Rebalancing in ninety minutes
#
# **90 minutes.** Developers and operators who have used a Kafka consumer; nobody needs to have heard of JoinGroup.
#
# After it, the learners can
#
# - say for crash, leave, join and slow handler which partitions go unread, and for how long;
# - tell eager, cooperative and KIP-848 apart by what they revoke and when;
# - choose session.timeout.ms, max.poll.interval.ms and static membership with a reason.
#
# Every run below is seeded: what you saw the evening before is what the room will see. A vote shows the room only how
# many have voted; the split comes with *Show the split*, the answer with *Show the answer*.
#
# ## Before they come
#
# - Run all cells of this notebook once, the evening before; nothing in it needs the network.
# - Learners install at home: `rebalance-kit workshop 90min --check` on each laptop runs every scene of these minutes
#   and ends with *Ready*. Whoever has no *Ready* sits beside somebody who has.
# - Ten minutes before the hour (nobody waits in 0:00): learners open a notebook and run `from rebalance_kit import
#   Lab`, then `Lab()`. A board with waiters or consumers says that the laptop is in the room.
# - Votes, the first way: run `Poll.open_room(host="0.0.0.0", port=8765)` in a cell (`from rebalance_kit import Poll`
#   first); it shows an address and a QR code for phones, and every vote below is on it. Where phones cannot reach
#   your laptop, learners run the line on the screen and paste its code into the chat; where there is no chat, hands.
# - One word of the room holds for a day. `Poll.begin_session()` draws another one and forgets the votes of your
#   rehearsal; those of another day are forgotten by themselves.
# - Set the browser to 125 % and the lab's theme to projector. Close everything else that may show a message.
# - `rebalance-kit workshop 90min --plan-b FOLDER` makes the animations and the printed questions for a day without
#   network or kernels.
#
# ## Plan B
#
# - No internet: nothing changes, since kit, runs and items are all on the machine.
# - A learner's kernel is dead (the board still plays, and below it stands what to do): restart the kernel, run the
#   first cell and the cell of the lab again. Nothing else is lost.
# - Learners have no kernel: they play the animations of the plan-B folder in any browser, switch the protocol there,
#   and vote by phone or by show of hands or with coloured cards. Count, and type `poll.hands(a=4, b=11)` into a cell
#   when the vote is over (it shows on the screen).
# - Your own kernel is gone: open the animations in the plan-B folder. Each is one file that plays in any browser. The
#   printed questions carry the votes.
# - No projector: three people gather around each laptop with the animations, and with the printed questions.
#
# ## The minutes

# %%
from rebalance_kit.classroom.guide import schedule
from rebalance_kit.classroom.plan import read_plan

print(schedule(read_plan("90min")))

# %% [markdown]
# ## 0:00 to 0:06 · Four waiters, sixteen tables (6 min)
#
# **Say**
#
# - A restaurant, four waiters, sixteen tables. Dan goes home sick, and says so. There are two ways to go on:
#   everybody drops everything and the tables are dealt anew, or only Dan's four tables get a new waiter.
# - A table is a partition, a waiter a consumer, the evening's team the consumer group, the shift manager the group
#   coordinator.
# - Kafka can do it both ways. The question of these ninety minutes is what each way costs, and whom.
#
# **Learners have the lab for 3 minutes.** They type
#
# ```python
# from rebalance_kit import Lab
# Lab("restaurant", "eager", seed=1, at_ms=27_000)
# ```
#
# Play the evening twice, eager and cooperative. How many tables wait although their waiter is in the room?
#
# Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very
# moment on the screen.
#
# **Watch for** the tables that wait although their waiter is in the room. Press Play, and let the learners call them
# out. Then press the button of the cooperative protocol and play the same evening again.
#
# **You will hear**
#
# - minute 4: *Any rebalance stops all consumption.* (`rebalance-stops-everyone`) Under eager, yes. Keep it in mind as
#   a belief to be tested; the second evening already shows another picture.
#
# **Plan B.** Draw four circles and sixteen squares on the board, and move the squares by hand.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("restaurant", "eager", seed=1, at_ms=27_000)

# %% [markdown]
# ## 0:06 to 0:20 · The first crash (14 min)
#
# **Say**
#
# - Now nobody says anything. A process is killed; the coordinator only sees that its heartbeats no longer arrive.
# - Vote first, alone and without talking (2 minutes). Then convince your neighbour (3 minutes). Then vote again (1
#   minute).
# - Show the split only when the second vote is over. Ask somebody who changed their mind for the reason, before the
#   answer is shown.
# - Play the run from the kill on. Nothing happens for most of a minute; that is the session timeout of 45 s, counted
#   from the last heartbeat. Only then does the survivor hear of a rebalance, and under eager it gives up what it has.
#
# **Learners vote** by phone, or with the line that the screen shows.
#
# **Learners have the lab for 5 minutes.** They type
#
# ```python
# from rebalance_kit import Lab
# Lab("two-consumers-crash", "eager", seed=1, at_ms=38_000)
# ```
#
# Crash the other consumer in place of this one (click it, Crash, or the key C). Before you play on, write down the
# second at which the survivor reads its first new record; then play.
#
# Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very
# moment on the screen.
#
# **Watch for** the two partitions of the survivor at the moment of the rebalance. They stop, too, for a fraction of a
# second.
#
# **You will hear**
#
# - minute 8: *Java consumers rebalance cooperatively by default since 2.4 or 3.0.* (`cooperative-is-default`) The
#   default list of the Java consumer is range, cooperative-sticky (since 3.0; before, range alone), and range wins
#   the vote. A group with default settings is eager.
# - minute 9: *The coordinator notices a dead process at once, since its connection closes.*
#   (`crash-is-noticed-at-once`) A closed connection is not a leave. The coordinator waits for the session to end.
# - minute 15: *The session timeout is counted from the moment of the crash.* (`session-clock-starts-at-crash`) It
#   counts from the last heartbeat that arrived, so the wait is 45 s less the age of that heartbeat.
#
# **Plan B.** Hands instead of codes; the animation two-consumers-crash-eager from the folder.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Poll

poll = Poll("eager-crash-which-unread")
poll

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("two-consumers-crash", "eager", seed=1, at_ms=38_000)

# %% [markdown]
# ## 0:20 to 0:31 · The slowest member decides (11 min)
#
# **Say**
#
# - An eager rebalance has four steps. All give up what they have. All join (JoinGroup). One member, the leader,
#   computes the plan. All ask for their share (SyncGroup).
# - The third step cannot begin before everybody has joined. So what happens when one is busy?
# - Before they play, ask what each of the three members is doing at that moment, one after another; nobody answers
#   yet.
# - The rebalance timeout is the largest max.poll.interval.ms in the group, five minutes by default. That is how long
#   one stuck application can hold all the others.
#
# **Learners have the lab for 7 minutes.** They type
#
# ```python
# from rebalance_kit import Lab
# Lab("slow-callback", "eager", seed=1, at_ms=46_000)
# ```
#
# Who waits for whom, and how long? Then drag max.poll.interval.ms below what the callback takes, and say before you
# play who waits now and who is gone. Then switch to cooperative.
#
# Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very
# moment on the screen.
#
# **Watch for** consumer-1, which is healthy. It waits for the callback of consumer-2. Then the same under
# cooperative: consumer-1 goes on reading what it keeps.
#
# **You will hear**
#
# - minute 23: *A consumer that hangs delays only its own partitions.* (`stalled-member-hurts-itself`) Under KIP-848
#   it also delays those who are to get its partitions, and nobody else. Under cooperative the others read what they
#   keep, but a newcomer and every partition on the move wait for it. Under eager everybody waits without partitions.
# - minute 25: *In every group the broker computes the assignment.* (`coordinator-assigns-classic`) In the classic
#   protocol the broker collects and hands out; a client, the leader, computes.
#
# **Plan B.** Three volunteers stand up as members; nobody may sit down before the slow one has said its word.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("slow-callback", "eager", seed=1, at_ms=46_000)

# %% [markdown]
# ## 0:31 to 0:44 · Move only what must move (13 min)
#
# **Say**
#
# - Cooperative means that a member joins with its partitions in its hands. The leader computes, and only those who
#   have to give something up are told to revoke it.
# - What was revoked is handed out in a second generation. So a moving partition goes unread for about one heartbeat
#   interval, while all others go on.
# - Vote, discuss, vote again. This question is about the order of events; let them draw it.
# - After the answer, step through the run with the full-stop key from mark to mark.
#
# **Learners vote** by phone, or with the line that the screen shows.
#
# **Learners have the lab for 4 minutes.** They type
#
# ```python
# from rebalance_kit import Lab
# Lab("a-to-b-move", "cooperative", seed=1, at_ms=36_000)
# ```
#
# Step with the full-stop key and write down the order: who revokes, who joins again, who reads first. Then add
# another member and say beforehand which partitions move.
#
# Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very
# moment on the screen.
#
# **Watch for** the one partition that moves. Count the generations aloud.
#
# **You will hear**
#
# - minute 34: *A cooperative member revokes what it will lose before it sends JoinGroup.* (`revoke-comes-first`) That
#   is eager. A cooperative member cannot revoke before it knows what it loses, and it knows after SyncGroup.
# - minute 37: *No partition goes unread under the cooperative protocol or KIP-848.* (`cooperative-has-no-gaps`) The
#   one that moves does, about one heartbeat interval. What does not move goes on.
# - minute 42: *Each cooperative change takes two generations.* (`cooperative-is-two-rebalances`) Only when something
#   is revoked. After a crash one generation is enough, because no survivor gives anything up.
#
# **Plan B.** The animation a-to-b-move-cooperative from the folder.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Poll

poll = Poll("cooperative-when-revoked")
poll

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("a-to-b-move", "cooperative", seed=1, at_ms=36_000)

# %% [markdown]
# ## 0:44 to 0:47 · Stand up (3 min)
#
# **Say**
#
# - Everybody stands. Whoever can name something that stops under eager and goes on under cooperative may sit down.

# %% [markdown]
# ## 0:47 to 1:00 · The broker decides (13 min)
#
# **Say**
#
# - KIP-848, the consumer protocol, generally available since Kafka 4.0 and chosen by the client with
#   group.protocol=consumer. No JoinGroup, no SyncGroup, no leader; only heartbeats, and the broker computes.
# - Three numbers to look for. The group epoch says that something changed, the target is the plan, the member epoch
#   is how far each member has come.
# - Nobody waits for everybody. Each member goes to the target at its own heartbeat, five seconds apart by the
#   broker's default.
# - Ask, before they play, when the newcomer gets its first partition. Each answer in the room is a way in which one
#   might have built it.
#
# **Learners have the lab for 7 minutes.** They type
#
# ```python
# from rebalance_kit import Lab
# Lab("a-to-b-move", "consumer", seed=1, at_ms=36_000)
# ```
#
# Find the three numbers (group epoch, target, member epoch) and write down when each one changes. Then crash the old
# owner just before it says that it has revoked, and see who waits.
#
# Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very
# moment on the screen.
#
# **Watch for** the partition between its two owners. It waits for the next heartbeat of the new one; press the
# full-stop key from mark to mark.
#
# **You will hear**
#
# - minute 49: *Clients of 4.0 use the new protocol by themselves.* (`kip848-is-default`) The broker offers it, the
#   client has to ask for it. A default Java client of 4.x is classic, and eager.
# - minute 52: *Without a barrier a move is immediate and the group stays Stable.* (`kip848-is-instant`) Without a
#   barrier it still takes time. The old owner hears of it at its next heartbeat, revokes and says so. The new owner
#   is told at its own next heartbeat.
# - minute 56: *Under KIP-848 a leader among the clients still computes the assignment.* (`leader-still-assigns`)
#   There is no leader any more, and no client-side assignor.
#
# **Plan B.** The animation a-to-b-move-consumer from the folder.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("a-to-b-move", "consumer", seed=1, at_ms=36_000)

# %% [markdown]
# ## 1:00 to 1:12 · The same crash three times (12 min)
#
# **Say**
#
# - Which protocol is quickest after a crash? Vote before anybody says a word.
# - Run the table below. The longest gap is nearly all noticing, and no protocol shortens that. What differs is how
#   many partitions go unread.
# - This is where most talks are wrong. In a healthy join the longest gap of a partition is the shortest under eager;
#   eager loses by breadth, and by waiting for the slowest.
#
# **Learners vote** by phone, or with the line that the screen shows.
#
# **Watch for** the longest gap and the number of partitions unread. (Under KIP-848 the crash is detected some seconds
# earlier, but then some seconds pass until a survivor's next heartbeat.)
#
# **You will hear**
#
# - minute 62: *Without a barrier a move is immediate and the group stays Stable.* (`kip848-is-instant`) The session
#   timeout is the same 45 s there, set at the broker.
# - minute 68: *For any partition and any event the eager protocol has the longest gap.*
#   (`eager-has-the-longest-gaps`) Look at a healthy join in notebook 05. The harm is in the number of partitions and
#   in the slowest member.
#
# **Plan B.** Write the table of the printed handout on the board, with the numbers hidden, and let the learners guess
# them.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Poll

poll = Poll("three-crash-gap")
poll

# %%
from rebalance_kit.notebook import three
from rebalance_kit.view import describe_comparison

print(describe_comparison(list(three("crash").values())))

# %% [markdown]
# ## 1:12 to 1:22 · Alive and not polling (10 min)
#
# **Say**
#
# - Two clocks. session.timeout.ms is kept by the coordinator and fed by a background thread; max.poll.interval.ms is
#   kept by the client itself and fed by poll().
# - While a handler works for six minutes, a thread beside it sends heartbeats. Vote.
# - The run has a limit of 12 s in place of five minutes, so that nobody has to wait for it.
# - In the broker's log it is a LeaveGroup, not an expired heartbeat. That is how to tell it from a crash.
#
# **Learners vote** by phone, or with the line that the screen shows.
#
# **Watch for** the heartbeats of the slow member, which go on; then open Logs of that member.
#
# **You will hear**
#
# - minute 74: *The heartbeat goes out inside poll(), so a slow handler looks dead to the broker.*
#   (`poll-sends-heartbeats`) It was so before Kafka 0.10.1. Since then a thread of its own sends them.
# - minute 75: *The coordinator watches max.poll.interval.ms and throws a slow member out.*
#   (`broker-evicts-slow-poller`) The broker does not know of polls. The client notices, and leaves.
# - minute 79: *A longer session.timeout.ms cures rebalances that come from slow processing.*
#   (`raise-session-for-slow-work`) That clock is not the one that ran out. It would only delay the detection of real
#   crashes.
#
# **Plan B.** The animation poll-timeout-eager from the folder.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Poll

poll = Poll("slow-handler-six-minutes")
poll

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("poll-timeout", "eager", seed=1, at_ms=28_000)

# %% [markdown]
# ## 1:22 to 1:30 · What to take home (8 min)
#
# **Say**
#
# - A rolling restart of three members, first dynamic, then static. The static ones need no rebalance at all: what is
#   the price? (A restarted member's partitions stay unread until it is back; nobody takes them over.)
# - Each learner writes one setting that they will look up tomorrow, and one belief that they no longer hold. Three
#   read theirs aloud.
# - Notebooks 00 to 05 teach this lesson to those who learn alone; `Quiz("three-protocols")` checks it; `Review()`
#   brings back after some days what was missed.
#
# **Watch for** the number of rebalances, and the unread partition-seconds.
#
# **You will hear**
#
# - minute 84: *Static members restart without a rebalance, whenever and with whatever change.*
#   (`static-never-rebalances`) Within the session timeout, and with the same assignors and subscription. Later it is
#   an ordinary expiry.
#
# **Plan B.** The two tables of the printed handout.

# %%
from rebalance_kit.notebook import three
from rebalance_kit.view import describe_comparison

print(describe_comparison(list(three("rolling-restart").values())))

# %%
from rebalance_kit.notebook import three
from rebalance_kit.view import describe_comparison

print(describe_comparison(list(three("rolling-restart-static").values())))
