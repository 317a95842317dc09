# %% [markdown]
# # 04 · KIP-848: the broker decides
#
# **35 minutes.** Exams: CCDAK *Fundamentals*, *Application Development*; CCAAK *Fundamentals*, *Cluster
# Configuration*, *Deployment*, *Observability*.
#
# After this notebook you can
#
# - explain the three epochs, and what *reconciliation* means;
# - follow one partition from its old owner to the new one, heartbeat by heartbeat;
# - say which settings moved from the client to the broker;
# - correct five common beliefs about the new protocol.
#
# | version | state of `group.protocol=consumer` |
# |---|---|
# | 3.7 | early access |
# | 4.0 | generally available; brokers offer it, clients must ask for it |
# | 5.0 | planned to be the client's default |
# | 6.0 | the classic protocol is planned to go |

# %%
from dataclasses import replace

from rebalance_kit import Lab, Quiz, RebalanceKitError, describe_comparison, gantt_figure
from rebalance_kit import messages, metrics, scenario, show, simulate, three
from rebalance_kit.notebook import beside, callbacks, epochs, explain, gaps, states, story
from rebalance_kit.notebook import target_beside_current

# %% [markdown]
# ## What is gone, what is new
#
# | classic (eager, cooperative) | consumer (KIP-848) |
# |---|---|
# | JoinGroup, SyncGroup, Heartbeat, LeaveGroup | one request: **ConsumerGroupHeartbeat** |
# | the leader, a client, computes the assignment | the **coordinator** computes it |
# | a barrier: everybody waits for everybody | no barrier: each member goes its own way |
# | generation | **group epoch**, **target epoch**, **member epoch** |
# | `partition.assignment.strategy` of the client | `group.consumer.assignors` of the broker (`uniform`, `range`), the client may wish (`group.remote.assignor`) |
# | `session.timeout.ms`, `heartbeat.interval.ms` of the client | `group.consumer.session.timeout.ms`, `group.consumer.heartbeat.interval.ms` of the broker, or of the group |
# | client-side regular expressions | also **SubscriptionPattern**, RE2/J, resolved on the broker |
#
# On the client it is one line, `group.protocol=consumer`; a few settings must go, as we shall see.
#
# ## One join, message by message
#
# Two members share six partitions; a third one joins.

# %%
third_joins = scenario("""
scenario: third-joins
title: A third consumer joins
topics: {orders: 6}
end: 60s
configs: {auto.offset.reset: earliest, group.protocol: consumer}
members:
  - {count: 2, prefix: consumer-, topics: [orders]}
  - {name: consumer-3, topics: [orders], start: 30s}
""")
run = simulate(third_joins)
cost = metrics(run)

# %% [markdown]
# ### Predict

# %%
guess = {"partitions that were unread": None, "partitions that move": None, "JoinGroup requests": None}

# %%
joins = sum(row.detail["api"] == "JoinGroup" for row in run.of("request"))
print(beside(guess, dict(zip(guess, (cost.partitions_unread, cost.partitions_moved, joins)))))

# %% [markdown]
# **Watch for** the epochs that the members send and get, and for the lists: a heartbeat that carries a list of owned partitions is an
# **acknowledgement** ("this is what I have now").

# %% tags=["nbval-ignore-output"]
talk = messages(run, since_s=30, until_s=37)
talk

# %%
print(talk.text)

# %% [markdown]
# ## Three epochs
#
# - **group epoch**: the version of the *question*: who is in the group, what they subscribe to, which partitions exist.
# - **target epoch** (Kafka: assignment epoch): for which version of the question the *answer*, the target assignment, was computed.
# - **member epoch**: which answer this member has *reached*.
#
# The state of the group follows from them: **Assigning** while the target is behind the group epoch, **Reconciling**
# while some member is behind the target, **Stable** when all are even.

# %%
print(epochs(run, since_s=30))

# %%
print(states(run, since_s=25))

# %% [markdown]
# Read the table from top to bottom:
#
# 1. the join bumps the group epoch, and the target is computed at once, inside the newcomer's heartbeat;
# 2. the newcomer is at the new epoch straight away, with *nothing*: its share still belongs to others;
# 3. each old owner hears at its own next heartbeat what it has to give up. Its epoch stays behind until it has acknowledged;
# 4. the newcomer gets what is free at *its* next heartbeat.
#
# ## Target and current
#
# Between the two lies **reconciliation**, and each member walks it alone. Three moments of this run: just after the
# target was computed, when the first old owner has been told, and at the end.

# %%
begin = next(row.at_ms for row in run.of("target") if row.at_ms > 30_000) / 1000
print(target_beside_current(run, begin))

# %%
steps = [row for row in run.of("member_reconciled") if row.at_ms > 30_000]
told = next(row.at_ms for row in steps if row.detail["pending_revocation"])
print(target_beside_current(run, told / 1000))

# %%
print(target_beside_current(run, run.end_ms / 1000))

# %% [markdown]
# **UNREVOKED_PARTITIONS**: it must give something up and has not said yet that it did. **UNRELEASED_PARTITIONS**: it
# waits for something that another member still holds. Nobody else waits for either of them.
#
# ## The callbacks

# %%
print(callbacks(run, since_s=30))

# %% [markdown]
# As under cooperative: revoked with what leaves, assigned with what is new, also with nothing. (Compare the last line
# with the table of states: the coordinator counts a member as done when it *hands out* free partitions, so the group
# reads Stable a moment before the newcomer has started with them.)
#
# **Watch for** the partitions that leave a lane early and arrive late.

# %% tags=["nbval-ignore-output"]
show(gantt_figure(run), "")

# %%
print(story(run))

# %% [markdown]
# ## Myth: "KIP-848 moves partitions at once"
#
# The broker pushes nothing. A move waits for the old owner's heartbeat, and then for the new owner's. So the interval
# is the clock.
#
# ### Predict
#
# What happens to the gap of a moved partition if the broker's interval is 10 s instead of 5 s?

# %%
slow_clock = replace(third_joins, broker={"group.consumer.heartbeat.interval.ms": 10_000}, end_ms=80_000)
print("every 5 s (default):")
print(gaps(run, since_s=29))
print()
print("every 10 s:")
print(gaps(simulate(slow_clock), since_s=29))

# %%
print(explain("group.consumer.heartbeat.interval.ms"))

# %% [markdown]
# ## No barrier: a slow member delays itself
#
# The experiment of notebooks 02 and 03: one of two members needs six seconds in each callback, a third joins.
# **Watch for** who reads what while the slow one is busy.

# %%
slow = three("slow-callback")
print(story(slow["consumer"]))

# %%
print(describe_comparison(list(slow.values())))

# %% [markdown]
# The partition that the quick member gave up did not wait for the slow one. Under cooperative it did.
#
# ## A burst of joins
#
# Four consumers start within two seconds. Each join bumps the group epoch.
#
# ### Predict
#
# How many group epochs, and how many *targets* are computed, in Kafka 4.3 and in 4.2?

# %%
guess = {"epochs in 4.3": None, "targets in 4.3": None, "epochs in 4.2": None, "targets in 4.2": None}

# %%
new = metrics(simulate(replace(scenario("scale-out"), kafka_version="4.3.0"), protocol="consumer"))
old = metrics(simulate(replace(scenario("scale-out"), kafka_version="4.2.0"), protocol="consumer"))
print(beside(guess, dict(zip(guess, (new.epochs, new.targets, old.epochs, old.targets)))))

# %%
print(explain("group.consumer.assignment.interval.ms"))

# %% [markdown]
# Since 4.3 (KIP-1263) a target is computed at most once per interval and group, so a burst is answered in few steps.
# There is no timer for it: the delayed computation happens in the first heartbeat of *anybody* after the interval.
# That is when a group is **Assigning**:

# %%
print(states(simulate(scenario("scale-out"), protocol="consumer"), since_s=25))

# %% [markdown]
# **Myth:** "under KIP-848 the group is always Stable."
#
# (Another change of 4.3: a new group starts at epoch 1, so its first member gets epoch 2. Before, it got 1.)
#
# ## A crash
#
# The broker's session timeout applies; clients cannot set one.

# %%
print(explain("group.consumer.session.timeout.ms"))

# %%
crash = simulate(scenario("crash"), protocol="consumer")
limits = {"group.consumer.session.timeout.ms": 15_000, "group.consumer.min.session.timeout.ms": 15_000}
brief = simulate(replace(scenario("crash"), broker=limits), protocol="consumer")
long, short = metrics(crash), metrics(brief)
print("session of 45 s: noticed after", long.detect_s, "s, longest gap", long.longest_gap_s, "s")
print("session of 15 s: noticed after", short.detect_s, "s, longest gap", short.longest_gap_s, "s")

# %% [markdown]
# (A single group can be given its own values: `kafka-configs --entity-type groups --entity-name orders-app --alter
# --add-config consumer.session.timeout.ms=...`, within the limits that the broker allows.)
#
# **Myth:** "set `session.timeout.ms` on the consumer to find crashes sooner." Try it:

# %%
try:
    scenario("""
scenario: refused
topics: {orders: 4}
members: [{name: consumer-1, topics: [orders], configs: {group.protocol: consumer, session.timeout.ms: 10000}}]
""")
except RebalanceKitError as refused:
    print(refused)

# %% [markdown]
# Refused when the consumer is built (since 4.0), like `heartbeat.interval.ms` and
# `partition.assignment.strategy`. `max.poll.interval.ms` stays with the client, and has a second job, as before: it is
# the time within which a member must give up what it is told to give up.
#
# ## Myth: "with 4.x clients I have the new protocol"
#
# A consumer of 4.3 with default settings. Which requests does it send?

# %%
default = simulate(scenario("join"))
new = simulate(scenario("join"), protocol="consumer")
print("default client:         ", ", ".join(metrics(default, 0).requests))
print("group.protocol=consumer:", ", ".join(metrics(new, 0).requests))

# %%
print(explain("group.protocol"))

# %% [markdown]
# ## Myth: "one old client turns the group back into a classic one"
#
# Two members use `group.protocol=consumer`; then a third one joins that knows the classic protocol alone.
#
# ### Predict
#
# Is the newcomer refused, does the group become classic, or does it stay a consumer group?

# %%
mixed = simulate(
    scenario("""
scenario: mixed
title: An old client joins two new ones
topics: {orders: 6}
end: 70s
configs: {auto.offset.reset: earliest}
members:
  - {name: new-1, topics: [orders], configs: {group.protocol: consumer}}
  - {name: new-2, topics: [orders], configs: {group.protocol: consumer}}
  - {name: old-3, topics: [orders], start: 30s}
""")
)
print("times that the group changed its protocol:", len(list(mixed.of("group_converted"))))
print(story(mixed))

# %% [markdown]
# It stays a *consumer* group, and the coordinator speaks the classic protocol with the one member that knows no other. (The other way
# round, a first new client that joins old ones makes a consumer group out of a classic one, and the group turns back only when the last
# new client has gone: `group.consumer.migration.policy`, bidirectional by default since 4.0.) An eager member still gives up
# everything when it re-joins. The lab's lesson `migration` takes a whole
# group there, and back.
#
# ## What it does not have
#
# - no assignor of your own in the client; a class on the broker instead;
# - `uniform` (default) is sticky; the server's `range` is not, since 3.9; neither looks at racks;
# - `enforceRebalance()` is not supported;
# - it is for consumers: Kafka Streams has a protocol of its own (KIP-1071), Connect stays with the classic one.
#
# **Watch for** *partitions moved* with the server's `range`:

# %%
runs = three("join", ("consumer", "consumer-range"))
print(describe_comparison(list(runs.values())))

# %% [markdown]
# ## Try it: one interesting failure
#
# In the lab, **freeze** the member that has to give something up, just after the join. Who waits for it, and for how
# long? Then do the same under **Eager**. **Members** shows the target of each member beside what it owns already.

# %% tags=["nbval-ignore-output"]
Lab(third_joins, "consumer", at_ms=29_500)

# %% [markdown]
# A group can change from one protocol to the other while it works. In the next lab three classic members are bounced
# one after the other and come back with `group.protocol=consumer`. **Jump** from mark to mark. **Watch for** the
# coordinator's bar: its states change from the classic ones to *Assigning* and *Reconciling* with the first newcomer,
# while the two others still say *classic* in their lanes.

# %% tags=["nbval-ignore-output"]
Lab("migration", None)

# %% [markdown]
# ## Check questions

# %% tags=["nbval-ignore-output"]
Quiz("consumer")

# %% [markdown]
# ## Recap
#
# The coordinator numbers the question (group epoch), answers it (target epoch) and leads each member there (member epoch), by
# heartbeats alone. No barrier, so a slow member delays itself. The clocks are the broker's. It is opt-in for clients.
#
# **Next:** [05 · one scenario, three protocols](05-three-protocols.ipynb): what it all costs.
