"""What lines tell where no rebalance can be told, or no time is known.

What lines tell where no rebalance can be told: members that left, and lines without a time.

What lines without a time tell all the same: their order, and what the members' shares prove.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rebalance_kit.analysis.ownership import CALLS
from rebalance_kit.forensics.findings.finding import Row, line, told
from rebalance_kit.forensics.findings.rules.in_words import out_of_group
from rebalance_kit.forensics.history.member_lines import FELT, RANK, member_trigger
from rebalance_kit.forensics.history.rebalance import GAVE, GOT, Shift, Shifts
from rebalance_kit.forensics.words import FIRST_ANSWER, LEAVES_BY_ITSELF, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event


#: The finding of lines without a time, and whether its sentence concludes more than their steps tell.
UNTIMED = "lines_without_time"
CONCLUDES = re.compile(r"by the shares:|member ids share the client id")

#: So many steps are told.
_MOST = 12

#: The end of librdkafka's part in its group.
ENDED = "has ended its part in the group (state term)"

_SAID = {
    "joining": "asks to join",
    "rd_joining": "asks to join",
    "other_leader": "is the leader",
    "other_session_ended": "ends its session",
    "left_group": "has left",
    "process_closed": "is closed",
    "other_rebalancing": "is told that the group is rebalancing",
    "other_metadata_changed": "sees the partitions of its topics change",
    "rd_ended": ENDED,
}
#: The same with the reason that the line gives.
_BECAUSE = {
    "rd_heartbeat_error": "fails to heartbeat",
    "heartbeat_failed": "is refused its heartbeat",
    "other_heartbeat_failed": "fails to heartbeat",
    "other_join_failed": "tries to join and fails",
    "other_rejoins": "joins again",
    "other_no_coordinator": "finds no coordinator",
    "rd_rebalance": "is in a rebalance",
    "rd_rejoin": "joins again",
    "rd_poll_timeout": "did not poll within its limit",
    "poll_timeout": "did not poll within its limit",
    "other_poll_timeout": "did not poll within its limit",
    "rd_session_timeout": "had no successful answer from its coordinator for a session",
    "client_instance_fenced": "is fenced by another consumer with its group.instance.id",
    "join_retried": "tries to join again",
}
_BY_ITSELF = "leaves by itself"
_OF_BROKERS = {
    "joins": "{member} joins",
    "bumped": "the group epoch becomes {epoch}",
    "computed": "the target assignment of epoch {epoch} is computed",
    "stabilized": "generation {generation} is stable",
    "member_failed": "{member} expires",
    "session_expired": "{member} expires",
    "left": "{member} leaves",
    "epoch_left": "{member} leaves",
    "preparing": "a rebalance begins after generation {generation}",
}


_OF_TOPICS = {
    "other_no_metadata": "has no metadata of",
    "other_stops_reading": "stops reading",
    "other_reads": "begins to read",
}

#: How kafka-go's leader tells what it gave to whom: member, topic and partitions.
_PLANNED = re.compile(r"(.*)/([^/]+)/\[([\d ]*)\]")

#: An answer of a broker that is there and is another one.
_NOT_IT = re.compile(r"not.?(?:the.?)?(?:correct.?)?coordinator", re.IGNORECASE)

#: Lines that are told in their place, but of themselves tell of no rebalance.
_ASIDE = frozenset({"other_leader", "other_no_metadata", "other_planned"})

#: The state of librdkafka's part in its group, in words.
JOIN_STATES = {
    "init": "has no request to join under way",
    "wait-join": "has asked to join and waits for the coordinator's answer",
    "wait-metadata": "is the leader and waits for metadata of the topics before it assigns",
    "wait-sync": "has joined and waits for its assignment",
    **dict.fromkeys(
        ("wait-assign-call", "wait-assign-rebalance_cb"),
        "waits for its application to take the assignment in the rebalance callback",
    ),
    **dict.fromkeys(
        ("wait-unassign-call", "wait-revoke-rebalance_cb"),
        "waits for its application to give its partitions up in the rebalance callback",
    ),
    **dict.fromkeys(
        ("wait-unassign", "wait-unassign-to-complete"),
        "ends its assignment, if it has one: what it reads has to stop and its commits to end before it goes on",
    ),
    "wait-incr-unassign-to-complete": "gives some of its partitions up: what it reads there has to stop and its commits to end",
    "assigned": "has its assignment",
    "started": "has its assignment and reads",
    "steady": "has taken its assignment",
}
_JOIN_STATE = re.compile(r"\bchanged join[- ]state [\w-]+ -> ([\w-]+)|\bjoin[- ]state ([\w-]+)")


def join_state(text: str) -> str | None:
    """The state of its part in the group that a line of librdkafka tells."""
    found = _JOIN_STATE.search(text)
    name = (found[1] or found[2]) if found else None
    return name if name in JOIN_STATES else None


_JOINED = frozenset({"joined", "synced", "other_joined", "rd_join_answer"})


#: What a group answers while it rebalances; other words of a rebalance may be a client's own.
_TOLD = re.compile(
    r"heartbeat|is rebalancing|in_? ?progress|undergoing|coordinator rebalance|group rebalance|\b27\b",
    re.IGNORECASE,
)


#: MEMBER_ID_REQUIRED, the first answer to every new member, and lines that tell of it.
HANDED_ID = "is handed its member id, as every new member is"
_FIRST = frozenset({"join_retried", "rd_join_answer", "rd_step", "rd_rejoin", "other_step", "other_rejoins"})

#: Faust's tables of partitions stand below the line.
_GOES_ON = re.compile(r"(?:Setting newly|Revoking previously) assigned partitions\s*\Z")


def step_of(event: Event) -> str | None:
    """What a member's line says that it does, in words without the member; None where it is no step."""
    name, parts = event.event, event.partitions
    if name in GAVE or name in GOT:
        verb = "is given" if name in GOT else "loses" if name.endswith("lost") else "gives up"
        none = parts is not None and not parts and (event.confidence is None or "[]" in event.text)
        none = none and _GOES_ON.search(event.text) is None
        if event.confidence and not parts and not none:
            return None
        return f"{verb} {counted(len(parts), 'partition') if parts else 'none' if none else 'partitions'}"
    if name in {"other_unknown_member", "other_session_expired"}:
        told = f"{'finds' if name == 'other_session_expired' else 'is told'} that {out_of_group(event)}"
        return f"{told} ({event.reason})" if event.reason else told
    if name == "joining" and "join" not in event.text.lower():
        return "begins a rebalance, or takes part in one"
    if name == "other_rebalancing" and not _TOLD.search(f"{event.reason} {event.text}"):
        return "begins a rebalance, or takes part in one"
    if name == "synced" and event.generation:
        return f"has its assignment of generation {event.generation}"
    if name in _JOINED and (event.generation or 0) > 0:
        return f"joins generation {event.generation}"
    if name == "rejoin_requested" and "heartbeat failed since" in event.text:
        return "is told that the group is rebalancing"
    if name == "rejoin_requested" and FIRST_ANSWER.search(event.reason or ""):
        return HANDED_ID
    if name == "rejoin_requested":
        return _BY_ITSELF if LEAVES_BY_ITSELF in (event.reason or "") else f"asks to join ({event.reason})"
    if name in {"leaving", "rd_leave", "other_leaving"}:
        return f"leaves ({event.reason})" if event.reason else "leaves"
    if name in _FIRST and FIRST_ANSWER.search(f"{event.reason} {event.text}"):
        return HANDED_ID
    if name == "join_retried" and event.side == "java":
        return f"tries to join and fails ({event.reason})" if event.reason else "tries to join and fails"
    if name == "rd_commit_waits":
        return f"puts a commit of {counted(int(event.detail or 0), 'partition')} off ({event.reason})"
    if name == "rd_subscription":
        return f"has another subscription: {event.state_from} -> {event.state_to} topics"
    if name == "other_assigns":
        how = (
            event.detail
            if (event.detail or "").isalpha() or " " in (event.detail or "")
            else "assigning partitions"
        )
        return f"changes what it reads: {how} ({event.reason})"
    if name == "other_coordinator":
        return f"finds its coordinator {event.detail}" if event.detail else "finds its coordinator"
    if name in _OF_TOPICS:
        return f"{_OF_TOPICS[name]} {event.topic}"
    if name == "other_planned" and (planned := _PLANNED.fullmatch(event.detail or "")):
        return (
            f"gives {planned[1]} {counted(len(planned[3].split()), 'partition')} ({planned[2]} {planned[3]})"
        )
    if name == "rd_state" and (state := join_state(event.text)):
        return f"{JOIN_STATES[state]} (join-state {state})"
    if name == "other_no_coordinator" and _NOT_IT.search(event.reason or ""):
        return f"is told by a broker that it is not the coordinator ({event.reason})"
    if name in _BECAUSE:
        why = event.reason or ""
        return f"{_BECAUSE[name]} {why if why[:1] == '(' else f'({why})'}" if why else _BECAUSE[name]
    return _SAID.get(name)


#: The same of lines whose number is not told.
_UNNUMBERED = {
    "bumped": "the group epoch grows",
    "computed": "the target assignment is computed",
    "stabilized": "the group is stable",
    "preparing": "a rebalance begins",
}


def step_of_broker(event: Event) -> str:
    """What a coordinator's line says that it does, in words; empty where it is no step."""
    epoch = event.generation if event.epoch is None else event.epoch
    said = _OF_BROKERS.get(event.event, "").format(
        member=event.member or "a member", epoch=epoch, generation=event.generation
    )
    if epoch is None:
        said = _UNNUMBERED.get(event.event, said)
    return f"{said} ({event.reason})" if event.event == "preparing" and event.reason else said


class InOrder:
    """Folds lines without a time in the order of their files."""

    def __init__(self) -> None:
        self._told: list[tuple[str, str]] = []
        self._shifts, self._last = Shifts(), Shift()
        #: The generation that a member joined last: a second line of it is no second join.
        self._settled: dict[tuple[str, str], int] = {}
        self._proved: list[str] = []
        self._ids: dict[str, dict[str, None]] = {}

    def take(self, event: Event) -> None:
        """The next line of its file."""
        who = event.client or event.named_in_words
        member, name = (who, event.file), event.event
        if event.side == "broker":
            said = step_of_broker(event)
            who = ""
        else:
            said = self._step(event, member) or ""
            if event.client and event.member and name in {"joined", "synced"}:
                self._ids.setdefault(event.client, {})[event.member] = None
        again = said == _BY_ITSELF and any(one == who and "leaves" in told for one, told in self._told[-2:])
        if said and not again and (who, said) not in self._told[-2:]:
            self._told.append((who, said))

    def _step(self, event: Event, member: tuple[str, str]) -> str | None:
        name = event.event
        if name in GAVE or name in GOT:
            self._shifts.moved(member, event)
            if name in GOT and self._last.words():
                self._proved.append(self._last.words() or "")
        elif name in _JOINED and event.generation not in {None, self._settled.get(member)}:
            self._settled[member] = event.generation or 0
            self._last = Shift()
            self._shifts.settled(member, self._last)
        elif name == "rejoin_requested" and LEAVES_BY_ITSELF not in (event.reason or ""):
            self._shifts.notified(member, member[0], event)
        return step_of(event)

    def words(self) -> str:
        """What the lines prove, then the steps; empty for none."""
        steps, before = [], ""
        shared = {client: ids for client, ids in self._ids.items() if len(ids) > 1}
        for client, ids in shared.items():
            names = ", ".join([*ids][:3]) + (", ..." if len(ids) > 3 else "")
            steps.append(
                f"{len(ids)} member ids share the client id {client} ({names}), so which step is whose is not told"
            )
        told = [one for one in self._told if one[0] not in shared]
        for who, said in told[:_MOST]:
            steps.append(said if who in {"", before} else f"{who} {said}")
            before = who
        chain = "; ".join(steps) + ("; ..." if len(told) > _MOST else "")
        return f"{self._proved[-1]} ({chain})" if self._proved and not shared else chain


#: A broker that gives up partitions of __consumer_offsets: which one, which partition, and how many groups it held.
UNLOADED, LOADED = "coordinator_resigned", "metadata_loaded"
_OF_OFFSETS = re.compile(r"\b__\w+-\d{1,9}\b")
_UNLOADING = re.compile(
    r"(?:Group(?:Coordinator|MetadataManager) (?:id=|brokerId=)?(?P<broker>\d{1,9})\]:? )?(?P<begins>Scheduling|Finished) unloading .*?"
    r"(?P<partition>[\w.-]+-\d{1,9})\b(?:.* and (?P<groups>\d{1,9}) cached groups)?"
)


def _unloads(events: Sequence[Event]) -> Row:
    """What lines of unloading tell together."""
    found = [one for event in events if (one := _UNLOADING.search(event.text))]
    done = {one["partition"]: int(one["groups"] or -1) for one in found if one["begins"] == "Finished"}
    named = sorted({one["partition"] for one in found}, key=lambda name: (len(name), name))
    brokers = sorted({one["broker"] for one in found if one["broker"]})
    who = (
        f"broker {brokers[0]}" if len(brokers) == 1 else "a coordinator" if not brokers else "several brokers"
    )
    held = (
        f", with {counted(sum(done.values()), 'group')}"
        if done and set(done) == set(named) and min(done.values()) >= 0
        else ""
    )
    topics = sorted({name.rpartition("-")[0] for name in named})
    numbers = [name.rpartition("-")[2] if len(topics) == 1 else name for name in named]
    shown = ", ".join(numbers[:_MOST]) + (", ..." if len(named) > _MOST else "")
    verb = "unloaded" if set(done) == set(named) else f"unloaded {len(done)} of" if done else "is to unload"
    return told(
        "coordinator_moved",
        None,
        len(events),
        f"{who} {verb} {counted(len(named), 'partition')} of {' and '.join(topics)} ({shown}){held}; "
        "its lines do not say why",
        line(events[0]),
        "Expected when the leader of a partition of __consumer_offsets moves: a broker stops or starts, a leader is elected, replicas are "
        "reassigned. Groups that are stored there get another coordinator.",
        "GroupMetadataManager.removeGroupsAndOffsets; CoordinatorRuntime.scheduleUnloadOperation",
        last_ms=max((event.at_ms for event in events if event.at_ms is not None), default=None),
    )


#: States in which a thread or client of Streams ends, in words; those in which it fails are told by a rule.
_ENDS = {
    "PENDING_SHUTDOWN": "it is stopping",
    "DEAD": "the thread has ended",
    "NOT_RUNNING": "the client is closed",
}
_FAILED = frozenset({"ERROR", "PENDING_ERROR"})
STATES, _MOST_STATES = "streams_state", 5


def _ends(who: str, went: Sequence[str], event: Event) -> Row:
    """A thread or client of Streams that stops."""
    return told(
        "member_left",
        who,
        1,
        f"{who} went {'from ' if went[0] else ''}{' to '.join(went).strip()}: {_ENDS[went[-1]]}; the line of its state does not say why",
        line(event),
        "Expected when the application is stopped or deployed. Otherwise look for the exception before and below that line.",
        "StreamThread.State; KafkaStreams.State",
    )


#: What is said of lines without a time that tell no step.
NO_STEP = "what happened when, and how long it took, cannot be told"

_LEAVING = frozenset({"leaving", "rd_leave", "other_leaving"})

#: Triggers that tell why by themselves.
_WHY = frozenset(RANK[: RANK.index("leave")])

#: Lines that would be placed in a rebalance if they had a time.
PLACED = (
    FELT
    | CALLS
    | _ASIDE
    | {"preparing", "stabilized", "bumped", "computed", "joins", "left", "epoch_left"}
    | {"member_failed", "session_expired"}
)


_YEARLESS = re.compile(
    r"\W{0,3}(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\W{0,3}\d\d[-/.]\d\d \d\d:\d\d:\d\d"
)
_SOME_TIME = re.compile(r"\d\d?[:.]\d\d[:.]\d\d")


def _time_of(event: Event) -> str:
    """What to do about a time that cannot be read, by how it stands in the line."""
    text = event.text
    if _YEARLESS.match(text):
        return "The time stands there without a year: pass --year with the year that it was."
    if _SOME_TIME.search(text[:60]):
        return "A time stands there in a form that is not known: describe it in a file of layouts (--layouts FILE)."
    javas = " to the layout (log4j2 and logback: %d{ISO8601}; slf4j-simple: showDateTime)"
    where = javas if event.side in {"java", "broker"} else ", as the logger of that program writes it"
    return f"Add the time{where}, or read the logs with kubectl logs --timestamps or docker logs -t."


class Unplaced:
    """Keeps who left, and the first line without a time."""

    def __init__(self) -> None:
        self._left: dict[str, Event] = {}
        #: Members that were closed, and members that joined.
        self._closed: set[str] = set()
        self._in: set[str] = set()
        #: The generation at which the group went on after one left.
        self._after: int | None = None
        self._timeless: Event | None = None
        self._timed = self._untimed = 0
        self._in_order = InOrder()
        #: The lines of partitions that a broker unloads, and did not load again.
        self._unloaded: dict[str, list[Event]] = {}
        #: Of each thread or client of Streams the states that it went through, and the line of the last.
        self._states: dict[str, tuple[list[str], Event]] = {}
        #: Whether one of them tells why.
        self._told_why = False

    def take(self, event: Event) -> None:
        """A line of the group that would be placed."""
        if event.at_ms is not None:
            self._timed += 1
        else:
            if event.event not in _ASIDE:
                self._timeless = self._timeless or event
                self._untimed += 1
                self._told_why = self._told_why or member_trigger(event) in _WHY
            self._in_order.take(event)
        who = event.client or event.named_by_file
        if (event.event in _JOINED or event.event == "assignment_finished") and event.generation is not None:
            self._in.add(who)
            self._after = event.generation if self._left else None
        elif event.event == "process_closed":
            self._closed.add(who)
        elif LEAVES_BY_ITSELF in (event.reason or ""):
            self._left.setdefault(who, event)
        if event.event in _LEAVING and "poll timeout" not in (event.reason or ""):
            self._left.setdefault(event.client or event.named_by_file, event)

    def unload(self, event: Event) -> None:
        """A broker gives up a partition of __consumer_offsets, or has loaded it."""
        found = _OF_OFFSETS.search(event.text)
        if found is not None and event.event == UNLOADED:
            self._unloaded.setdefault(found[0], []).append(event)
        elif found is not None:
            self._unloaded.pop(found[0], None)

    def state(self, event: Event) -> None:
        """A thread or client of Streams goes from one state to another."""
        who, after = event.client or event.named_in_words, event.state_to or "?"
        went, _ = self._states.get(who, ([], event))
        # Several processes may share a name: only what follows its last state is its next.
        went = went if went[-1:] == [event.state_from] else [event.state_from or ""]
        self._states[who] = [*went, after][-_MOST_STATES:], event

    def rows(self, *, placed: bool) -> list[Row]:
        """The findings; ``placed``: the history holds a rebalance, or a coordinator's lines."""
        rows = []
        if not placed:
            rows = [
                told(
                    "member_left",
                    who,
                    1,
                    f"{who if event.client else event.named_in_words} {self._went(who, event)}",
                    line(event),
                    "Expected when it is stopped or deployed. The logs of the other members, or the coordinator's, tell what followed.",
                    "KafkaConsumer.close; LeaveGroup",
                )
                for who, event in self._left.items()
            ]
            if self._unloaded:
                rows.append(_unloads([event for events in self._unloaded.values() for event in events]))
            if not any(_FAILED.issuperset(went[-1:]) for went, _ in self._states.values()):
                rows += [
                    _ends(who, went, event)
                    for who, (went, event) in self._states.items()
                    if went[-1] in _ENDS
                ]
        first = self._timeless
        if first is not None and not self._timed:
            rows.append(
                told(
                    "lines_without_time",
                    None,
                    self._untimed,
                    self._without_time(),
                    line(first),
                    _time_of(first),
                    "org.slf4j.simpleLogger.showDateTime",
                )
            )
        return rows

    def _went(self, who: str, event: Event) -> str:
        """How a member went."""
        after = "" if self._after is None else f"; the group went on at generation {self._after}"
        if LEAVES_BY_ITSELF in (event.reason or ""):
            closed = " and was closed" if who in self._closed else ""
            untold = "; no line before tells that it had joined" if closed and who not in self._in else after
            return f"left the group by itself{closed}{untold}"
        reason = event.reason or ("" if event.confidence else "the line gives no reason")
        return f"left the group{f' ({reason})' if reason else ''}{after}"

    def _without_time(self) -> str:
        """What lines without a time tell."""
        told = self._in_order.words()
        if not told:
            return f"lines of this group hold no time that can be read: {NO_STEP}"
        if "(" not in told and not self._told_why:
            told += "; the reason is not in the lines that were read"
        return f"{told}; these lines hold no time that can be read, so when and how long is not told"
