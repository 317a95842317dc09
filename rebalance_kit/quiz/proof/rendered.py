"""Exhibits of a run: log lines, a group description, a Gantt chart. Drawn when the item is asked.

A picture holds no more than its chart: whether it is the right one is not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rebalance_kit.analysis.intervals import flows
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace
from rebalance_kit.quiz.items.item import (
    Choice,
    Drawn,
    DrawnOption,
    GanttChart,
    Head,
    Option,
    PictureRow,
    Proof,
    Shown,
)
from rebalance_kit.quiz.proof.run_book import RunBook

TABLES = ("offsets", "members", "state")
MOST_LINES = 24
MOST_ROWS = 16
_DRAWN = DrawnOption("", "", right=False)


def with_exhibit(head: Head, seed: int, book: RunBook) -> Head:
    """The head with its exhibit as text; raises ``DataError`` when the run has nothing of the kind."""
    if not isinstance(head.exhibit, Shown):
        return head
    return replace(head, exhibit="\n".join(lines_of(head.exhibit, seed, book)) + "\n")


def lines_of(shown: Shown, seed: int, book: RunBook) -> tuple[str, ...]:
    """The lines of a log or of a description; raises ``DataError`` for none, or more than a screen holds."""
    trace = book.trace(shown.run, seed)
    since, until = _window(shown, seed, book)
    lines = _table(trace, shown.what, until) if shown.what in TABLES else _log(trace, shown, since, until)
    if not 0 < len(lines) <= MOST_LINES:
        raise DataError(
            f"{shown.what} between {since} and {until} ms has {len(lines)} lines; expected 1 to {MOST_LINES}"
        )
    return lines


def _window(shown: Shown, seed: int, book: RunBook) -> tuple[int, int]:
    runs = {"run": shown.run}
    since = 0 if shown.since is None else book.work_out(shown.since, runs, seed)
    until = (
        book.trace(shown.run, seed).end_ms if shown.until is None else book.work_out(shown.until, runs, seed)
    )
    if not all(isinstance(moment, (int, float)) for moment in (since, until)) or since >= until:
        raise DataError(f"a window from {since!r} to {until!r} received; expected two rising times")
    return int(since), int(until)


def _table(trace: Trace, what: str, at_ms: int) -> tuple[str, ...]:
    from rebalance_kit.logs.admin.cli_text import describe_members, describe_offsets, describe_state
    from rebalance_kit.logs.admin.described import describe

    tables = {"offsets": describe_offsets, "members": describe_members, "state": describe_state}
    return tuple(line for line in tables[what](describe(trace, at_ms)).splitlines() if line.strip())


def _log(trace: Trace, shown: Shown, since: int, until: int) -> tuple[str, ...]:
    from rebalance_kit.logs.broker.log import broker_lines
    from rebalance_kit.logs.client.log import member_lines, split_by_member
    from rebalance_kit.logs.lines import render

    own = split_by_member(trace)
    if shown.what != "broker" and shown.what not in own:
        raise DataError(
            f"{shown.what!r} has no log in the run; expected broker, {', '.join(own)}, {', '.join(TABLES)}"
        )
    lines = broker_lines(trace) if shown.what == "broker" else member_lines(own[shown.what], shown.what)
    texts = (render(line) for line in lines if since <= line.at_ms <= until)
    return tuple(
        " ".join(text.split()) for text in texts if not shown.only or any(part in text for part in shown.only)
    )


def picture_of(shown: Shown, seed: int, book: RunBook) -> GanttChart:
    """The Gantt chart of a run: one row per partition, a stretch wherever records reached a member."""
    trace = book.trace(shown.run, seed)
    since, until = _window(shown, seed, book)
    spans = flows(trace)
    if not 0 < len(spans) <= MOST_ROWS:
        raise DataError(f"the picture has {len(spans)} rows; expected 1 to {MOST_ROWS}")
    rows = tuple(
        PictureRow(
            str(tp),
            tuple(
                (max(owner.from_ms, since), min(owner.to_ms, until), owner.member)
                for owner in owners
                if owner.to_ms > since and owner.from_ms < until
            ),
        )
        for tp, owners in sorted(spans.items())
    )
    done = (
        (row.at_ms, f"{row.detail.get('do', '')} {row.actor}".strip())
        for row in trace.of("action")
        if since <= row.at_ms <= until
    )
    return GanttChart(rows, since, until, tuple(done))


def draw(item: Drawn, seed: int, book: RunBook) -> Choice:
    """The item with its lines or pictures; raises ``DataError`` when an option is not in them exactly once."""
    head = with_exhibit(item.head, seed, book)
    if item.kind == "log":
        return _log_choice(item, replace(head, exhibit=None), str(head.exhibit).rstrip().splitlines())
    if item.shown is None:
        options = tuple(
            Option(
                mark.id,
                f"Picture {mark.id.upper()}",
                mark.why,
                mark.right,
                mark.misconception,
                picture_of(mark.shown, seed, book),
            )
            for mark in item.marks
            if mark.shown is not None
        )
        if len({option.picture for option in options}) < len(options):
            raise DataError(
                f"{item.head.id}: two pictures are equal with seed {seed}; expected different runs"
            )
        return Choice(head, options, proof=item.proof, form="picture")
    picture = picture_of(item.shown, seed, book)
    places = _places(item, [row.name for row in picture.rows], exact=True)
    return Choice(
        head,
        _options(item, [row.name for row in picture.rows], places),
        proof=_renamed(item, places),
        picture=picture,
        form="picture",
    )


def _log_choice(item: Drawn, head: Head, lines: list[str]) -> Choice:
    places = _places(item, lines, exact=False)
    return Choice(head, _options(item, lines, places), proof=_renamed(item, places), form="log")


def _places(item: Drawn, lines: list[str], *, exact: bool) -> Mapping[int, DrawnOption]:
    marks: dict[int, DrawnOption] = {}
    for mark in item.marks:
        at = [
            index for index, line in enumerate(lines) if (line == mark.match if exact else mark.match in line)
        ]
        if len(at) != 1:
            raise DataError(
                f"option {mark.id} ({mark.match!r}) is in {len(at)} of {len(lines)} lines; expected exactly one"
            )
        if at[0] in marks:
            raise DataError(
                f"options {marks[at[0]].id} and {mark.id} are the same line; expected different ones"
            )
        marks[at[0]] = mark
    return marks


def _options(item: Drawn, lines: list[str], places: Mapping[int, DrawnOption]) -> tuple[Option, ...]:
    plain = replace(_DRAWN, why=item.other)
    made = ((index + 1, text, places.get(index, plain)) for index, text in enumerate(lines))
    return tuple(
        Option(str(number), text, mark.why, mark.right, mark.misconception) for number, text, mark in made
    )


def _renamed(item: Drawn, places: Mapping[int, DrawnOption]) -> Proof | None:
    if item.proof is None:
        return None
    return replace(
        item.proof,
        claims={str(index + 1): item.proof.claims[mark.id] for index, mark in sorted(places.items())},
    )
