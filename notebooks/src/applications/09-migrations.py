# %% [markdown]
# # 09 · Migrations
#
# **30 minutes**. Exams: CCDAK *Application Development*; CCAAK *Deployment*, *Cluster Configuration*, *Troubleshooting*.
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
from dataclasses import replace

from rebalance_kit import Lab, Quiz, metrics, scenario, simulate
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.notebook import columns, epochs, next_notebook, predict, reasons, run

two_bounces, migration = scenario("two-bounces"), scenario("migration")


def assignors(trace):
    """The assignor that each generation used."""
    rows = [
        (f"{row.at_ms / 1000:7.3f} s", str(row.generation), row.detail["assignor"])
        for row in trace.of("generation")
    ]
    return columns([("at", "generation", "assignor"), *rows])


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
# Two rules decide everything:
#
# 1. All members must share at least one assignor **name**. A member that shares none is refused with
#    `INCONSISTENT_GROUP_PROTOCOL`.
# 2. Whether a *Java client* behaves eagerly or cooperatively is decided by its own list, when it is built: one
#    eager-only assignor in the list makes it eager.
#
# ### Predict
#
# The Java default list is `[range, cooperative-sticky]`. How many rolling bounces does it take, at least, until all
# members list `cooperative-sticky` alone?

# %%
guess = predict({"the group has the default list": None, "the group lists range alone": None}, within=0)
guess

# %% tags=["hide-input"]
plain = tuple(replace(spec, configs={"auto.offset.reset": "earliest"}) for spec in two_bounces.members)
from_default = simulate(replace(two_bounces, members=plain, actions=(two_bounces.actions[1],)))
too_few = run("bounce-gone-wrong", None)
two = simulate(two_bounces)
needed = {
    "the group has the default list": 1
    if "died" in deaths(from_default) and "none" in deaths(from_default)
    else 2,
    "the group lists range alone": 1 if "none died" in deaths(too_few) else 2,
}
guess.beside(needed)

# %% [markdown]
# From the default list, *one* bounce is enough, the one that removes range. Every member already lists cooperative-sticky:

# %%
print(assignors(from_default))

# %% [markdown]
# (Generation 2 is the first member's leave.) From the first restarted member on, cooperative-sticky is the only name
# that all share, so the leader uses it. The members that are not yet restarted still *behave* eagerly: they revoke
# everything before they join, and get it back. Mixed behaviour is safe, because an eager member holds nothing while a
# plan is made, and a cooperative member gives up what the plan takes from it.
#
# If a group lists range alone, a member that lists cooperative-sticky alone has no name in common with it:

# %%
print(deaths(too_few))

# %% [markdown]
# So this group needs two bounces: first to `[cooperative-sticky, range]`, and when **all** members have that, to
# `[cooperative-sticky]`.

# %%
print(assignors(two))

# %% [markdown]
# Generation 6 begins when the last member with the old list has left. The others list both names and vote for the first
# one, so the group deals with cooperative-sticky; but every client still behaves eagerly until the second bounce takes
# range out of its list. If range came first in the list, the group would go on with range until the second bounce,
# which is safe, too. Remember a set, not an order: *before you remove a name, every member must list the other one.*
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
# | no custom assignor with user data | the conversion is refused | uniform or range on the broker; offline otherwise |
# | `group.consumer.migration.policy=bidirectional` | the default since 4.0; `disabled` in 3.8 and 3.9 | set it on the brokers |
# | code that calls `enforceRebalance()` | it does nothing but log a warning | remove it |
# | subscriptions by pattern | the new `SubscriptionPattern` is RE2/J, evaluated by the broker | test them; the old `Pattern` still works, on the client |
# | racks | the broker's assignors ignore `client.rack` | keep classic if you need rack-aware assignment |
# | alerts and dashboards | other metrics, other log lines, `Assigning` and `Reconciling` instead of two classic states | change them before, not after |
#
# The refusal is immediate and clear:

# %% tags=["hide-input"]
refused = replace(migration.members[0], configs={"group.protocol": "consumer", "session.timeout.ms": 30_000})
try:
    simulate(replace(migration, members=(refused, *migration.members[1:])))
except RebalanceKitError as error:
    print(error)

# %% [markdown]
# ### Online: bounce by bounce
#
# Three classic members are restarted with `group.protocol=consumer`, one after another. When the first one leaves, the
# other two make generation 2; then it comes back.
#
# ### Predict

# %%
guess = predict(
    {
        "when does the group change its type?": None,
        "who assigns for the classic members that are left?": None,
        "the first group epoch": None,
    },
    options={
        "when does the group change its type?": ("at the first new member", "at the last new member"),
        "who assigns for the classic members that are left?": ("their leader", "the coordinator"),
    },
)
guess

# %% tags=["hide-input"]
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
        "the first group epoch": first_epoch,
    }
)

# %%
print(epochs(online, since_s=30, until_s=70))

# %% [markdown]
# The first KIP-848 member converts the group. From then on it is a **consumer group with classic members**. The broker
# computes the assignment. The answer to a classic member's heartbeat, `REBALANCE_IN_PROGRESS`, tells it to join again,
# and its JoinGroup is answered at once, without waiting for others. The epoch continues the count of the generations:
# after generation 2 comes epoch 3.
#
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
# ### Offline
#
# Stop all members, wait until the group is `Empty`, start them with the new protocol. The group is converted at the
# first join, whatever the policy says; committed offsets stay. This is simple, but the group reads nothing for as long
# as your deploy takes. Static classic members do not leave when they close, so wait for one session timeout, or remove
# them.
#
# ## Where am I? The state of a mixed group
#
# ```text
# $ kafka-consumer-groups --bootstrap-server b:9092 --describe --group billing --state
# GROUP    COORDINATOR (ID)  ASSIGNMENT-STRATEGY  STATE        #MEMBERS
# billing  b1:9092 (1)       uniform              Reconciling  3
#
# $ kafka-consumer-groups --bootstrap-server b:9092 --describe --group billing --members --verbose
# GROUP    CONSUMER-ID  ...  #PARTITIONS  CURRENT-EPOCH  CURRENT-ASSIGNMENT  TARGET-EPOCH  TARGET-ASSIGNMENT
# ```
#
# `ASSIGNMENT-STRATEGY` often tells the type: `cooperative-sticky` and `roundrobin` exist only in classic groups,
# `uniform` only on the broker. `range` exists in both. Then look at `STATE` (`Assigning` and `Reconciling` are
# KIP-848's), or at the epochs in `--members --verbose`: a classic group has dashes there.
#
# ## What librdkafka cannot do
#
# | | Java | librdkafka |
# |---|---|---|
# | a list that mixes eager and cooperative | yes, runs eager | refused at start |
# | eager to cooperative by rolling bounces | yes | **no**: stop the group, or use a new `group.id` and copy the offsets |
# | classic to KIP-848 online | yes | yes, since 2.12 (general availability) |
# | callbacks after the migration | the same methods | `incremental_assign` and `incremental_unassign`; old `assign` calls fail |
# | `enforceRebalance()` | yes, classic | no |

# %% tags=["hide-input"]
try:
    simulate(
        replace(
            two_bounces, members=tuple(replace(spec, client="librdkafka") for spec in two_bounces.members)
        )
    )
except RebalanceKitError as error:
    print(error)

# %% [markdown]
# For a librdkafka group on range, moving to KIP-848 is therefore easier than moving to cooperative-sticky. The new
# members need not share an assignor with the old ones, because the broker assigns.
#
# ### Try it
#
# In the lab the first restarted member dies. Which setting, on which member, lets it join?

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
Quiz("migration", count=8)

# %% [markdown]
# ## Recap card
#
# - Default list to cooperative-sticky: **one** bounce. Range alone: **two**.
# - Before you remove an assignor's name, every member must list another one that all share.
# - The first KIP-848 member converts the group. When the last one leaves, the group becomes classic again.
# - Unset session, heartbeat and strategy on the clients first.
# - `GROUP_ID_NOT_FOUND` in a migration: look at `group.consumer.migration.policy`.
# - librdkafka: mixed lists are refused, and callbacks need the incremental calls under KIP-848.

# %% tags=["hide-input"]
next_notebook("09")
