"""The output of ``kafka-consumer-groups --describe`` for a group, column for column (ConsumerGroupCommand)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rebalance_kit.logs.admin.described import Described, DescribedMember, DescribedOffset
from rebalance_kit.logs.lines import at_least
from rebalance_kit.model.topology import TopicPartition

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
