"""Recipes become questions: parameters drawn by a seed, key and distractors computed.

A draw whose options coincide, or whose ``where`` does not hold, is drawn again; the same recipe and
seed always give the same question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rebalance_kit.analysis.deliveries import flows
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace
from rebalance_kit.quiz.items.item import (
    SEEDS,
    Choice,
    Drawn,
    DrawnOption,
    GanttChart,
    Generated,
    Head,
    Item,
    Numeric,
    Option,
    PictureRow,
    Proof,
    Question,
    RunSpec,
    Shown,
    WorkedOption,
    WrongNumber,
)
from rebalance_kit.quiz.proof.run_book import RunBook

# Exhibits of a run: log lines, a group description, a Gantt chart. Drawn when the item is asked.
#
# A picture holds no more than its chart: whether it is the right one is not in it.


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
    from rebalance_kit.logs.described import describe, describe_members, describe_offsets, describe_state

    tables = {"offsets": describe_offsets, "members": describe_members, "state": describe_state}
    return tuple(line for line in tables[what](describe(trace, at_ms)).splitlines() if line.strip())


def _log(trace: Trace, shown: Shown, since: int, until: int) -> tuple[str, ...]:
    from rebalance_kit.logs.broker import broker_lines
    from rebalance_kit.logs.lines import render
    from rebalance_kit.logs.write import member_lines, split_by_member

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


DRAWS = 200
_SLOT = re.compile(r"\{([a-z][a-z0-9_]*)(:words)?\}")
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def question(item: Item, seed: int, book: RunBook | None = None) -> Question:
    """The item as it can be shown: itself, the recipe's variant for that seed, or what it draws of a run.

    Authored items that show a run are drawn with one of the seeds that their check covers.
    """
    book = book or RunBook()
    if isinstance(item, Generated):
        return variant(item, seed, book)
    if isinstance(item, Drawn):
        return draw(item, run_seed(item.proof, seed), book)
    if isinstance(item.head.exhibit, Shown):
        return replace(item, head=with_exhibit(item.head, run_seed(item.proof, seed), book))
    return item


def run_seed(proof: Proof | None, seed: int) -> int:
    """The seed of the run to show: one of those with which the item is checked."""
    seeds = SEEDS if proof is None else proof.seeds
    return seeds[(seed - 1) % len(seeds)]


def variant(item: Generated, seed: int, book: RunBook) -> Question:
    """One variant of a recipe; raises ``DataError`` when no draw gives distinct options."""
    return drawn(item, seed, book)[0]


def drawn(
    item: Generated, seed: int, book: RunBook
) -> tuple[Question, Mapping[str, Any], Mapping[str, RunSpec]]:
    """A variant with the values behind it and the runs it was asked of."""
    stream = random.Random(f"{item.head.id}/{seed}")
    for _ in range(DRAWS):
        values: dict[str, Any] = {name: _plain(stream.choice(pool)) for name, pool in item.draw.items()}
        runs = _runs(item, values)
        for name, expression in item.let.items():
            values[name] = _plain(book.work_out(expression, runs, seed, values))
            runs = runs or _runs(item, values)
        if item.where is not None and not book.work_out(item.where, runs, seed, values):
            continue
        made = [
            (candidate, book.work_out(candidate.value, runs, seed, values))
            for candidate in (item.key, *item.distractors)
        ]
        if _distinct(item, made):
            build = _choice if item.form == "single" else _numeric
            return build(_head(item, seed, values, book), item, made, values, stream), values, runs
    raise DataError(
        f"{item.head.where}: {item.head.id}: {DRAWS} draws gave no variant with distinct options; expected other parameters"
    )


def _runs(item: Generated, values: Mapping[str, Any]) -> dict[str, RunSpec]:
    """The recipe's runs once every slot has a value; none before."""
    known = {*values, "value"}
    wanted = set(slots(str([(spec.scenario, spec.protocol) for spec in item.runs.values()])))
    if wanted - known and wanted <= {*known, *item.let}:
        return {}
    return {name: _filled_run(spec, values) for name, spec in item.runs.items()}


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _distinct(item: Generated, made: Sequence[tuple[WorkedOption, Any]]) -> bool:
    if item.form == "single":
        return len({_show(value) for _, value in made}) == len(made)
    key = made[0][1]
    return len({value for _, value in made}) == len(made) and all(
        abs(value - key) > item.tolerance for _, value in made[1:]
    )


def _choice(
    head: Head,
    item: Generated,
    made: Sequence[tuple[WorkedOption, Any]],
    values: Mapping[str, Any],
    stream: random.Random,
) -> Choice:
    del item
    order = list(range(len(made)))
    stream.shuffle(order)
    options = []
    for letter, index in zip("abcdef", order, strict=False):
        made_option, value = made[index]
        known = {**values, "value": value}
        text = fill(made_option.text if made_option.text is not None else "{value}", known)
        options.append(
            Option(letter, text, fill(made_option.why, known), index == 0, made_option.misconception)
        )
    return Choice(head, tuple(options))


def _numeric(
    head: Head,
    item: Generated,
    made: Sequence[tuple[WorkedOption, Any]],
    values: Mapping[str, Any],
    stream: random.Random,
) -> Numeric:
    del stream
    (key, right), *others = made
    wrong = tuple(
        WrongNumber(_plain(value), candidate.misconception, fill(candidate.why, {**values, "value": value}))
        for candidate, value in others
    )
    why = fill(key.why, {**values, "value": right})
    return Numeric(head, _plain(right), item.unit, why, wrong, item.tolerance)


def _head(item: Generated, seed: int, values: Mapping[str, Any], book: RunBook) -> Head:
    head = replace(item.head, id=f"{item.head.id}~{seed}", stem=fill(item.head.stem, values))
    if isinstance(head.exhibit, Shown):
        shown = replace(head.exhibit, run=_filled_run(head.exhibit.run, values))
        return with_exhibit(replace(head, exhibit=shown), seed, book)
    return head if head.exhibit is None else replace(head, exhibit=fill(head.exhibit, values))


def fill(text: str, values: Mapping[str, Any]) -> str:
    """Put values into ``{name}`` slots; raises ``DataError`` for a name that was not drawn.

    >>> fill("{owned} after {seconds} s", {"owned": ["a-0", "a-1"], "seconds": 3.0})
    'a-0, a-1 after 3 s'
    >>> fill("{size:words} of {all:words}", {"size": 3, "all": 12})
    'three of 12'
    """

    def put(slot: re.Match[str]) -> str:
        if slot[1] not in values:
            raise DataError(f"{slot[0]} in {text[:60]!r}: no such value; expected one of {', '.join(values)}")
        return _in_words(values[slot[1]]) if slot[2] else _show(values[slot[1]])

    return _SLOT.sub(put, text)


def _show(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_show, value)) if value else "none"
    return str(_plain(value))


def _in_words(value: Any) -> str:
    """A whole number up to ten as a word, anything else as it is shown."""
    number = _plain(value)
    in_words = isinstance(number, int) and 0 <= number < len(_WORDS)
    return _WORDS[number] if in_words else _show(value)


def _filled_run(spec: RunSpec, values: Mapping[str, Any]) -> RunSpec:
    scenario = spec.scenario if isinstance(spec.scenario, str) else dict(_filled(spec.scenario, values))
    protocol = fill(spec.protocol, values) if spec.protocol else None
    return RunSpec(
        fill(scenario, values) if isinstance(scenario, str) else scenario, protocol, spec.kafka_version
    )


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    """A scenario with its slots filled; a text that is one slot becomes the value itself."""
    if isinstance(value, Mapping):
        return {name: _filled(part, values) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, values) for part in value]
    if not isinstance(value, str):
        return value
    whole = _SLOT.fullmatch(value)
    return values[whole[1]] if whole and whole[1] in values else fill(value, values)


def slots(text: str) -> Iterator[str]:
    """The names in a text's slots."""
    return (match[1] for match in _SLOT.finditer(text))
