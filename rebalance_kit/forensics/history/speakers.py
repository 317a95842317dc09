"""Who speaks in a line: members that share a client id, and clients that their lines name by a member id or not at all."""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.event import FILE_END, Event, only
from rebalance_kit.forensics.history.lives import NO_ID, given_id

if TYPE_CHECKING:
    from collections.abc import Sequence


def told_apart(events: Sequence[Event]) -> Sequence[Event]:
    """The events with another name for each of several members that share a client id at the same time.

    Such members are told apart by the process whose lines hold their member id: a file, a container or a process id.
    """
    if not _may_share(events):
        return events
    seen: dict[str, dict[tuple[str, str], _Seen]] = {}
    for event in events:
        if event.side != "broker" and event.client is not None:
            process = event.file, process_of(event.text)
            seen.setdefault(event.client, {}).setdefault(process, _Seen()).take(event)
    names = {
        (
            client,
            process,
        ): f"{client} ({process[1] or FILE_END.sub('', process[0].rsplit('/', 1)[-1], count=1)})"
        for client, processes in seen.items()
        if len(processes) > 1
        for process, one in processes.items()
        if _MARKED.fullmatch(process[1])
        # Of one file a line that does not tell its process is of the one whose lines do.
        or any(
            one.is_beside(other)
            for its, other in processes.items()
            if its[0] != process[0] or (its[1] and process[1])
        )
    }
    if not names:
        return events
    return [
        Event({**event.__dict__, "client": name})
        if event.side != "broker"
        and event.client is not None
        and (name := names.get((event.client, (event.file, process_of(event.text)))))
        else event
        for event in events
    ]


def _may_share(events: Sequence[Event]) -> bool:
    """Whether lines of one client id come from two files or processes; mostly they do not, and then nothing is looked at."""
    first: dict[str, tuple[str, str]] = {}
    for event in events:
        said = event.__dict__
        client = said.get("client")
        if client is not None and said["side"] != "broker":
            place = said["file"], process_of(said["text"])
            if first.setdefault(client, place) != place:
                return True
    return False


class _Seen:
    """What the lines of one process hold of a client id: member ids, generations that they joined, and since and until when."""

    def __init__(self) -> None:
        self._members: set[str] = set()
        self._joined: set[int] = set()
        self._since_ms, self._until_ms = inf, -inf

    def take(self, event: Event) -> None:
        """A line of it."""
        if (member := given_id(event) or event.member) and member not in NO_ID:
            self._members.add(member)
            if event.event == "joined" and event.generation is not None:
                self._joined.add(event.generation)
        if event.at_ms is not None:
            self._since_ms, self._until_ms = (
                min(self._since_ms, event.at_ms),
                max(self._until_ms, event.at_ms),
            )

    def is_beside(self, other: _Seen) -> bool:
        """Whether both were members at the same time, under ids of their own."""
        if not self._members or not other._members or self._members & other._members:
            return False
        together = self._since_ms <= other._until_ms and other._since_ms <= self._until_ms
        return together or bool(self._joined & other._joined)


#: The name of a process by its kind and number: whoever pasted the lines of several wrote it before each.
_MARKED = re.compile(
    r"(?i:jvm|process|proc|node|host|server|machine|vm|instance|replica|app|pod)[-_#]?\d{1,4}"
)
_MARK = re.compile(rf"\[({_MARKED.pattern})\] ")

#: What a collector writes before a process' lines, or Spring Boot before its threads.
_PROCESS = re.compile(
    r"\[pod/([\w.-]+)[^\]]*\] |([\w.-]+) +\| |.{0,60}?\b(?:TRACE|DEBUG|INFO|WARN|ERROR) +(\d{1,9}) --- "
)


def process_of(text: str) -> str:
    """The container or the process that wrote a line; nothing where the line does not tell."""
    if text[:1] == "[" and (mark := _MARK.match(text)):
        return mark[1]
    found = _PROCESS.match(text) if " --- " in text or " | " in text or text.startswith("[pod/") else None
    if found is None:
        return ""
    pod, container, number = found.groups()
    return pod or container or f"process {number}"


#: An error that a client's connection, or a field of a record on lines of its own, tells beside the client's own line.
_ANSWER = re.compile(r"Response \w+\(key: \d|\A\s*\\?[\"']?error\\?[\"']?\s*:")


_ANSWERED_LINES, _ANSWERED_MS = 12, 500


#: A consumer of kafkajs that crashed and starts again by itself says so, in one of its next lines.
_RESTARTS = re.compile(r"\brestart\\?[\"']?\s*[:=]\s*true\b")


_RESTARTED = 5


def of_other_clients(events: Sequence[Event]) -> list[Event]:
    """Events file by file, those of other clients as the whole of their file tells them (copies; the others are as they were)."""
    told = list(events)
    places: dict[tuple[str, str], list[int]] = {}
    named: set[tuple[str, str]] = set()
    others: set[tuple[str, str]] = set()
    for place, event in enumerate(told):
        if event.side != "broker":
            places.setdefault((event.path, event.file), []).append(place)
            (others if event.side == "other" else named if event.client else set()).add(
                (event.path, event.file)
            )
    for file in others - named:
        copies = [told[place].__dict__.copy() for place in places[file]]
        _of_other_clients([fields for fields in copies if fields["side"] == "other"])
        client = only({fields.get("client") for fields in copies})
        for place, fields in zip(places[file], copies, strict=True):
            if client is not None:
                fields.setdefault("client", client)
            told[place] = Event(fields)
    return told


def _of_other_clients(events: list[dict[str, Any]]) -> None:
    """Lines of other clients: who speaks, by member id where no client is named; what is told twice, and what follows."""
    head: dict[str, Any] = {"line": -1, "text": ""}
    nameless = not any(fields.get("client") for fields in events)
    for place, fields in enumerate(events):
        # brod breaks its lines behind who speaks.
        if fields["line"] == head["line"] + 1 and head["text"].endswith("):") and "client" not in fields:
            fields |= {name: head[name] for name in ("client", "group") if name in head}
        head = fields
        if nameless and (member := fields.get("member")):
            fields["client"] = member.strip("'")
        if fields["event"] == "consumer_crashed" and (
            _RESTARTS.search(fields["text"])
            or any(one["event"] == "other_restarting" for one in events[place + 1 : place + _RESTARTED])
        ):
            fields["event"] = "consumer_restarts"
    _told_once(events)


def _told_once(events: list[dict[str, Any]]) -> None:
    """A client's connection tells a refusal that its own line repeats: one refusal, told by the first of them."""
    told: dict[int, list[int]] = {}
    for place, fields in enumerate(events):
        if not _ANSWER.search(fields["text"]):
            continue
        for other in (*events[place + 1 : place + 5], *events[max(0, place - 2) : place]):
            apart_ms = abs((fields.get("at_ms") or 0) - (other.get("at_ms") or 0))
            if (
                other["event"] == fields["event"]
                and not _ANSWER.search(other["text"])
                and abs(other["line"] - fields["line"]) <= _ANSWERED_LINES
                and apart_ms <= _ANSWERED_MS
                and fields.get("client") in {None, other.get("client")}
            ):
                told.setdefault(id(other), []).append(place)
                fields |= {name: other[name] for name in ("client", "group", "member") if other.get(name)}
                break
    for place, fields in enumerate(events):
        if places := told.get(id(fields)):
            for later in sorted({place, *places}, key=lambda one: (events[one].get("at_ms") or 0, one))[1:]:
                events[later]["event"] = "other_step"
