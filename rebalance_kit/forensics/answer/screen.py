"""One screen of 120 x 40: what broke, who, why, what to do, and what was left out."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from math import inf
from operator import itemgetter
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.last_words import TROUBLE, line_at, unread
from rebalance_kit.forensics.answer.severity import NOTE
from rebalance_kit.forensics.answer.steps import SHORT, WITHOUT_TIME, of_several_clocks, timeline
from rebalance_kit.forensics.answer.verdict import bound, totals
from rebalance_kit.forensics.answer.wishes import TOP
from rebalance_kit.forensics.findings.unplaced import UNTIMED
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.words import LEAVES_BY_ITSELF, counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from rebalance_kit.forensics.answer.happenings import Happening
    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.severity import Card
    from rebalance_kit.forensics.answer.steps import Step
    from rebalance_kit.forensics.answer.verdict import Verdict
    from rebalance_kit.forensics.answer.wishes import Wishes
    from rebalance_kit.forensics.tables import Row

WIDTH, HEIGHT = 118, 40
_GROUPS, _NOTES, _RECENT, _EVENTS = 5, 2, 4, 3
_BARS, _BUCKETS = "▁▂▃▄▅▆▇█", 60
_SHOWN_TEXT = 150
_TOP_OF_SHORT = 2
#: A log with settings and stacks, which are told with the line before them, may have so many lines.
_WHOLE = 4 * SHORT
#: In longer logs nobody looks for what is not told.
_LINES = 400_000
_DAY_MS = 86_400_000
#: Words for which a line is kept although no template reads it.
_LOUD = re.compile(r"\b(?:WARN|WARNING|FAIL|FAILED|LOST|REVOKED|ASSIGNED|REBALANCE)\b")


def screen(result: Selected, said: Verdict, wishes: Wishes, happenings: Sequence[Happening] = ()) -> str:
    """The screen as text, lines of at most 118 letters."""
    lines: list[str] = []
    mark = f"  {said.severity.upper()}" if said.severity not in {None, NOTE} else ""
    lines += [*_wrap("", said.sentence + mark), "", *_read(result, said)]
    gaps = result.rows("gaps")
    lines += [*_cost(gaps, result.rows("findings")), *_strip(result, gaps), *_events(result, happenings), ""]
    # Of a short log the lines themselves are worth more than a third finding.
    short = sum(row["lines"] for row in result.rows("lines")) <= SHORT and wishes.top == TOP
    shown = _shown(said.cards, _TOP_OF_SHORT if short else wishes.top)
    causes = {row["cause"] for row in result.rows("rebalances")}
    for number, card in enumerate(shown, start=1):
        lines += [*_card(number, card, said.sentence, causes), ""]
    rows = result.rows("groups")
    if rows:
        few = sum(row["parsed"] for row in result.rows("lines")) <= SHORT and wishes.top == TOP
        told_whole = few and not _coordinated(result)
        lines += [*(_names(result, rows) if told_whole else _groups(result, rows, said)), ""]
    begun = result.rows("rebalances")
    # One that the headline tells is not told again where only members' lines do.
    one = len(begun) == 1 and not _coordinated(result)
    steps = [] if shown or one else _recent(begun[-_RECENT:])
    told = min(_RECENT, len(begun)) if steps else int(one and not shown)
    room = HEIGHT - len(lines) - 2
    listed = _in_order(result, room - len(steps))
    if not listed and room > _RECENT:
        told, steps = _last_of(begun, room - 1)
    lines += [*steps, *listed, *_left_out(said, shown, len(begun) - told, len(rows)), *_next()]
    return "\n".join(lines) + "\n"


def _shown(cards: Sequence[Card], top: int) -> list[Card]:
    """The first cards; of mere notes two are enough beside graver ones."""
    grave = [card for card in cards if card.severity != NOTE]
    notes = [card for card in cards if card.severity == NOTE and card.first["finding"] != UNTIMED]
    return [*grave[:top], *notes[: max(0, min(_NOTES, top - len(grave)))]]


def _read(result: Selected, said: Verdict) -> list[str]:
    rows = result.rows("lines")
    begin = min((row["from_ms"] for row in rows if row["from_ms"] is not None), default=None)
    end = max((row["to_ms"] for row in rows if row["to_ms"] is not None), default=None)
    if result.period is not None and said.understood.about <= SHORT:
        begin, end = result.period
    since, until = result.since_ms, result.until_ms
    period, of_all = "no time", True
    if begin is not None and end is not None:
        first, last = (
            (begin if since is None else max(since, begin)),
            (end if until is None else min(until, end)),
        )
        of_all = result.period is not None and said.understood.about <= SHORT
        period = f"{_moment(first)} to {_moment(last)}{_zone(result)}"
        if begin < 0 or end < _DAY_MS:
            period += " (the lines hold no day)"
        if of_all and of_several_clocks([*result.rows("events"), *unread(result)]):
            period = "times of several clocks"
    known = said.understood
    told = f"{counted(len(rows), 'file')}, {counted(sum(row['lines'] for row in rows), 'line')}"
    told += f", {period}" if of_all else ""
    if known.about:
        told += f"; {counted(known.about - known.unclear, 'line')} read as a group's"
    if known.by_words:
        told += f" ({known.by_words:,} by single words: less sure)"
    told += "" if of_all else f", from {period}"
    lines = _wrap("  read      ", told)
    if known.first is not None:
        first_line = known.first
        which = _client_like(first_line["text"])
        lines += _wrap(
            "  unclear   ",
            f"{counted(known.unclear, 'line')} not understood{which}, so nothing is said to be absent; first "
            f"{first_line['file']}:{first_line['line']}  {_short(first_line['text'])}",
        )
    if begin is None and (untimed := [card for card in said.cards if card.first["finding"] == UNTIMED]):
        lines += _wrap(
            "  no time   ",
            f"that could be read, so when, and how long, is not told. {untimed[0].first['do']}",
        )
    for row in rows:
        if row["note"] and (
            "lost" in row["note"]
            or "empty" in row["note"]
            or "interrupted" in row["note"]
            or "newest first" in row["note"]
        ):
            lines += _wrap("  note      ", f"{row['file']}: {row['note']}")
    for one in result.passed_over:
        if one.damaged:
            lines += _wrap("  not read  ", f"{one.path} {one.why}")
    return lines


def _moment(at_ms: int) -> str:
    """Day and clock; the clock alone of lines that hold no day."""
    told = clock(at_ms)
    return told[11:] if -_DAY_MS <= at_ms < 2 * _DAY_MS else told


def _zone(result: Selected) -> str:
    """That times are told in UTC, where the lines themselves tell them otherwise, or say so; nothing where they name no zone."""
    if sum(row["lines"] for row in result.rows("lines")) > _LINES:
        return " UTC"
    told = ""
    for row in result.rows("events"):
        if row["at_ms"] is not None:
            at = clock(row["at_ms"])[11:19]
            if at in row["text"] and not re.search(rf"{at}[.,\d]*(?:Z|\+00:?00| UTC)", row["text"]):
                return ""
            told = " UTC"
    if sum(row["lines"] for row in result.rows("lines")) <= _WHOLE:
        for row in unread(result):
            at = "" if row["at_ms"] is None else clock(row["at_ms"])[11:19]
            if at and at in row["text"] and not re.search(rf"{at}[.,\d]*(?:Z|\+00:?00| UTC)", row["text"]):
                return ""
    return told


def _client_like(text: str) -> str:
    from rebalance_kit.forensics.lines.anchors import client_like

    which = client_like(text)
    return f" ({which})" if which else ""


def _cost(gaps: Sequence[Row], findings: Sequence[Row]) -> list[str]:
    if not gaps:
        return []
    sums = totals(gaps, findings)
    told = f"{bound(sums)}{sums['unread_ms'] / 1000:,.1f} partition-seconds unread; longest gap {sums['longest_ms'] / 1000:,.1f} s"
    return _wrap("  cost      ", f"{told} ({sums['longest']})")


def _strip(result: Selected, gaps: Sequence[Row]) -> list[str]:
    """Unread partitions over time, and who began rebalances below."""
    moments = [row["start_ms"] for row in result.rows("rebalances")]
    if not gaps or len(moments) < 2:
        return []
    begin = min([*moments, *(row["from_ms"] for row in gaps)])
    end = max([*moments, *(row["to_ms"] for row in gaps)])
    step = max(1, (end - begin) // _BUCKETS + 1)
    sums: dict[int, int] = defaultdict(int)
    for row in gaps:
        for place in range((row["from_ms"] - begin) // step, (row["to_ms"] - begin) // step + 1):
            first = begin + place * step
            sums[place] += max(0, min(row["to_ms"], first + step) - max(row["from_ms"], first))
    most = max(sums.values(), default=0) or 1
    bars = "".join(
        _BARS[0 if not sums[place] else 1 + sums[place] * (len(_BARS) - 2) // most]
        for place in range(_BUCKETS)
    )
    return [f"  unread    {clock(begin)[11:19]} {bars} {clock(end)[11:19]}"]


def _events(result: Selected, happenings: Sequence[Happening]) -> list[str]:
    """What happened beside Kafka within the time of the logs, the first ones."""
    if not happenings:
        return []
    rows = result.rows("lines")
    begin = min((row["from_ms"] for row in rows if row["from_ms"] is not None), default=None)
    end = max((row["to_ms"] for row in rows if row["to_ms"] is not None), default=None)
    inside = [
        one for one in happenings if begin is not None and end is not None and begin <= one.at_ms <= end
    ]
    told = f"{len(inside):,} of {counted(len(happenings), 'event')} within these logs"
    shown = "; ".join(f"{clock(one.at_ms)[11:19]} {one.text}" for one in inside[:_EVENTS])
    return _wrap(
        "  events    ", f"{told}{': ' if shown else ''}{shown}{'; ...' if len(inside) > _EVENTS else ''}"
    )


def _card(number: int, card: Card, headline: str, causes: Collection[str]) -> Iterator[str]:
    row = card.first
    often = [card.tally] if card.tally else []
    least = "at least " if row["at_least"] else ""
    cost = [f"{least}{card.unread_ms / 1000:,.0f} partition-s"] if card.unread_ms >= 500 else []
    tail = f"   {', '.join([*often, *cost])}" if often or cost else ""
    is_headline = card.severity == NOTE and headline[1:].startswith(row["sentence"][1:])
    sentence = "as told above" if is_headline else row["sentence"]
    less_sure = "" if row["confidence"] is None else " (read from single words)"
    yield from _wrap(
        f"  {number}  {card.severity.upper():8}  ",
        f"{sentence}{card.in_groups}{card.others}{card.together}{less_sure}{tail}",
        5,
    )
    proof = f"     proof     {row['file']}:{row['line']}  {_proof(row, causes)}".rstrip()
    yield proof if len(proof) <= WIDTH else proof[: WIDTH - 3] + "..."
    if row["last_words"]:
        yield from _wrap("     near it     ", row["last_words"])
    if row["setting"]:
        yield from _wrap("     setting   ", row["setting"])
    yield from _wrap("     do        ", row["do"])


def _proof(row: Row, causes: Collection[str]) -> str:
    """The time and the text of a finding's line; the text alone of a rebalance's, of which the row holds when it began, and why."""
    if row["evidence"] in causes:
        return _short(line_at(row))
    at = f"{clock(row['at_ms'])[11:]}  " if row["at_ms"] is not None else ""
    return at + _short(row["evidence"])


def _short(text: str) -> str:
    """A line on one line, without the time that stands beside it."""
    return " ".join(WITHOUT_TIME.sub("", text, count=1).split())[:_SHOWN_TEXT]


def _coordinated(result: Selected) -> bool:
    """Whether a coordinator's lines are among those that were read: only they tell of a whole group."""
    return any(row["side"] == "broker" and row["group"] for row in result.rows("events"))


#: A group in the prefix of a client's line.
_GROUP_ID = re.compile(r", groupId=([^\],\s]{1,249})\]")


def _names(result: Selected, rows: Sequence[Row]) -> list[str]:
    """The groups of a short log, whose members' lines tell below what they tell."""
    whole = sum(row["lines"] for row in result.rows("lines")) <= _WHOLE
    others = [
        found[1]
        for row in (unread(result) if whole else ())
        if (found := _GROUP_ID.search(row["text"])) and found[1] != "null"
    ]
    names = [*dict.fromkeys([*(str(row["group"]) for row in rows), *others])]
    more = f" and {len(names) - _GROUPS} more" if len(names) > _GROUPS else ""
    return _wrap(f"  {'group' if len(names) == 1 else 'groups':9} ", ", ".join(names[:_GROUPS]) + more)


def _groups(result: Selected, rows: Sequence[Row], said: Verdict) -> Iterator[str]:
    unread: Counter[tuple[str, str]] = Counter()
    for gap in result.rows("gaps"):
        unread[gap["path"], gap["group"]] += max(0, gap["duration_ms"])
    several = len({row["path"] for row in rows}) > 1
    yield f"  {'group':36} members  rebalances  {'generation':>10}  {'unread':>12}  state at the end"
    native, ends, timeless = _unread_untold(result), _ends(result), _timeless(result)
    ranked = sorted(
        rows,
        key=lambda row: (-unread[row["path"], row["group"]], -len(row["rebalances"] or []), row["group"]),
    )
    for row in ranked[:_GROUPS]:
        begun = row["rebalances"] or []
        last = begun[-1] if begun else None
        numbers = [*row["generations"], *row["epochs"]] or [one["after"] for one in begun if one["after"]]
        end = ends.get((row["path"], row["group"]))
        gone = None if end is not None and end["event"] == "died" else _gone(result, row, last)
        if gone or end is None or last is None or not _is_news(end, last):
            # Of lines that were not understood some may tell how it went on.
            state = gone or (
                _state(last, row) if said.understood.wholly or last is None or last["end_ms"] else "?"
            )
            members = None if last is None else last["members"]
        else:
            members = {"died": 0, "stabilized": last["members"]}.get(end["event"])
            state = _after(end)
            numbers = [*numbers, end["generation"]] if end["generation"] is not None else numbers
        if last is not None and (last["after"] or 0) > (numbers[-1] if numbers else 0):
            numbers = [*numbers, last["after"]]
        cost = unread[row["path"], row["group"]]
        untimed = (row["path"], row["group"]) in timeless
        many = f"{len(begun)}" if begun else "?"
        numbers = numbers or (timeless[row["path"], row["group"]] if untimed else [])
        name = f"{row['group']} ({row['path'].rsplit('/', 1)[-1]})" if several else str(row["group"])
        yield (
            f"  {name if len(name) <= 36 else name[:33] + '...':36} {'?' if members is None else members:>7}  {many:>10}  "
            f"{numbers[-1] if numbers else '?':>10}  {_unread(cost, untold=row['group'] in native):>12}  {state}"
        )


def _timeless(result: Selected) -> dict[tuple[str, str | None], list[int]]:
    """Groups whose lines hold no time, with the generations that they tell."""
    told: dict[tuple[str, str | None], list[int]] = {
        (row["path"], row["group"]): [] for row in result.rows("findings") if row["finding"] == UNTIMED
    }
    if told:
        for row in result.rows("events"):
            if (row["path"], row["group"]) in told and (row["generation"] or 0) > 0:
                told[row["path"], row["group"]].append(row["generation"])
    return told


def _unread(cost: int, *, untold: bool) -> str:
    return f"{cost / 1000:,.1f} part-s" if cost else "?" if untold else "-"


def _unread_untold(result: Selected) -> set[str | None]:
    """Groups of librdkafka's clients, whose lines name no partitions that come and go."""
    if sum(row["lines"] for row in result.rows("lines")) > _LINES:
        return set()
    return {
        row["group"]
        for row in result.rows("events")
        if row["event"] in {"rd_callback", "rd_rebalance", "rd_state"}
    }


_UNASSIGNED = "joined, not assigned yet at"
#: What the last lines of a group may tell although its last rebalance had ended.
_AFTER = {
    "died": "dead",
    "join_refused": "a member refused at",
    **dict.fromkeys(("preparing", "joining", "worker_rebalance", "rejoin_requested"), "rebalancing at"),
    **dict.fromkeys(("member_failed", "session_expired", "left"), "a member removed at"),
    **dict.fromkeys(("heartbeat_failed", "heartbeat_unknown", "lost", "fenced"), "a member lost it at"),
    **dict.fromkeys(
        ("poll_timeout", "poll_late", "other_unknown_member", "other_session_expired"), "a member lost it at"
    ),
    **dict.fromkeys(("leaving", "left_group", "epoch_left", "static_away"), "a member left it at"),
    **dict.fromkeys(("coordinator_lost", "coordinator_left"), "a member without coordinator at"),
    **dict.fromkeys(("stabilized", "assignment_finished"), _UNASSIGNED),
    **dict.fromkeys(("revoking", "revoked"), "a member gave up partitions at"),
    **dict.fromkeys(("member_id_given", "member_added", "static_added"), "a member asked to join at"),
}
#: The same of the states of a member of a consumer group.
_AFTER_STATE = {
    "JOINING": "a member asked to join at",
    **dict.fromkeys(("RECONCILING", "ACKNOWLEDGING"), "rebalancing at"),
    **dict.fromkeys(("PREPARE_LEAVING", "LEAVING", "UNSUBSCRIBED"), "a member left it at"),
    **dict.fromkeys(("STALE", "FENCED", "FATAL"), "a member lost it at"),
}
_OVER = frozenset(
    "stabilized assignment_received emptied joined synced assigned worker_joined coordinator_found bumped reconciling".split()
)


def _ends(result: Selected) -> dict[tuple[str, str | None], Row]:
    """Of each group what its last lines tell after its last rebalance: it began another, lost a member, or is dead. Its coordinator's lines go before what members wrote until then."""
    if sum(row["lines"] for row in result.rows("lines")) > _LINES:
        return {}
    rows = [
        row
        for row in result.rows("events")
        if row["at_ms"] is not None
        and (row["event"] in {"transitioned", *_OVER} or _left_open(row) is not None)
    ]
    rows.sort(key=lambda row: (row["at_ms"], row["file"], row["line"]))
    coordinated = {(row["path"], row["group"]): row["at_ms"] for row in rows if row["side"] == "broker"}
    last: dict[tuple[str, str | None], dict[str | None, Row]] = {}
    names = {row["group"] for row in result.rows("groups")}
    for row in rows:
        place = row["path"], row["group"] or (next(iter(names)) if len(names) == 1 else None)
        if row["side"] == "broker" or row["at_ms"] > coordinated.get(place, -inf):
            mine = last.setdefault(place, {})
            before = mine.get(row["client"])
            # A member that is to join again is told what it keeps.
            keeps = (
                row["event"] == "assigned" and before is not None and before["event"] == "rejoin_requested"
            )
            # That more than a request was begun, a coordinator would tell.
            asks = place in coordinated and row["event"] in {"joining", "rejoin_requested"}
            if not keeps:
                mine[row["client"]] = {**row, "event": "member_id_given"} if asks else row
    open_at = {
        place: [row for row in of_clients.values() if _left_open(row) is not None]
        for place, of_clients in last.items()
    }
    return {place: max(found, key=lambda row: row["at_ms"]) for place, found in open_at.items() if found}


def _is_news(end: Row, last: Row) -> bool:
    """Whether it came after the last rebalance; of a group that was empty by then only its end is."""
    later: bool = end["at_ms"] >= (last["end_ms"] or last["start_ms"])
    return later and (last["members"] != 0 or end["event"] == "died")


def _left_open(row: Row) -> str | None:
    """What is said of a group after a line; None where the line leaves nothing open."""
    if LEAVES_BY_ITSELF in (row["reason"] or ""):
        return "a member left it at"
    if row["event"] == "joined":
        # A later client writes of its JoinGroup's answer alone; the assignment comes with another.
        return _UNASSIGNED if "Generation{" in row["text"] else None
    if row["event"] == "transitioned":
        return _AFTER_STATE.get(row["state_to"])
    return _AFTER.get(row["event"])


def _after(end: Row) -> str:
    told = _left_open(end)
    return told if told == "dead" else f"{told} {_moment(end['at_ms'])}"


#: A consumer group's metadata where nobody subscribes to a topic that exists.
_NO_TOPICS = " with metadata hash 0."


def _gone(result: Selected, group: Row, last: Row | None) -> str | None:
    """What is said of a consumer group that everybody left, after which no line ends its last rebalance; None for others."""
    if (
        last is None
        or last["end_ms"] is not None
        or sum(row["lines"] for row in result.rows("lines")) > _LINES
    ):
        return None
    if last["protocol"] != "consumer":
        return None
    place = group["path"], group["group"]
    bumps = [
        row
        for row in result.rows("events")
        if row["event"] == "bumped" and (row["path"], row["group"]) == place
    ]
    if bumps and _NO_TOPICS in max(bumps, key=itemgetter("at_ms", "line"))["text"]:
        return "nobody is left, or subscribes to a topic"
    lives = [one["end"] for one in result.rows("members") if (one["path"], one["group"]) == place]
    return "every member told of has gone" if lives and {*lives} <= {"left", "expired"} else None


def _state(last: Row | None, group: Row) -> str:
    if last is None:
        return "?"
    if last["end_ms"] is None:
        return "rebalancing: no end in these logs"
    if last["members"] == 0:
        return "empty"
    if last["protocol"] == "consumer" and last["at_least"]:
        return "target computed, no end told" if group["targets"] else "stable, by its members told of"
    return "settled"


def _recent(rows: Sequence[Row], height: int | None = None) -> list[str]:
    """When the group went from which generation to which, and why; each in no more than ``height`` lines."""
    lines: list[str] = []
    several = len({(row["path"], row["group"]) for row in rows}) > 1
    for row in rows:
        whose = f"{row['group']}: " if several else ""
        step = " -> ".join("?" if row[name] is None else str(row[name]) for name in ("before", "after"))
        head = f"  {_moment(row['start_ms'])}  {step:<9} "
        lines += textwrap.wrap(
            f"{whose}{row['cause']} (see {row['file']}:{row['line']})",
            WIDTH,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            max_lines=height,
            placeholder=" ...",
        )
    return [*lines, ""] if lines else []


def _last_of(rows: Sequence[Row], room: int) -> tuple[int, list[str]]:
    """As many of the last rebalances as there is room for, in whole sentences if all of them fit so; how many, and the lines."""
    for some, height in ((rows, None), (rows[-room:], 1)):
        if len(lines := _recent(some, height)) <= room + 1:
            return len(some), lines
    return 0, []


def _in_order(result: Selected, room: int) -> list[str]:
    """Of a short log what each line tells, in order of time; nothing of a longer one, or where there is no room.

    All lines of a log of ``SHORT`` lines, those about groups of a longer one that holds so many of them.
    """
    rows = result.rows("lines")
    if sum(row["parsed"] for row in rows) > SHORT:
        return []
    whole = sum(row["lines"] for row in rows) <= _WHOLE and not result.narrowed
    steps = timeline(result.rows("events"), unread(result) if whole else None)
    if whole and sum(row["lines"] for row in rows) > SHORT and len(steps) > SHORT:
        steps = timeline(result.rows("events"))
    whose = {one.who for one in steps}
    alone = next(iter(whose)) if len(whose) == 1 else ""
    head = [f"  in order  {alone}".rstrip()]
    for width in (5, 3, 2, 1):
        told = _by_day(steps, [_of_step(one, "" if alone else one.who, width) for one in steps])
        if sum(map(len, told)) <= room - len(head) - 2:
            break
    else:
        kept = _weightiest(steps, told, room - len(head) - 3)
        told = [lines for lines, is_kept in zip(told, kept, strict=True) if is_kept]
        head.append(f"  ({counted(kept.count(False), 'step')} of less weight left out between these)")
    shown, left = _both_ends(told, room - len(head) - 2)
    return [*head, *shown, ""] if shown and left < len(told) else []


def _weightiest(steps: Sequence[Step], told: Sequence[list[str]], room: int) -> list[bool]:
    """Which steps to tell where there is no room for all: what moves something or is trouble, then what was read, then the rest; of equal ones those at both ends."""
    ranks = [
        0 if one.moves or TROUBLE.search(one.what) or _LOUD.search(one.what) else 1 if one.read else 2
        for one in steps
    ]
    by_weight = sorted(
        range(len(steps)), key=lambda place: (ranks[place], min(place, len(steps) - 1 - place))
    )
    kept = [rank == 0 for rank in ranks]
    free = room - sum(len(lines) for lines, is_kept in zip(told, kept, strict=True) if is_kept)
    for place in by_weight:
        if not kept[place] and len(told[place]) <= free:
            kept[place], free = True, free - len(told[place])
    return kept


def _by_day(steps: Sequence[Step], told: Sequence[list[str]]) -> list[list[str]]:
    """The steps with their days, where there are several, before the first of each."""
    days = ["" if (one.at_ms or 0) < 2 * _DAY_MS else clock(one.at_ms or 0)[:10] for one in steps]
    if len({*days} - {""}) < 2:
        return [*told]
    known = ""
    placed = []
    for day, lines in zip(days, told, strict=True):
        placed.append([f"  {day}", *lines] if day not in {"", known} else lines)
        known = day or known
    return placed


def _of_step(one: Step, who: str, height: int) -> list[str]:
    at = clock(one.at_ms)[11:] if one.at_ms is not None else one.since or f"line {one.line}"
    often = f"  ({one.lines} lines{_until(one)})" if one.lines > 1 else ""
    more = (
        f"  (and {counted(one.more, 'line')} that {'belongs' if one.more == 1 else 'belong'} to it)"
        if one.more
        else ""
    )
    tail, text = often + more, f"{who}  {one.what}".strip()
    lines = _wrapped(at, text + tail, WIDTH, None)
    if len(lines) > height == 1 and one.brief:
        text = f"{who}  {one.brief}".strip()
        lines = _wrapped(at, text + tail, WIDTH, None)
    if len(lines) > height:
        *lines, last = _wrapped(at, text, WIDTH - len(tail), height)
        lines = [*lines, last + tail]
    return lines


def _until(one: Step) -> str:
    """The last time of a step's lines, where that is a second or more after the first."""
    later = one.until_ms is not None and one.at_ms is not None and one.until_ms >= one.at_ms + 1000
    return f", until {clock(one.until_ms)[11:]}" if later and one.until_ms is not None else ""


def _wrapped(at: str, text: str, width: int, height: int | None) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=f"  {at:<11} ",
        subsequent_indent=" " * 14,
        max_lines=height,
        placeholder=" ...",
    ) or [f"  {at}"]


def _both_ends(told: Sequence[list[str]], room: int) -> tuple[list[str], int]:
    """As many steps as there is room for, from both ends, and how many are left out between them."""
    if sum(map(len, told)) <= room:
        return [line for one in told for line in one], 0
    first, last = list[list[str]](), list[list[str]]()
    left, free = list(told), room - 1
    while left and len(left[0 if len(first) <= len(last) else -1]) <= free:
        one = left.pop(0 if len(first) <= len(last) else -1)
        free -= len(one)
        (first if len(first) <= len(last) else last).append(one)
    between = f"  ...         {counted(len(left), 'step')} more"
    return [
        *(line for one in first for line in one),
        between,
        *(line for one in reversed(last) for line in one),
    ], len(left)


def _left_out(said: Verdict, shown: Sequence[Card], begun: int, groups: int) -> list[str]:
    told = []
    if begun:
        told.append(f"{counted(begun, 'rebalance')} in words")
    findings = [card for card in said.cards if card.first["finding"] != UNTIMED]
    if len(findings) > len(shown):
        told.append(f"{counted(len(findings) - len(shown), 'finding')}")
    if groups > _GROUPS:
        told.append(counted(groups - _GROUPS, "group"))
    return _wrap("  left out  ", f"{', '.join(told)} (--all shows them)") if told else []


def _next() -> list[str]:
    return [
        "  next      --all   --since -2h   --group NAME   --markdown FILE   --out DIR   --json   rebalance-kit explain"
    ]


def _wrap(head: str, text: str, deeper: int = 0) -> list[str]:
    indent = " " * (len(head) if not deeper else deeper + 10)
    return textwrap.wrap(text, WIDTH, initial_indent=head, subsequent_indent=indent) or [head.rstrip()]
