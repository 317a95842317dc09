# %% [markdown]
# # 09 · Migrations
#
# **35 minutes**. Exams: CCDAK *Application Development*; CCAAK *Deployment*, *Cluster Configuration*, *Troubleshooting*.
#
# After this notebook you can
#
# - say whether a group needs one rolling bounce or two to become cooperative (CCAAK Deployment);
# - move a group from classic to KIP-848 online and offline, and back (CCAAK Deployment);
# - go through a pre-flight list of settings that KIP-848 refuses (CCAAK Cluster Configuration);
# - read the state of a mixed group, and roll back (CCAAK Troubleshooting);
# - say what librdkafka cannot do (CCDAK Application Development).
#
# A **rolling bounce** restarts the members one after another, so that the group never stops. Meanwhile, members with
# old and with new settings share one group. That makes migrations hard.

# %% tags=["hide-input"]
import tempfile
from dataclasses import replace
from pathlib import Path

from rebalance_kit import Lab, Quiz, metrics, scenario, simulate
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.notebook import (
    callbacks,
    columns,
    epochs,
    in_lines,
    next_notebook,
    predict,
    real_run,
    reasons,
    reveal,
)
from rebalance_kit.recordings.trace import recorded_trace

two_bounces, migration = scenario("two-bounces"), scenario("migration")


def deaths(trace):
    """Processes that ended because of an error."""
    rows = [row for row in trace.of("process_ended") if row.detail["how"] == "died"]
    return (
        "\n".join(f"{row.at_ms / 1000:7.3f} s  {row.actor}: {row.detail['error']}" for row in rows)
        or "none died"
    )


# %% [markdown]
# ## From eager to cooperative
#
# You saw both ways in notebook 03:
#
# - From the default list `[range, cooperative-sticky]` it takes **one** bounce, which removes range.
# - From `[range]` alone it takes **two**: the first to `[cooperative-sticky, range]`, the second, when *all* members have
#   that list, to `[cooperative-sticky]`. In a single bounce, the first member that lists only `[cooperative-sticky]` is
#   refused and dies.
#
# Two rules explain all of it:
#
# 1. All members must share at least one assignor **name**. A member that shares none is refused with
#    `INCONSISTENT_GROUP_PROTOCOL`. So before you remove a name, every member must list another one that all share.
# 2. Whether a *Java client* behaves eagerly or cooperatively is decided by its own list, when it is built: one
#    eager-only assignor in the list makes it eager.
#
# During the bounces, members that behave eagerly and members that behave cooperatively share generations. That is safe:
# an eager member holds nothing while a plan is made, and a cooperative member gives up what the plan takes from it.
#
# ### Predict
#
# A group lists `[range]` alone. In the first bounce somebody writes the new list the other way round: `[range,
# cooperative-sticky]`. When does the group first use cooperative-sticky?

# %%
moments = ("in the first bounce", "in the second bounce", "never: a member dies")
guess = predict({"the group first uses cooperative-sticky": None}, options=moments)
guess

# %% tags=["answer", "hide-input"]
first, second = two_bounces.actions
new_list = first.args["configs"]["partition.assignment.strategy"]
turned = {**first.args["configs"], "partition.assignment.strategy": list(reversed(new_list))}
range_first = replace(first, args={**first.args, "configs": turned})
bounced = simulate(replace(two_bounces, actions=(range_first, second)))
flips = [row.at_ms for row in bounced.of("generation") if "cooperative" in row.detail["assignor"]]
guess.beside(
    {"the group first uses cooperative-sticky": moments[flips[0] >= second.at_ms] if flips else moments[2]}
)

# %% tags=["answer", "hide-input"]
bounce = f"second bounce from {second.at_ms / 1000:.0f} s on"
reveal(f"{bounce}; first generation of cooperative-sticky at {flips[0] / 1000:.1f} s\n{deaths(bounced)}")

# %% [markdown]
# In the second bounce: as long as every member lists range first, range wins. The first member that comes back without
# range in its list ends that: from then on cooperative-sticky is the only name that all share. That is safe, too,
# because all members list both names when the second bounce begins. So the order within the list decides only *when* the group changes its assignor.
#
# ## From classic to KIP-848
#
# ### Pre-flight list
#
# | check | why | what to do |
# |---|---|---|
# | brokers 4.0 or newer, `group.version` 1 | the protocol is off otherwise | look with `kafka-features describe`; upgrade the feature after the brokers |
# | Java clients 4.0, librdkafka 2.12 or newer | older ones have it as preview or not at all | upgrade them first, still classic |
# | `session.timeout.ms`, `heartbeat.interval.ms`, `partition.assignment.strategy` are **unset** | refused at start | move the times to the broker or to the group |
# | static members (`group.instance.id`) | classic fences the *old* process of a duplicate id; KIP-848 refuses the *new* one, also the replacement of a pod that was killed, until the dead one's session has ended (`CrashLoopBackOff`, notebook 08) | grace periods long enough that no pod is killed; look for duplicate ids first |
# | brokers 4.3 or newer, if your commits matter | before 4.3 a new epoch refuses a commit that is under way (`STALE_MEMBER_EPOCH`), and each bounce brings epochs | upgrade, or catch `CommitFailedException` and go on polling |
# | the group has finished its first rebalance | a KIP-848 consumer that joins during a classic group's very first join phase dies of `UNKNOWN_SERVER_ERROR` (recorded on 4.3.1; scenario `defect-joins-too-early`) | wait for the first `Stable` before you bounce the first member |
# | no assignor that puts user data (bytes of its own) into the assignments: a class that you wrote, or **librdkafka's cooperative-sticky** | the online conversion is refused | migrate offline |
# | `group.consumer.migration.policy=bidirectional` | another value can forbid the conversion | nothing, if your brokers have the default (since 4.0) |
# | code that calls `enforceRebalance()` | it does nothing but log a warning | remove it |
# | subscriptions by pattern | the new `SubscriptionPattern` is RE2/J, evaluated by the broker | test them; the old `Pattern` still works, on the client |
# | racks | the broker's assignors ignore `client.rack` | keep classic if you need rack-aware assignment |
# | alerts and dashboards | other metrics, other log lines, `Assigning` and `Reconciling` instead of two classic states | change them before, not after |
#
# The two ways to die that this list prevents: a Java client with a setting that KIP-848 refuses does not start, and says why; and a newcomer that is too early dies of an error that says nothing:

# %% tags=["hide-input"]
refused = replace(migration.members[0], configs={"group.protocol": "consumer", "session.timeout.ms": 30_000})
try:
    simulate(replace(migration, members=(refused, *migration.members[1:])))
except RebalanceKitError as error:
    print(error)
print(deaths(simulate(scenario("defect-joins-too-early"))))

# %% [markdown]
# ### Online: member by member
#
# Two **types** of group matter here, *classic* and *consumer*. Three members of a classic group are restarted with
# `group.protocol=consumer`, one after another. When the first one leaves, the other two make generation 2; then it
# comes back.
#
# ### Predict
#
# What does its return change in the group?

# %%
counts = ("1, a new count", "3, the count goes on")
guess = predict(
    {
        "when does the group change its type?": None,
        "who assigns for the classic members that are left?": None,
        "the first group epoch": None,
    },
    options={
        "when does the group change its type?": ("at the first new member", "at the last new member"),
        "who assigns for the classic members that are left?": ("their leader", "the coordinator"),
        "the first group epoch": counts,
    },
)
guess

# %% tags=["answer", "hide-input"]
online = simulate(migration)
(converted,) = online.of("group_converted")
first_epoch = next(row.generation for row in online.of("epoch_bump") if row.at_ms >= converted.at_ms)
joined = sum(
    1
    for row in online.of("process_started")
    if row.at_ms < converted.at_ms and row.detail["configs"].get("group.protocol") == "consumer"
)
led = any(row.at_ms > converted.at_ms for row in online.of("leader_elected"))
guess.beside(
    {
        "when does the group change its type?": "at the first new member"
        if joined == 1
        else "at the last new member",
        "who assigns for the classic members that are left?": "their leader" if led else "the coordinator",
        "the first group epoch": counts[first_epoch == 3],
    }
)

# %% tags=["answer"]
reveal(epochs(online, since_s=30, until_s=70))

# %% [markdown]
# The first KIP-848 member converts the group. From then on it is a **consumer group with classic members**. The broker
# computes the assignment. The answer to a classic member's heartbeat, `REBALANCE_IN_PROGRESS`, tells it to join again,
# and its JoinGroup is answered at once, without waiting for others. The epoch continues the count of the generations:
# after generation 2 comes epoch 3.
#
# (At 57.7 s a leave raises the epoch, and the target follows a second later. A leave computes nothing: in a
# mixed group the target comes with the next heartbeat of a KIP-848 member or the next join. A classic member has no epoch in
# the table until it has joined again.)
#
# Real members do the same. The cell runs the migration on a real Kafka where the parts are there (notebook 13), in two and a half minutes of real time; otherwise it shows a recorded
# migration there and back, and says so. **Watch for** the first epoch, which follows the generations.

# %% tags=["nbval-ignore-output"]
with tempfile.TemporaryDirectory() as place:
    real = real_run("migration", "migrate-online.mixed.4.3.1", Path(place))
print(callbacks(recorded_trace(real)))

# %% [markdown]
# ### The reverse
#
# When the last KIP-848 member leaves and classic members remain, the group becomes classic again. So you roll back with
# another bounce, to the old settings.

# %% tags=["hide-input"]
again = replace(
    migration.actions[0],
    at_ms=130_000,
    args={**migration.actions[0].args, "configs": {"group.protocol": "classic"}},
)
there_and_back = simulate(replace(migration, end_ms=240_000, actions=(*migration.actions, again)))
rows = [(f"{row.at_ms / 1000:7.3f} s", row.detail["to"]) for row in there_and_back.of("group_converted")]
print(columns([("at", "the group becomes"), *rows]))
print()
print(reasons(there_and_back, since_s=180))

# %% [markdown]
# consumer-3 is the last KIP-848 member. When it leaves, at 183.2 s, the other two run the classic protocol already, and
# the group becomes classic. When consumer-3 is back, it joins like any classic member.
#
# ### If the policy forbids it
#
# `group.consumer.migration.policy=disabled` on the brokers:

# %%
forbidden = simulate(replace(migration, broker={"group.consumer.migration.policy": "disabled"}))
print(deaths(forbidden))

# %% [markdown]
# Two members die, and the third is admitted: when it left, the group became Empty, and an Empty group may change its
# type whatever the policy says.
#
# `GROUP_ID_NOT_FOUND` misleads. The group is there, but as a *classic* group; a consumer group of that name is not. The
# policy's values `upgrade` and `downgrade` allow one direction each.
#
# The same error can have other causes, and its message tells them apart. A policy that forbids the conversion gives
# *online upgrade is disabled*. Another cause gives *an unsupported custom assignor is in use*: the broker says this of
# any assignment that carries user data. librdkafka's cooperative-sticky carries
# some from its second generation on, although you wrote no assignor. (We saw the user data in SyncGroup requests of
# librdkafka 2.16. That the broker refuses it we know from its source, `ConsumerGroup.fromClassicGroup`; we have not run
# it.)
#
# ### Offline
#
# Stop all members, wait until the group is `Empty`, and start them with the new protocol. The group is converted at the
# first join, whatever the policy says; committed offsets stay. This is simple, but the group reads nothing for as long
# as your deploy takes. Static classic members do not leave when they close, so wait for one session timeout, or remove
# them.
#
# ### With a new `group.id`?
#
# Some guides call this the safe way: deploy the new version under another `group.id`, then stop the old one. Offsets belong to the group id, so the new group has none, and `auto.offset.reset` decides:
# `latest` skips what came in between, `earliest` repeats the whole topic, and while both run, both get every record. Notebook 15 runs it, and says how to copy the offsets. Use it where the online way is
# refused.
#
# ## Where am I? The state of a mixed group
#
# Here is the online migration from above as a strip. Each restart costs what a restart costs; the group never stops.
#
# ![The partitions of a group from its first to its last bounce](images/mixed-group.svg)
#
# ```text
# $ kafka-groups --bootstrap-server b:9092 --list
# GROUP    TYPE      PROTOCOL
# billing  Consumer  consumer
#
# $ kafka-consumer-groups --bootstrap-server b:9092 --describe --group billing --state --verbose
# GROUP    COORDINATOR (ID)  ASSIGNMENT-STRATEGY  STATE        GROUP-EPOCH  TARGET-ASSIGNMENT-EPOCH  #MEMBERS
# billing  b1:9092 (1)       uniform              Reconciling  5            5                        3
#
# $ kafka-consumer-groups --bootstrap-server b:9092 --describe --group billing --members --verbose
# GROUP    CONSUMER-ID  ...  CURRENT-EPOCH  CURRENT-ASSIGNMENT  TARGET-EPOCH  TARGET-ASSIGNMENT  UPGRADED
# billing  q7Vw0kT-…    ...  5              orders:5            5             orders:2,5         true
# billing  billing-2-…  ...  4              orders:0,1,2        5             orders:0,1         false
# billing  billing-3-…  ...  5              orders:3,4          5             orders:3,4         false
# ```
#
# (A mock-up; the columns are those of the tool's source.) TYPE is `Classic` until the first KIP-848 member joins, and `Consumer` from
# then on, mixed or not. The column **UPGRADED** is there only while the group is mixed: `false` marks the members that still run
# the classic protocol, so it lists the pods that you have not restarted yet. (A KIP-848 member's id is random and does
# not contain the client id. The column CLIENT-ID, left out here, names the pod.)
#
# ## What librdkafka cannot do
#
# | | Java | librdkafka |
# |---|---|---|
# | a list that mixes eager and cooperative | yes, runs eager | refused at start |
# | eager to cooperative by rolling bounces | yes | **no**: stop the group, or use a new `group.id` and copy the offsets |
# | classic to KIP-848 online | yes | from range and roundrobin, since 2.12 (general availability); from cooperative-sticky, go offline |
# | callbacks after the migration | the same methods | `incremental_assign` and `incremental_unassign`; old `assign` calls fail |
# | `enforceRebalance()` | yes, classic | no |
#
# The first row, in a run: the two bounces from above, with librdkafka clients.

# %% tags=["hide-input"]
try:
    simulate(
        replace(
            two_bounces, members=tuple(replace(spec, client="librdkafka") for spec in two_bounces.members)
        )
    )
except RebalanceKitError as error:
    print(in_lines(str(error)))

# %% [markdown]
# For a librdkafka group on range, moving to KIP-848 is therefore easier than moving to cooperative-sticky. The new
# members need not share an assignor with the old ones, because the broker assigns.
#
# ### Try it
#
# In the lab the first restarted member dies. Which list of assignors lets it join and still brings the group closer to
# cooperative-sticky?

# %% tags=["nbval-ignore-output"]
Lab("bounce-gone-wrong", at_ms=27_000)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Restart the dead member with `partition.assignment.strategy=cooperative-sticky,range`. It shares range with the
# others, so it is admitted. Then give the others the same list, and only then take range out.
#
# </details>
#
# ## Check yourself
#
# 1. A Java group runs with `[range]`. A deploy gives one pod `[cooperative-sticky]`. What happens to the pod, and to the group?
# 2. In the middle of an online migration, two of five members use KIP-848. Who computes the assignment?
# 3. The last KIP-848 member of a mixed group is closed. Do you lose offsets?
# 4. You need sessions of 20 s under KIP-848. Where do you set them?
#
# <details><summary>Answers</summary>
#
# 1. The pod dies with `INCONSISTENT_GROUP_PROTOCOL`; the group goes on without it.
# 2. The coordinator, for all five.
# 3. No. Offsets belong to the group id, whatever its type.
# 4. On the broker, with `group.consumer.session.timeout.ms`, or for one group with `consumer.session.timeout.ms`. Lower
#    `group.consumer.min.session.timeout.ms` first: its default is 45 s.
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz(
    "migration",
    ids=[
        "trade-switch-without-stop",
        "code-config-diff-protocol",
        "code-config-diff-bounce",
        "two-downgrade",
        "two-needs-of-rolling-switch",
        "mixed-group-type",
        "offline-upgrade-policy",
        "ticket-upgrade-refused",
    ],
)

# %% [markdown]
# ## Recap card
#
# - Default list to cooperative-sticky: **one** bounce. Range alone: **two**.
# - Before you remove an assignor's name, every member must list another one that all share.
# - The first KIP-848 member converts the group. When the last one leaves, the group becomes classic again. UPGRADED in
#   `--members --verbose` shows which members of a mixed group are still classic.
# - Unset session, heartbeat and strategy on the clients first.
# - `GROUP_ID_NOT_FOUND` in a migration: look at `group.consumer.migration.policy`, then for user data in the assignments.
# - librdkafka: mixed lists are refused, and callbacks need the incremental calls under KIP-848.

# %% tags=["hide-input"]
next_notebook("09")
