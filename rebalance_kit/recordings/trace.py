"""A recorded run as a trace (``source=recorded``), so that whatever reads a simulated run reads a real one.

Ownership follows from the callbacks, the flow of records from what each poll returned: a partition
flows from its first record after onPartitionsAssigned until it is revoked, lost, or its process ends.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.recordings.compare import Facts, of_record
from rebalance_kit.recordings.folder import RecordedRun

GAP_MS = 400
"""A partition without a record for longer than this went unread (a record comes every 100 ms)."""
_DONE = {
    "kill": "crash",
    "freeze": "freeze",
    "thaw": "thaw",
    "cut": "cut_network",
    "heal": "heal_network",
    "broker-stop": "broker_down",
    "broker-start": "broker_up",
}
_CONSUMER_KINDS = frozenset({"epoch_bump", "target"})
_MOVES = (
    (
        re.compile(r"Preparing to rebalance group (\S+) in state \w+ .*?\(reason: (.*)\)"),
        "PreparingRebalance",
    ),
    (re.compile(r"Stabilized group (\S+) generation"), "CompletingRebalance"),
    (re.compile(r"Assignment received from leader \S+ for group (\S+) for generation"), "Stable"),
    (re.compile(r"Group (\S+) with generation \d+ is now empty"), "Empty"),
)
"""Lines of the broker with which a classic group moves, and where to."""
_FROZEN = {"freeze": "process_frozen", "thaw": "process_thawed"}
_REMOVED = {"failed": "session", "left": "leave", "late": "late"}


@dataclass(slots=True)
class _Builder:
    """Rows in the order of time, with what is needed to close what is open."""

    run: RecordedRun
    rows: list[tuple[int, int, str, str, int | None, str | None, str | None, Mapping[str, Any]]] = field(
        default_factory=list
    )
    owned: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    last: dict[tuple[str, str], int] = field(default_factory=dict)
    protocols: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict(list))
    """Of each member, when it was started under which protocol."""

    def put(
        self,
        at_ms: int,
        actor: str,
        kind: str,
        detail: Mapping[str, Any],
        generation: int | None = None,
        member_id: str | None = None,
        tp: str | None = None,
    ) -> None:
        self.rows.append((at_ms, len(self.rows), actor, kind, generation, member_id, tp, detail))

    def pause(self, at_ms: int, member: str, partition: str, reason: str) -> None:
        """Close a flow at its last record."""
        seen = self.last.pop((member, partition), None)
        if seen is not None:
            self.put(
                min(at_ms, seen + 100),
                member,
                "fetch_stopped",
                {"reason": reason, "position": None, "log_end": None, "committed": None},
                tp=partition,
            )


def recorded_trace(run: RecordedRun, *, coordinator: bool = False) -> Trace:
    """Build the trace of a recorded run; times are ms from its first step.

    ``coordinator`` adds what the broker's log says at once and descriptions say later, or not at all: a classic group's moves, and who is a member.
    """
    build = _Builder(run)
    begin, stop = run.begin, run.stop
    _steps(build, frozen=coordinator)
    epochs: dict[str, int] = {}
    for row in run.truth:
        if row["t"] < stop:
            _truth_row(build, row, int(row["t"]) - begin)
            if coordinator and row["kind"] == "describe":
                _epochs(build, row, int(row["t"]) - begin, epochs)
    end = stop - begin
    for member, partition in list(build.last):
        if end - build.last[member, partition] > GAP_MS:
            build.pause(end, member, partition, "crash")
    facts = of_record(run)
    _rounds(build, facts)
    _states(build, _moves(build) if coordinator else frozenset())
    if coordinator:
        _members(build, facts)
    rows = tuple(_finished(build))
    topics = _topics(run)
    meta = {
        "scenario": run.scenario,
        "title": run.name,
        "kafka_version": run.kafka,
        "members": sorted(run.members),
        "topics": topics,
    }
    return Trace(run.name, f"{run.protocol}, recorded", 0, end, rows, source="recorded", meta=meta)


def _topics(run: RecordedRun) -> dict[str, int]:
    words = [str(step.get("line", "")).split() for step in run.steps if step["do"] == "admin"]
    return {one[1]: int(one[2]) for one in words if one[:1] == ["topic"] and len(one) > 2}


def _steps(build: _Builder, *, frozen: bool) -> None:
    for step in build.run.steps:
        at, name = int(step["t"]) - build.run.begin, str(step.get("member", "admin"))
        if step["do"] == "start":
            protocol = str(step["configs"].get("group.protocol", "classic")).lower()
            build.protocols[name].append((at, protocol))
        elif step["do"] in _DONE:
            build.put(at, name, "action", {"do": _DONE[step["do"]], "member": step.get("member")})
            if step["do"] == "kill":
                build.put(at, name, "process_ended", {"how": "crash", "error": None, "life": 1})
            elif step["do"] in _FROZEN and frozen:
                build.put(at, name, _FROZEN[step["do"]], {})


def _truth_row(build: _Builder, row: Mapping[str, Any], at: int) -> None:
    kind, name = str(row["kind"]), str(row["by"])
    if kind == "start":
        build.owned[name].clear()
        _started(build, at, name)
    elif kind in {"assigned", "revoked", "lost"}:
        _callback(build, row, at, name, kind)
    elif kind in {"assigned_end", "revoked_end", "lost_end"}:
        build.put(
            at, name, "callback_end", {"callback": kind.removesuffix("_end"), "partitions": [], "error": None}
        )
    elif kind == "records":
        for partition in row["records"]:
            seen = build.last.get((name, partition))
            if seen is not None and at - seen > GAP_MS:
                build.pause(at, name, partition, "stall")
                seen = None
            if seen is None:
                build.put(
                    at,
                    name,
                    "fetch_resumed",
                    {"position": None, "log_end": None, "committed": None},
                    tp=partition,
                )
            build.last[name, partition] = at
    elif kind in {"closed", "died"}:
        build.put(at, name, "process_ended", {"how": kind, "error": row.get("text"), "life": 1})


def _started(build: _Builder, at: int, name: str) -> None:
    starts = (step for step in build.run.steps if step["do"] == "start" and step["member"] == name)
    group = next((str(step["configs"].get("group.id")) for step in starts), "")
    detail = {"group": group, "client": "java", "configs": {}, "topics": [], "life": 1}
    build.put(at, name, "process_started", detail)


def _callback(build: _Builder, row: Mapping[str, Any], at: int, name: str, kind: str) -> None:
    partitions = sorted(row["partitions"])
    build.put(
        at,
        name,
        "callback_begin",
        {"callback": kind, "partitions": partitions},
        row.get("generation"),
        row.get("member"),
    )
    if kind == "assigned":
        build.owned[name] |= set(partitions)
    else:
        build.owned[name] -= set(partitions)
        for partition in partitions:
            build.pause(at, name, partition, "revoke" if kind == "revoked" else "lost")
    build.put(
        at, name, "owned", {"partitions": sorted(build.owned[name])}, row.get("generation"), row.get("member")
    )


def _rounds(build: _Builder, facts: Facts) -> None:
    for one in facts.rounds:
        shares = {} if one.shares is None else {name: list(parts) for name, parts in one.shares}
        if one.kind == "generation":
            build.put(
                one.at_ms,
                "coordinator",
                "generation",
                {"group": one.group, "assignor": one.assignor, "leader": "", "members": {}},
                one.number,
            )
        elif one.kind == "target":
            build.put(
                one.at_ms,
                "coordinator",
                "target",
                {"group": one.group, "assignor": one.assignor, "assignment": shares, "ids": {}},
                one.number,
            )
        elif one.kind == "epoch":
            build.put(
                one.at_ms,
                "coordinator",
                "epoch_bump",
                {"group": one.group, "reason": "", "trigger": "", "culprit": None},
                one.number,
            )


def _epochs(build: _Builder, row: Mapping[str, Any], at: int, known: dict[str, int]) -> None:
    """The epoch of each KIP-848 member, which goes on without a callback where it is given and gives up nothing."""
    for key, held in row["members"].items():
        name, epoch = key.partition("/")[0], held.get("epoch")
        if epoch is not None and name in build.run.members and known.get(name) != epoch:
            known[name] = epoch
            build.put(at, name, "owned", {"partitions": sorted(build.owned[name])}, epoch)


def _moves(build: _Builder) -> frozenset[str]:
    """The moves of classic groups as the broker's log has them; the groups that it told of."""
    told = set()
    begin, stop = build.run.begin, build.run.stop
    for line in build.run.broker:
        for pattern, state in _MOVES if line.t < stop else ():
            if found := pattern.search(line.text):
                told.add(found[1])
                reason = found[2] if found.re.groups > 1 else ""
                detail = {
                    "group": found[1],
                    "from": "",
                    "to": state,
                    "reason": reason,
                    "trigger": "",
                    "culprit": None,
                }
                build.put(line.t - begin, "coordinator", "group_state", detail)
    return frozenset(told)


def _members(build: _Builder, facts: Facts) -> None:
    """Who is a member from when: since its first callback or its first place in a description, until it is removed."""
    run = build.run
    seen = [(call.at_ms, call.member, "") for call in facts.calls if call.kind == "assigned"]
    seen += [(one.at_ms, one.member, _REMOVED[one.how]) for one in facts.removals if one.how in _REMOVED]
    group = next((one.group for one in facts.rounds), "")
    inside: set[str] = set()
    for at_ms, name, how in sorted(seen, key=lambda one: one[0]):
        if name not in run.members or (name in inside) != bool(how):
            continue
        detail = {"group": group, "name": name, "reason": ""}
        if how:
            inside.discard(name)
            build.put(at_ms, "coordinator", "member_removed", {**detail, "how": how})
        else:
            inside.add(name)
            build.put(at_ms, "coordinator", "member_added", {**detail, "instance_id": None, "state": ""})


def _states(build: _Builder, told: frozenset[str]) -> None:
    """What each group was described as, each time that it changed, but for those that the log told of."""
    described: dict[str, str] = {}
    for row in build.run.truth:
        if row["kind"] == "describe" and row["t"] < build.run.stop and row["group"] not in told:
            if described.get(row["group"]) == row["state"] and row.get("epoch") is None:
                continue
            described[row["group"]] = row["state"]
            detail = {
                "group": row["group"],
                "from": "",
                "to": row["state"],
                "reason": "",
                "trigger": "",
                "culprit": None,
            }
            build.put(int(row["t"]) - build.run.begin, "coordinator", "group_state", detail, row.get("epoch"))


def _protocol(build: _Builder, at_ms: int, actor: str, kind: str, generation: int | None) -> str | None:
    """The protocol that a row speaks; the description of a classic group shows no epoch."""
    if kind == "action":
        return None
    if kind in _CONSUMER_KINDS or (kind == "group_state" and generation is not None):
        return "consumer"
    started = [protocol for since, protocol in build.protocols.get(actor, ()) if since <= at_ms]
    return started[-1] if started else "classic"


def _finished(build: _Builder) -> Iterator[TraceRow]:
    build.rows.sort(key=lambda row: (row[0], row[1]))
    for seq, (at, _, actor, kind, generation, member_id, partition, detail) in enumerate(build.rows):
        tp = parse_partition(partition) if partition else None
        yield TraceRow(
            at,
            seq,
            actor,
            kind,
            _protocol(build, at, actor, kind, generation),
            generation,
            member_id,
            tp.topic if tp else None,
            tp.partition if tp else None,
            detail,
        )
