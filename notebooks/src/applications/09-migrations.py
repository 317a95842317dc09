# %% [markdown]
# # 09 · Migrations
#
# **30 minutes** Exams: CCDAK *Application Development*; CCAAK *Deployment*, *Cluster Configuration*, *Troubleshooting*.
#
# After this notebook you can
#
# - say whether a group needs one rolling bounce or two to become cooperative (CCAAK Deployment);
# - move a group from classic to KIP-848 online and offline, and back (CCAAK Deployment);
# - go through a pre-flight list of settings that KIP-848 refuses (CCAAK Cluster Configuration);
# - read the state of a mixed group, and roll back (CCAAK Troubleshooting);
# - say what librdkafka cannot do (CCDAK Application Development).
#
# A **rolling bounce** restarts the members one after another, so that the group never stops. During it, old and new
# settings live in one group, and that is what makes migrations hard.

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
# 2. Whether a *Java client* behaves eagerly or cooperatively is decided by its own list, when it is built: one eager-only assignor in the
#    list makes it eager.
#
# ### Predict
#
# How many rolling bounces does it take, at least, to end with `cooperative-sticky` alone?

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
# The default list is `[range, cooperative-sticky]`. The second name is there so that *one* bounce, which removes range, is
# enough. Every member already knows cooperative-sticky:

# %%
print(assignors(from_default))

# %% [markdown]
# From the first restarted member on, cooperative-sticky is the only name that all share, so the leader uses it. The members that are
# not yet restarted still *behave* eagerly: they revoke everything and get it back. Mixed behaviour is safe, because each
# client keeps its own promise.
#
# A group that lists range alone shares nothing with a member that lists cooperative-sticky alone:

# %%
print(deaths(too_few))

# %% [markdown]
# So it needs two: first to `[cooperative-sticky, range]`, and when **all** members have that, to `[cooperative-sticky]`.

# %%
print(assignors(two))

# %% [markdown]
# **Watch for** the order in that first list. If range came first, the group would go on with range until the second bounce; that is
# safe too. The rule to remember is not an order but a set: *before you remove a name, everybody must know the other one.*
#
# ## From classic to KIP-848
#
# ### Pre-flight list
#
# | check | why | what to do |
# |---|---|---|
# | brokers 4.0 or newer, `group.version` 1 | the protocol is off otherwise | `kafka-features describe`; upgrade the feature after the brokers |
# | Java clients 4.0, librdkafka 2.12 or newer | older ones have it as preview or not at all | upgrade them first, still classic |
# | `session.timeout.ms`, `heartbeat.interval.ms`, `partition.assignment.strategy` are **unset** | refused at start | move the times to the broker or to the group |
# | no custom assignor with user data | the conversion is refused | uniform or range on the broker; offline otherwise |
# | `group.consumer.migration.policy=bidirectional` | the default since 4.0; `disabled` in 3.8 and 3.9 | set it on the brokers |
# | code that calls `enforceRebalance()` | not supported | remove it |
# | patterns | the new `SubscriptionPattern` is RE2/J, evaluated by the broker | test them; the old `Pattern` still works, on the client |
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
# Three classic members are restarted with `group.protocol=consumer`, one after another.
#
# ### Predict

# %%
guess = predict(
    {
        "when does the group change its type?": None,
        "who assigns for the classic members that are left?": None,
        "group epoch after generation 2": None,
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
        "group epoch after generation 2": first_epoch,
    }
)

# %%
print(epochs(online, since_s=30, until_s=70))

# %% [markdown]
# The first KIP-848 member converts the group. From then on it is a **consumer group with classic members**: the broker
# computes, and a classic member is told by `REBALANCE_IN_PROGRESS` on its heartbeat to join again; its JoinGroup is answered
# at once, without waiting for others. The epoch continues the count of the generations.
#
# ### The reverse
#
# When the last KIP-848 member leaves, a group with classic members left becomes classic again. That is the rollback: bounce back.

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
# `GROUP_ID_NOT_FOUND` misleads: the group is there, but for this coordinator it is a *classic* group, and no consumer
# group of that name exists. `upgrade` and `downgrade` as values allow one direction each.
#
# ### Offline
#
# Stop all members, wait until the group is `Empty`, start them with the new protocol. The group is converted at the first join, whatever
# the policy says; committed offsets stay. Simple, and nothing is read for as long as your deploy takes. Static members
# do not say goodbye: wait one session, or remove them.
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
# `ASSIGNMENT-STRATEGY` tells the type: a client's name (range, cooperative-sticky) or one of the broker's (uniform, range). The epochs
# in `--members --verbose` are dashes for a classic group.
#
# ## What librdkafka cannot do
#
# | | Java | librdkafka |
# |---|---|---|
# | a list that mixes eager and cooperative | yes, runs eager | refused at start |
# | eager to cooperative by rolling bounces | yes | **no**: stop the group, or use a new `group.id` with its offsets carried over |
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
# For librdkafka groups on range, moving to KIP-848 is therefore easier than moving to cooperative-sticky: no shared assignor is
# needed, because the broker assigns.
#
# ### Try it
#
# In the lab the first restarted member dies. Rescue the group: which one setting, on which members, lets the next attempt succeed?

# %% tags=["nbval-ignore-output"]
Lab("bounce-gone-wrong", at_ms=27_000)

# %% [markdown]
# <details><summary>Answer</summary>
#
# Give the restarted member `partition.assignment.strategy=cooperative-sticky,range` (restart it with that list): it shares range
# with the others, and is let in. Then do the same for the others, and only then take range out.
#
# </details>
#
# ## Check yourself
#
# 1. A Java group runs with `[range]`. Someone deploys `[cooperative-sticky]` to one pod. What happens to the pod, and to the group?
# 2. In the middle of an online migration two of five members are new. Who computes the assignment?
# 3. The last KIP-848 member of a mixed group is closed. Do you lose offsets?
# 4. You need sessions of 20 s under KIP-848. Where do you set them?
#
# <details><summary>Answers</summary>
#
# 1. The pod dies with `INCONSISTENT_GROUP_PROTOCOL`; the group goes on without it.
# 2. The coordinator, for all five.
# 3. No. Offsets belong to the group id, whatever its type.
# 4. On the broker: `group.consumer.session.timeout.ms`, and `group.consumer.min.session.timeout.ms` must allow it (its
#    default is 45 s).
#
# </details>

# %% tags=["nbval-ignore-output"]
Quiz("migration", count=8)

# %% [markdown]
# ## Recap card
#
# - Default list to cooperative-sticky: **one** bounce. Range alone: **two**.
# - Before you remove a name, every member must know another one that all share.
# - The first KIP-848 member converts the group; the last one that leaves converts it back.
# - Unset session, heartbeat and strategy on the clients first.
# - `GROUP_ID_NOT_FOUND` in a migration: look at `group.consumer.migration.policy`.
# - librdkafka: no mixed lists, and other callbacks after the change.

# %% tags=["hide-input"]
next_notebook("09")
