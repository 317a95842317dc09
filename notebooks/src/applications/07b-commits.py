# %% [markdown]
# # 07b · Commits, zombies and long work
#
# **30 minutes**, and 30 for its exercises. Exams: CCDAK *Application Development*, *Fundamentals*; CCAAK *Troubleshooting*.
#
# After this notebook you can
#
# - choose a commit policy and predict what a crash delivers twice, or never (CCDAK Fundamentals);
# - read a `CommitFailedException` and its relatives, under both protocols, and say what to do (CCAAK Troubleshooting);
# - say what fencing protects, and what it does not (CCDAK Application Development);
# - keep a consumer in its group while one batch takes minutes (CCDAK Application Development).
#
# A **commit** is what your group remembers when a partition changes hands. This notebook is about when to make it, and about what you are told when it is refused.

# %%
from rebalance_kit import Quiz, metrics, scenario, simulate
from rebalance_kit.notebook import callbacks, columns, describe, draws, explain, median, next_notebook
from rebalance_kit.notebook import predict, refused_commits, reveal, run, spread, with_configs

# %% [markdown]
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
# There is a fourth case: a crash before the *first* commit. Where the group has no committed offset, the next owner begins where `auto.offset.reset` says, and the default, `latest`, is the end of the
# log: whatever came during the whole outage is skipped, and no error is logged. Forty such crashes:

# %%
fresh = with_configs("lost-records", {"auto.offset.reset": "earliest"})
print("latest  ", spread(draws("lost-records", 40, ["eager"]), "records_lost"), sep="\n")
print("earliest", spread(draws(fresh, 40, ["eager"]), "records_lost"), sep="\n")

# %% [markdown]
# Set `auto.offset.reset` on purpose: `earliest` where no record may be missed; `none` ends the consumer instead; `by_duration:PT1H` (since 4.0) goes an hour back.
#
# ### Sync or async
#
# | | `commitSync()` | `commitAsync()` |
# |---|---|---|
# | waits | until the coordinator has answered, retrying what can be retried | no |
# | on failure | throws | tells your callback; never retries, because a later commit may have overtaken it |
# | use | where you can wait: in `onPartitionsRevoked`, before `close()`, in the loops above | in a loop that must not wait |

# %% [markdown]
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

# %% [markdown]
# ## What the refusal looks like
#
# | exception (Java) | what happened | what to do |
# |---|---|---|
# | `CommitFailedException` | classic: the coordinator does not take this member's commits any more (poll timeout, session expired, generation gone). KIP-848: that, **or** only that the member epoch of the commit is not the newest (`STALE_MEMBER_EPOCH`) and the member lives on | treat these records as not committed; call `poll()`, which joins again where it must and otherwise goes on. Then find out why: batch too long? |
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
# The frozen process cannot heartbeat, so its partitions go to others, who read on. When it wakes, a classic consumer returns whole fetches of the same records before it learns that it was removed. A KIP-848 consumer usually learns it sooner (in the draws of notebook 05 it has about a twentieth as many duplicates as a classic one; in our one recording with the 4.3.1 Java client a tenth; librdkafka's one recording has as many as a classic group), but nothing makes its buffered records wait for the heartbeat's answer. Neither protocol
# protects a database that your code writes to. For that you need your own fence: write the offset (or the generation)
# with the data, and refuse older ones.

# %% [markdown]
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

# %% [markdown]
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

# %% [markdown]
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

# %% [markdown]
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
# One more, with minutes of its own, starts in a terminal, with `rebalance-kit exercise start c4-fewest-duplicates`: you commit just often enough.

# %% [markdown]
# ## Check yourself
#
# 1. `enable.auto.commit=true`. You hand records to a thread pool and call `poll()` again at once. What can a crash lose?
# 2. Your listener commits in `onPartitionsRevoked` and does not override `onPartitionsLost`. What happens after a GC pause that is longer than the session?
# 3. `commitSync()` throws `RebalanceInProgressException`. Are you still a member? And if it throws `CommitFailedException` under KIP-848?
#
# <details><summary>Answers</summary>
#
# 1. Records that `poll()` returned and an auto-commit covered, but that the pool has not finished: auto-commit believes that what was
#    returned is done. What came after the last commit is delivered again.
# 2. The commit fails with `CommitFailedException`, because lost calls revoked by default. The client logs it, and `poll()` throws.
# 3. Yes (and the client is a classic one). Call `poll()` to finish the rebalance, then commit what you still own. Under KIP-848: perhaps. The epoch may only have gone up while the commit was under way; `poll()` tells.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz(
    "callbacks",
    ids=[
        "commit-before-processing-crash",
        "commit-in-revoked-join",
        "frozen-member-duplicates",
        "late-commit-lowers-offset",
        "commit-failed-what-next",
        "paused-still-has-to-poll",
    ],
)

# %% [markdown]
# ## Recap card
#
# - Process, then commit: records may come twice. Commit, then process: records may be lost. The protocol changes neither.
# - After a crash, auto-commit repeats at most one interval's records if you poll at least that often. Under cooperative, commit in revoked, or a
#   planned move repeats a few.
# - Classic: `CommitFailedException`, no longer a member of this generation; `RebalanceInProgressException`, still one. KIP-848: `CommitFailedException` says neither.
# - Fencing protects offsets. It does not protect your database.
# - Long work: smaller batches, or `pause()`, a worker and a loop that goes on polling.

# %% tags=["hide-input"]
next_notebook("07b")
