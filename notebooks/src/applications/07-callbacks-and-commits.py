# %% [markdown]
# # 07 · Callbacks and commits
#
# **45 minutes**, and 30 for its exercises. Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Troubleshooting*.
#
# After this notebook you can
#
# - write a poll loop and a rebalance listener in Java, Python and Go (CCDAK Application Development);
# - say what each callback is given under eager, cooperative and KIP-848 (CCDAK Application Development);
# - choose a commit policy and predict what a crash delivers twice, or never (CCDAK Fundamentals);
# - read a `CommitFailedException` and its relatives, and say what to do (CCAAK Troubleshooting);
# - answer a librdkafka rebalance callback with the right call, and recognise the wrong one (CCAAK Troubleshooting).
#
# Kafka decides *who* owns a partition. What is processed twice, or never, is decided by *your* code: by when it
# commits, and by what it does in its three callbacks.

# %%
from rebalance_kit import Quiz, metrics, run_clients, scenario, simulate
from rebalance_kit.notebook import (
    callbacks,
    columns,
    describe,
    draws,
    explain,
    median,
    next_notebook,
    predict,
    refused_commits,
    reveal,
    run,
    three,
)

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
#
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
# Eager revokes everything, the survivors' eight partitions included, and deals it out again. Under cooperative and KIP-848 only the closing
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
#
# ## Commits: what a crash delivers twice
#
# A **commit** stores the offset of the next record to read. After a change of owner, the new owner starts there. So the order
# of two steps decides everything:
#
# | you do | a crash in between | name |
# |---|---|---|
# | process, then commit | the records come again | at least once |
# | commit, then process | the records are never processed | at most once |
#
# Auto-commit (`enable.auto.commit=true`, the default) runs inside `poll()`, once per `auto.commit.interval.ms`, and
# commits what earlier polls returned. It also runs before a rebalance and in `close()`. If you process within the loop,
# auto-commit amounts to "process, then commit".
#
# librdkafka differs: a background thread commits what `poll()` has returned, including the one you are processing. A crash can
# lose that record. Set `enable.auto.offset.store=false`, and call `store_offsets()` after processing.
#
# ### Predict
#
# Three consumers, twelve partitions, ten records per second per partition, 5 ms of work per record. One consumer is
# killed. The run is repeated 40 times, with the crash at a different moment each time. With auto-commit about a hundred records
# come twice (notebook 02). How many do with a commit after each batch, in the median? Choose the nearest.

# %%
choices = ("about 0", "about 10", "about 100", "about 1000")
guess = predict({"commit after each batch": None}, options=choices)
guess


# %% tags=["answer", "hide-input"]
def working(name, policy, each_ms=5.0):
    """A scenario whose members work on each record and commit by a policy."""
    from dataclasses import replace

    plain = scenario(name)
    members = tuple(replace(spec, commit=policy, processing_ms=each_ms) for spec in plain.members)
    return replace(plain, members=members)


def nearest(count):
    """The choice that is nearest to a count."""
    return min(choices, key=lambda choice: abs(count - int(choice.split()[1])))


policies = {
    "auto-commit every 5 s": "auto",
    "commit after each batch": "per_batch",
    "commit before processing": "before_processing",
}
drawn = {
    name: draws(working("crash", policy), 40, ("eager", "consumer")) for name, policy in policies.items()
}
twice = {name: median(each, "records_redelivered") for name, each in drawn.items()}
guess.beside({name: nearest(twice[name]["eager"]) for name in guess.answers})


# %% tags=["answer", "hide-input"]
def median_and_most(each, measure):
    """Both numbers of each protocol's draws."""
    middle = median(each, measure)
    most = {label: max(getattr(run, measure) for run in runs) for label, runs in each.metrics.items()}
    return [f"{middle[label]:.0f} ({most[label]})" for label in ("eager", "KIP-848")]


head = ("40 draws: median (most)", "twice: eager", "twice: KIP-848", "never: eager", "never: KIP-848")
rows = [
    (name, *median_and_most(each, "records_redelivered"), *median_and_most(each, "records_lost"))
    for name, each in drawn.items()
]
reveal(columns([head, *rows]))

# %% [markdown]
# Three lessons:
#
# - **After a crash the commit policy decides, and the protocol does not.** Auto-commit repeats whatever came since the last commit: from
#   nothing up to 5 s (`auto.commit.interval.ms`) × 10 records per second × 4 partitions = 200 records. A loop that calls `poll()` less
#   often than once per interval also commits less often, and repeats more.
# - A commit after each batch repeats at most the batch in hand. (The medians are 0 because these consumers are idle most
#   of the time: a crash seldom hits a batch.) It costs one request per batch.
# - A commit *before* processing repeats nothing, and loses what is left of the batch in hand. Neither order avoids both. Only processing that can be repeated without harm (*idempotent* processing) or a transaction does.
#
# ### Sync or async
#
# | | `commitSync()` | `commitAsync()` |
# |---|---|---|
# | waits | until the coordinator has answered, retrying what can be retried | no |
# | on failure | throws | tells your callback; never retries, because a later commit may have overtaken it |
# | use | where you can wait: in `onPartitionsRevoked`, before `close()`, in the loops above | in a loop that must not wait |
#
# ## Commit in revoked, never in lost
#
# Under cooperative, even a planned change repeats a few records with auto-commit: a member commits *before* it joins,
# and goes on reading until the revocation. Here is the join once more, run without a listener and then with one that
# commits in revoked:


# %%
class CommitsInRevoked:
    def on_revoked(self, partitions, consumer):
        consumer.commit()


members = [spec.name for spec in scenario("join").members]
committed = simulate(
    scenario("join"), seed=4, protocol="cooperative", listeners=dict.fromkeys(members, CommitsInRevoked)
)
plain = simulate(scenario("join"), seed=4, protocol="cooperative")
print("delivered twice without the commit:", metrics(plain).records_redelivered)
print("delivered twice with it:           ", metrics(committed).records_redelivered)

# %% [markdown]
# ### Predict
#
# A member is frozen for a minute (a one-minute GC pause, say) and removed. When it wakes up, its listener commits in
# `onPartitionsLost`, too. What happens?


# %%
class CommitsInLost(CommitsInRevoked):
    def on_lost(self, partitions, consumer):
        consumer.commit()


guess = predict({"the commit": None}, options=("stored", "refused", "stored if the offset is higher"))
guess


# %% tags=["answer"]
woken = simulate(scenario("freeze"), protocol="eager", listeners={"consumer-2": CommitsInLost})
(fault,) = woken.of("own_code_fault")
guess.beside({"the commit": "refused" if "refused" in fault.detail["seen"] else "stored"})

# %% tags=["answer"]
reveal(f"{fault.at_ms / 1000:.1f} s, {fault.actor}, in {fault.detail['name']}: {fault.detail['seen']}")

# %% [markdown]
# It is refused, and that is lucky: the new owner has read on, and an accepted commit would have set the stored offset
# back. Here the client refuses it itself, because it knows that it has been removed. A commit that it sends *before* it knows
# reaches the coordinator, and **fencing** stops it there: every commit carries the member id and the generation (classic)
# or the member epoch (KIP-848), and the coordinator refuses a member that it has removed.
#
# Because `onPartitionsLost` calls `onPartitionsRevoked` by default, a listener that commits in revoked and does not
# override lost meets the same refusal. The client logs `User provided listener … failed on invocation of
# onPartitionsLost`, and `poll()` throws a `KafkaException`.
#
# ## What the refusal looks like
#
# | exception (Java) | what happened | what to do |
# |---|---|---|
# | `CommitFailedException` | classic: the coordinator does not take this member's commits any more (poll timeout, session expired, generation gone). KIP-848: that, **or** only that the member epoch of the commit is not the newest (`STALE_MEMBER_EPOCH`) and the member lives on | do not use these records as committed; call `poll()`, which joins again where it must and otherwise goes on. Then find out why: batch too long? |
# | `RebalanceInProgressException` | classic only: you are a member, and a rebalance is under way | call `poll()` to finish it, then commit what you still own |
# | `FencedInstanceIdException` | another process uses your `group.instance.id` | fatal for this process: close it, find the duplicate |
# | `RetriableCommitFailedException` | `commitAsync` met a transient error | nothing; the next commit covers it |
# | `WakeupException` | your own `wakeup()` from another thread | leave the loop and close |
#
# In librdkafka the same refusals are error codes: `UNKNOWN_MEMBER_ID`, `ILLEGAL_GENERATION`, `REBALANCE_IN_PROGRESS`,
# `FENCED_INSTANCE_ID`; under KIP-848 also `STALE_MEMBER_EPOCH`.
#
# So under KIP-848 a `CommitFailedException` does not say that you were removed. In the run below (brokers of 4.0) `consumer-1` commits, the commit is slow,
# and meanwhile the other member leaves. The commit is refused because the epoch has gone up; yet `consumer-1` is a member to the end, and still reads what it
# wanted to commit. Up to 4.2 any new epoch refuses a commit that is under way; since 4.3 (KIP-1251) a commit passes if the member has held the partitions since then.

# %%
overtaken = run("defect-commit-races", "consumer")
print(refused_commits(overtaken))
print(describe(overtaken))

# %%
print(explain("CommitFailedException"))

# %% [markdown]
# ## Zombies
#
# The member that wakes up is a **zombie**: it does not know that it was removed. Fencing stops its commits. It does not
# stop its *work*: it may still hand whatever it has fetched to your code.
#
# The frozen process cannot heartbeat, so its partitions go to others, who read on. When it wakes, a classic consumer returns whole fetches of the same records before it learns that it was removed. A KIP-848 consumer usually learns it sooner (in the draws of notebook 05 it has about a twentieth as many duplicates as a classic one; in our one recording with the 4.3.1 Java client a tenth), but nothing makes its buffered records wait for the heartbeat's answer. Neither protocol
# protects a database that your code writes to. For that you need your own fence: write the offset (or the generation)
# with the data, and refuse older ones.
#
# ## Long work: `pause()` and worker threads
#
# If one batch takes longer than `max.poll.interval.ms`, the client leaves the group although nothing is wrong with it.
# In this run the limit is 12 s, and one batch of consumer-2 takes 20 s. **Watch for** the delay: others have its
# partitions at 43.9 s, and its own listener hears of it at 49.1 s, in the next `poll()`.

# %%
slow = run("poll-timeout", "cooperative")
print(callbacks(slow, since_s=30))

# %% [markdown]
# There are three cures. Make the batch smaller (`max.poll.records`). Raise the limit. Or hand the batch to a worker,
# `pause()` the partitions, and go on calling `poll()`: a paused consumer returns no records, and it still takes part in
# the group.
#
# ```java
# while (running) {
#     ConsumerRecords<K, V> batch = consumer.poll(Duration.ofMillis(100));
#     if (!batch.isEmpty()) {
#         consumer.pause(consumer.assignment());
#         work = pool.submit(() -> process(batch));
#     }
#     if (work != null && work.isDone()) {
#         work.get();                              // a batch that failed ends the loop here, uncommitted
#         try {
#             consumer.commitSync(offsetsOf(work));
#         } catch (RebalanceInProgressException again) {
#             continue;                            // still a member: finish the rebalance in poll(), then try again
#         } catch (CommitFailedException gone) {
#             // others may own these partitions: whoever does repeats the batch
#         }
#         consumer.resume(consumer.paused());
#         work = null;
#     }
# }
# ```
#
# Three duties come with it:
#
# - The consumer is not thread-safe. Only the polling thread may touch it (`wakeup()` excepted).
# - `onPartitionsRevoked` must wait for the worker, or commit what it finished, because the partition leaves now. The
#   commit in the loop must then leave that partition out: the coordinator would accept it, and could rewind the new owner's offset.
# - `onPartitionsAssigned` must call `pause()` for new partitions while a batch is being processed. The effect
#   of `pause()` ends when a partition is revoked, and the records of a new partition would start a second batch.
#
# ## Offsets kept outside Kafka
#
# If results go to a database, store the offset in the same transaction, and `seek()` when a partition comes:
#
# ```java
# public void onPartitionsAssigned(Collection<TopicPartition> added) {
#     for (TopicPartition partition : added)
#         consumer.seek(partition, database.nextOffset(partition));
# }
# ```
#
# Commits to Kafka then serve only `kafka-consumer-groups` and lag monitors.
#
# ## Exactly once, from topic to topic
#
# *(From KIP-98 and KIP-447. The kit's engine does not run transactions: this section rests on the KIPs, not on a run.)*
#
# A transaction writes the output records and the consumed offsets together (the producer has a `transactional.id`):
#
# ```java
# producer.initTransactions();
# while (running) {
#     ConsumerRecords<K, V> batch = consumer.poll(Duration.ofMillis(100));
#     producer.beginTransaction();
#     batch.forEach(record -> producer.send(transform(record)));
#     producer.sendOffsetsToTransaction(offsetsOf(batch), consumer.groupMetadata());
#     producer.commitTransaction();
# }
# ```
#
# `consumer.groupMetadata()` carries the member id and the generation, so a zombie's offsets are refused exactly as its commits
# are. (Before KIP-447, Kafka 2.5, this needed one producer per input partition.) If a step fails, call
# `abortTransaction()` and seek back to the committed offsets. After a `ProducerFencedException`, close the producer
# instead. Set `enable.auto.commit=false` on this consumer, and
# `isolation.level=read_committed` on every consumer of the output.
#
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
# a return value that hardly any program checks; in Python it comes out of `poll()`. This is one of the hardest incidents
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
# ## Exercise: a listener that loses nothing
#
# Your listener is plugged into every member of a simulated group. Write it in the cell below the buttons and run that cell.
# Each case that fails has a button that opens it in the lab.

# %% tags=["hide-input", "nbval-ignore-output"]
from IPython.display import Markdown

from rebalance_kit import Exercise

nothing_lost = Exercise("c3-lose-nothing")
display(Markdown(nothing_lost.story), nothing_lost)


# %% tags=["exercise"]
class Listener:
    """A new one is made each time a member's process starts."""

    def on_assigned(self, partitions, consumer):
        raise NotImplementedError

    def on_revoked(self, partitions, consumer):
        raise NotImplementedError

    def on_lost(self, partitions, consumer):
        raise NotImplementedError


print(nothing_lost.check(Listener))

# %% [markdown]
# Three more, with minutes of their own, start in a terminal, with `rebalance-kit exercise start` and a name. In `c4-fewest-duplicates` you commit just
# often enough. In `c7-eager-callbacks` and `c8-callbacks-for-all` you write librdkafka's callbacks, and real clients run
# them.
#
# ## Check yourself
#
# 1. `enable.auto.commit=true`. You hand records to a thread pool and call `poll()` again at once. What can a crash lose?
# 2. Your listener commits in `onPartitionsRevoked` and does not override `onPartitionsLost`. What happens after a GC pause that is longer than the session?
# 3. Under cooperative, `onPartitionsAssigned` is called with an empty collection. What do you do?
# 4. `commitSync()` throws `RebalanceInProgressException`. Are you still a member? And if it throws `CommitFailedException` under KIP-848?
#
# <details><summary>Answers</summary>
#
# 1. Records that `poll()` returned and an auto-commit covered, but that the pool has not finished: auto-commit believes that what was
#    returned is done. What came after the last commit is delivered again.
# 2. The commit fails with `CommitFailedException`, because lost calls revoked by default. The client logs it, and `poll()` throws.
# 3. Nothing. You keep what you have.
# 4. Yes (and the client is a classic one). Call `poll()` to finish the rebalance, then commit what you still own. Under KIP-848: perhaps. The epoch may only have gone up while the commit was under way; `poll()` tells.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("callbacks", count=8)

# %% [markdown]
# ## Recap card
#
# - Revoked: still yours, commit now. Lost: gone, discard, do not commit. Assigned: only what is new (under eager, everything).
#   In the middle of a rebalance, `close()` of a cooperative consumer calls lost: finish the rebalance, commit, then close.
# - Process, then commit: records may come twice. Commit, then process: records may be lost. The protocol changes neither.
# - After a crash, auto-commit repeats at most one interval's records if you poll at least that often. Under cooperative, commit in revoked, or a
#   planned move repeats a few.
# - Classic: `CommitFailedException`, no longer a member of this generation; `RebalanceInProgressException`, still one. KIP-848: `CommitFailedException` says neither.
# - Fencing protects offsets. It does not protect your database.
# - librdkafka: `assign` for eager, `incremental_assign` for cooperative-sticky and KIP-848.

# %% tags=["hide-input"]
next_notebook("07")
