"""The history of each group of a run: its rebalances, its members' lives, its partitions' gaps.

It is told as a reader of logs would tell it, with the same words and columns as the pipeline's gold tables, but from
the trace, which knows it for certain.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from rebalance_kit.analysis.ownership import Owners, TraceEvent
from rebalance_kit.model.trace import Trace, TraceRow

TRIGGERS: Mapping[str, str] = MappingProxyType(
    {
        "join": "join",
        "leave": "leave",
        "downgrade": "leave",
        "admin": "admin_removal",
        "session": "session_expired",
        "rebalance_timeout": "rebalance_timeout",
        "join_timeout": "rebalance_timeout",
        "sync_timeout": "sync_timeout",
        "revocation": "follow_up",
        "metadata": "metadata_changed",
        "subscription": "subscription_changed",
        "rejoin": "rejoin",
        "static": "rejoin",
    }
)
"""What the trace calls a trigger -> what the pipeline calls it."""
NATIVE_METADATA = "Metadata for subscribed topic(s) has changed"
"""Why librdkafka joins again when the topics that it subscribed to are others than before."""
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "need to revoke partitions": "follow_up",
        "cached metadata has changed": "metadata_changed",
        NATIVE_METADATA: "metadata_changed",
        "subscription has changed": "subscription_changed",
        "rebalance enforced by user": "enforced",
    }
)
"""How a client's own reason to join again begins -> what it means."""
ANSWERING = "group is already rebalancing"


@dataclass(frozen=True, slots=True)
class Rebalance:
    """One rebalance of a group: a join phase of a classic one, an epoch of a KIP-848 one. Times are ms of the run.

    ``end_ms`` is when the assignment was stored (classic; the join phase's end if it never was), or when the target was
    computed and the last Java member acknowledged before the next epoch (KIP-848; but one that came back without an
    epoch of its own, as a static member does, took over what was its before); None when it never came to that.
    ``before`` and ``after`` are generations or epochs; ``after`` None: the join phase was abandoned. ``members`` counts
    those of the new generation, None under KIP-848. ``revoked`` partitions were given up (or lost) in a callback,
    ``moved`` ones assigned to another member than had them last; ``said`` is the reason in Kafka's words.
    """

    group: str
    number: int
    protocol: str
    trigger: str
    culprit: str | None
    start_ms: int
    end_ms: int | None
    before: int
    after: int | None
    members: int | None
    moved: tuple[str, ...]
    revoked: tuple[str, ...]
    said: str


@dataclass(frozen=True, slots=True)
class Life:
    """One member id's time in a group; ``end`` is left, expired, fenced, replaced, removed, away (static) or None (still there)."""

    group: str
    member: str
    name: str
    instance: str | None
    joined_ms: int
    ended_ms: int | None
    end: str | None


@dataclass(frozen=True, slots=True)
class Rest:
    """Nobody owned ``partition``: from its owner's callback (or the owner's end) until another's assigned callback."""

    group: str
    partition: str
    from_ms: int
    to_ms: int
    before: str
    after: str
    known_by: str


@dataclass(slots=True)
class _Open:
    """A rebalance while it is being told."""

    row: TraceRow
    trigger: str
    culprit: str | None
    said: str
    before: int
    end_ms: int | None = None
    after: int | None = None
    members: int | None = None
    settled: bool = False
    moved: list[str] | None = None
    revoked: list[str] | None = None

    @property
    def start_ms(self) -> int:
        """When it began."""
        return self.row.at_ms

    @property
    def open(self) -> bool:
        """A classic one whose join phase still goes on."""
        return self.row.protocol == "classic" and self.after is None


def rebalances(trace: Trace, early_ms: int = 0) -> tuple[Rebalance, ...]:
    """Every rebalance of every group, a group after the other, in order of time.

    A callback called at most ``early_ms`` before a rebalance began counts as its own: two hosts' clocks differ.
    """
    rows: dict[str, list[TraceRow]] = {}
    of_process: dict[str, str] = {}
    for row in trace.rows:
        if row.kind == "process_started":
            of_process[row.actor] = str(row.detail["group"])
        if row.actor in of_process:
            rows.setdefault(of_process[row.actor], []).append(row)
        elif row.actor in {"coordinator", "broker"} and "group" in row.detail:
            rows.setdefault(str(row.detail["group"]), []).append(row)
    return tuple(rebalance for group in sorted(rows) for rebalance in _of_group(group, rows[group], early_ms))


class _JoinReasons:
    """Why each member last asked to join again.

    librdkafka compares the topics that exist: a call of subscribe() reads there as a change of metadata.
    """

    def __init__(self) -> None:
        self.of_member: dict[str, str] = {}
        self._subscribed_anew: set[str] = set()

    def take(self, row: TraceRow) -> None:
        """The next row of the group."""
        if row.kind == "action" and row.detail["do"] == "subscribe":
            self._subscribed_anew.add(row.actor)
        elif row.kind == "request" and row.detail["api"] == "JoinGroup":
            self._subscribed_anew.discard(row.actor)
        elif row.kind == "rejoin_requested" and row.detail["reason"] != ANSWERING:
            reason = str(row.detail["reason"])
            anew = reason == NATIVE_METADATA and row.actor in self._subscribed_anew
            self.of_member[row.actor] = "subscription has changed" if anew else reason


def _of_group(group: str, rows: Sequence[TraceRow], early_ms: int) -> Iterator[Rebalance]:
    opened: list[_Open] = []
    overdue: set[str] = set()
    join_reasons = _JoinReasons()
    gone: TraceRow | None = None
    reached, owners = 0, Owners(early_ms)
    # Who joins and makes no epoch is back: what it acknowledges ends no rebalance.
    back: set[str] = set()
    for row in rows:
        if row.kind == "epoch_bump":
            back.clear()
        elif row.kind == "member_state" and row.detail["to"] == "JOINING":
            back.add(row.actor)
        if row.kind == "poll_timeout":
            overdue.add(row.actor)
        elif row.kind == "member_added":
            overdue.discard(str(row.detail["name"]))
        join_reasons.take(row)
        begun = _begun(row, overdue, join_reasons.of_member, reached)
        if row.kind == "member_removed":
            gone = row
        elif begun is not None and row.detail["trigger"] == "downgrade" and gone is not None:
            _blame_the_removed(begun, gone, overdue)
        if begun is not None:
            opened.append(begun)
        elif row.kind == "callback_begin":
            owners.take(_call(row))
        elif opened and not (row.kind == "member_state" and row.actor in back):
            _seen(opened, row)
        if (
            row.kind in {"epoch_bump", "generation", "group_state"}
            and row.generation is not None
            and row.actor == "coordinator"
        ):
            reached = row.generation
    owners.move(opened)
    yield from (_closed(group, number, each) for number, each in enumerate(opened, start=1))


def _blame_the_removed(begun: _Open, gone: TraceRow, overdue: Collection[str]) -> None:
    """A downgrade happens because a member went; the rebalance is that member's."""
    begun.trigger = TRIGGERS.get(str(gone.detail["how"]), "leave")
    begun.culprit = str(gone.detail["name"])
    if begun.trigger == "leave" and begun.culprit in overdue:
        begun.trigger = "poll_timeout"


def _closed(group: str, number: int, rebalance: _Open) -> Rebalance:
    return Rebalance(
        group,
        number,
        rebalance.row.speaks(),
        rebalance.trigger,
        rebalance.culprit,
        rebalance.row.at_ms,
        rebalance.end_ms,
        rebalance.before,
        rebalance.after,
        rebalance.members,
        tuple(rebalance.moved or ()),
        tuple(rebalance.revoked or ()),
        rebalance.said,
    )


def _begun(
    row: TraceRow, overdue: Collection[str], join_reasons: Mapping[str, str], reached: int
) -> _Open | None:
    detail = row.detail
    if row.kind == "group_state" and row.protocol == "classic" and detail["to"] == "PreparingRebalance":
        before = row.generation or 0
    elif row.kind == "epoch_bump":
        before = min(reached, (row.generation or 1) - 1) or (row.generation or 1) - 1
    else:
        return None
    culprit = detail.get("culprit")
    word = TRIGGERS.get(str(detail["trigger"]), "other")
    if word == "leave" and culprit in overdue:
        word = "poll_timeout"
    if word == "rejoin":  # librdkafka tells the coordinator no reason, but has one
        word = next(
            (
                meant
                for start, meant in REASONS.items()
                if join_reasons.get(str(culprit), "").startswith(start)
            ),
            word,
        )
    return _Open(
        row,
        word,
        culprit,
        str(detail["reason"]),
        before,
        after=row.generation if row.kind == "epoch_bump" else None,
    )


def _seen(opened: list[_Open], row: TraceRow) -> None:
    """What a row tells of the rebalance that goes on, or of those that still wait for their target."""
    last, detail = opened[-1], row.detail
    if last.row.protocol == "classic":
        if row.kind == "generation" and last.open:
            last.after, last.members, last.end_ms = row.generation, len(detail["members"]), row.at_ms
        elif row.kind == "assignment" and row.generation == last.after:
            last.end_ms = row.at_ms
        elif (
            row.kind == "group_state"
            and detail["to"] == "Empty"
            and detail["trigger"] != "load"
            and last.open
        ):
            last.after, last.members, last.end_ms = row.generation, 0, row.at_ms
    elif row.kind == "target":
        for rebalance in opened:
            if rebalance.row.protocol == "consumer" and not rebalance.settled:
                rebalance.settled, rebalance.end_ms = True, max(row.at_ms, rebalance.end_ms or 0)
    elif row.kind == "member_state" and detail["to"] == "STABLE" and row.protocol == "consumer":
        last.end_ms = max(row.at_ms, last.end_ms or 0)


_ENDS: Mapping[str, str] = MappingProxyType(
    {
        "leave": "left",
        "admin": "removed",
        "session": "expired",
        "rebalance_timeout": "fenced",
        "join_timeout": "fenced",
        "sync_timeout": "fenced",
        "late": "fenced",
    }
)


def lives(trace: Trace) -> tuple[Life, ...]:
    """Every member id's time in its group, in order of joining; a KIP-848 member that comes back under its id goes on living."""
    begun: dict[tuple[str, str], TraceRow] = {}
    ended: dict[tuple[str, str], tuple[int, str]] = {}
    for row in trace.of("member_pending", "member_added", "member_replaced", "member_removed", "member_away"):
        group, member = str(row.detail["group"]), row.member_id or ""
        if row.kind == "member_away":
            ended[group, member] = (row.at_ms, "away (static)")
            continue
        if row.kind == "member_removed":
            ended[group, member] = (row.at_ms, _ENDS.get(str(row.detail["how"]), str(row.detail["how"])))
            continue
        if row.kind == "member_replaced":
            ended[group, str(row.detail["old_member_id"])] = (row.at_ms, "replaced")
        begun.setdefault((group, member), row)
        ended.pop((group, member), None)
    memberships = [_life(row, *ended.get(key, (None, None))) for key, row in begun.items()]
    return tuple(sorted(memberships, key=lambda life: (life.group, life.joined_ms, life.member)))


def _life(row: TraceRow, ended_ms: int | None, end: str | None) -> Life:
    detail = row.detail
    return Life(
        str(detail["group"]),
        row.member_id or "",
        str(detail["name"]),
        detail.get("instance_id"),
        row.at_ms,
        ended_ms,
        end,
    )


def rests(trace: Trace) -> tuple[Rest, ...]:
    """Every gap of a partition between two owners, as the members' own callbacks and the coordinator tell it.

    An owner that died calls nothing: its partitions rest, as far as a log knows, from its expiry on.
    """
    owners: dict[str, Owners] = {}
    groups: dict[str, str] = {}
    for row in trace.of("process_started", "member_removed", "callback_begin"):
        if row.kind == "process_started":
            groups[row.actor] = str(row.detail["group"])
        elif row.kind == "callback_begin":
            owners.setdefault(groups[row.actor], Owners()).take(_call(row))
        elif row.detail["how"] == "session":
            lost = TraceEvent(row.at_ms, member=str(row.detail["name"]))
            owners.setdefault(str(row.detail["group"]), Owners()).expired(lost)
    found = [
        Rest(group, gap.partition, gap.from_ms, gap.to_ms, gap.owner_before, gap.owner_after, gap.known_by)
        for group, its_owners in owners.items()
        for gap in its_owners.over(lambda name: name)
    ]
    return tuple(sorted(found, key=lambda rest: (rest.to_ms, rest.group, rest.partition)))


def _call(row: TraceRow) -> TraceEvent:
    """A callback as a line of a log tells it."""
    detail = row.detail
    return TraceEvent(row.at_ms, str(detail["callback"]), row.actor, list(detail["partitions"]))
