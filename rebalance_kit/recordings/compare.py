"""Two runs side by side: equal, or the first difference with both sides' context.

Rules of fairness: removals within 0.3 s of each other are unordered; a share that the record does
not give is not compared; topics already deleted are ignored in descriptions. Nothing else is forgiven.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.protocol.messages import process_of
from rebalance_kit.recordings.folder import RecordedRun

# Facts by which two runs are compared: generations and targets, callbacks, who was removed and how.
#
# ``of_record`` reads them from a recorded run's own files, ``of_trace`` from a trace. Both name members
# by their process, not by their id.


Share = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Round:
    """A completed generation, an epoch bump, or a target.

    ``kind`` is generation, empty, epoch or target; ``shares`` who gets what (None: the record does
    not say).
    """

    group: str
    kind: str
    number: int
    assignor: str | None
    shares: Share | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Call:
    """One listener callback."""

    member: str
    kind: str
    partitions: tuple[str, ...]
    generation: int | None
    at_ms: int


@dataclass(frozen=True, slots=True)
class Removal:
    """Somebody was fenced, failed, left, was replaced, refused, or is away for a while."""

    member: str
    how: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is compared of one run; times are ms of the run."""

    rounds: tuple[Round, ...]
    calls: tuple[Call, ...]
    removals: tuple[Removal, ...]
    delivered_again: int


def merge(pairs: Iterable[tuple[str, Iterable[str]]]) -> Share:
    """A comparable form of who gets what; two lives of one process count together."""
    held: dict[str, list[str]] = {}
    for label, parts in pairs:
        held.setdefault(process_of(label), []).extend(parts)
    return share(held)


def share(assignment: Mapping[str, list[str] | tuple[str, ...]]) -> Share:
    """A comparable form of who gets what."""
    return tuple(sorted((name, tuple(sorted(parts))) for name, parts in assignment.items()))


# --- from a trace ------------------------------------------------------------------------------
_HOW = {
    "session": "failed",
    "leave": "left",
    "admin": "left",
    "late": "late",
    "rebalance_timeout": "failed",
    "join_timeout": "failed",
    "sync_timeout": "failed",
}


def of_trace(trace: Trace) -> Facts:
    """Facts of a simulated run."""
    calls = tuple(
        Call(
            row.actor,
            row.detail["callback"],
            tuple(sorted(row.detail["partitions"])),
            row.generation,
            row.at_ms,
        )
        for row in trace.of("callback_begin")
    )
    again = sum(int(row.detail["count"]) for row in trace.of("redelivered"))
    return Facts(tuple(_rounds_of(trace)), calls, tuple(_removals_of(trace)), again)


def _rounds_of(trace: Trace) -> Iterator[Round]:
    groups = {row.actor: str(row.detail["group"]) for row in trace.of("process_started")}
    plans = {
        (groups[row.actor], row.generation): merge(
            (row.detail["senders"][who], given) for who, given in row.detail["assignment"].items()
        )
        for row in trace.of("assignment_computed")
    }
    for row in trace.of("generation", "group_state", "epoch_bump", "target"):
        held, number = row.detail, row.generation or 0
        group = str(held["group"])
        if row.kind == "generation":
            yield Round(group, "generation", number, held["assignor"], plans.get((group, number)), row.at_ms)
        elif row.kind == "epoch_bump":
            yield Round(group, "epoch", number, None, None, row.at_ms)
        elif row.kind == "target":
            yield Round(
                group, "target", number, held["assignor"], merge(held["assignment"].items()), row.at_ms
            )
        elif held["to"] == "Empty" and held["trigger"] != "load" and row.protocol == "classic":
            yield Round(group, "empty", number, None, None, row.at_ms)


_REFUSED = {"FENCED_INSTANCE_ID": "fenced", "UNRELEASED_INSTANCE_ID": "refused"}


def _removals_of(trace: Trace) -> Iterator[Removal]:
    for row in trace.of("member_removed", "member_replaced", "member_away", "member_refused"):
        name = str(row.detail["name"])
        if row.kind == "member_removed":
            if not row.detail.get("pending"):
                yield Removal(name, _HOW[row.detail["how"]], row.at_ms)
        elif row.kind == "member_refused":
            if row.detail["error"] in _REFUSED:
                yield Removal(name, _REFUSED[row.detail["error"]], row.at_ms)
        else:
            yield Removal(name, "replaced" if row.kind == "member_replaced" else "away", row.at_ms)


# --- from a record -----------------------------------------------------------------------------
_STABILIZED = re.compile(
    r"Stabilized group (\S+) generation (\d+)(?: \(__consumer_offsets-\d+\))? with (\d+) members"
)
_EMPTIED = re.compile(r"Group (\S+) with generation (\d+) is now empty")
_BUMPED = re.compile(r"\[GroupId (\S+)\] Bumped group epoch to (\d+)")
_COMPUTED = re.compile(
    r"\[GroupId (\S+)\] Computed a new target assignment for epoch (\d+) with '(\w+)' assignor"
)
_FINISHED = re.compile(r"Finished assignment for group at generation (\d+): \{(.*)\}", re.DOTALL)
_ONE_SHARE = re.compile(r"([^\s,{}=]+)=Assignment\(partitions=\[([^]]*)\]")
_JOINED = re.compile(
    r"Successfully joined group with generation Generation\{generationId=(\d+), memberId='([^']*)', protocol='([^']*)'\}"
)
_OF_GROUP = re.compile(r"\[Consumer .*?groupId=([^\]]+)\]")
_NATIVE_JOINED = re.compile(r"JoinGroup response: GenerationId (\d+), Protocol (\S+), LeaderId")
_REMOVALS = (
    (re.compile(r"Member (\S+) in group \S+ has failed, removing it"), "failed"),
    (re.compile(r"\[Group \S+\] (?:Static m|M)ember (\S*) .*?has left group through explicit"), "left"),
    (re.compile(r"Member MemberMetadata\(memberId=([^,]+),.*has left group \S+ through explicit"), "left"),
    (
        re.compile(r"\[GroupId \S+\] (?:Dynamic|Static) member (\S*) .*has left group through explicit"),
        "left",
    ),
    (
        re.compile(
            r"\[GroupId \S+\] (?:Static m|M)ember (\S+) (?:with instance id \S+ )?left the consumer group"
        ),
        "left",
    ),
    (re.compile(r"\[GroupId \S+\] Member (\S+) fenced from the group because"), "failed"),
    (re.compile(r"\[GroupId \S+\] Static member (\S+) with instance id \S+ temporarily left"), "away"),
    (re.compile(r"Created a new member (\S+) to replace the existing member"), "replaced"),
    (re.compile(r"Replacing previously mapped member (\S+) with this groupInstanceId"), "replaced"),
    (re.compile(r"Request memberId=(\S+) for static member .* is fenced by existing memberId"), "fenced"),
    (
        re.compile(r"\[GroupId \S+\] Static member (\S+) with instance id \S+ cannot join the group"),
        "refused",
    ),
)
_LATE = re.compile(r"Group \S+ removed dynamic members who haven't joined: \w*[\[(](.*?)[\])]")
_BY_INSTANCE = re.compile(r"(?:groupInstanceId=|instance id )(\S+?)[ ,.]")


def names_of(run: RecordedRun) -> Mapping[str, str]:
    """Member id to process name, from callbacks, descriptions and the members' own logs."""
    names: dict[str, str] = {}
    for row in run.truth:
        if row["kind"] in {"assigned", "revoked", "lost"} and row.get("member"):
            names[str(row["member"])] = str(row["by"])
        elif row["kind"] == "describe":
            for key in row["members"]:
                client, _, member_id = str(key).partition("/")
                names.setdefault(member_id, client)
    ids = re.compile(
        r"with the given member-id: (\S+)|memberId='([^']+)'|Member (\S+) with epoch|my MemberId (\S+),"
    )
    for name, lines in run.members.items():
        for line in lines:
            for found in ids.finditer(line.text):
                member_id = next(part for part in found.groups() if part)
                names.setdefault(member_id, name)
    return names


class _Assigned(NamedTuple):
    """What was assigned, by group and generation (or epoch)."""

    plans: Mapping[tuple[str, int], Share]
    assignors: Mapping[tuple[str, int], str]
    targets: Mapping[tuple[str, int], Share]


def _round(text: str, at_ms: int, assigned: _Assigned) -> Round | None:
    """The generation, empty group, epoch or target that a line of the broker tells of."""
    if found := _STABILIZED.search(text):
        group, number = found[1], int(found[2])
        assignor = assigned.assignors.get((group, number), assigned.assignors.get(("", number)))
        return Round(group, "generation", number, assignor, assigned.plans.get((group, number)), at_ms)
    if found := _EMPTIED.search(text):
        return Round(found[1], "empty", int(found[2]), None, None, at_ms)
    if found := _BUMPED.search(text):
        return Round(found[1], "epoch", int(found[2]), None, None, at_ms)
    if found := _COMPUTED.search(text):
        group, number = found[1], int(found[2])
        return Round(group, "target", number, found[3], assigned.targets.get((group, number)), at_ms)
    return None


def of_record(run: RecordedRun) -> Facts:
    """Facts of a recorded run, up to the moment its own shutdown begins."""
    names = names_of(run)
    begin, stop = run.begin, run.stop
    assigned = _Assigned(*_plans(run, names), _targets(run))
    rounds, removals = [], []
    for line in run.broker:
        if line.t >= stop:
            break
        begun = _round(line.text, line.t - begin, assigned)
        if begun is not None:
            rounds.append(begun)
            continue
        late = _LATE.search(line.text)
        if late:
            removals += [Removal(names.get(one, one), "late", line.t - begin) for one in late[1].split(", ")]
            continue
        removal = _removal(line.text, names, line.t - begin, run)
        if removal is not None:
            removals.append(removal)
    calls = [
        Call(
            str(row["by"]),
            str(row["kind"]),
            tuple(sorted(row["partitions"])),
            row.get("generation"),
            int(row["t"]) - begin,
        )
        for row in run.truth
        if row["kind"] in {"assigned", "revoked", "lost"} and row["t"] < stop
    ]
    return Facts(tuple(rounds), tuple(calls), tuple(removals), _again(run))


def _removal(text: str, names: Mapping[str, str], at: int, run: RecordedRun) -> Removal | None:
    for pattern, how in _REMOVALS:
        found = pattern.search(text)
        if not found:
            continue
        member = names.get(found[1], found[1])
        if not found[1] or found[1] not in names:
            member = _by_instance(text, run) or member
        if how == "replaced":
            member = _by_instance(text, run, at) or member
        return Removal(member, how, at)
    return None


def _by_instance(text: str, run: RecordedRun, at: int | None = None) -> str | None:
    found = _BY_INSTANCE.search(text)
    if not found:
        return None
    holder = None
    for step in run.steps:
        if (
            step["do"] == "start"
            and step["configs"].get("group.instance.id") == found[1]
            and (at is None or step["t"] - run.begin <= at)
        ):
            holder = str(step["member"])
    return holder


def _plans(
    run: RecordedRun, names: Mapping[str, str]
) -> tuple[dict[tuple[str, int], Share], dict[tuple[str, int], str]]:
    plans: dict[tuple[str, int], Share] = {}
    assignors: dict[tuple[str, int], str] = {}
    for lines in run.members.values():
        for line in lines:
            if found := _FINISHED.search(line.text):
                given = [
                    (names.get(who, who), [one for one in parts.split(", ") if one])
                    for who, parts in _ONE_SHARE.findall(found[2])
                ]
                plans[_group(line.text), int(found[1])] = merge(given)
            elif found := _JOINED.search(line.text):
                assignors[_group(line.text), int(found[1])] = found[3]
            elif found := _NATIVE_JOINED.search(line.text):
                assignors["", int(found[1])] = found[2]
    return plans, assignors


def _group(text: str) -> str:
    """The group that a Java client's line names in its prefix."""
    found = _OF_GROUP.search(text)
    return found[1] if found else ""


def _targets(run: RecordedRun) -> dict[tuple[str, int], Share]:
    targets: dict[tuple[str, int], Share] = {}
    for row in run.truth:
        if (
            row["kind"] == "describe"
            and row.get("target_epoch") is not None
            and row["epoch"] == row["target_epoch"]
        ):
            given = [
                (str(key).partition("/")[0], list(held["target"])) for key, held in row["members"].items()
            ]
            targets.setdefault((str(row["group"]), int(row["target_epoch"])), merge(given))
    return targets


def _again(run: RecordedRun) -> int:
    high: dict[tuple[str, str], int] = defaultdict(lambda: -1)
    groups = {
        str(step["member"]): str(step["configs"].get("group.id"))
        for step in run.steps
        if step["do"] == "start"
    }
    again = 0
    for row in run.truth:
        words = str(row.get("line", "")).split()
        if row["kind"] == "admin" and words[:1] == ["delete-topic"]:  # one made anew begins at offset 0
            high = defaultdict(
                lambda: -1,
                {key: at for key, at in high.items() if key[1].rpartition("-")[0] not in words[1:]},
            )
        if row["kind"] != "records":
            continue
        for partition, (first, last) in row["records"].items():
            key = (groups.get(str(row["by"]), ""), partition)
            again += max(0, min(int(last), high[key]) - int(first) + 1)
            high[key] = max(high[key], int(last))
    return again


UNORDERED_MS = 300


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two runs part, what is there on either side, and how far they had agreed."""

    what: str
    where: str
    recorded: str
    simulated: str
    agreed: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome for one simulated draw."""

    generations: Difference | None
    callbacks: Difference | None
    fencing: Difference | None
    deltas_ms: tuple[int, ...]

    @property
    def equal(self) -> bool:
        """Nothing differs in (a) to (c)."""
        return self.first is None

    @property
    def first(self) -> Difference | None:
        """The first difference, in the order generations, callbacks, fencing."""
        return self.generations or self.callbacks or self.fencing

    @property
    def agreed(self) -> int:
        """How much agreed before each first difference: greater is nearer."""
        return sum(
            one.agreed if one is not None else 10_000
            for one in (self.generations, self.callbacks, self.fencing)
        )


def compare(recorded: Facts, simulated: Facts) -> Comparison:
    """Compare a recorded run with one simulated draw of it."""
    deltas: list[int] = []
    generations = _rounds(recorded.rounds, simulated.rounds, deltas)
    callbacks = None
    for member in sorted({call.member for call in (*recorded.calls, *simulated.calls)}):
        ours = [call for call in simulated.calls if call.member == member]
        theirs = [call for call in recorded.calls if call.member == member]
        found = _sequence("callbacks", member, theirs, ours, _same_call, deltas)
        if found is not None and (callbacks is None or found.agreed < callbacks.agreed):
            callbacks = found
    return Comparison(
        generations, callbacks, _removals(recorded.removals, simulated.removals, deltas), tuple(deltas)
    )


def _rounds(recorded: Sequence[Round], simulated: Sequence[Round], deltas: list[int]) -> Difference | None:
    for group in sorted({one.group for one in recorded} | {one.group for one in simulated}):
        for kinds in (("generation", "empty"), ("epoch",), ("target",)):
            theirs = [one for one in recorded if one.group == group and one.kind in kinds]
            ours = [one for one in simulated if one.group == group and one.kind in kinds]
            found = _sequence("generations", f"{group} {kinds[0]}", theirs, ours, _same_round, deltas)
            if found is not None:
                return found
    return None


def _same_round(recorded: Round, simulated: Round) -> bool:
    if (recorded.kind, recorded.number) != (simulated.kind, simulated.number):
        return False
    if recorded.assignor is not None and recorded.assignor != simulated.assignor:
        return False
    return recorded.shares is None or simulated.shares is None or recorded.shares == simulated.shares


def _same_call(recorded: Call, simulated: Call) -> bool:
    same = (recorded.kind, recorded.partitions) == (simulated.kind, simulated.partitions)
    return same and (recorded.generation is None or recorded.generation == simulated.generation)


def _sequence(
    what: str,
    where: str,
    recorded: Sequence[Any],
    simulated: Sequence[Any],
    same: Callable[[Any, Any], bool],
    deltas: list[int],
) -> Difference | None:
    for index, (theirs, ours) in enumerate(zip(recorded, simulated, strict=False)):
        if not same(theirs, ours):
            return Difference(what, where, _say(recorded, index), _say(simulated, index), index)
        deltas.append(ours.at_ms - theirs.at_ms)
    if len(recorded) != len(simulated):
        index = min(len(recorded), len(simulated))
        return Difference(what, where, _say(recorded, index), _say(simulated, index), index)
    return None


def _removals(
    recorded: Sequence[Removal], simulated: Sequence[Removal], deltas: list[int]
) -> Difference | None:
    left = list(recorded)
    for index, ours in enumerate(simulated):
        if not left:
            break
        open_until = left[0].at_ms + UNORDERED_MS
        match = next(
            (
                one
                for one in left
                if one.at_ms <= open_until and (one.member, one.how) == (ours.member, ours.how)
            ),
            None,
        )
        if match is None:
            return Difference("fencing", "removals", _say(left, 0), _say(simulated, index), index)
        left.remove(match)
        deltas.append(ours.at_ms - match.at_ms)
    if len(recorded) != len(simulated):
        index = min(len(recorded), len(simulated))
        return Difference("fencing", "removals", _say(recorded, index), _say(simulated, index), index)
    return None


def _say(sequence: Sequence[Any], index: int) -> str:
    """The element there, and the one before it."""
    if index >= len(sequence):
        return f"nothing more after {_one(sequence[-1])}" if sequence else "nothing"
    before = f" (after {_one(sequence[index - 1])})" if index else ""
    return _one(sequence[index]) + before


def _one(fact: Any) -> str:
    at = f"{fact.at_ms / 1000:.2f} s"
    if isinstance(fact, Round):
        given = (
            ""
            if fact.shares is None
            else " {" + "; ".join(f"{name}: {' '.join(parts) or '-'}" for name, parts in fact.shares) + "}"
        )
        return f"{fact.kind} {fact.number} {fact.assignor or ''}{given} at {at}"
    if isinstance(fact, Call):
        return f"{fact.kind}([{', '.join(fact.partitions)}]) in {fact.generation} at {at}"
    return f"{fact.member} {fact.how} at {at}"
