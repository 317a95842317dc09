"""A group as an administrator's describe call sees it at one moment of a trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from rebalance_kit.assignors.java_order import hash_map_order, timeline_order
from rebalance_kit.logs.lines import at_least
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import Trace, TraceRow

Partitions = tuple[TopicPartition, ...]
_IN_REBALANCE = frozenset({"PreparingRebalance", "CompletingRebalance"})


@dataclass(frozen=True, slots=True)
class DescribedMember:
    """One member: what it is assigned, and under KIP-848 its epoch and its target (None in a classic group).

    ``instance`` is the instance id of a static member and empty for a dynamic one, as in the tool's column.
    """

    member_id: str
    client_id: str
    assigned: Partitions
    epoch: int | None = None
    target: Partitions | None = None
    target_epoch: int | None = None
    instance: str = ""


@dataclass(frozen=True, slots=True)
class DescribedOffset:
    """One partition with a committed offset or an owner; None where there is none of it."""

    partition: TopicPartition
    committed: int | None
    log_end: int | None


@dataclass(frozen=True, slots=True)
class Described:
    """A group: ``state`` and ``assignor`` in Kafka's words, members in the coordinator's order."""

    group: str
    version: str
    state: str
    assignor: str
    members: tuple[DescribedMember, ...]
    offsets: tuple[DescribedOffset, ...]


@dataclass(slots=True)
class _Seen:
    """What the rows up to the moment say of one group."""

    state: str = "Dead"
    consumer: bool = False
    assignor: str = ""
    epoch: int = 0
    names: dict[str, str] = field(default_factory=dict)
    instances: dict[str, str] = field(default_factory=dict)
    epochs: dict[str, int] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)
    revoking: dict[str, list[str]] = field(default_factory=dict)
    targets: dict[str, list[str]] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    committed: dict[TopicPartition, int] = field(default_factory=dict)


def describe(trace: Trace, at_ms: int, group: str | None = None, version: str | None = None) -> Described:
    """Describe a group of a trace as it stands at ``at_ms``; by default the scenario's group and Kafka version.

    Raises ``DataError`` for a moment outside of the run. A group that does not exist yet is ``Dead``, as in Kafka.
    """
    if not 0 <= at_ms <= trace.end_ms:
        raise DataError(f"at_ms is {at_ms}; expected a moment of the run, 0 to {trace.end_ms}")
    name = group or str(trace.meta.get("group", "orders-app"))
    release = version or str(trace.meta.get("kafka_version", "4.3.1"))
    seen = _Seen()
    for row in trace.rows:
        if row.at_ms > at_ms:
            break
        rule = _RULES.get(row.kind)
        if rule is not None and row.detail.get("group", name) == name:
            rule(seen, row)
    order = timeline_order(seen.names, len(seen.names)) if seen.consumer else hash_map_order(list(seen.names))
    members = tuple(_member(seen, who, release) for who in order)
    named = (
        seen.consumer or seen.state == "Stable"
    )  # a classic group names its assignor only when it is Stable
    assignor = seen.assignor if named else ""
    return Described(name, release, seen.state, assignor, members, _offsets(trace, at_ms, seen, members))


def _member(seen: _Seen, who: str, version: str) -> DescribedMember:
    held = list(seen.held.get(who, ()))
    if not seen.consumer:
        if seen.state in _IN_REBALANCE and not at_least(version, "4.0"):
            held = []  # up to 3.9 a group in rebalance tells no assignments
        return DescribedMember(who, seen.names[who], _parsed(held), instance=seen.instances.get(who, ""))
    if at_least(version, "4.3"):
        held += seen.revoking.get(who, ())  # 4.0 leaves out what is still to be acknowledged
    return DescribedMember(
        who,
        seen.names[who],
        _parsed(held),
        seen.epochs.get(who, 0),
        _parsed(seen.targets.get(who, [])),
        seen.epoch,
        seen.instances.get(who, ""),
    )


def _parsed(partitions: list[str]) -> Partitions:
    return tuple(sorted(parse_partition(one) for one in partitions))


def _offsets(
    trace: Trace, at_ms: int, seen: _Seen, members: tuple[DescribedMember, ...]
) -> tuple[DescribedOffset, ...]:
    wanted = sorted({*seen.committed, *(tp for member in members for tp in member.assigned)})
    ends = _log_ends(trace, at_ms)
    return tuple(DescribedOffset(tp, seen.committed.get(tp), ends.get(tp)) for tp in wanted)


def _log_ends(trace: Trace, at_ms: int) -> Mapping[TopicPartition, int]:
    """Log ends by the even rate at which the run produced; nothing where the run counted no records."""
    counts = {str(topic): int(number) for topic, number in dict(trace.meta.get("topics", {})).items()}
    since = {TopicPartition(topic, number): 0 for topic, count in counts.items() for number in range(count)}
    for row in trace.of("topic_changed"):
        topic, before, now = row.topic or "", counts.get(row.topic or "", 0), int(row.detail["partitions"])
        counts[topic] = now
        for number in range(before, now):
            since[TopicPartition(topic, number)] = row.at_ms
        for number in range(now, before):
            since.pop(TopicPartition(topic, number), None)
    ends: dict[TopicPartition, int] = {}
    for row in trace.of("account"):
        tp = TopicPartition(row.topic or "", row.partition or 0)
        begun = since.get(tp, trace.end_ms)
        if begun <= at_ms and begun < trace.end_ms:
            ends[tp] = int(row.detail["produced"]) * (at_ms - begun) // (trace.end_ms - begun)
    return ends


# --- rows ---------------------------------------------------------------------------------------
def _moved(seen: _Seen, row: TraceRow) -> None:
    seen.state = str(row.detail["to"])
    seen.consumer = row.protocol == "consumer"
    if seen.state == "Empty" and not seen.consumer:
        seen.assignor, seen.stored = "", {}


def _added(seen: _Seen, row: TraceRow) -> None:
    seen.names[row.member_id or ""] = str(row.detail["name"])
    seen.instances[row.member_id or ""] = str(row.detail.get("instance_id") or "")
    seen.consumer = row.protocol == "consumer"


def _removed(seen: _Seen, row: TraceRow) -> None:
    for held in (seen.names, seen.epochs, seen.held, seen.revoking, seen.targets):
        held.pop(row.member_id or "", None)


def _replaced(seen: _Seen, row: TraceRow) -> None:
    old, new = str(row.detail["old_member_id"]), row.member_id or ""
    if old in seen.epochs:
        seen.epochs[new] = seen.epochs.pop(old)
    for held in (seen.held, seen.revoking, seen.targets):
        if old in held:
            held[new] = held.pop(old)
    seen.names.pop(old, None)
    seen.names[new] = str(row.detail["name"])
    seen.instances[new] = str(row.detail.get("instance_id") or "")


def _assigned(seen: _Seen, row: TraceRow) -> None:
    ids = {str(who): str(name) for who, name in row.detail["ids"].items()}
    seen.held = {who: list(row.detail["assignment"].get(name, ())) for who, name in ids.items()}
    seen.stored = ids


def _generation(seen: _Seen, row: TraceRow) -> None:
    seen.assignor = str(row.detail["assignor"] or "")


def _bumped(seen: _Seen, row: TraceRow) -> None:
    seen.consumer = True
    seen.assignor = seen.assignor or "uniform"


def _target(seen: _Seen, row: TraceRow) -> None:
    seen.assignor, seen.epoch = str(row.detail["assignor"]), row.generation or 0
    ids = {str(who): str(name) for who, name in row.detail["ids"].items()}
    seen.targets = {who: list(row.detail["assignment"].get(name, ())) for who, name in ids.items()}


def _reconciled(seen: _Seen, row: TraceRow) -> None:
    who = row.member_id or ""
    seen.epochs[who] = int(row.detail["epoch"])
    seen.held[who] = list(row.detail["assigned"])
    seen.revoking[who] = list(row.detail["pending_revocation"])


def _away(seen: _Seen, row: TraceRow) -> None:
    who = row.member_id or ""
    seen.epochs[who] = -2
    seen.revoking.pop(who, None)


def _loaded(seen: _Seen, row: TraceRow) -> None:
    """A classic group is read back as its last assignment was stored."""
    if row.protocol == "classic":
        seen.names = dict(seen.stored)


def _converted(seen: _Seen, row: TraceRow) -> None:
    seen.consumer = row.detail["to"] == "consumer"
    if not seen.consumer and seen.targets:
        seen.held = {who: list(given) for who, given in seen.targets.items()}


def _committed(seen: _Seen, row: TraceRow) -> None:
    if row.detail["error"] == "NONE":
        for partition, offset in row.detail["offsets"].items():
            seen.committed[parse_partition(str(partition))] = int(offset)


def _sampled(seen: _Seen, row: TraceRow) -> None:
    """Commits of every batch leave no rows of their own; positions are sampled with what was committed."""
    if row.detail.get("committed") is not None:
        seen.committed[TopicPartition(row.topic or "", row.partition or 0)] = int(row.detail["committed"])


def _topic(seen: _Seen, row: TraceRow) -> None:
    if row.detail["partitions"] == 0:
        seen.committed = {tp: at for tp, at in seen.committed.items() if tp.topic != row.topic}


_RULES: Mapping[str, Callable[[_Seen, TraceRow], None]] = MappingProxyType(
    {
        "group_state": _moved,
        "member_added": _added,
        "member_removed": _removed,
        "member_replaced": _replaced,
        "assignment": _assigned,
        "generation": _generation,
        "epoch_bump": _bumped,
        "target": _target,
        "member_reconciled": _reconciled,
        "member_away": _away,
        "group_loaded": _loaded,
        "group_converted": _converted,
        "commit": _committed,
        "fetch_resumed": _sampled,
        "fetch_stopped": _sampled,
        "progress": _sampled,
        "topic_changed": _topic,
    }
)


# The output of ``kafka-consumer-groups --describe`` for a group, column for column (ConsumerGroupCommand).


MISSING = "-"
COORDINATOR = "127.0.0.1:9092  (1)"
HOST = "/127.0.0.1"
_SETTLED = frozenset({"Stable", "Empty", "Dead"})


def describe_offsets(group: Described) -> str:
    """``--describe --group G``: a line per partition, those of the members with the most partitions first.

    Partitions with a committed offset that nobody is assigned come last. A group without members, or in
    rebalance, has a line before the table that says so; a group that does not exist has nothing else.
    """
    owned = sorted((one for one in group.members if one.assigned), key=lambda one: -len(one.assigned))
    taken = {tp for member in owned for tp in member.assigned}
    by_partition = {one.partition: one for one in group.offsets}
    rows = [_offset_row(group, by_partition[tp], member) for member in owned for tp in member.assigned]
    rows += [_offset_row(group, one, None) for one in group.offsets if one.partition not in taken]
    head = (
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    )
    return _notice(group) + (
        _table(head, rows, (15, 15, 10, 15, 15, 15, 15, 15, 0), grows=(0, 1, 6, 7)) if rows else ""
    )


def _offset_row(group: Described, one: DescribedOffset, member: DescribedMember | None) -> tuple[str, ...]:
    lag = None if one.committed is None or one.log_end is None else one.log_end - one.committed
    numbers = (MISSING if value is None else str(value) for value in (one.committed, one.log_end, lag))
    who = (MISSING, MISSING, MISSING) if member is None else (member.member_id, HOST, member.client_id)
    return (group.group, one.partition.topic, str(one.partition.partition), *numbers, *who)


def describe_members(group: Described) -> str:
    """``--describe --group G --members --verbose``: a line per member; since 4.0 with epochs and targets.

    The column of instance ids is there as soon as one member is static.
    """
    modern, static = at_least(group.version, "4.0"), any(one.instance for one in group.members)
    instance = ("GROUP-INSTANCE-ID",) if static else ()
    who = ("GROUP", "CONSUMER-ID", *instance, "HOST", "CLIENT-ID", "#PARTITIONS")
    rows = [
        (
            group.group,
            one.member_id,
            *([one.instance] if static else []),
            HOST,
            one.client_id,
            str(len(one.assigned)),
            *_assignments(one, modern=modern),
        )
        for one in group.members
    ]
    if not rows:
        return _notice(group)
    widths, last = [17 if name == "GROUP-INSTANCE-ID" else 15 for name in who], len(who)
    if not modern:
        return _notice(group) + _table((*who, "ASSIGNMENT"), rows, (*widths, 0), grows=range(last - 1))
    head = (*who, "CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT")
    grows = (*range(last - 1), last + 1, last + 3)
    return _notice(group) + _table(head, rows, (*widths, 15, 20, 15, 20), grows=grows)


def _assignments(one: DescribedMember, *, modern: bool) -> tuple[str, ...]:
    if not modern:
        return (_numbers(one.assigned),)
    epochs = tuple(MISSING if value is None else str(value) for value in (one.epoch, one.target_epoch))
    return epochs[0], _topics(one.assigned), epochs[1], _topics(one.target or ())


def _grouped(partitions: Iterable[TopicPartition]) -> dict[str, str]:
    """Partition numbers by topic, ordered as texts (10 before 2), as the tool does."""
    found: dict[str, list[str]] = defaultdict(list)
    for tp in partitions:
        found[tp.topic].append(str(tp.partition))
    return {topic: ",".join(sorted(found[topic])) for topic in sorted(found)}


def _topics(partitions: Sequence[TopicPartition]) -> str:
    return ";".join(f"{topic}:{numbers}" for topic, numbers in _grouped(partitions).items()) or MISSING


def _numbers(partitions: Sequence[TopicPartition]) -> str:
    """3.9 prints the numbers of a topic's partitions without the topic's name."""
    return ", ".join(f"({numbers})" for numbers in _grouped(partitions).values()) or MISSING


def describe_state(group: Described) -> str:
    """``--describe --group G --state``: one line with coordinator, assignor, state and number of members."""
    head = ("GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS")
    row = (group.group, COORDINATOR, group.assignor, group.state, str(len(group.members)))
    if group.state == "Dead":
        return _notice(group)
    modern = at_least(group.version, "4.0")
    return _notice(group) + _table(
        head, [row], (15, 25, 20, 20, 0) if modern else (25, 25, 20, 15, 0), grows=(0, 1)
    )


def _notice(group: Described) -> str:
    """What the tool says of a group that is not in its ordinary state."""
    if group.state == "Dead":
        return f"\nError: Consumer group '{group.group}' does not exist.\n"
    if group.state == "Empty":
        return f"\nConsumer group '{group.group}' has no active members.\n"
    return "" if group.state in _SETTLED else f"\nWarning: Consumer group '{group.group}' is rebalancing.\n"


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], grows: Iterable[int]
) -> str:
    """Left-aligned columns of least widths, some of which grow with their cells (the head does not count)."""
    sizes = list(widths)
    for place in grows:
        sizes[place] = max(sizes[place], *(len(row[place]) for row in rows))
    lines = (
        " ".join(f"{cell:<{size}}" for cell, size in zip(row, sizes, strict=True)) for row in (head, *rows)
    )
    return "\n" + "\n".join(lines) + "\n"
