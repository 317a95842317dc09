# %% [markdown]
# # 04b · KIP-848 in practice: settings, versions, mixed groups
#
# **40 minutes**. Exams: CCDAK *Application Development*; CCAAK *Cluster Configuration*, *Deployment*, *Observability*.
#
# After this notebook you can
#
# - say which settings moved from the client to the broker, and what becomes of those left in a client (CCAAK Cluster Configuration);
# - explain what a burst of joins does before and after Kafka 4.3 (CCAAK Observability);
# - say what happens when classic and new clients meet in one group (CCAAK Deployment);
# - correct four common beliefs about the new protocol (CCDAK Application Development).
#
# | version | state of `group.protocol=consumer` |
# |---|---|
# | 3.7 | early access |
# | 3.8 | preview |
# | 4.0 | generally available; brokers offer it, clients must ask for it |
# | 4.3 | classic clients log a hint that there is a new protocol (KIP-1274) |
# | 5.0 | planned to be the client's default |
# | 6.0 | planned: the Java consumer drops the classic protocol; *brokers* go on serving it to other and older clients |
#
# ## Who sets what
#
# | classic client | under KIP-848 |
# |---|---|
# | `session.timeout.ms` | `group.consumer.session.timeout.ms` of the broker, or `consumer.session.timeout.ms` of one group |
# | `heartbeat.interval.ms` | `group.consumer.heartbeat.interval.ms` of the broker, or `consumer.heartbeat.interval.ms` of one group |
# | `partition.assignment.strategy` | `group.consumer.assignors` of the broker (`uniform`, `range`); a client can request one with `group.remote.assignor` |
# | `max.poll.interval.ms` | stays with the client, and is also the time within which a member must give up what it is told to give up |
# | `subscribe(java.util.regex.Pattern)` | still matched by the client; or a **SubscriptionPattern**, which the broker resolves (in the syntax of RE2/J, a regular-expression library without backtracking; in a scenario of yours: `pattern` and `server_pattern`) |
#
# ## Myth 1: "set `session.timeout.ms` on the consumer to find crashes sooner"
#
# ### Predict
#
# What does a consumer with `group.protocol=consumer` and `session.timeout.ms=10000` do?

# %%
from rebalance_kit.notebook import predict, refusal

guess = predict({"the consumer": None}, options=["uses 10 s", "ignores the setting", "does not start"])
guess

# %% tags=["answer", "hide-input"]
said = refusal("""
scenario: refused
topics: {orders: 4}
members: [{name: consumer-1, topics: [orders], configs: {group.protocol: consumer, session.timeout.ms: 10000}}]
""")
guess.beside({"the consumer": "uses 10 s" if said == "accepted" else "does not start"})

# %%
said

# %% [markdown]
# It is refused when the consumer is built (since 4.0), and so are `heartbeat.interval.ms` and `partition.assignment.strategy`. The broker's session timeout applies;
# clients cannot set one:

# %%
from rebalance_kit.notebook import draws, spread, with_broker

limits = {"group.consumer.session.timeout.ms": 15_000, "group.consumer.min.session.timeout.ms": 15_000}
print(spread(draws("crash", protocols=["consumer"]), "detect_s"))
print(spread(draws(with_broker("crash", limits), protocols=["consumer"]), "detect_s"))

# %% [markdown]
# A crash is detected when the session timeout has passed since the last heartbeat, which is up to 5 s old at the crash: after 40 to 45 s with the default of 45 s, after 10 to 15 s with 15 s. (The second
# setting in the code only lowers the minimum that the broker allows.) A single group can be given its own value, within the
# broker's limits (`group.consumer.min.session.timeout.ms`, 45000 by default, and `group.consumer.max.session.timeout.ms`, 60000):
# `kafka-configs --bootstrap-server localhost:9092 --entity-type groups --entity-name orders-app --alter --add-config consumer.session.timeout.ms=50000`.
#
# ## A burst of joins
#
# Two consumers are reading, and four more start within two seconds. Each join bumps the group epoch. Since 4.3 (KIP-1263) a
# target is computed at most once per interval:

# %%
from rebalance_kit.notebook import explain

explain("group.consumer.assignment.interval.ms")

# %% [markdown]
# ### Predict
#
# How many *targets* are computed for the burst, in the median of forty draws?

# %%
guess = predict({"targets in 4.2": None, "targets in 4.3": None}, within={"targets in 4.3": 1})
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit.notebook import median, with_version

new = draws(with_version("scale-out", "4.3.0"), 40, ["consumer"])
old = draws(with_version("scale-out", "4.2.0"), 40, ["consumer"])
guess.beside(
    {"targets in 4.2": median(old, "targets")["KIP-848"], "targets in 4.3": median(new, "targets")["KIP-848"]}
)

# %% [markdown]
# Until 4.2 each join got a target of its own. Now a burst is answered in fewer steps. There is no timer: the first heartbeat
# of any member after the interval computes the target. Until then the target is behind the group epoch, and the group is **Assigning**:

# %%
from rebalance_kit.notebook import run, states

states(run("scale-out", "consumer"), since_s=25)

# %% [markdown]
# **Myth 2:** "under KIP-848 the group is always Stable." It is not, as the table above shows: Reconciling, Assigning, and
# Reconciling again. What is true: a partition that stays with its owner is read throughout.
#
# ### What belongs to one version
#
# The interval brought a defect of its own. The only consumer of a group is closed right after it joined, and another one starts at once. In 4.3 the time of the last
# target still counts although the group is empty, so the newcomer's first share is *nothing*, and it waits for its next heartbeat:

# %%
from rebalance_kit.notebook import callbacks

callbacks(run("defect-empty-group-waits"))

# %% [markdown]
# Since 4.4 (KAFKA-20442) an empty group forgets that time, and the newcomer starts at once. An older defect shows in the epochs: up to 4.1 a member that had to give up partitions twice in a
# row raised its own epoch by one in between, although it had reached no new target (KAFKA-19974). **Watch for** `consumer-1` at 16.8 s: its epoch goes from 1 to 2 although it has to give up `orders-2`:

# %%
from rebalance_kit.notebook import epochs

epochs(run("defect-second-revocation"), since_s=10)

# %% [markdown]
# So on a cluster of 4.0 or 4.1 a member's CURRENT-EPOCH may go up while it still holds what it should give up.
#
# ## Myth 3: "with 4.x clients I have the new protocol"
#
# Which requests of the group protocols does a 4.3 consumer with default settings send? (Left out:
# finding the coordinator, fetching offsets and records.)

# %%
from rebalance_kit import metrics

print("default client:         ", *metrics(run("join"), since_ms=0).requests)
print("group.protocol=consumer:", *metrics(run("join", "consumer"), since_ms=0).requests)

# %%
explain("group.protocol")

# %% [markdown]
# You do not: `classic` is still the default.
#
# ## Myth 4: "one old client turns the group back into a classic one"
#
# Two members use `group.protocol=consumer`; then a third one joins that knows only the classic protocol.
#
# ### Predict
#
# Is the newcomer refused, does the group become classic, or does it stay as it is?

# %%
guess = predict({"the group": None}, options=["refuses it", "becomes classic", "stays as it is"])
guess

# %% tags=["answer", "hide-input"]
from rebalance_kit import scenario

mixed = run(
    scenario("""
scenario: mixed
title: An old client joins two new ones
topics: {orders: 6}
end: 70s
configs: {auto.offset.reset: earliest}
members:
  - {count: 2, prefix: new-, topics: [orders], configs: {group.protocol: consumer}}
  - {name: old-3, topics: [orders], start: 30s}
""")
)
converted = any(mixed.of("group_converted"))
guess.beside({"the group": "becomes classic" if converted else "stays as it is"})

# %%
from rebalance_kit.notebook import describe

describe(mixed)

# %% [markdown]
# It stays a KIP-848 group as long as one new client is in it, and meanwhile the coordinator speaks the classic protocol with the old ones. The other way
# round, the first new client that joins a classic group turns it into a KIP-848 group; it turns back only when the last
# new client has left. The broker's `group.consumer.migration.policy` allows both by default since 4.0. An eager member still gives up
# everything when it rejoins.
#
# In this lab three classic members are bounced one by one and come back with `group.protocol=consumer`. **Jump forward** from mark to mark. **Watch for** the
# coordinator's bar: with the first newcomer its states change from the classic ones to *Reconciling*,
# while the two others still say *classic* in their lanes. *Assigning* comes with the next leave, because a leave computes no target.

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Lab

Lab("migration", None)

# %% [markdown]
# ## Static members
#
# A static member that is closed keeps its place until its session expires, under both protocols. In a classic group its `close()` sends no LeaveGroup. In a KIP-848
# group its last heartbeat carries epoch -2: "I will be back". The difference shows when *two* processes claim one `group.instance.id`. The classic
# coordinator lets the newcomer take the place and *fences* the old process: every later request with its member id is refused with `FENCED_INSTANCE_ID`.
#
# ### Predict
#
# Under KIP-848, a second process starts with the `group.instance.id` of a living member. Which of the two dies?

# %%
guess = predict({"dies": None}, options=["the old process", "the new process", "both", "neither"])
guess

# %% tags=["answer", "hide-input"]
classic, kip_848 = (
    describe(run("duplicate-instance", "eager")),
    describe(run("duplicate-instance", "consumer")),
)
guess.beside({"dies": "the new process" if "twin dies" in kip_848 else "the old process"})

# %%
print(classic, kip_848, sep="\n\n")

# %% [markdown]
# Under KIP-848 the place is not free until its holder has announced that it is leaving, or its session has expired, and until then a newcomer is refused with `UNRELEASED_INSTANCE_ID`.
# **So a replacement for a *crashed* static pod cannot start before the session of the dead one has expired.** (In the classic run the newcomer
# begins at the last commit, so 84 records come twice; the old process reads on beside it until its next commit is refused, which adds 16. The run counts these when `twin` first commits, at 31.8 s.)
#
# ## Limits and differences
#
# - You cannot plug an assignor of your own into the client; write a class for the broker instead.
# - `uniform` (the default) is sticky; the broker's `range` has not been sticky since 3.9. Neither looks at racks.
# - The broker notices added partitions and new topics by a *metadata hash*: one number over the topics that a group subscribes to. When it changes, the group epoch
#   goes up. Clients need not watch the topics, unless they match a pattern themselves.
# - `enforceRebalance()` is not supported.
# - The protocol is for consumers. Kafka Streams has one of its own (KIP-1071), and Connect stays with the classic one.
#
# A fourth consumer joins three that read twelve partitions. **Watch for** *elsewhere at the end*, the partitions with another reader at the end:

# %%
from rebalance_kit.notebook import costs

costs(draws("join", 40, ["consumer", "consumer-range"]), "elsewhere at the end", "partitions unread")

# %% [markdown]
# Three of the twelve have to move. The broker's range hands out blocks in the order of the member ids, which the clients draw at random. A newcomer in the middle
# moves four partitions, one at either end six. (Static members are sorted by their `group.instance.id`.)
#
# ## Check yourself

# %% tags=["nbval-ignore-output"]
from rebalance_kit import Quiz

Quiz("consumer")

# %% [markdown]
# ## Recap card
#
# - Opt in per client with `group.protocol=consumer`; session timeout and heartbeat interval belong to the broker or the group, the assignors to the broker.
# - A client that sets `session.timeout.ms`, `heartbeat.interval.ms` or `partition.assignment.strategy` does not start.
# - A burst of joins: one epoch each, and since 4.3 at most one target per second.
# - Old and new clients can share a group; the first new one converts it, the last new one that leaves converts it back.
# - A duplicate `group.instance.id` kills the old process in a classic group and the new one under KIP-848. A replacement for a crashed static pod is such a duplicate
#   until the dead one's session has expired.

# %% tags=["hide-input", "nbval-ignore-output"]
from rebalance_kit.notebook import next_notebook

next_notebook("04b")
