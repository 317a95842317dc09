"""Random runs as logs and as truth: what the pipeline should read out of the one, told from the other.

What no log can tell, and what is therefore compared otherwise:

* librdkafka names no partitions of its callbacks and no acknowledgements that end an epoch (``knowable``);
* the id that replaces a static member's in a classic group is not printed, so its life has no known beginning;
* an administrator's removal of a static KIP-848 member prints its instance id alone, so that id's life has no known end;
* processes that share one group.instance.id cannot be told apart where a line names only the instance (``same_place``);
* a change of topics noticed in the heartbeat that brings a static member back looks like its coming (``looks_joined``);
* a call of subscribe() that takes effect after another rebalance of the group looks like a change of topics (``overtaken``).
"""

from __future__ import annotations

import random
from dataclasses import replace

from rebalance_kit.analysis.rebalances import lives, rebalances, rests
from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.logs.lines import EPOCH
from rebalance_kit.logs.write import write_logs
from rebalance_kit.simulation.simulate import simulate

RUNS = (*range(204), 229, 295, 438)
"""Of the last three one has a poll timeout, two show what no log can tell."""

BEGINS_MS = int(EPOCH.timestamp() * 1000)
KINDS = tuple(
    "add_partitions broker_down broker_up close coordinator_failover crash create_topic cut_network delay_next delete_topic drop_next duplicate "
    "enforce_rebalance freeze heal_network reconfigure remove restart rolling_restart scale_to slow_callback slow_down stall start subscribe thaw".split()
)
SPACE = Space(members=4, partitions=8, actions=6, within_ms=40_000, settle_ms=25_000, kinds=KINDS)
OTHER_GROUP = "billing"
REBALANCE = (
    "group",
    "number",
    "protocol",
    "trigger",
    "culprit",
    "start_ms",
    "end_ms",
    "before",
    "after",
    "members",
    "moved",
    "revoked",
)
LIFE = ("group", "member", "client", "joined_ms", "ended_ms", "end")
REST = ("group", "partition", "from_ms", "to_ms", "owner_before", "owner_after", "known_by")
TRIGGER, CULPRIT = REBALANCE.index("trigger"), REBALANCE.index("culprit")
PROTOCOL, START, END = (REBALANCE.index(name) for name in ("protocol", "start_ms", "end_ms"))


def scenario(number, seed=2026):
    """A drawn scenario; in every third some members are librdkafka's, in every fourth some are of a second group."""
    drawn = draw(SPACE, seed, number)
    dice = random.Random(f"{seed}:{number}")
    members = list(drawn.members)
    if number % 4 == 1:
        members = [
            replace(one, configs={**one.configs, "group.id": OTHER_GROUP}) if dice.random() < 0.4 else one
            for one in members
        ]
    if number % 3 == 2:
        members = [_native(one) if dice.random() < 0.5 else one for one in members]
        # librdkafka refuses a poll interval below its session timeout
        members = [
            replace(
                one,
                configs={
                    **one.configs,
                    "max.poll.interval.ms": max(8_000, one.configs["max.poll.interval.ms"]),
                },
            )
            for one in members
        ]
        native = {spec.name for spec in members if spec.client == "librdkafka"}
        drawn = replace(drawn, actions=tuple(_for_native(one, native) for one in drawn.actions))
    return replace(drawn, members=tuple(members))


def _for_native(action, native):
    """librdkafka has no enforceRebalance(), and refuses short poll intervals."""
    if action.do == "enforce_rebalance" and action.member in native:
        return replace(action, do="stall", args={"for_ms": 500})
    return (
        replace(action, args={**action.args, "configs": {"max.poll.interval.ms": 60_000}})
        if action.do == "reconfigure"
        else action
    )


def _native(spec):
    configs = dict(spec.configs)
    strategy = str(configs.get("partition.assignment.strategy", ""))
    for name, short in (
        ("CooperativeSticky", "cooperative-sticky"),
        ("RoundRobin", "roundrobin"),
        ("Range", "range"),
    ):
        if name in strategy:
            configs["partition.assignment.strategy"] = short
            break
    else:
        configs.pop("partition.assignment.strategy", None)
    return replace(spec, client="librdkafka", configs=configs)


def write(folder, number):
    """Simulate a run and write its logs; returns its trace."""
    trace = simulate(scenario(number))
    write_logs(trace, folder, layout="spring" if number % 2 else "kafka", packed=number % 5 == 0)
    return trace


def write_all(folder):
    """All of ``RUNS``, a folder each; returns their traces by name."""
    return {f"run-{number}": write(folder / f"run-{number}", number) for number in RUNS}


def knowable(trace):
    """The trace without what librdkafka's logs leave out: the partitions of its callbacks, and its acknowledgements."""
    native = {row.actor for row in trace.of("process_started") if row.detail["client"] == "librdkafka"}
    rows = tuple(
        row
        for row in trace.rows
        if row.actor not in native or row.kind not in {"callback_begin", "member_state"}
    )
    return replace(trace, rows=rows)


def counts(trace, group):
    """What a record counts of a group, from its trace."""
    mine = [row for row in trace.rows if row.detail.get("group") == group]
    removed = [row for row in mine if row.kind == "member_removed" and row.detail["how"] == "session"]
    return {
        "generations": [row.generation for row in mine if row.kind == "generation"],
        "epochs": [row.generation for row in mine if row.kind == "epoch_bump"],
        "targets": sum(row.kind == "target" for row in mine),
        "expired": len(removed),
        "expired_members": sorted({row.detail["name"] for row in removed}),
    }


def _wall(ms):
    return None if ms is None else ms + BEGINS_MS


def true_rebalances(trace):
    """Rows of ``REBALANCE``, from the trace."""
    return [
        (
            one.group,
            one.number,
            one.protocol,
            one.trigger,
            one.culprit,
            _wall(one.start_ms),
            _wall(one.end_ms),
            one.before,
            one.after,
            one.members,
            one.moved,
            one.revoked,
        )
        for one in rebalances(trace, early_ms=100)
    ]


def as_logs_end_it(one, following, other):
    """A true row; where its end is the target of a later epoch, with what logs tell instead: nothing, or who acknowledged before."""
    superseded = (
        following is not None
        and (one[0], one[PROTOCOL]) == (following[0], "consumer")
        and following[START] <= (one[END] or 0)
    )
    earlier = other[END] is None or other[END] < (one[END] or 0)
    return (*one[:END], other[END], *one[END + 1 :]) if superseded and earlier else one


def true_lives(trace):
    """Rows of ``LIFE``, from the trace, as far as a coordinator prints the ids."""
    unnamed = {row.member_id for row in trace.of("member_replaced") if row.protocol == "classic"}
    silent = {
        row.member_id
        for row in trace.of("member_removed")
        if row.protocol == "consumer" and row.detail["how"] == "admin" and row.detail["instance_id"]
    }
    rows = []
    for one in lives(trace):
        begun = None if one.member in unnamed else _wall(one.joined_ms)
        ended = (
            (None, None) if one.member in silent and one.end == "removed" else (_wall(one.ended_ms), one.end)
        )
        if begun is not None or ended != (None, None):
            rows.append((one.group, one.member, one.name, begun, *ended))
    return rows


def true_rests(trace):
    """Rows of ``REST``, from the trace."""
    return [
        (one.group, one.partition, _wall(one.from_ms), _wall(one.to_ms), one.before, one.after, one.known_by)
        for one in rests(trace)
    ]


def told(rows, columns):
    """Rows of a gold table as tuples of those columns; partitions as tuples, none where no member's log tells of any."""
    return [tuple(_plain(name, row[name]) for name in columns) for row in rows]


def _plain(name, value):
    if name in {"moved", "revoked"}:
        return tuple(value or ())
    return value


def same_place(trace):
    """A function from a name to itself, or to the instance id that several processes share."""
    users = {}
    for row in trace.of("process_started"):
        instance = row.detail["configs"].get("group.instance.id")
        if instance:
            users.setdefault(instance, set()).add(row.actor)
    shared = {name: instance for instance, names in users.items() if len(names) > 1 for name in names}

    def place(name):
        return shared.get(str(name).split(" or ")[0], name)

    return place


def looks_joined(trace, true, seen):
    """A change of topics noticed by a static member that comes back is told as its coming."""
    back = {_wall(row.at_ms) for row in trace.of("member_replaced") if row.protocol == "consumer"}
    return true[TRIGGER] == "metadata_changed" and seen[TRIGGER] == "join" and true[5] in back


def overtaken(trace, true, seen):
    """A subscription that took effect after another rebalance had begun is told as a change of topics."""
    if (true[TRIGGER], seen[TRIGGER]) != ("subscription_changed", "metadata_changed"):
        return False
    called = [
        _wall(row.at_ms)
        for row in trace.of("action")
        if row.detail["do"] == "subscribe" and row.actor == true[CULPRIT]
    ]
    begun = [row[5] for row in true_rebalances(trace) if row[0] == true[0]]
    last = max(at for at in called if at <= true[5])
    return any(last <= at < true[5] for at in begun)
