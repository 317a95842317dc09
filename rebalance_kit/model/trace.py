"""The trace: one flat row an event, the narrow waist between what happens and what reads it.

Every number and picture of the kit can be recomputed from these rows. The columns have the same
names in Python, JSONL, Parquet and Spark. ``KINDS`` says what each kind of row means and what its
``detail`` holds; a kind that is not listed there is never written.

Partitions inside a ``detail`` are written the way Kafka prints them (``orders-4``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from rebalance_kit.model.errors import DataError

Detail = Mapping[str, Any]
NO_DETAIL: Detail = MappingProxyType({})
COLUMNS = (
    "run_id",
    "at_ms",
    "seq",
    "actor",
    "kind",
    "protocol",
    "generation",
    "member_id",
    "topic",
    "partition",
    "detail",
)


class TraceRow(NamedTuple):
    """One event.

    ``at_ms`` counts from the start of the run; ``seq`` orders rows of one millisecond. ``actor`` is
    a member's name, ``coordinator``, ``broker``, ``admin`` or ``run``. ``protocol`` is ``classic``
    or ``consumer``, None where the row belongs to neither. ``generation`` is the classic generation or the KIP-848 epoch that the actor
    knows at that moment, None where it has none.
    """

    at_ms: int
    seq: int
    actor: str
    kind: str
    protocol: str | None
    generation: int | None
    member_id: str | None
    topic: str | None
    partition: int | None
    detail: Detail

    def speaks(self) -> str:
        """The protocol of a row that has one; raises ``DataError`` for a row that belongs to neither."""
        if self.protocol is None:
            raise DataError(
                f"row {self.seq} ({self.kind} at {self.at_ms} ms) has no protocol, expected classic or consumer"
            )
        return self.protocol


KINDS: Mapping[str, str] = MappingProxyType(
    {
        # what was done to the group
        "action": "an action of the scenario: do, and its arguments",
        # processes
        "process_started": "a member's process lives: group, client (java|librdkafka), configs that differ from defaults, topics, life, pattern and server_pattern where it subscribes by one",
        "process_ended": "a member's process is gone: how (crash|closed|died), error when it died, life",
        "process_frozen": "the process was stopped by the system; nothing of it runs",
        "process_thawed": "the process runs again",
        "stall_begin": "the application stopped calling poll(): until_ms",
        "stall_end": "the application calls poll() again",
        # messages (coordinator's group in detail.group)
        "request": "actor sends: api, corr, arrives_ms (None when it is lost), and the fields that matter",
        "response": "coordinator answers: api, corr, to, error (NONE or Kafka's name), arrives_ms (None when it is lost), and fields",
        # group, as the coordinator sees it
        "group_state": "the group changed state: group, from, to, reason (Kafka's words), trigger (join|leave|session|metadata|...), culprit",
        "generation": "classic: a join phase completed: group, assignor, leader, members (map id -> name) in map order; generation is the new one",
        "assignment": "classic: the leader's assignment is stored: group, leader, assignment {name: [partition]}, owners by name",
        "epoch_bump": "consumer: the group epoch rose to generation: group, reason, trigger, culprit",
        "target": "consumer: target assignment computed for epoch generation: group, assignor, assignment {name: [partition]}",
        "regex_scanned": "consumer: the coordinator matched topics against regular expressions: group, regexes, topics (number)",
        "group_converted": "the group changed its protocol: group, to (consumer|classic), members",
        "member_added": "coordinator added a member: group, name, instance_id, reason",
        "member_rejoined": "consumer group: a classic member sent JoinGroup again: group, name",
        "member_pending": "coordinator handed out an id with MEMBER_ID_REQUIRED: group, name",
        "member_removed": "coordinator removed a member: group, name, how (leave|session|rebalance_timeout|join_timeout|sync_timeout|admin|late), reason",
        "member_replaced": "a static member's id was replaced: group, name, instance_id, old_member_id, rebalance (bool)",
        "member_refused": "coordinator refused a request: group, name, api, error, message",
        "member_away": "a static consumer-protocol member left for a while (epoch -2): group, name",
        "member_reconciled": "consumer: the broker's record of a member changed: group, name, state, epoch, assigned, pending_revocation",
        "leader_elected": "classic: a member became leader: group, name",
        "static_kept": "classic: a static member came back without a rebalance: group, name",
        "coordinator_down": "the broker that hosts the coordinator is gone",
        "coordinator_up": "the coordinator has loaded the group again: group, members",
        "group_loaded": "the coordinator read a group back from its log: group, members (number)",
        "timer_set": "a timer that the group waits for was armed: group, timer (rebalance|initial|sync), after_ms, name",
        "timer_fired": "a timer ran out: timer, name",
        # clients
        "member_state": "a client's own state machine moved: from, to",
        "rejoin_requested": "a client decided to re-join: reason (the long form of its log), sent (the short form)",
        "join_prepared": "a client begins to re-join: revokes (bool)",
        "joined": "a client got a successful JoinGroup answer: leader (bool), assignor",
        "synced": "a client got its assignment: assigned, owned, added, revoked, cooperative (bool), listed (assigned in the order of the message)",
        "assignment_computed": "classic leader ran the assignor: assignor, assignment {member_id: [partition]}, lists (the same in Kafka's order), printed (what a sticky assignor logs)",
        "generation_reset": "a client gave up its generation: reason, member_id_kept (bool)",
        "reconciling": "consumer client starts to reconcile: assigned, owned, added, revoked, local_epoch",
        "callback_begin": "a listener callback began: callback (assigned|revoked|lost), partitions; generation is what groupMetadata() shows",
        "callback_end": "the callback returned: callback, partitions, error when it raised",
        "wrong_call": "a librdkafka callback called the wrong family: call (assign|unassign); error _STATE, nothing changed",
        "owned": "the client's assignment changed: partitions",
        "coordinator_lost": "a client marked its coordinator unknown: cause",
        "coordinator_found": "a client found its coordinator",
        "poll_timeout": "max.poll.interval.ms passed without poll(): limit_ms",
        "metadata_changed": "a client saw other topics or partition counts: topics {name: count}",
        "died": "an error left poll(); the application ends: error, message",
        "poll_raised": "an error left poll() or close(); the application caught it and goes on: error, message",
        "own_code_fault": "a listener or assignor of the learner's own failed or answered nonsense: part (listener|assignor), name, fault, seen",
        # data
        "fetch_resumed": "records of this partition flow to actor again: position",
        "fetch_stopped": "records of this partition stop reaching actor: position, reason (revoke|lost|crash|frozen|stall|close|callback|unassigned|paused|leader)",
        "progress": "where a partition stands when its owner is looked at: position, log_end, committed",
        "commit": "offsets committed: offsets {partition: offset}, how (auto|join|revoked|close|sync), error (NONE or Kafka's name)",
        "redelivered": "records of this partition were delivered again: count, first_offset",
        "account": "final count of this partition: produced, delivered, redelivered, lost, committed",
        # topics
        "leader_changed": "broker: another broker leads this partition: from, to (None while it is offline)",
        "topic_changed": "broker: a topic was created, grew or was deleted: partitions (0 when deleted), topic_id (two halves)",
        "run_end": "the run is over: reason",
    }
)


@dataclass(frozen=True, slots=True)
class Trace:
    """All rows of one run, with what is needed to name and repeat it.

    ``label`` is the protocol the run was made for (eager, cooperative, consumer, classic, mixed),
    ``source`` is ``simulated`` or ``recorded``.
    """

    run_id: str
    label: str
    seed: int
    end_ms: int
    rows: tuple[TraceRow, ...]
    source: str = "simulated"
    meta: Mapping[str, Any] = field(default_factory=lambda: NO_DETAIL)
    _places: dict[str, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Where the rows of each kind stand, made when first asked for."""

    def of(self, *kinds: str) -> Iterator[TraceRow]:
        """Rows of the given kinds, in order; raises ``KeyError`` for a kind that does not exist."""
        for kind in kinds:
            if kind not in KINDS:
                raise KeyError(f"{kind!r} is no kind of trace row")
        rows, places = self.rows, self._places
        if not places:
            for place, row in enumerate(rows):
                places.setdefault(row[3], []).append(place)
        wanted = dict.fromkeys(kinds)
        if len(wanted) > 1:
            return iter(
                [rows[place] for place in sorted([at for kind in wanted for at in places.get(kind, ())])]
            )
        return iter([rows[place] for kind in wanted for place in places.get(kind, ())])

    def jsonl(self) -> Iterator[str]:
        """Lines of the trace file: a head line, then a line a row, byte for byte reproducible."""
        head = {
            "run_id": self.run_id,
            "label": self.label,
            "seed": self.seed,
            "end_ms": self.end_ms,
            "source": self.source,
            "meta": dict(self.meta),
        }
        yield _dumps({"trace": head})
        for row in self.rows:
            yield _dumps({"run_id": self.run_id, **row._asdict()})


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def read_trace(path: str | Path) -> Trace:
    """Read a trace file written from ``Trace.jsonl``; raises ``DataError`` naming the line."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as a trace: {error}") from error
    return parse_trace(text.splitlines(), str(path))


def parse_trace(lines: Iterable[str], where: str = "<trace>") -> Trace:
    """Build a trace from its lines; the first one must be the head."""
    head: dict[str, Any] | None = None
    rows: list[TraceRow] = []
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
            if head is None:
                head = value["trace"]
            else:
                rows.append(TraceRow(*(value[name] for name in TraceRow._fields)))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{where}:{number}: not a row of a trace ({error!r}); expected the columns {', '.join(COLUMNS)}"
            ) from error
    if head is None:
        raise DataError(f"{where}: empty, expected a trace file whose first line is its head")
    return Trace(
        head["run_id"], head["label"], head["seed"], head["end_ms"], tuple(rows), head["source"], head["meta"]
    )
