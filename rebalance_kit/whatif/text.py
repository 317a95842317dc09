"""A night's answer in words: for the screen, for a postmortem (Markdown), for programs (JSON).

The answer to a night: how well it is understood, what each alternative would have cost, and what to change for a target.
"""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf, sqrt
from statistics import median
from typing import Any

from rebalance_kit.analysis.draws import Distribution, pairs
from rebalance_kit.analysis.metrics import aligned
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.html import unmarked, visible
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.whatif.alternatives import Alternative, alternatives, detection, mode_of, together
from rebalance_kit.whatif.lives import Night
from rebalance_kit.whatif.understanding import (
    MEASURES,
    Cost,
    Drawn,
    Measure,
    Understanding,
    Workers,
    costs_of,
    each_changed,
    likeliest,
    shown,
)

_TARGET = re.compile(r"\s*(.+?)\s*<=?\s*(\d+(?:\.\d+)?)\s*(s|ms|min)?\s*$")
_UNITS = {"ms": 0.001, "s": 1.0, "min": 60.0, None: 1.0}
_LONGEST_TARGET = 100
MOST_OFTEN = 0.9
"""A target is met by what meets it in at least so many of the draws."""


@dataclass(frozen=True, slots=True)
class Target:
    """``longest gap < 10 s``: a measure and what it has to stay below."""

    measure: Measure
    below: float

    def met(self, costs: Sequence[Cost]) -> float:
        """The share of draws that stay below."""
        return sum(self.measure.of(cost) < self.below for cost in costs) / max(1, len(costs))


def check_seconds(seconds: float) -> None:
    """Raise ``DataError`` for what is no time to take."""
    if not 0 < seconds < inf:
        raise DataError(f"--seconds is {seconds:g}; expected a number above 0")


def target_of(text: str) -> Target:
    """Read a target; raises ``DataError`` that names the measures there are.

    >>> target_of("longest gap < 10 s").below
    10.0
    """
    found = _TARGET.match(text) if len(text) <= _LONGEST_TARGET else None
    words = [each.words.removesuffix(", s") for each in MEASURES]
    if found:
        for each, known in zip(MEASURES, words, strict=True):
            if known.startswith(found[1].lower()) or found[1].lower() in known:
                return Target(each, float(found[2]) * _UNITS[found[3]])
    raise DataError(
        f"the target {text!r} cannot be read; expected one of {', '.join(words)}, then < and a number, as in 'longest gap < 10 s'"
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of an alternative beside the night as it was: median and middle half, and the paired difference with its interval."""

    words: str
    shown: str
    median: float
    by: float
    interval: tuple[float, float]
    #: less, more, or same: what the sign test over the pairs supports.
    verdict: str


@dataclass(slots=True)
class Answered:
    """One alternative, drawn."""

    alternative: Alternative
    costs: tuple[Cost, ...]
    differences: tuple[Difference, ...]
    meets: float | None = None


@dataclass(slots=True)
class Answer:
    """All alternatives of a night, with the same draws."""

    base: tuple[Cost, ...]
    answered: list[Answered] = field(default_factory=list)
    seconds: float = 0.0
    target: Target | None = None
    #: What meets the target with the fewest keys; None where nothing does, or nothing was asked.
    cheapest: Answered | None = None


def ask(
    scenario: Drawn,
    base: Sequence[Cost],
    *,
    target: Target | None = None,
    seconds: float = 60.0,
    others: Sequence[Alternative] | None = None,
    first: Answer | None = None,
    pool: Workers = None,
    sweep: Sweep | None = None,
    on_done: Callable[[str], object] = lambda _: None,
) -> Answer:
    """Draw every alternative (or ``others``) with the seeds of ``base``, and with a target search what meets it together.

    ``sweep`` draws the search elsewhere (on Spark) where it is large: where it would take longer than ``seconds`` here.
    After ``seconds`` the alternatives that are left have fewer draws (at least 20), so that each has an answer.
    ``first`` is an answer with fewer draws, which this one goes on with.
    """
    begun = time.monotonic()
    answer = Answer(tuple(base), target=target)
    known: dict[str, Sequence[Cost]] = {}
    if first is not None:
        known = {one.alternative.name: one.costs for one in first.answered}
        others = [one.alternative for one in first.answered]
    plain = alternatives(likeliest(scenario)) if others is None else list(others)
    for number, each in enumerate(plain):
        left = max(0.0, seconds - (time.monotonic() - begun)) / (len(plain) - number)
        answer.answered.append(_answered(scenario, each, base, left, target, pool, known.get(each.name, ())))
        on_done(each.name)
    if target is not None:
        if _cheapest(answer.answered, target) is None:
            single = [one.alternative for one in answer.answered if not one.alternative.parts]
            answer.answered += _searched(scenario, single, base, target, pool, sweep, seconds, on_done)
        answer.cheapest = _cheapest(answer.answered, target)
    answer.seconds = time.monotonic() - begun
    return answer


Sweep = Callable[[Sequence[Drawn], int], list[list[Cost]]]
"""Draws each of many nights so many times, and gives their costs in the same order."""
SIEVE = 20
"""Draws of a combination before it is drawn in full."""
_FINALISTS = 4


def _searched(
    scenario: Drawn,
    each: list[Alternative],
    base: Sequence[Cost],
    target: Target,
    pool: Workers,
    sweep: Sweep | None,
    seconds: float,
    on_done: Callable[[str], object],
) -> list[Answered]:
    """The combinations of two and of three that come nearest to the target, the cheapest first, drawn in full.

    All of them are drawn ``SIEVE`` times; no clock decides what is drawn, so that Spark and this process answer alike.
    """
    found = list(together(likeliest(scenario), each))
    found += [three for pair in found for three in together(likeliest(scenario), each, pair)]
    nights, draws = [each_changed(scenario, one.change) for one in found], min(SIEVE, len(base))
    begun = time.monotonic()
    sieved = [list(costs_of(night, draws, pool)) for night in nights[:1]]
    if sweep is not None and (time.monotonic() - begun) * len(nights) > seconds:
        sieved += sweep(nights[1:], draws)
    else:
        for one, night in zip(found[1:], nights[1:], strict=True):
            sieved.append(list(costs_of(night, draws, pool)))
            on_done(one.name)
    order = sorted(
        range(len(found)),
        key=lambda place: (
            -min(target.met(sieved[place]), MOST_OFTEN),
            len(found[place].parts),
            len(found[place].keys),
            place,
        ),
    )[:_FINALISTS]
    return [_answered(scenario, found[place], base, inf, target, pool, sieved[place]) for place in order]


def _cheapest(answered: Sequence[Answered], target: Target) -> Answered | None:
    meeting = [one for one in answered if target.met(one.costs) >= MOST_OFTEN]
    return min(meeting, key=lambda one: (len(one.alternative.parts), len(one.alternative.keys)), default=None)


def _answered(
    scenario: Drawn,
    each: Alternative,
    base: Sequence[Cost],
    seconds: float,
    target: Target | None,
    pool: Workers,
    known: Sequence[Cost] = (),
) -> Answered:
    changed, begun = each_changed(scenario, each.change), time.monotonic()
    costs = list(known)
    for cost in costs_of(changed, len(base), pool, len(costs)):
        costs.append(cost)
        if len(costs) >= 20 and time.monotonic() - begun > seconds:
            break
    differences = tuple(difference(one, base[: len(costs)], costs) for one in MEASURES)
    return Answered(each, tuple(costs), differences, None if target is None else target.met(costs))


def difference(measure: Measure, base: Sequence[Cost], costs: Sequence[Cost]) -> Difference:
    """A measure beside the same draws of the night as it was; the interval covers the median difference in 95 of 100 nights."""
    before, after = [measure.of(cost) for cost in base], [measure.of(cost) for cost in costs]
    steps = sorted(late - early for early, late in zip(before, after, strict=True))
    reach = round(0.98 * sqrt(len(steps)))
    middle = len(steps) // 2
    low, high = steps[max(0, middle - reach)], steps[min(len(steps) - 1, middle + reach)]
    compared = pairs(after, before)
    verdict = (
        "less"
        if compared.beyond_chance(len(MEASURES))
        else "more"
        if pairs(before, after).beyond_chance(len(MEASURES))
        else "same"
    )
    each = Distribution(tuple(sorted(after)))
    return Difference(
        measure.words, shown(each, measure.digits), each.median, median(steps), (low, high), verdict
    )


_WIDTH = 108
_AS_IT_WAS = "as it was"


def night_lines(night: Night) -> Iterator[str]:
    """Who was there, and what was done to them, with the lines that say it."""
    begin = datetime.fromtimestamp(night.begin_ms / 1000, UTC)
    lasted = (night.end_ms - night.begin_ms) / 1000
    topics = (
        ", ".join(f"{name} ({count})" for name, (count, _) in night.topics.items())
        or "no topic that is named"
    )
    yield (
        f"Group {night.group}: {len(night.members)} members, {topics}, Kafka {night.kafka_version}, {night.protocol}; "
        f"{lasted:.0f} s from {begin:%Y-%m-%d %H:%M:%S} UTC"
    )
    for deed in night.deeds:
        who = f" {deed.member}" if deed.member else ""
        give = f" ± {deed.within_ms / 1000:.1f} s" if deed.within_ms else ""
        yield f"  {(deed.at_ms - night.begin_ms) / 1000:7.1f} s{give}  {deed.do}{who}  ({deed.ground})"
    for word, said in (("assumed", night.assumed), ("missing", night.missing), ("left out", night.outside)):
        for sentence in said:
            yield from textwrap.wrap(
                f"{word}: {sentence}", _WIDTH, initial_indent="  ", subsequent_indent="    "
            )


def understanding_cells(understanding: Understanding) -> list[list[str]]:
    """The back-test as cells."""
    rows = [["", "logs", "draws", "agree"]]
    rows += [
        [one.words, one.logs, one.drawn, "–" if one.agrees is None else "yes" if one.agrees else "no"]
        for one in understanding.compared
    ]
    return rows


def answer_cells(answer: Answer, before: str = _AS_IT_WAS) -> list[list[str]]:
    """The alternatives as cells: a row each, a column per measure; ▼ less than ``before``, ▲ more, beyond chance."""
    base = [shown(Distribution(tuple(sorted(map(each.of, answer.base)))), each.digits) for each in MEASURES]
    rows = [["", *(each.words for each in MEASURES)], [before, *base]]
    marks = {"less": " ▼", "more": " ▲", "same": ""}
    rows += [
        [one.alternative.name, *(f"{each.shown}{marks[each.verdict]}" for each in one.differences)]
        for one in answer.answered
    ]
    return rows


def answer_lines(drawn: Drawn, answer: Answer, before: str = _AS_IT_WAS) -> Iterator[str]:
    """The table, the difference of each alternative, its keys, its price and its rollout."""
    cost = "What it would have cost" if before == _AS_IT_WAS else "What it will cost"
    yield f"{cost} ({len(answer.base)} draws, the same for all; median and middle half; ▼ less, ▲ more than {before}, beyond chance):"
    yield aligned(answer_cells(answer, before))
    yield ""
    if not any(
        measure.of(cost) for cost in answer.base for measure in MEASURES if measure.words != "rebalances"
    ):
        yield "Nothing was unread and nothing came twice, as far as these logs tell: there is nothing that another setting could have saved."
        return
    noticed = detection(*([drawn] if isinstance(drawn, Scenario) else drawn))
    yield f"{before.capitalize()}: {mode_of(likeliest(drawn))}; a dead member is noticed after {noticed}."
    for one in answer.answered:
        if not one.alternative.parts or one is answer.cheapest:
            yield from _wrapped(one)
    if answer.target is not None:
        yield target_line(answer, before)


def target_line(answer: Answer, before: str = _AS_IT_WAS) -> str:
    """What meets the target."""
    assert answer.target is not None
    wanted = f"{answer.target.measure.words} < {answer.target.below:g}"
    if answer.target.met(answer.base) >= MOST_OFTEN:
        return f"Target {wanted}: met {before}, in {answer.target.met(answer.base):.0%} of the draws."
    if answer.cheapest is None:
        best = max(answer.answered, key=lambda one: one.meets or 0.0, default=None)
        near = f"; nearest is {best.alternative.name}, in {best.meets or 0:.0%} of the draws" if best else ""
        return f"Target {wanted}: nothing that was tried meets it in {MOST_OFTEN:.0%} of the draws{near}."
    return (
        f"Target {wanted}: {answer.cheapest.alternative.name} meets it in {answer.cheapest.meets or 0:.0%} of the draws "
        f"({'; '.join(answer.cheapest.alternative.keys)})."
    )


def _wrapped(one: Answered) -> Iterator[str]:
    gap = one.differences[1]
    unread = one.differences[0]
    said = (
        f"* {one.alternative.name}: longest gap {gap.by:+.1f} s ({gap.interval[0]:+.1f} to {gap.interval[1]:+.1f}), "
        f"unread {unread.by:+.1f} partition-s ({unread.interval[0]:+.1f} to {unread.interval[1]:+.1f}). "
        f"Set {'; '.join(one.alternative.keys)}. Price: {one.alternative.price}"
    )
    yield from textwrap.wrap(said, _WIDTH, subsequent_indent="    ", break_long_words=False)
    for number, step in enumerate(one.alternative.rollout, 1):
        yield from textwrap.wrap(
            f"{number}. {step}", _WIDTH, initial_indent="    ", subsequent_indent="       "
        )


def as_json(
    night: Night | None, scenario: Scenario, understanding: Understanding | None, answer: Answer | None
) -> dict[str, Any]:
    """Everything as one object."""
    told: dict[str, Any] = {"scenario": scenario.name, "group": scenario.group}
    if night is not None:
        told["night"] = {
            "begin_ms": night.begin_ms,
            "end_ms": night.end_ms,
            "protocol": night.protocol,
            "kafka_version": night.kafka_version,
            "members": sorted(night.members),
            "deeds": [
                {
                    "at_ms": one.at_ms,
                    "within_ms": one.within_ms,
                    "do": one.do,
                    "member": one.member,
                    "ground": str(one.ground),
                }
                for one in night.deeds
            ],
            "assumed": night.assumed,
            "missing": night.missing,
            "left out": night.outside,
        }
    if understanding is not None:
        told["understood"] = {
            "enough": understanding.enough,
            "sentence": understanding.sentence,
            "draws": len(understanding.costs),
            "measures": [
                {"measure": one.words, "logs": one.logs, "draws": one.drawn, "agrees": one.agrees}
                for one in understanding.compared
            ],
        }
    if answer is not None:
        told["alternatives"] = [
            {
                "name": one.alternative.name,
                "keys": list(one.alternative.keys),
                "price": one.alternative.price,
                "rollout": list(one.alternative.rollout),
                "draws": len(one.costs),
                "measures": {
                    each.words: {
                        "median": round(each.median, 3),
                        "difference": round(each.by, 3),
                        "interval": [round(end, 3) for end in each.interval],
                        "verdict": each.verdict,
                    }
                    for each in one.differences
                },
                **({} if one.meets is None else {"meets_target": round(one.meets, 3)}),
            }
            for one in answer.answered
        ]
        if answer.target is not None:
            told["target"] = target_line(answer)
    return told


def markdown(
    night: Night | None,
    understanding: Understanding | None,
    scenario: Scenario,
    answer: Answer | None,
    title: str = "",
    before: str = _AS_IT_WAS,
) -> str:
    """A section to paste into a postmortem, or into a plan."""
    lines = [f"## {unmarked(title or f'What it would have cost otherwise: {scenario.group}')}", ""]
    if night is not None:
        lines += [
            *(f"    {visible(line)}" for line in night_lines(night)),
            "",
        ]  # no line of it ends the block
    if understanding is not None:
        lines += [unmarked(understanding.sentence), "", *_pipes(understanding_cells(understanding)), ""]
    if answer is not None:
        lines += [
            *_pipes(answer_cells(answer, before)),
            "",
            f"{len(answer.base)} draws, the same for all; median (middle half).",
            "",
        ]
        for one in answer.answered:
            lines += [
                f"- **{unmarked(one.alternative.name)}**: `{'`, `'.join(one.alternative.keys)}`. {unmarked(one.alternative.price)}"
            ]
        if answer.target is not None:
            lines += ["", unmarked(target_line(answer, before))]
    return "\n".join(lines) + "\n"


def _pipes(cells: list[list[str]]) -> list[str]:
    rows = [f"| {' | '.join(map(unmarked, row))} |" for row in cells]
    return [rows[0], "|" + "---|" * len(cells[0]), *rows[1:]]
