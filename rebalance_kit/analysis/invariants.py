"""Invariants of a group, as functions over a trace. A violation is a bug here or a discovery.

Each invariant reads the rows and yields what breaks it. Zombies are no violation: an application that
was removed may go on reading what the coordinator has given to somebody else; what counts is what the
coordinator hands out, and that it accepts nothing from those it has removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import Trace, TraceRow


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken invariant: which, when, and what was seen."""

    invariant: str
    at_ms: int
    seen: str


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule in one sentence, and the function that looks for what breaks it."""

    name: str
    statement: str
    look: Callable[[Trace], Iterator[tuple[int, str]]]


def one_owner(trace: Trace) -> Iterator[tuple[int, str]]:
    """No partition has two owners in one generation, one target, or among the broker's current assignments."""
    for row in trace.of("assignment", "target"):
        seen: dict[str, str] = {}
        for member, partitions in row.detail["assignment"].items():
            for partition in partitions:
                if partition in seen:
                    yield (
                        row.at_ms,
                        f"{partition} is given to {seen[partition]} and {member} in {row.generation}",
                    )
                seen[partition] = member
    yield from _one_holder(trace)


def _one_holder(trace: Trace) -> Iterator[tuple[int, str]]:
    """Assigned and still-to-be-revoked partitions of a consumer group belong to one member each."""
    holdings: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
    assigned: dict[str, frozenset[str]] = {}
    for row in trace.of(
        "member_reconciled", "member_removed", "member_replaced", "member_away", "group_converted"
    ):
        group = holdings[row.detail["group"]]
        if row.kind == "group_converted":
            group.clear()
        elif row.kind == "member_away":
            # A static member that leaves for a while keeps what it is assigned; what it was to revoke is free.
            group[row.member_id or ""] = assigned.get(row.member_id or "", frozenset())
        elif row.kind == "member_removed":
            group.pop(row.member_id or "", None)
        elif row.kind == "member_replaced":
            group.pop(row.detail["old_member_id"], None)
        else:
            now = frozenset([*row.detail["assigned"], *row.detail["pending_revocation"]])
            for other, theirs in group.items():
                if other != row.member_id and now & theirs:
                    yield row.at_ms, f"{sorted(now & theirs)} held by {row.detail['name']} and by {other}"
            group[row.member_id or ""] = now
            assigned[row.member_id or ""] = frozenset(row.detail["assigned"])


def legal_target(trace: Trace) -> Iterator[tuple[int, str]]:
    """Only members of the group are given partitions, only existing ones, and only of topics somebody subscribes."""
    counts = {str(topic): int(count) for topic, count in dict(trace.meta.get("topics", {})).items()}
    lowest = dict(counts)
    for row in trace.of("topic_changed", "assignment", "target"):
        if row.kind == "topic_changed":
            counts[row.topic or ""] = max(int(row.detail["partitions"]), counts.get(row.topic or "", 0))
            continue
        for member, partitions in row.detail["assignment"].items():
            if member not in row.detail["ids"].values():
                yield row.at_ms, f"{member} is no member but is given {partitions}"
            for partition in partitions:
                tp = parse_partition(partition)
                if tp.partition >= counts.get(tp.topic, 0):
                    yield row.at_ms, f"{member} is given {partition}, which does not exist ({lowest})"


def whole_target(trace: Trace) -> Iterator[tuple[int, str]]:
    """A target names every partition of the topics in it; range, sticky and roundrobin leave none out either."""
    counts: dict[str, int] = {
        str(topic): int(count) for topic, count in dict(trace.meta.get("topics", {})).items()
    }
    for row in trace.of("topic_changed", "target"):
        if row.kind == "topic_changed":
            counts[row.topic or ""] = int(row.detail["partitions"])
            continue
        assigned = [
            parse_partition(partition) for listed in row.detail["assignment"].values() for partition in listed
        ]
        for topic in sorted({tp.topic for tp in assigned}):
            have = len([tp for tp in assigned if tp.topic == topic])
            if counts.get(topic) and have != counts[topic]:
                yield (
                    row.at_ms,
                    f"target {row.generation} names {have} of {counts[topic]} partitions of {topic}",
                )


def monotonic(trace: Trace) -> Iterator[tuple[int, str]]:
    """Generations and group epochs only grow, by one."""
    last: dict[str, int] = {}
    for row in trace.of("generation", "epoch_bump", "coordinator_up", "group_converted"):
        if row.kind == "coordinator_up":
            last.clear()
            continue
        if row.kind == "group_converted":
            last.pop(row.detail["group"], None)
            continue
        group, number = row.detail["group"], row.generation or 0
        if group in last and number <= last[group]:
            yield row.at_ms, f"{row.kind} {number} after {last[group]}"
        last[group] = number


def epochs_grow(trace: Trace) -> Iterator[tuple[int, str]]:
    """A consumer group's member epoch never goes back while the member stays, and never passes the target's."""
    epochs: dict[str, int] = {}
    target: dict[str, int] = {}
    for row in trace.of("member_reconciled", "member_added", "member_replaced", "target", "member_removed"):
        member = row.member_id or ""
        if row.kind == "target":
            target[row.detail["group"]] = row.generation or 0
        elif row.kind == "member_reconciled":
            epoch = int(row.detail["epoch"])
            if epoch < epochs.get(member, 0):
                yield row.at_ms, f"{row.detail['name']} went from epoch {epochs[member]} back to {epoch}"
            if row.detail["group"] in target and epoch > target[row.detail["group"]]:
                yield (
                    row.at_ms,
                    f"{row.detail['name']} is at epoch {epoch}, the target at {target[row.detail['group']]}",
                )
            epochs[member] = epoch
        else:
            epochs.pop(member, None)


def fenced_commits(trace: Trace) -> Iterator[tuple[int, str]]:
    """No commit is accepted from a member that the coordinator has removed or replaced."""
    gone: set[str] = set()
    for row in trace.of("member_removed", "member_replaced", "member_added", "group_loaded", "commit"):
        if row.kind == "group_loaded":
            # A classic group is read back as its last assignment was stored, with those who were removed since.
            gone = gone if row.protocol == "consumer" else set()
        elif row.kind == "member_added":
            gone.discard(row.member_id or "")
        elif row.kind == "member_removed":
            gone.add(row.member_id or "")
        elif row.kind == "member_replaced":
            gone.add(row.detail["old_member_id"])
            gone.discard(row.member_id or "")  # a process that was away comes back under its own id
        elif row.detail["error"] == "NONE" and row.member_id in gone:
            yield row.at_ms, f"{row.actor} ({row.member_id}) committed after it was removed"


def callbacks_fit(trace: Trace) -> Iterator[tuple[int, str]]:
    """Callbacks of a process never overlap; revoked and lost name owned partitions, assigned names new ones."""
    owned: dict[str, frozenset[str]] = defaultdict(frozenset)
    running: dict[str, str] = {}
    for row in trace.of("process_started", "process_ended", "callback_begin", "callback_end", "owned"):
        actor = row.actor
        if row.kind in {"process_started", "process_ended"}:
            owned.pop(actor, None)
            running.pop(actor, None)
        elif row.kind == "owned":
            owned[actor] = frozenset(row.detail["partitions"])
        elif row.kind == "callback_end":
            running.pop(actor, None)
        else:
            if actor in running:
                yield row.at_ms, f"{actor} runs {row.detail['callback']} inside {running[actor]}"
            running[actor] = row.detail["callback"]
            yield from _fits(row, owned[actor])


def _fits(row: TraceRow, owned: frozenset[str]) -> Iterator[tuple[int, str]]:
    named = frozenset(row.detail["partitions"])
    if not named <= owned:
        yield (
            row.at_ms,
            f"{row.actor}: {row.detail['callback']}({sorted(named)}) while it owns {sorted(owned)}",
        )
    if row.detail["callback"] == "lost" and not named:
        yield row.at_ms, f"{row.actor}: lost with nothing"


def accounts_add_up(trace: Trace) -> Iterator[tuple[int, str]]:
    """Of each partition: what was delivered for the first time was read, what was read or committed was produced."""
    for row in trace.of("account"):
        account = row.detail
        where = f"{row.topic}-{row.partition}"
        if account["read"] > account["produced"]:
            yield row.at_ms, f"{where}: {account['read']} read of {account['produced']} produced"
        if (
            account["committed"] is not None and account["committed"] > account["produced"]
        ):  # a first position may be committed unread
            yield row.at_ms, f"{where}: committed {account['committed']} of {account['produced']} produced"
        first = account["delivered"] - account["redelivered"]
        if not 0 <= first <= account["read"] or min(account["lost"], account["redelivered"]) < 0:
            yield row.at_ms, f"{where}: {dict(account)}"


def own_code_is_sound(trace: Trace) -> Iterator[tuple[int, str]]:
    """No listener or assignor of the learner's own fails, or answers what Kafka does not check."""
    for row in trace.of("own_code_fault"):
        detail = row.detail
        yield (
            row.at_ms,
            f"{detail['part']} {detail['name']} of {row.actor} {detail['fault']}: {detail['seen']}",
        )


def converges(trace: Trace) -> Iterator[tuple[int, str]]:
    """A long time after the last fault the group is Stable (or Empty), and each partition has one reader.

    Only looked at when nothing was done for ten minutes before the end, every process lives or is gone, and
    no application stands still.
    """
    quiet = max((row.at_ms for row in trace.of("action", "process_started")), default=0)
    if trace.end_ms - quiet < QUIET_MS:
        return
    states = [row.detail["to"] for row in trace.of("group_state")]
    if states and states[-1] not in {"Stable", "Empty"}:
        yield (
            trace.end_ms,
            f"the group is {states[-1]} {(trace.end_ms - quiet) / 1000:.0f} s after the last action",
        )


QUIET_MS = 600_000

INVARIANTS: Mapping[str, Invariant] = MappingProxyType(
    {
        look.__name__: Invariant(look.__name__, (look.__doc__ or "").splitlines()[0], look)
        for look in (
            one_owner,
            legal_target,
            whole_target,
            monotonic,
            epochs_grow,
            fenced_commits,
            callbacks_fit,
            accounts_add_up,
            own_code_is_sound,
            converges,
        )
    }
)


def check(trace: Trace) -> tuple[Violation, ...]:
    """Every violation of every invariant, in order of time; nothing when all hold."""
    violations = [
        Violation(invariant.name, at_ms, seen)
        for invariant in INVARIANTS.values()
        for at_ms, seen in invariant.look(trace)
    ]
    return tuple(sorted(violations, key=lambda violation: (violation.at_ms, violation.invariant)))
