"""Findings that one line or one rebalance proves: the rules applied, and the hits of each member summed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.findings.finding import LIMITS, Evidence, Row, cause, line, setting, told
from rebalance_kit.forensics.findings.rules.in_words import (
    AGAIN,
    IN_WORDS,
    WITHOUT,
    bare_of,
    coordinators,
    differ,
    left,
    node_of,
    not_ready,
    of_streams,
    several,
)
from rebalance_kit.forensics.findings.rules.member_rules import RULES
from rebalance_kit.forensics.findings.rules.rule import LineRule, RebalanceRule

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

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

#: The rules of single lines by their code.
_RULES = {rule.code: rule for rules in RULES_BY_EVENT.values() for rule in rules}

#: A poll that came too late: as the client says when its limit passes, and when it polls again.
_POLLS, _LATE = "poll_timeout_exceeded", "poll_overrun"

#: Kinds of finding that count lines.
LINE_CODES = frozenset(_RULES)

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
            for words in filter(None, (bare_of(getattr(self.first, name)), *map(bare_of, all_words))):
                if all(differ(words, one) for one in apart):
                    apart.append(words)
            if len(apart) > 1:
                told[name] = "; ".join(apart[:_SEVERAL]) + ("; ..." if len(apart) > _SEVERAL else "")
        return told


class ByRule:
    """Applies the rules of single lines; asked for their findings, and those of rebalances, at the end."""

    def __init__(self) -> None:
        self._hits: dict[tuple[str, str, str], _Hits] = {}
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
            and (node := node_of(event.detail))
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
                kind, key = _whose(event) if rule.code not in _OF_THE_GROUP else ("nobody", "")
                hits = self._hits.setdefault((rule.code, kind, key), _Hits(event))
                hits.states.add(event.state_to or event.event)
                if hits.is_echoed_by(event) or self._is_printed_again(rule.code, event):
                    continue
                hits.add(event)
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
        # Where only the line tells of it that a client writes when it polls again, that is the timeout.
        for code, who in [key for key in merged if key[0] == _LATE and (_POLLS, key[1]) not in merged]:
            merged[_POLLS, who] = merged.pop((code, who))
        rows = []
        for (code, who), hits in merged.items():
            first = hits.first
            quoted = vars(first) | {name: bare_of(getattr(first, name)) for name in _QUOTED}
            if code in IN_WORDS:
                quoted = quoted | IN_WORDS[code](first)
            if code == "session_expired":
                hits.members |= {
                    row.culprit_member: None
                    for row in rebalances
                    if row.trigger == code
                    and row.culprit == who
                    and row.culprit_member is not None
                    and abs(row.start_ms - (first.at_ms or 0)) <= _TOGETHER_MS
                }
            elif code == "many_generations":
                quoted = quoted | {"generation": hits.generation}
            elif code in {"poll_timeout_exceeded", "client_poll_timeout"}:
                quoted = quoted | {"how": left(first, hits.states)}
            elif code == "stream_thread_died":
                quoted = quoted | {"how": of_streams(first, hits.states)}
            elif code == "coordinator_not_ready":
                at_last = self._at_last.get(who or "")
                again = f"; at last it found {at_last}" if at_last else None
                quoted = quoted | {"how": not_ready(first), "again": again}
            elif code == "coordinator_lost":
                told = coordinators(first.detail, self._found.get(who or ""))
                if who in self._without and first.side == "java":
                    told["end"] = AGAIN if told["again"] else WITHOUT
                quoted = quoted | told
            quoted = {**quoted, **hits.several()}
            named = first.named_in_words if who in nameless else who
            row = _row(_RULES[code], who, hits.times, line(first), quoted, hits.last_ms, named)
            apart_ms = (hits.last_ms or 0) - (first.at_ms or 0)
            if code == "session_expired" and len(hits.members) > 1 and apart_ms <= _TOGETHER_MS:
                row["sentence"] = several(str(who), list(hits.members), apart_ms)
            row["setting"] = setting(code, first, hits.over_ms, self._limits_of(first))
            if code == "poll_timeout_exceeded" and first.side == "librdkafka":
                row["do"] = row["do"].replace(
                    "Make a batch smaller (max.poll.records)", "Take fewer records between two polls"
                )
            if code == "poll_timeout_exceeded" and "[Schema registry " in first.text:
                row["do"] = (
                    "A schema registry reads no records in its group, which elects its leader: look at what held its process, "
                    "and at why the group did not settle."
                )
            rows.append(row)
        return rows + [
            row for row in _of_rebalances(rebalances) if (row["finding"], row["who"]) not in merged
        ]


#: Kinds of finding about a group, whoever writes of it.
_OF_THE_GROUP = frozenset({"many_generations"})

#: The lines of commits that failed.
_COMMITS = frozenset({"commit_failed", "auto_commit_failed", "commit_not_sent", "other_commit_failed"})

#: Members of one name that were removed within this time were removed together.
_TOGETHER_MS = 5_000

#: What a sentence may quote of why.
_QUOTED = ("reason", "cause", "detail")


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
    named: str | None = None,
) -> Row:
    sentence = rule.sentence.replace("{who}", named or who or "a member")
    for name, untold in _UNTOLD.items():
        if "{" + name + "}" in sentence:
            value = quoted.get(name)
            if (
                value is None and first.confidence is not None
            ):  # what single words were read of may give it all the same
                sentence = sentence.replace(" ({" + name + "})", "").replace(": {" + name + "}", "")
            text = (
                ", ".join(value)
                if isinstance(value, list)
                else untold
                if value is None
                else str(value).rstrip(". ")
            )
            sentence = sentence.replace("{" + name + "}", text)
    return told(rule.code, who, times, sentence, first, rule.do, rule.source, last_ms=last_ms)
