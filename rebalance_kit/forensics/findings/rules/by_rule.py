"""Findings that one line or one rebalance proves: the rules applied, and the hits of each member summed."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.findings.finding import LIMITS, Evidence, Row, cause, line, setting, told
from rebalance_kit.forensics.findings.rules.member_rules import RULES
from rebalance_kit.forensics.findings.rules.rule import LineRule, RebalanceRule
from rebalance_kit.forensics.lines.anchors import message_behind
from rebalance_kit.forensics.lines.refusals import refusal_in
from rebalance_kit.forensics.words import short

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from rebalance_kit.forensics.findings.rules.rule import Rule
    from rebalance_kit.forensics.history.lives import Names
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: What a sentence may quote from its line, and what it says where the line has none.
_UNTOLD = {
    "instance": "(not named)",
    "reason": "the line gives no reason",
    "detail": "no detail given",
    "cause": "the line gives no cause",
    "where": "",
    "how": "",
    "again": "",
    "end": "",
    "said": "no reason given",
    "topics": "these logs do not say which",
    "topic": "a partition",
    "partitions": "(not named)",
    "over_ms": "some",
    "generation": "a high number",
    "state_from": "?",
    "state_to": "?",
}

#: The rules of single lines by the kinds of line they are about.
RULES_BY_EVENT: dict[str, list[LineRule]] = defaultdict(list)
for _rule in RULES:
    if isinstance(_rule, LineRule):
        for _name in _rule.events:
            RULES_BY_EVENT[_name].append(_rule)

#: Kinds of finding that count lines.
LINE_CODES = frozenset(rule.code for rules in RULES_BY_EVENT.values() for rule in rules)

#: Two kinds of line of one moment lie nearer to each other than this.
_ECHO_MS = 1_000

#: Lines with which a member has joined, and what is forgiven it then.
JOINED = frozenset({"joined", "synced", "other_joined"})
_FORGIVEN = {rule.code: rule.forgiven for rule in RULES if isinstance(rule, LineRule) and rule.forgiven}

#: What a member meets once, whatever its client and its application print.
_TOLD_ONCE = frozenset({"client_instance_fenced", "lost"})

#: An application prints an error of its client within so many lines; the times measured are the same to the millisecond.
_ECHO_LINES, _ECHOES = 5, 64

#: So many causes of one finding are told.
_SEVERAL = 3


@dataclass(slots=True)
class _Hits:
    first: Event
    times: int = 0
    last_ms: int | None = None
    over_ms: int | None = None
    #: The highest generation.
    generation: int = 0
    #: What its lines tell of why, where they differ.
    said: dict[str, list[str]] = field(default_factory=dict)
    #: The member ids, where the lines name them.
    members: dict[str, None] = field(default_factory=dict)
    #: What its lines tell of, where one finding is of several kinds of line.
    states: set[str] = field(default_factory=set)

    def add(self, event: Event) -> None:
        """One more, in any order."""
        self.times += 1
        self.generation = max(self.generation, event.generation or 0)
        for name in _QUOTED:
            if (words := getattr(event, name)) and words != getattr(self.first, name):
                self._keep(name, words)
        if event.member is not None and len(self.members) < _ECHOES:
            self.members[event.member] = None
        self.states.add(event.state_to or event.event)
        self._last(event.at_ms, event.over_ms, event)

    def _last(self, last_ms: int | None, over_ms: int | None, first: Event) -> None:
        if last_ms is not None:
            self.last_ms = max(self.last_ms or last_ms, last_ms)
        if over_ms is not None:
            self.over_ms = max(self.over_ms or 0, over_ms)
        if line(first).place < line(self.first).place:
            self.first = first

    def is_echoed_by(self, event: Event) -> bool:
        """Whether a member says once more what it has just said: as it leaves, or as its application tells that it was fenced or lost all."""
        once = event.event in _TOLD_ONCE or (event.event == "leaving" and event.event != self.first.event)
        if not self.times or not once:
            return False
        return (
            self.last_ms == event.at_ms
            if self.last_ms is None or event.at_ms is None
            else 0 <= event.at_ms - self.last_ms <= _ECHO_MS
        )

    def take_in(self, other: _Hits) -> None:
        """Those of another, too."""
        self.times += other.times
        self.generation = max(self.generation, other.generation)
        for name in _QUOTED:
            for words in (getattr(other.first, name), *other.said.get(name, ())):
                if words and words != getattr(self.first, name):
                    self._keep(name, words)
        self.members |= other.members
        self.states |= other.states
        self._last(other.last_ms, other.over_ms, other.first)

    def _keep(self, name: str, words: str) -> None:
        known = self.said.setdefault(name, [])
        if words not in known and len(known) < _ECHOES:
            known.append(words)

    def several(self) -> dict[str, str]:
        """What its lines tell differently, one after the other, where they do."""
        told = {}
        for name, all_words in self.said.items():
            apart = list[str]()
            for words in filter(None, (_bare(getattr(self.first, name)), *map(_bare, all_words))):
                if all(_differ(words, one) for one in apart):
                    apart.append(words)
            if len(apart) > 1:
                told[name] = "; ".join(apart[:_SEVERAL]) + ("; ..." if len(apart) > _SEVERAL else "")
        return told


class ByRule:
    """Applies the rules of single lines; asked for their findings, and those of rebalances, at the end."""

    def __init__(self) -> None:
        self._hits: dict[tuple[str, str, str], _Hits] = {}
        self._rules: dict[str, LineRule] = {}
        #: What members said of their limits: by client, else by file.
        self._limits: dict[str | tuple[str, str], dict[str, int]] = {}
        #: The lines of the last measured times of a kind of finding in a file.
        self._measured: dict[tuple[str, str, str, int, int | None], int] = {}
        #: Of a client: what it was last told by a broker that is not the coordinator, and where it found its coordinator after it first lost it.
        self._refused: dict[str, Event] = {}
        self._commits: dict[str, Event] = {}
        self._found: dict[str, str] = {}
        #: Clients that lost their coordinator, and of which no line tells yet that they found one.
        self._without: set[str] = set()
        #: The coordinator that a client found after the last time that it found none.
        self._at_last: dict[str | None, str] = {}

    def configured(self, event: Event) -> None:
        """A line of a member's configuration."""
        value = (event.value or "").strip()
        if event.key in LIMITS and value.isascii() and value.isdigit() and len(value) < 15:
            whose = event.client or (event.path, event.file)
            self._limits.setdefault(whose, {})[event.key] = int(value)

    def _limits_of(self, event: Event) -> Mapping[str, int]:
        return self._limits.get((event.path, event.file), {}) | self._limits.get(event.client or "", {})

    def joined(self, event: Event) -> None:
        """A member has joined: what its rule forgives then was its start."""
        self._without.discard(event.client or "")
        for code, most in _FORGIVEN.items():
            for whose in (
                _whose(event),
                ("file", event.named_by_file),
            ):  # it has no member id before it joins
                hits = self._hits.get((code, *whose))
                if hits is not None and hits.times <= most:
                    del self._hits[code, *whose]

    def found(self, event: Event) -> None:
        """A member has found its coordinator."""
        who = event.client
        self._without.discard(who or "")
        if who is not None and event.detail and ("coordinator_lost", "client", who) in self._hits:
            self._found.setdefault(who, event.detail)
        if (
            who is not None
            and (node := _node(event.detail))
            and ("coordinator_not_ready", "client", who) in self._hits
        ):
            self._at_last[who] = node

    def _with_cause(self, event: Event) -> Event:
        """A line that gives no cause, with the one that the client's line before gives."""
        before = self._refused.pop(event.client or "", None)
        if event.cause is not None or before is None or before.file != event.file:
            return event
        apart_ms = None if None in (event.at_ms, before.at_ms) else (event.at_ms or 0) - (before.at_ms or 0)
        near = event.line - before.line <= _ECHO_LINES if apart_ms is None else 0 <= apart_ms <= _ECHO_MS
        return Event({**vars(event), "cause": before.reason}) if near else event

    def _of_commit(self, event: Event) -> Event | None:
        """A commit that failed; an exception that an application prints of one is the client's, or says it once more (None)."""
        before = self._commits.get(event.file)
        thrown = "CommitFailedException" in event.text and event.event == "other_commit_failed"
        if not thrown or before is None or not 0 < event.line - before.line <= _ECHO_LINES:
            self._commits[event.file] = event
            return event
        if before.reason is not None or event.client not in {None, before.client}:
            return None if event.client in {None, before.client} else event
        kind, key = _whose(before)
        self._hits.pop(("commit_error", kind, key), None)
        whose = {name: vars(before).get(name) for name in ("client", "member", "at_ms", "side")}
        return Event({**vars(event), **whose})

    def take(self, event: Event) -> None:
        """A line of the group."""
        if event.event == "coordinator_lost":
            event = self._with_cause(event)
            if event.client is not None:
                self._without.add(event.client)
        if event.event in _COMMITS:
            told = self._of_commit(event)
            if told is None:
                return
            event = told
        for rule in RULES_BY_EVENT.get(event.event, ()):
            if rule.when(event):
                kind, key = _whose(event)
                hits = self._hits.setdefault((rule.code, kind, key), _Hits(event))
                if hits.is_echoed_by(event) or self._is_printed_again(rule.code, event):
                    continue
                hits.add(event)
                self._rules[rule.code] = rule
                if rule.code == "coordinator_not_ready" and event.client is not None:
                    self._refused[event.client] = event
                    self._at_last.pop(event.client, None)

    def _is_printed_again(self, code: str, event: Event) -> bool:
        """Whether an application prints what its client has measured."""
        if event.over_ms is None:
            return False
        key = code, event.path, event.file, event.over_ms, event.limit_ms
        last = self._measured.pop(key, None)
        if len(self._measured) >= _ECHOES:
            del self._measured[next(iter(self._measured))]
        self._measured[key] = event.line
        # Such a line may hold another clock, and then it is not the next in order of time.
        return last is not None and 0 < abs(event.line - last) <= _ECHO_LINES

    def forget(self, members: Collection[str], names: Names) -> None:
        """Remember by their names members that will not be written of any more."""
        for code, kind, member in [key for key in self._hits if key[1] == "member" and key[2] in members]:
            hits = self._hits.pop((code, kind, member))
            name = names.of(member) or ""
            one = self._hits.setdefault((code, "client", name), _Hits(hits.first))
            one.take_in(hits)

    def rows(self, names: Names, rebalances: Sequence[Rebalance]) -> list[Row]:
        """All findings by rules."""
        merged: dict[tuple[str, str | None], _Hits] = {}
        nameless = {key for _, kind, key in self._hits if kind == "file"}
        for (code, kind, key), hits in self._hits.items():
            who = names.of(key) if kind == "member" else key
            one = merged.setdefault((code, who if kind != "nobody" else None), _Hits(hits.first))
            one.take_in(hits)
        rows = []
        for (code, who), hits in merged.items():
            first = hits.first
            quoted = vars(first) | {name: _bare(getattr(first, name)) for name in _QUOTED}
            if code in _IN_WORDS:
                quoted = quoted | _IN_WORDS[code](first)
            if code == "session_expired":
                hits.members |= {
                    row.culprit_member: None
                    for row in rebalances
                    if row.trigger == code and row.culprit == who and row.culprit_member is not None
                }
            elif code == "many_generations":
                quoted = quoted | {"generation": hits.generation}
            elif code == "stream_thread_died":
                quoted = quoted | {"how": _of_streams(first, hits.states)}
            elif code == "coordinator_not_ready":
                at_last = self._at_last.get(who or "")
                again = f"; at last it found {at_last}" if at_last else None
                quoted = quoted | {"how": _not_ready(first), "again": again}
            elif code == "coordinator_lost":
                told = _coordinators(first.detail, self._found.get(who or ""))
                if who in self._without:
                    told["end"] = _AGAIN if told["again"] else _WITHOUT
                quoted = quoted | told
            quoted = {**quoted, **hits.several()}
            row = _row(self._rules[code], who, hits.times, line(first), quoted, hits.last_ms)
            if who in nameless and row["sentence"].startswith(f"{who} "):
                row["sentence"] = (
                    f"the client of {first.file.rsplit('/', 1)[-1]}{row['sentence'].removeprefix(str(who))}"
                )
            apart_ms = (hits.last_ms or 0) - (first.at_ms or 0)
            if code == "session_expired" and len(hits.members) > 1 and apart_ms <= _TOGETHER_MS:
                row["sentence"] = _several(str(who), list(hits.members), apart_ms)
            row["setting"] = setting(code, first, hits.over_ms, self._limits_of(first))
            if code == "poll_timeout_exceeded" and first.side == "librdkafka":
                row["do"] = row["do"].replace(
                    "Make a batch smaller (max.poll.records)", "Take fewer records between two polls"
                )
            rows.append(row)
        return rows + [
            row for row in _of_rebalances(rebalances) if (row["finding"], row["who"]) not in merged
        ]


_LOADS = re.compile(r"load_?in_?progress|is loading", re.IGNORECASE)
_WRONG = re.compile(r"not_?coordinator|not (?:the correct )?coordinator", re.IGNORECASE)


def _not_ready(event: Event) -> str:
    """What a broker answered instead of a coordinator."""
    said = f"{event.reason} {event.text}"
    if _LOADS.search(said):
        return "was told that its coordinator is still loading the group"
    if _WRONG.search(said):
        return "was told by a broker that it is not the coordinator of the group"
    return "found no coordinator of its group"


_STALE = re.compile(r"illegal.?generation|generation id is not valid", re.IGNORECASE)


def _out_of_group(event: Event) -> dict[str, str]:
    """What the line says of the membership, with the error's name where it tells one."""
    said = "was told that it is no member any more"
    if event.event == "other_session_expired":
        said = "found its session over"
    elif _STALE.search(f"{event.reason} {event.text}"):
        said = "was told that its generation is over"
    return {"how": f"{said} ({event.reason})" if event.reason else said}


#: The lines of commits that failed.
_COMMITS = frozenset({"commit_failed", "auto_commit_failed", "commit_not_sent", "other_commit_failed"})
#: How it stood with a member whose commit was refused, by the words of the refusal.
_HOW = (
    (
        re.compile(r"not aware of this member|unknown_?member", re.IGNORECASE),
        "when it was no member of its group (any more)",
    ),
    (
        re.compile(r"illegal_?generation|generation id is not valid", re.IGNORECASE),
        "with a generation that was over",
    ),
    (
        re.compile(r"not part of an active group"),
        "when it was in no active group: it had been put out, or had not joined yet",
    ),
    (re.compile(r"rebalance_?in_?progress", re.IGNORECASE), "while its group was rebalancing"),
)


def _how(event: Event) -> dict[str, str]:
    said = f"{event.reason} {event.text}"
    untold = "after it had been removed from the group or its generation was over"
    return {"how": next((how for pattern, how in _HOW if pattern.search(said)), untold)}


#: A node as Java's client writes it: the coordinator's connection has an id that counts down from the highest.
_NODE = re.compile(r"(\S+:\d+) \(id: (\d+)|host='([^']*)', port=(\d+)")
_ADDRESS = re.compile(r"[\w.:#\[\]-]{1,249}:\d+")
_HIGHEST, _IDS = 2_147_483_647, 1_000_000


#: Whose rights are missing: on topics, where the line does not say on the group.
_OF_TOPICS = re.compile(
    r"topic.?authorization|authorized to (?:access|commit to) topics|read from", re.IGNORECASE
)

#: What librdkafka says of a request that got no answer.
_HELD_BACK = re.compile(r"held back by preceeding blocking (\w+)Request")

#: A broker in a line of librdkafka.
_BROKER = re.compile(r"group coordinator \(broker (\d+)")

#: Members of one name that were removed within this time were removed together.
_TOGETHER_MS = 5_000


def _several(who: str, members: list[str], apart_ms: int) -> str:
    """That several members of one name were removed."""
    named = ", ".join(short(one) for one in members[:4]) + (", ..." if len(members) > 4 else "")
    within = f" within {apart_ms / 1000:,.1f} s" if apart_ms else " in the same moment"
    return f"the coordinator heard no heartbeat from {len(members)} members called {who} ({named}) for a whole session and removed them{within}"


def _of_task(event: Event) -> dict[str, str]:
    """What becomes of a task's consumer: a source has none."""
    if "SourceTask" in event.text or "WorkerSinkTask" in event.text:
        return {"where": "" if "SourceTask" in event.text else "; its consumer leaves its group"}
    return {"where": " (a sink's consumer leaves its group)"}


def _of_streams(first: Event, states: set[str]) -> str:
    """What became of a Streams client's threads, and of the client."""
    state = next((state for state in ("ERROR", "PENDING_ERROR") if state in states), None)
    lost = "lost a stream thread" if _ALL_DEAD not in states else "lost all its stream threads"
    if state is None:
        return lost
    dead = f"{lost} and " if _ALL_DEAD in states else ""
    return f"{dead}went into the state {state}, from which a Streams client does not come back by itself"


#: The line that all threads of a Streams client have died.
_ALL_DEAD = "stream_thread_dead"

#: What is said of a coordinator that was lost last.
_WITHOUT = "; no line after it tells that it found one again"
_AGAIN = "; it lost it once more, and no line after that tells that it found one again"


def _right(event: Event) -> dict[str, str]:
    of_topics = _OF_TOPICS.search(f"{event.reason} {event.text}")
    return {"how": "what it subscribes to or commits" if of_topics else "this group"}


def _unexpected(event: Event) -> dict[str, str]:
    """Whose line tells of an unexpected error: the coordinator's, or a member's of its heartbeat."""
    if event.side != "broker":
        return {"how": f"{event.client or 'a member'} got an unexpected error for its heartbeat"}
    return {"how": f"the coordinator met an unexpected error{f' in {event.detail}' if event.detail else ''}"}


def _as_written(event: Event) -> dict[str, str]:
    """An error that no other rule tells of, in its own words."""
    words = " ".join(_BEHIND.sub("", event.text[message_behind(event.text) :]).split())
    words = _BRACKETED.sub("", words)
    who = "the coordinator" if event.side == "broker" else event.client or event.named_in_words
    return {
        "how": f'{who} writes at the level ERROR: "{words[:_WRITTEN]}{"..." if len(words) > _WRITTEN else ""}"'
    }


#: So much of a line is quoted, without whose it is.
_WRITTEN = 160
_BRACKETED = re.compile(r"^(?:stream-(?:thread|client) )?\[[^\]]{1,200}\]:? ?")


def _unwritten(event: Event) -> dict[str, str]:
    what = f" {event.detail}" if event.detail else ""
    return {
        "how": f"could not execute{what}" if "Execution of" in event.text else f"could not write to{what}"
    }


def _native(event: Event) -> dict[str, str]:
    broker = _BROKER.search(event.text)
    return {"where": f" (broker {broker[1]})" if broker else ""}


def _unanswered(event: Event) -> dict[str, str]:
    node = _node(event.detail)
    return {"where": "" if node is None else f" {node}"}


def _held_back(event: Event) -> dict[str, str]:
    held = _HELD_BACK.search(event.detail or "")
    return (
        {}
        if held is None
        else {"where": f" (held back, the client thinks, by a {held[1]} that was still under way)"}
    )


def _thrown(event: Event) -> dict[str, str]:
    return {"where": ", which its poll() throws on" if event.side == "java" else ""}


def _node(text: str | None) -> str | None:
    found = _NODE.search(text or "")
    if found is None:
        return text if text and _ADDRESS.fullmatch(text) else None
    if found[1] is None:
        return f"{found[3]}:{found[4]}"
    number = min(int(found[2]), _HIGHEST - int(found[2]))
    return f"{found[1]} (broker {number})" if 0 <= number < _IDS else found[1]  # others are masked


def _coordinators(lost: str | None, found: str | None) -> dict[str, str]:
    """Which node it was that a member lost, and which one it found, in words."""
    old, new = _node(lost), _node(found)
    again = "" if new is None else ", and found it there" if new == old else f", and found {new}"
    return {"where": "" if old is None else f" {old}", "again": again}


def _differ(one: str, other: str) -> bool:
    """Whether two texts say different things; what one holds of the other it does not, nor another spelling of one error."""
    if one == other:
        return False
    if (error := refusal_in(one)) is not None and error is refusal_in(other):
        return False
    one, other = (_SIGNS.sub("", text).lower() for text in (one, other))
    return one not in other and other not in one


#: What sentences say that follows from their first line.
_IN_WORDS: Mapping[str, Callable[[Event], dict[str, str]]] = MappingProxyType(
    {
        "zombie_commit": _how,
        "client_commit_refused": _how,
        "task_failed": _of_task,
        "client_lost_session": _out_of_group,
        "callback_failed": _thrown,
        "leave_timed_out": _held_back,
        "native_session_lost": _native,
        "heartbeats_unanswered": _unanswered,
        "not_authorised": _right,
        "coordinator_error": _unexpected,
        "error_logged": _as_written,
        "coordinator_writes_refused": _unwritten,
    }
)

#: What stands between words; a logger behind them, or the partitions and offsets that librdkafka prints of a commit.
_SIGNS = re.compile(r"[\W_]+")
_BEHIND = re.compile(r" \((?:[a-z_]\w*\.)+[\w$]+(?::\d+)?\)$|: [\w.-]{1,249}\[\d{1,9}\]@.*", re.DOTALL)


#: What a sentence may quote of why.
_QUOTED = ("reason", "cause", "detail")


def _bare(words: str | None) -> str | None:
    """Without a logger behind it, and the point."""
    bare = _BEHIND.sub("", words or "").rstrip(". ")
    return None if bare == "null" else bare or None


def _whose(event: Event) -> tuple[str, str]:
    """Whom a line is about: a client, a member id, or (a process that died before it had either) its file."""
    theirs = event.side != "broker"
    if theirs and event.client is not None:
        return "client", event.client
    member = event.member or event.instance
    if member is not None:
        return "member", member
    if theirs:
        return "file", event.named_by_file
    return "nobody", ""


def _of_rebalances(rebalances: Sequence[Rebalance]) -> list[Row]:
    found: dict[tuple[str, str | None], list[Rebalance]] = {}
    rules: dict[str, Rule] = {}
    for rule in RULES:
        if isinstance(rule, RebalanceRule):
            rules[rule.code] = rule
            for row in rebalances:
                for who in _culprits(rule, row):
                    found.setdefault((rule.code, who), []).append(row)
    rows = []
    for (code, who), hits in found.items():
        first = min(hits, key=lambda row: cause(row).place)
        where = f" ({first.said})" if first.said else ""
        quoted = {"said": first.said, "topics": first.topics, "cause": first.cause, "where": where}
        last_ms = max(row.start_ms for row in hits)
        rows.append(_row(rules[code], who, len(hits), cause(first), quoted, last_ms))
    return rows


def _culprits(rule: RebalanceRule, row: Rebalance) -> list[str | None]:
    """Whom the rule blames: the culprit, and whoever expired meanwhile (that is no cause, but has a fate)."""
    blamed: list[str | None] = [row.culprit] if rule.when(row) else []
    own_fate, own_trigger = row.fate, row.trigger
    for lost in row.others:
        row.fate, row.trigger = lost.fate, ""
        blamed += [lost.name] if rule.when(row) else []
    row.fate, row.trigger = own_fate, own_trigger
    return blamed


def _row(
    rule: Rule,
    who: str | None,
    times: int,
    first: Evidence,
    quoted: Mapping[str, object],
    last_ms: int | None,
) -> Row:
    sentence = rule.sentence.replace("{who}", "a member" if who is None else who).replace("{n}", str(times))
    for name, untold in _UNTOLD.items():
        if "{" + name + "}" in sentence:
            value = quoted.get(name)
            text = (
                ", ".join(value)
                if isinstance(value, list)
                else untold
                if value is None
                else str(value).rstrip(". ")
            )
            sentence = sentence.replace("{" + name + "}", text)
    return told(rule.code, who, times, sentence, first, rule.do, rule.source, last_ms=last_ms)
