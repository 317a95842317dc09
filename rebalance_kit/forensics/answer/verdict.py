"""The verdict: what is wrong in one sentence, the findings as cards, and whether anything was not understood."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.answer.last_words import BY_POLL, hints, trouble
from rebalance_kit.forensics.answer.severity import NOTE, SEVERITIES, Card, gravest
from rebalance_kit.forensics.answer.steps import SHORT, ending, moves, summary, tells_of_rebalance
from rebalance_kit.forensics.findings.unplaced import CONCLUDES, UNTIMED
from rebalance_kit.forensics.history.triggers import NOT_JOINED
from rebalance_kit.forensics.lines.anchors import message_behind
from rebalance_kit.forensics.words import counted, lasted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rebalance_kit.forensics.tables import Row, Tables

#: Exit statuses of ``rebalance-kit logs``.
NOTHING_WRONG, FOUND, UNUSABLE, NOT_UNDERSTOOD = 0, 1, 2, 3

#: So long a rebalance is worth a word, and so many of as many groups are told one by one.
_LONG_MS, _FEW = 5_000, 3

#: Findings whose cause stands in lines of no group.
_WHY_BESIDE = frozenset({"stream_thread_died", "worker_died", "connector_not_started", "task_failed"})

#: Lines of a close, which is a reason, and of librdkafka's states, which want one.
_CLOSES = re.compile(
    r"\bclos(?:ing|ed) (?:the )?(?:consumer|client)|terminat|shut ?down|shutting", re.IGNORECASE
)
_CHANGES = re.compile(r"changed state up -> |consumer_group: <nil>|(?:abandoned|dead) subscription")

#: So much of a line is quoted.
_QUOTED = 120


@dataclass(slots=True)
class Understood:
    """How much of what looks like a group's was understood."""

    about: int
    unclear: int
    by_words: int
    first: Row | None = None

    @property
    def wholly(self) -> bool:
        """Whether nothing that looks like a group's was left."""
        return self.unclear == 0


@dataclass(slots=True)
class Verdict:
    """What a look at logs comes to."""

    sentence: str
    severity: str | None
    cards: list[Card]
    understood: Understood
    damaged: bool
    empty: bool

    def status(self, fail_on: str) -> int:
        """The exit status: 1 for a finding as grave as ``fail_on``, 3 where the absence of one proves nothing, else 0."""
        grave = SEVERITIES.index(self.severity) if self.severity is not None else len(SEVERITIES)
        if fail_on != "never" and grave <= SEVERITIES.index(fail_on):
            return FOUND
        return (
            NOTHING_WRONG
            if self.understood.wholly and not self.damaged and not self.empty
            else NOT_UNDERSTOOD
        )


def verdict(result: Tables) -> Verdict:
    """The verdict over the tables of a look."""
    cards = cards_of(result.rows("findings"))
    understood = understood_of(result)
    lines = result.rows("lines")
    damaged = any(one.damaged for one in result.passed_over) or any(_is_damage(row["note"]) for row in lines)
    empty = sum(row["lines"] for row in lines) == 0
    told = _sentence(result, cards, understood, empty=empty)
    return Verdict(told, gravest([card.severity for card in cards]), cards, understood, damaged, empty)


def _is_damage(note: str | None) -> bool:
    return note is not None and ("the rest is lost" in note or note.startswith("interrupted"))


def cards_of(findings: Iterable[Row]) -> list[Card]:
    """Findings as cards, the gravest first; identical ones about several members or groups are one."""
    cards: dict[tuple[str, ...], Card] = {}
    for row in sorted(findings, key=lambda row: -(row["unread_ms"] or 0)):
        who = row["who"]
        same = row["sentence"].replace(who, "\0") if who else row["sentence"]
        key = (row["finding"], row["do"], same if row["finding"] not in _BY_KIND else "")
        card = cards.setdefault(key, Card(row))
        card.rows.append(row)
    return sorted(cards.values(), key=lambda card: card.rank)


#: Kinds of which one card is enough, whatever figures their sentences hold.
_BY_KIND = frozenset(
    "session_expired poll_timeout_exceeded coordinator_lost coordinator_not_ready client_lost_session member_left slow_callback "
    "poll_overrun native_session_lost died_without_goodbye member_frozen zombie_commit assignment_lost sync_race repeated_notice rebalance_held_up".split()
)


def understood_of(result: Tables) -> Understood:
    """How many lines look like a group's, how many of them were not understood, and the first of those."""
    rows = result.rows("lines")
    unclear = sum(row["unclear"] for row in rows)
    first = None
    if unclear:
        from rebalance_kit.forensics.lines.anchors import is_unclear

        first = next((row for row in result.rows("rejected") if is_unclear(row["why"], row["text"])), None)
    parsed = sum(row["parsed"] for row in rows)
    if parsed + unclear == 0:
        unclear, first = hints(result)
    return Understood(parsed + unclear, unclear, sum(row["by_words"] for row in rows), first)


def _sentence(result: Tables, cards: Sequence[Card], understood: Understood, *, empty: bool) -> str:
    rebalances = result.rows("rebalances")
    wrong = trouble(result) if 0 < understood.about <= SHORT else ""
    first = understood.first
    told_apart = first is not None and wrong.startswith(
        f"{first['file'].rsplit('/', 1)[-1]}:{first['line']} "
    )
    beside = f" Beside it {wrong}." if wrong and not told_apart else ""
    if (
        not wrong
        and 0 < understood.about <= SHORT
        and cards
        and cards[0].first["finding"] in _WHY_BESIDE
        and not any(
            (row["reason"] or row["cause"])
            and (row["file"], row["line"]) == (cards[0].first["file"], cards[0].first["line"])
            for row in result.rows("events")
        )
    ):
        beside = " Why is not in the lines that were read."
    grave = [card for card in cards if card.severity != NOTE]
    if grave:
        return _because(grave[0], rebalances) + _end(result, grave[0], understood) + beside
    not_all = "" if understood.wholly else _unclear(understood)
    if rebalances:
        groups = Counter(row["group"] for row in rebalances)
        told = f"{len(groups)} groups were rebalanced {len(rebalances):,} times; nothing graver than a note was found."
        if 1 < len(groups) == len(rebalances) <= _FEW:
            each = (f"{row['group']}: {row['cause']}" for row in rebalances)
            told = f"A rebalance of each of {len(groups)} groups: {'; '.join(each)}."
        if len(groups) == 1:
            is_long = (rebalances[-1]["duration_ms"] or 0) >= _LONG_MS and len(rebalances) == 1
            long = f" (it took {lasted(rebalances[-1])})" if is_long else ""
            # That a member asked to join is no rebalance yet.
            one = "" if NOT_JOINED in rebalances[-1]["cause"] else "One rebalance of "
            told = (
                f"{one}{next(iter(groups))}{long}: {rebalances[-1]['cause']}."
                if len(rebalances) == 1
                else f"{len(rebalances):,} rebalances of {next(iter(groups))}{_within(rebalances)}; the last: {rebalances[-1]['cause']}."
            )
        return told + not_all + beside
    noted = [card for card in cards if card.first["finding"] != UNTIMED]
    if noted:
        return _capital(noted[0].with_group) + "." + _end(result, noted[0], understood) + not_all + beside
    if understood.about == understood.unclear > 0:
        if wrong and told_apart:
            not_all = _unclear(Understood(understood.about, understood.unclear, understood.by_words))
        return f"{wrong}.{not_all}" if wrong else not_all.strip()
    if empty:
        return "There is no line in what was read."
    if understood.about:
        names = [row["group"] for row in result.rows("groups")]
        more = f" and {counted(len(names) - 3, 'other')}" if len(names) > 3 else ""
        named = ", ".join(names[:3]) + more or "a group (not named)"
        rows = result.rows("events")
        why = not (
            beside or any(row["reason"] or row["cause"] or _CLOSES.search(row["text"]) for row in rows)
        )
        why = why and any(moves(row) or _CHANGES.search(row["text"]) for row in rows)
        beside = " Why is not in the lines that were read." if why else beside
        some = not_all or any(map(tells_of_rebalance, rows))
        none = "" if some else " No line was read that tells of a rebalance."
        proved = next(
            (card.first["sentence"] for card in cards if CONCLUDES.search(card.first["sentence"])), None
        )
        return f"{named}: {proved or summary(rows, _lines_of(result))}.{none or not_all}{beside}"
    wrong = trouble(result)
    return (
        f"No line was read as one of a consumer group. {wrong}."
        if wrong
        else "No line was read as one of a consumer group."
    )


def _end(result: Tables, card: Card, understood: Understood) -> str:
    """What a short log tells at the end, after the line of a finding."""
    told = ending(result.rows("events"), card.first, _lines_of(result)) if understood.about <= SHORT else ""
    return f" {told}." if told else ""


def _lines_of(result: Tables) -> dict[str, int]:
    """How many lines each file has."""
    return {row["file"]: row["lines"] for row in result.rows("lines")}


def _unclear(understood: Understood) -> str:
    """How many lines look like a group's and were not understood, and what the first of them says."""
    first = understood.first
    said = ""
    if first is not None and understood.about <= SHORT:
        words = " ".join(first["text"][message_behind(first["text"]) :].split())
        said = f' (first {first["file"].rsplit("/", 1)[-1]}:{first["line"]} "{words[:_QUOTED]}{"..." if len(words) > _QUOTED else ""}")'
    look = "looks" if understood.unclear == 1 else "look"
    return f" {counted(understood.unclear, 'line')} that {look} like a group's could not be understood{said}, so more may be in them."


def _because(card: Card, rebalances: Sequence[Row]) -> str:
    """The gravest finding, and what it made of its group; a high generation says how often, and the last cause why."""
    group = card.first["group"]
    if card.in_groups:
        return _capital(card.first["sentence"] + card.in_groups + card.together) + "."
    own = [row for row in rebalances if row["group"] == group and row["path"] == card.first["path"]]
    said = card.first["sentence"] + card.more + card.together
    if not own or group is None:
        return _capital(card.with_group + card.more + card.together) + "."
    if card.first["finding"] == "many_generations":
        return f"{group}: {own[-1]['cause']}; {said}."
    if len(own) == 1 or card.first["finding"] in {"rebalance_storm", "generation_loop"}:
        return f"{group}: {said}."
    return f"{group}: {said}. These logs tell of {len(own):,} rebalances{_within(own)}."


def _within(rebalances: Sequence[Row]) -> str:
    """The time from the first beginning to the last, where it is a second or more."""
    lasted_s = (rebalances[-1]["start_ms"] - rebalances[0]["start_ms"]) / 1000
    return f", begun within {_span(lasted_s)}" if lasted_s >= 1 else ""


def _span(seconds: float) -> str:
    """A length of time for a headline."""
    if seconds < 120:
        return f"{ceil(seconds):,} s"
    return f"{ceil(seconds / 60):,} minutes" if seconds < 7_200 else f"{ceil(seconds / 360) / 10:,.1f} hours"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:] if text.split(" ", 1)[0] in {"the", "task", "a", "two"} else text


def totals(gaps: Sequence[Mapping[str, Any]], findings: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Unread partition-milliseconds, the longest gap, and whether that is too little or too much.

    Too little where a gap began before these logs tell, or where a member did not poll: it reads nothing, from a moment
    that no line tells. Too much where a gap is counted from a last heartbeat: its member died or froze after that, by
    less than a heartbeat interval.
    """
    over = any(row["known_by"] == "expired" for row in gaps)
    # Where a member has expired, a commit that came too late is its own: it was frozen, and polled until then.
    slow = set(BY_POLL) - ({"zombie_commit"} if over else set())
    least = any(row["at_least"] for row in gaps) or any(row["finding"] in slow for row in findings)
    longest = max(gaps, key=lambda row: row["duration_ms"], default=None)
    return {
        "unread_ms": sum(max(0, row["duration_ms"]) for row in gaps),
        "longest_ms": None if longest is None else longest["duration_ms"],
        "longest": None if longest is None else longest["partition"],
        "at_least": least,
        "at_most": over and not least,
    }


def bound(sums: Mapping[str, Any]) -> str:
    """What stands before such a sum."""
    return "at least " if sums["at_least"] else "at most " if sums["at_most"] else ""
