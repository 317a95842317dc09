# %% [markdown]
# # 07 · Callbacks
#
# **30 minutes**. Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Troubleshooting*.
#
# After this notebook you can
#
# - write a poll loop and a rebalance listener in Java, Python and Go (CCDAK Application Development);
# - say what each callback is given under eager, cooperative and KIP-848 (CCDAK Application Development);
# - say when a callback is *lost* rather than *revoked* (CCAAK Troubleshooting);
# - answer a librdkafka rebalance callback with the right call, and recognise the wrong one (CCAAK Troubleshooting).
#
# Kafka decides *who* owns a partition. What is processed twice, or never, is decided by *your* code: by what it does in its three callbacks, which
# this notebook is about, and by when it commits, which 07b is about.

# %%
import tempfile
from pathlib import Path

from rebalance_kit import Quiz, run_clients
from rebalance_kit.notebook import callbacks, columns, next_notebook, predict, real_run, reveal, three
from rebalance_kit.recordings.trace import recorded_trace

# %% [markdown]
# ## The poll loop
#
# A Java consumer runs your callbacks, sends auto-commits and returns records inside `poll()`, and a classic one also
# joins there. Only the heartbeats come from a background thread. (The KIP-848 consumer moves the network work to that
# thread; the callbacks still run inside `poll()`.)
#
# ```java
# // Java
# try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(props)) {
#     consumer.subscribe(List.of("orders"), new Listener(consumer));
#     while (running.get()) {
#         for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100)))
#             process(record);
#         try {
#             consumer.commitSync();          // with enable.auto.commit=false
#         } catch (RebalanceInProgressException | CommitFailedException refused) {
#             // the next poll() settles it: see "What the refusal looks like"
#         }
#     }
# }                                           // close(): callback, then LeaveGroup
# ```
#
# ```python
# # Python, on librdkafka
# REFUSED = {                                 # the next poll() settles these
#     KafkaError.UNKNOWN_MEMBER_ID, KafkaError.ILLEGAL_GENERATION,
#     KafkaError.REBALANCE_IN_PROGRESS, KafkaError.STALE_MEMBER_EPOCH,
# }
# consumer = Consumer({"bootstrap.servers": "b:9092", "group.id": "billing", "enable.auto.commit": False})
# consumer.subscribe(["orders"], on_revoke=revoked, on_lost=lost)
# try:
#     while running:
#         record = consumer.poll(0.1)         # one record, an error or None
#         if record is None:
#             continue
#         if record.error() is not None:
#             log.warning("poll: %s", record.error())
#             continue
#         process(record)
#         try:
#             consumer.commit(record, asynchronous=False)   # one request per record: slow, but easy to follow
#         except KafkaException as refused:
#             if refused.args[0].code() not in REFUSED:
#                 raise                       # no authorisation, fenced, no coordinator: not for poll() to settle
# finally:
#     consumer.close()
# ```
#
# ```go
# // Go, with franz-go: the callbacks are options of the client
# client, err := kgo.NewClient(
#     kgo.SeedBrokers("b:9092"),
#     kgo.ConsumerGroup("billing"), kgo.ConsumeTopics("orders"), kgo.DisableAutoCommit(),
#     kgo.BlockRebalanceOnPoll(),         // no callback between a poll and AllowRebalance
#     kgo.OnPartitionsRevoked(revoked), kgo.OnPartitionsLost(lost))
# if err != nil {
#     log.Fatal(err)
# }
# defer client.CloseAllowingRebalance()
# for ctx.Err() == nil {
#     fetches := client.PollFetches(ctx)
#     fetches.EachError(func(topic string, partition int32, err error) { log.Printf("%s-%d: %v", topic, partition, err) })
#     fetches.EachRecord(process)
#     if err := client.CommitUncommittedOffsets(ctx); err != nil {
#         log.Printf("commit: %v", err)       // refused: the next poll settles it
#     }
#     client.AllowRebalance()
# }
# ```
#
# (librdkafka is the C library inside Confluent's clients for Python, Go, Node and .NET. franz-go is written in Go alone.)
#
# Two things follow. If the time between two calls of `poll()` exceeds `max.poll.interval.ms`, a Java or librdkafka
# client leaves the group. (Under KIP-848, librdkafka leaves only in its next `poll()`. Until then it sends no
# heartbeats, so the session may end first. franz-go has no such timer. But with `BlockRebalanceOnPoll`, a member that does not allow a
# rebalance within `RebalanceTimeout`, 60 s by default, is removed.) And a rebalance of a classic group waits for the next `poll()` of every Java member. librdkafka joins from a thread of its own: it waits for `poll()` only if the application has registered callbacks **and** one of them is due. Under range and roundrobin that is so before every join, since everything is revoked first; under cooperative-sticky only where a member has to give something up, or still owes the call that answers its last callback. Under KIP-848 only
# the partitions that a member has to give up wait for its `poll()`.

# %% [markdown]
# ## Three callbacks
#
# | callback | says | default |
# |---|---|---|
# | `onPartitionsAssigned` | these are yours from now on | none: you must write it |
# | `onPartitionsRevoked` | you are about to lose these, and you still own them **now** | none: you must write it |
# | `onPartitionsLost` | these are gone already; others may own them | calls `onPartitionsRevoked` |
#
# (The last column is Java's. In Python and Go each callback is optional.)
#
# ### Predict
#
# Three consumers read twelve partitions. One of them is closed with `close()`. How many partitions do the calls of
# `onPartitionsRevoked` name under each protocol? Add up the calls of all three members.

# %%
guess = predict({"eager": None, "cooperative": None, "KIP-848": None})
guess

# %% tags=["answer", "hide-input"]
left = three("leave")


def given(trace, callback, since_s=30):
    """How many partitions a callback got since a second of the run, all members together."""
    rows = (row for row in trace.of("callback_begin") if row.at_ms >= since_s * 1000)
    return sum(len(row.detail["partitions"]) for row in rows if row.detail["callback"] == callback)


guess.beside(dict(zip(guess.answers, (given(trace, "revoked") for trace in left.values()), strict=True)))

# %% [markdown]
# Eager revokes everything, the survivors' eight partitions included, and hands it out again. Under cooperative and KIP-848 only the closing
# member revokes: its own four.
#
# Now a join: three consumers read twelve partitions, and a fourth one joins. It starts at 33.6 s and has joined by
# 34.9 s. **Watch for** the calls with *nothing*: consumer-4 gets nothing in generation 2, because the old owners have to
# revoke first.

# %%
joined = three("join")
print(callbacks(joined["cooperative"], since_s=30))

# %% [markdown]
# Under cooperative, `onPartitionsAssigned` is called after every generation, even if nothing is new. Partitions that the
# call does not name go on without interruption. So a listener must not clear its state for all partitions in
# `onPartitionsAssigned`, as one written for eager may do.
#
# ### On one clock
#
# Here are all callbacks of that join under the three protocols. A bar is as tall as the share of partitions that the member reads just then.
#
# ![Every callback of a join under eager, cooperative and KIP-848, on one clock](images/callbacks.svg)
#
# **Look at** the bars of the old members. Under eager they vanish between *revoked 4* and *assigned 3*: everything goes and nearly everything comes back. Under cooperative they only get thinner, all at
# once, and consumer-4 gets its share one heartbeat interval later. Under KIP-848 each old owner gives up its one partition at a moment of its own.
#
# ### The three-by-three table
#
# How many partitions the callbacks name, in that join and in a run in which one member is frozen for a minute:

# %% tags=["hide-input"]
frozen = three("freeze")
rows = [("", "eager", "cooperative", "KIP-848")]
for name, callback, source in (
    ("revoked, at a join (12 owned, 3 move)", "revoked", joined),
    ("assigned, at a join", "assigned", joined),
    ("lost, by a member that was frozen too long (2 owned)", "lost", frozen),
):
    rows.append((name, *(str(given(trace, callback)) for trace in source.values())))
print(columns(rows))

# %% [markdown]
# | | eager | cooperative | KIP-848 |
# |---|---|---|---|
# | revoked | **all** it owns, before JoinGroup, even if that is nothing | only what leaves, after SyncGroup (the partitions of a topic that you drop: before JoinGroup); not called for nothing | only what leaves, when a heartbeat says so; not called for nothing |
# | assigned | **all** of the new assignment | only what is new, even if that is nothing | only what is new, after the first assignment and after each change, even if nothing is new |
# | lost | all it owned | all it owned | all it owned |
#
# Lost comes instead of revoked when the membership is already gone: the session expired, the poll timeout passed, the
# member was fenced. A classic Java consumer also calls it when you `close()` or `unsubscribe()` **in the middle of a
# rebalance**. That happens in a healthy group: in a rolling deploy, a pod may close while the group still waits for the one
# before it. (This concerns cooperative consumers: an eager one owns nothing at that moment, so nothing is called.) If
# you override lost, your code in revoked does not run. If you do not, it runs, and its `commitSync()` throws
# `RebalanceInProgressException`. So before you close, `pause()` all partitions and call `poll()` until `commitSync()`
# succeeds.
#
# ### The same listener in three languages
#
# `open`, `close`, `discard` and `processedOf` stand for your code.
#
# ```java
# record Listener(Consumer<?, ?> consumer) implements ConsumerRebalanceListener {
#     public void onPartitionsAssigned(Collection<TopicPartition> added) { added.forEach(this::open); }
#     public void onPartitionsRevoked(Collection<TopicPartition> leaving) {
#         try {
#             consumer.commitSync(processedOf(leaving));   // you still own them
#         } catch (CommitFailedException refused) {
#             // not yours after all, or the epoch moved on: the next owner repeats these records; poll() need not fail
#         }
#         leaving.forEach(this::close);
#     }
#     public void onPartitionsLost(Collection<TopicPartition> gone) {
#         gone.forEach(this::discard);                 // and no commit
#     }
# }
# ```
#
# ```python
# def revoked(consumer, leaving):
#     done = processed_of(leaving)
#     if done:                            # a commit of nothing raises _NO_OFFSET, out of poll(); in Java it does nothing
#         consumer.commit(offsets=done, asynchronous=False)
#     for partition in leaving: close(partition)
#
# def lost(consumer, gone):
#     for partition in gone: discard(partition)
# ```
#
# ```go
# func revoked(ctx context.Context, client *kgo.Client, leaving map[string][]int32) {
#     if err := client.CommitUncommittedOffsets(ctx); err != nil {
#         log.Printf("commit: %v", err)
#     }
#     closeAll(leaving)
# }
# func lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) { discardAll(gone) }
# ```
#
# In Java and librdkafka, callbacks run in the thread that calls `poll()`. In franz-go they run in a goroutine of the client,
# at the same time as your loop; this is why the loop above uses `BlockRebalanceOnPoll` and `AllowRebalance`. While a
# callback runs in the polling thread, that member returns no records, and under eager the whole group waits for the
# slowest member.

# %% [markdown]
# ## librdkafka: the callback must call back
#
# In Java the callback only listens, and the client applies the assignment. In librdkafka and the clients built on it
# (Confluent's for Python, Go and Node), a callback that you register **may apply it itself**, and in C it must. (In .NET
# it must not: the handler returns the partitions, and the client applies them.)
#
# | protocol | on assign | on revoke |
# |---|---|---|
# | eager (range, roundrobin) | `assign(partitions)` | `unassign()` |
# | cooperative-sticky, and everything under KIP-848 | `incremental_assign(partitions)` | `incremental_unassign(partitions)` |
#
# In Python the client makes the right call for you if your callback makes none. The trouble begins with callbacks
# copied from an eager client. The next cells run **real clients**, `confluent-kafka` against the mock cluster that
# librdkafka includes, in a process of its own. Member *a* starts; *b* joins four seconds later;
# `group.protocol=consumer`.


# %%
def on_assign(consumer, partitions):
    consumer.assign(partitions)  # right for eager


def on_revoke(consumer, partitions):
    consumer.unassign()


# %% [markdown]
# ### Predict
#
# Both members register these two callbacks. Who reads during the run?

# %%
guess = predict({"a": None, "b": None}, options=("reads", "reads nothing"))
guess

# %% tags=["answer"]
wrong = run_clients([on_assign, on_revoke], strategy="consumer", seconds=10)
guess.beside({name: "reads" if wrong.reads(name) else "reads nothing" for name in ("a", "b")})

# %% tags=["answer"]
reveal(wrong.summary)

# %% tags=["answer", "nbval-ignore-output"]
reveal(wrong.text)

# %% [markdown]
# `_STATE`, *Erroneous state*: the call is refused, nothing changes, and the client goes on waiting for the right one.
# It sends heartbeats, so the group keeps it, and it reads no record. The group may even look Stable. In C the refusal is
# a return value, easily ignored; in Python it comes out of `poll()`. This is one of the hardest incidents
# to see from outside.
#
# (The mock cluster hands *b* its partitions all the same. A real broker waits for *a* to give them up, which it never
# does. With cooperative-sticky the next rebalance waits for *a*, for up to `max.poll.interval.ms`.)
#
# The same two callbacks, with the right calls:


# %%
def on_assign(consumer, partitions):
    consumer.incremental_assign(partitions)


def on_revoke(consumer, partitions):
    consumer.incremental_unassign(partitions)


right = run_clients([on_assign, on_revoke], strategy="consumer", seconds=12)
print(right.summary)

# %% tags=["nbval-ignore-output"]
print(right.text)

# %% [markdown]
# (The mock cluster's *timing* is its own, so read no seconds from it. What the client does is real.)
#
# On a real broker the wrong calls look like this: librdkafka members under KIP-848. Where the parts are there (notebook 13), the cell runs three on a real Kafka,
# in two minutes of real time, and the callback of the third calls `assign()` and `unassign()`; otherwise it shows a recorded run in which *c1* and *c2* do so, and says so.

# %% tags=["nbval-ignore-output"]
with tempfile.TemporaryDirectory() as place:
    real = real_run("wrong-librdkafka-callback", "rd-wrong-callback.consumer.4.3.1", Path(place), "consumer")
print(callbacks(recorded_trace(real)))

# %% [markdown]
# The page [Your client](../docs/your-client.md) has the same for other clients: the default assignor, the callbacks and who applies the assignment, with a listener for each.
#
# ## Exercise
#
# In `c7-eager-callbacks` and `c8-callbacks-for-all` you write librdkafka's callbacks, and real clients run them. They start in a terminal:
# `rebalance-kit exercise start c7-eager-callbacks`.
#
# ## Check yourself
#
# 1. Your listener does not override `onPartitionsLost`. What runs when the client learns that it was removed?
# 2. Under cooperative, `onPartitionsAssigned` is called with an empty collection. What do you do?
# 3. A librdkafka callback serves a range group and, after a migration, a KIP-848 group. What does it ask before it calls anything?
#
# <details><summary>Answers</summary>
#
# 1. `onPartitionsRevoked`, because lost calls it by default. A commit in it is refused.
# 2. Nothing. You keep what you have.
# 3. `rebalance_protocol()`: EAGER wants `assign` and `unassign`, COOPERATIVE the incremental calls. Or it makes no call at all, where the binding then makes the right one (Python).
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz(
    "callbacks",
    ids=[
        "lost-callback-name",
        "slow-callback-eager-everybody",
        "slow-callback-kip848-only-own",
        "wakeup-from-hook",
        "planned-leave-duplicates",
    ],
)

# %% [markdown]
# ## Recap card
#
# - Revoked: still yours, commit now. Lost: gone, discard, do not commit. Assigned: only what is new (under eager, everything).
# - Revoked under eager is everything, under cooperative and KIP-848 what leaves.
# - In the middle of a rebalance, `close()` of a cooperative consumer calls lost: finish the rebalance, commit, then close.
# - Callbacks run in the thread that polls (franz-go: beside it). While one runs, that member reads nothing.
# - librdkafka: `assign` for eager, `incremental_assign` for cooperative-sticky and KIP-848; ask `rebalance_protocol()`.

# %% tags=["hide-input"]
next_notebook("07")
