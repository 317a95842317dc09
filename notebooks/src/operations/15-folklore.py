# %% [markdown]
# # 15 · Folklore put to the test
#
# **20 minutes**. Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Troubleshooting*, *Deployment*.
#
# After this notebook you can
#
# - put a sentence from a tutorial to the test with a scenario of a few lines (CCAAK Troubleshooting);
# - say what a new `group.id` does to the records of a group, and when it is a migration (CCAAK Deployment);
# - say what a broken callback, an offline partition and an eager member do to the rest of a group (CCDAK Application Development);
# - recognise the group that says Stable while nobody reads (CCAAK Troubleshooting).
#
# All nine sentences below are in use: in tutorials, in answers on forums, in design documents. Some of them are true.

# %% tags=["hide-input"]
from rebalance_kit import metrics, scenario
from rebalance_kit.notebook import callbacks, columns, consumer_groups, describe, gaps, next_notebook, predict
from rebalance_kit.notebook import reasons, refusal, reveal, run, three

# %% [markdown]
# ## Nine sentences
#
# ### Predict
#
# True or false?

# %%
sentences = {
    "1. onPartitionsRevoked is called when a partition goes offline": None,
    "2. A group with a new group.id begins where auto.offset.reset says": None,
    "3. A new group.id is a safe way to migrate": None,
    "4. When an administrator takes partitions from a topic, the group rebalances": None,
    "5. Under cooperative no partition stops, not for a single millisecond": None,
    "6. A wrong librdkafka callback corrupts the group's assignment": None,
    "7. A member that reads nothing can keep its partitions for as long as it lives": None,
    "8. One eager member makes the whole group eager": None,
    "9. Deleting one topic can stop the reading of another": None,
}
guess = predict(sentences, options=("true", "false"))
guess

# %% [markdown]
# ### 1. `onPartitionsRevoked` is called when a partition goes offline
#
# A broker crashes and is away for twenty seconds. Two partitions had their leader there. Which callbacks run, and for how long are the two unread?

# %% tags=["answer"]
offline = scenario("""
scenario: offline
title: A broker crashes, and with it two partition leaders
topics: {orders: 4}
nodes: {1: rack-a, 2: rack-b}
end: 90s
configs: {auto.offset.reset: earliest}
members: {count: 2, prefix: consumer-, topics: [orders]}
actions: [{at: 30s, do: node_down, node: 2, crash: true}, {at: 50s, do: node_up, node: 2}]
""")
away = three(offline)
called = {name: sum(row.at_ms > 25_000 for row in trace.of("callback_begin")) for name, trace in away.items()}
reveal(f"callbacks after second 25: {called}\n{gaps(away['consumer'], since_s=25)}")

# %% [markdown]
# <details><summary>What the run says</summary>
#
# **False.** Nobody is called, under any protocol. For nine seconds the two partitions have no leader that could answer a fetch; then the cluster has made
# another replica the leader, and the same members read on. Callbacks tell of *ownership*, and no owner has changed. What shows an offline partition is the broker's
# `OfflinePartitionsCount`, and the lag.
#
# </details>
#
# ### 2 and 3. Migrate with a new `group.id`
#
# The advice goes: *do not risk a rolling upgrade of the group; deploy the new version under a new `group.id`, then stop the old one.* Here the old one
# stops at second 40, and the new one starts at second 45. Every partition gets ten records per second, and the new consumer keeps the default `auto.offset.reset=latest`.

# %% tags=["answer"]
new_group = """
scenario: new-group
title: The same service under a new group.id
topics: {orders: 4}
end: 90s
configs: {auto.offset.reset: RESET}
members:
  - {name: old, topics: [orders], configs: {group.id: billing, auto.offset.reset: earliest}}
  - {name: new, topics: [orders], start: 45s, configs: {group.id: billing-v2}}
actions: [{at: 40s, do: close, member: old}]
"""
latest, earliest = (run(new_group.replace("RESET", reset)) for reset in ("latest", "earliest"))
reveal(describe(latest))


# %% tags=["answer", "hide-input"]
def delivered(trace, group):
    """How many records the applications of a group were given."""
    return sum(row.detail["delivered"] for row in trace.of("account") if row.detail["group"] == group)


produced = sum(row.detail["produced"] for row in latest.of("account") if row.detail["group"] == "billing")
table = [
    (
        "the new group's auto.offset.reset",
        "written to the topic",
        "delivered to billing",
        "delivered to billing-v2",
    )
]
table += [
    (reset, str(produced), *(str(delivered(trace, group)) for group in ("billing", "billing-v2")))
    for reset, trace in (("latest", latest), ("earliest", earliest))
]
reveal(columns(table))

# %% [markdown]
# <details><summary>What the runs say</summary>
#
# **2 is true, and therefore 3 is false.** Offsets belong to the group id, so a new group has none. With `latest` it begins at the end of the log: the 340 records
# that came in between reach nobody, and no error is logged. With `earliest` it begins at the beginning of the log and delivers everything once more that the old group had done. And while
# both run, *both* get every record.
#
# It becomes a migration if the offsets go along. Stop the old group. Then
# `kafka-consumer-groups --group billing --all-topics --reset-offsets --to-current --export --dry-run > offsets.csv` writes them down, and
# `kafka-consumer-groups --group billing-v2 --reset-offsets --from-file offsets.csv --execute` gives them to the new group, which must not run yet (`--bootstrap-server` is left out of both). Between the two
# commands nobody reads. So it is an offline migration with two more steps: for Java clients the online way of notebook 09 is the
# shorter one. You need the new id where the online way is refused, and to be able to go back: for that, copy the offsets the other way.
#
# </details>
#
# ### 4. An administrator takes partitions from a topic

# %% tags=["answer"]
fewer = """
scenario: fewer
topics: {orders: 6}
members: {count: 2, prefix: consumer-, topics: [orders]}
actions: [{at: 20s, do: add_partitions, topic: orders, partitions: 4}]
end: 60s
"""
reveal(refusal(fewer))

# %% [markdown]
# <details><summary>What Kafka says</summary>
#
# **False**, because it cannot happen: the controller answers `INVALID_PARTITIONS`, and the topic stays as it was. A topic only grows. Whoever wants fewer partitions makes a new topic,
# and what *that* does to a group is sentence 9.
#
# </details>
#
# ### 5. Under cooperative no partition stops, not for a single millisecond

# %% tags=["answer"]
joined = run("join", "cooperative")
reveal(gaps(joined, since_s=30))

# %% [markdown]
# <details><summary>What the run says</summary>
#
# **False.** The three partitions that move are unread for 3.2 s each, longer than any under eager in notebook 02. The nine that stay are what the sentence means, and of those it is
# true.
#
# </details>
#
# ### 6 and 7. A wrong librdkafka callback
#
# Two librdkafka consumers use KIP-848. A third one joins, and its callback calls `assign()`, as an eager one would have to.

# %% tags=["answer"]
wrong = run("wrong-librdkafka-callback", "consumer")
reveal(f"{describe(wrong)}\n\n{consumer_groups(wrong, 85)}")

# %% [markdown]
# <details><summary>What the run says</summary>
#
# **6 is false, 7 is true.** The call is refused (`_STATE`) and changes nothing: the assignment of the group is what it should be, and the tool shows two partitions with the third
# consumer. But that consumer goes on waiting for the right call. It sends heartbeats, so it keeps its two partitions, and nobody reads them to the end of the run. Nothing is
# corrupt; that is what makes it hard to see. A Java consumer that is busy is taken out after `max.poll.interval.ms`; this one calls `poll()` all the time.
#
# </details>
#
# ### 8. One eager member makes the whole group eager
#
# Three members share cooperative-sticky. One of them, `eager-1`, also lists range, so *it* behaves eagerly. A fourth one joins at second 40. Whose partitions are revoked?

# %% tags=["answer"]
mixed = run(
    scenario("""
scenario: one-eager
title: One member of four behaves eagerly
topics: {orders: 8}
end: 80s
configs: {auto.offset.reset: earliest, partition.assignment.strategy: cooperative-sticky}
members:
  - {name: eager-1, topics: [orders], configs: {partition.assignment.strategy: "cooperative-sticky,range"}}
  - {count: 2, prefix: coop-, topics: [orders]}
  - {name: late-1, topics: [orders], start: 40s}
""")
)
reveal(callbacks(mixed, since_s=38))

# %% [markdown]
# <details><summary>What the run says</summary>
#
# **False.** `eager-1` revokes *all* it has before each JoinGroup, twice. The two cooperative members give up one partition each and go on reading the rest. Eager or cooperative is decided
# by each client for itself, from its own list, when it is built; a group votes on the *name* of the assignor and knows no mode. What is true: a member without a name in common with
# all others is refused. (Of KIP-848 the sentence is false as well: a classic member that joins such a group leaves it what it is, notebook 04b.)
#
# </details>
#
# ### 9. Deleting one topic can stop the reading of another
#
# Two consumers subscribe to the pattern `orders.*`, which matches `orders` and `orders-old`. At second 25 an administrator deletes `orders-old`, which has had no traffic for weeks.
# `max.poll.interval.ms` is 60 s here. For how long is `orders`, which nobody touched, unread?

# %% tags=["answer"]
deleted = three("defect-deleted-topic-hangs")
reveal("\n\n".join(f"{name}\n{gaps(trace, since_s=20)}" for name, trace in deleted.items()))

# %% tags=["answer", "hide-input"]
taken = [
    len(row.detail["partitions"])
    for row in mixed.of("callback_begin")
    if row.at_ms > 38_000 and row.actor.startswith("coop") and row.detail["callback"] == "revoked"
]
both = [delivered(trace, "billing") + delivered(trace, "billing-v2") for trace in (latest, earliest)]
found = (
    any(called.values()),
    delivered(latest, "billing-v2") < produced - delivered(latest, "billing")
    and delivered(earliest, "billing-v2") > delivered(earliest, "billing"),
    both == [produced, produced],
    refusal(fewer) == "accepted",
    metrics(joined).partitions_unread == 0,
    "consumer-3" not in consumer_groups(wrong, 85),
    "nobody" in gaps(wrong, since_s=30),
    max(taken) > 1,
    "orders-0" in gaps(deleted["eager"], since_s=20),
)
guess.beside(dict(zip(guess.answers, ("true" if one else "false" for one in found), strict=True)))

# %% [markdown]
# **9 is true under eager**, and it is the worst of the nine. Before it joins again, each consumer commits what it has read, the deleted topic included. The answer is
# `UNKNOWN_TOPIC_OR_PARTITION`, which the client takes for an error that passes: it tries again, up to `max.poll.interval.ms`, here for 60.1 s and by default for
# **five minutes**. An eager member has stopped fetching *all* its partitions by then; a cooperative one has not, and a KIP-848 group only moves what has to move. Kafka's own
# 4.3.1 client was recorded doing it.
#
# ## The case: everything lags, and the group is Stable
#
# It is 30 seconds later, and the pager rings: *lag on all partitions*. This is what you see. Which cell of the chart of notebook 14 is it?

# %%
hang = deleted["eager"]
print(consumer_groups(hang, 60, "state"))
print(consumer_groups(hang, 60))

# %% [markdown]
# <details><summary>What is it, and what do you do?</summary>
#
# *Stable*, no rebalance, lag on every partition: it looks like too little capacity, and adding members is what most people do. But CURRENT-OFFSET is 218 for each of them, as it was when the topic was deleted, and it does not move: **nobody commits, so nobody finishes anything**. `orders-old` shows no offsets at all: the topic is gone. The clients' logs repeat one line about an offset
# commit that failed.
#
# Restart the consumers (the commit is in memory only), or wait for `max.poll.interval.ms`. New members would wait in the same rebalance. And for next time: take a topic out of the subscription *before* you delete
# it, commit in your own code, or run cooperative or KIP-848.
#
# </details>

# %%
print(reasons(hang, since_s=20))

# %% [markdown]
# The first rebalance comes a whole minute after the deletion, and only then do `kafka-consumer-groups` and the broker's log show one. Until then, everything looked quiet.
#
# ## Check yourself
#
# **1.** A colleague proposes a new `group.id` for a service with `auto.offset.reset=earliest`, "so that nothing is lost". What do you ask?
#
# <details><summary>Answer</summary>
#
# Whether the service can bear everything that is still in the topic a second time. Nothing is lost, and everything comes again, unless the offsets are copied first.
#
# </details>
#
# **2.** All members' committed offsets stand where they were a minute ago, and the state is Stable. Does another pod help?
#
# <details><summary>Answer</summary>
#
# No. The members do not finish what they have. Read one client's log before you change anything.
#
# </details>
#
# **3.** "We moved one pod to `[cooperative-sticky]` and the group stayed eager, so cooperative does not work." The others list `[cooperative-sticky, range]`. What do you say?
#
# <details><summary>Answer</summary>
#
# The pod does behave cooperatively; the others do not, because each of them still has range in its own list. Take it out of theirs.
#
# </details>
#
# ## Recap card
#
# - Callbacks tell of ownership. A partition that is offline has its owner still.
# - A new `group.id` has no offsets: `latest` skips, `earliest` repeats, and both groups read. Copy the offsets, or migrate online.
# - Partitions cannot be taken away. Topics can, and an eager member with auto-commit may then read nothing for `max.poll.interval.ms`.
# - Eager or cooperative is each client's own property.
# - A wrong callback corrupts nothing, and reads nothing.
# - Before you add members: do committed offsets move?

# %% tags=["hide-input"]
next_notebook("15")
