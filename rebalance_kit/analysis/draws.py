"""One scenario drawn many times under several protocols: each measure's distribution, what differs, and both in words.

Two columns of the same draws are compared pair by pair (``pairs``). The test is the sign test: without a difference each of two runs of a draw has less with probability 1/2. It needs no
distribution, only pairs. ``clear`` asks for one thing more: the median difference is larger than the middle half of either
column is wide. Otherwise the moment of a crash changes a cost by more than the protocol does, however surely one is less
on average.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import comb
from statistics import median, quantiles
from typing import NamedTuple, TextIO

from rebalance_kit.analysis.metrics import ABSENT, MEASURES, Measure, Metrics, aligned, measure
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.scenario.expansion import has_windows
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate

DRAWS = 200
"""Draws of a small scenario; a large one has fewer (``default_draws``)."""
MOST_DRAWS = 10_000
FIRST_DRAWS = 20
"""After so many draws a first answer is shown."""
SECONDS = 30.0
"""No draw begins after this many seconds, unless the caller says otherwise."""
_SMALL = 10_000
"""Partitions times seconds times members up to which a scenario is drawn ``DRAWS`` times."""

Progress = Callable[["Draws"], None]


@dataclass(frozen=True, slots=True)
class Distribution:
    """One measure over the draws under one protocol; ``values`` rise, ``absent`` counts draws where it did not occur."""

    values: tuple[float, ...]
    absent: int = 0

    def quantile(self, share: float) -> float:
        """The value below which ``share`` (0 to 1) of the draws lie, on straight lines between neighbours.

        >>> Distribution((1.0, 2.0, 3.0)).quantile(0.5)
        2.0
        """
        at = share * (len(self.values) - 1)
        left = int(at)
        right = min(left + 1, len(self.values) - 1)
        return self.values[left] + (self.values[right] - self.values[left]) * (at - left)

    @property
    def median(self) -> float:
        """Half of the draws lie below."""
        return self.quantile(0.5)

    @property
    def middle_half(self) -> tuple[float, float]:
        """Lower and upper quartile."""
        return self.quantile(0.25), self.quantile(0.75)

    def percentile_of(self, value: float) -> float:
        """The share of the draws (0 to 100) below ``value``, draws equal to it counted by half.

        >>> Distribution((1.0, 2.0, 3.0)).percentile_of(2.0)
        50.0
        """
        below = sum(each < value for each in self.values)
        equal = sum(each == value for each in self.values)
        return 100 * (below + equal / 2) / len(self.values)


@dataclass(frozen=True, slots=True)
class Draws:
    """Metrics of a scenario's draws by label; every label has the same seeds."""

    scenario: str
    wanted: int
    metrics: Mapping[str, tuple[Metrics, ...]]
    seconds: float = 0.0

    @property
    def count(self) -> int:
        """Draws that are done."""
        return len(next(iter(self.metrics.values()), ()))

    @property
    def labels(self) -> tuple[str, ...]:
        """The protocols compared."""
        return tuple(self.metrics)

    def distribution(self, of: Callable[[Metrics], float | None], label: str) -> Distribution | None:
        """The distribution of a measure under a protocol; None where it occurred in no draw."""
        values = [of(metrics) for metrics in self.metrics[label]]
        found = sorted(value for value in values if value is not None)
        return Distribution(tuple(found), len(values) - len(found)) if found else None


def default_draws(scenario: Scenario) -> int:
    """How often a scenario is drawn when nobody says: ``DRAWS``, or fewer the larger it is, at least 20."""
    partitions = sum(topic.partitions for topic in scenario.topics)
    size = partitions * max(1, len(scenario.members)) * scenario.end_ms / 1000
    return DRAWS if size <= _SMALL else max(FIRST_DRAWS, round(DRAWS * _SMALL / size))


def check_draws(count: int) -> int:
    """Return ``count``; raises ``ScenarioError`` where so many draws make no distribution or take hours."""
    if not 2 <= count <= MOST_DRAWS:
        raise ScenarioError(
            f"{count} draws received; expected 2 to {MOST_DRAWS} (default: {DRAWS} for a small scenario)"
        )
    return count


def draw(
    scenario: Scenario,
    protocols: Mapping[str, str | None],
    count: int | None = None,
    *,
    seconds: float = SECONDS,
    on_progress: Progress | None = None,
    variants: Mapping[str, Scenario] | None = None,
) -> Draws:
    """Simulate and measure a scenario under each protocol, ``count`` times with the seeds 1, 2, 3 and so on.

    ``protocols`` maps a label to a protocol of ``PROTOCOLS`` (None: as the scenario says); ``variants`` are scenarios with
    other settings for some of the labels. Stops early after
    ``seconds`` (at least two draws are made) or at an interrupt, and returns what is done by then: ``count`` of the
    result says how many. ``on_progress`` is called after every draw. Raises ``ScenarioError`` for a count outside
    2 to 10,000 and whatever ``simulate`` raises.
    """
    wanted = check_draws(default_draws(scenario) if count is None else count)
    metrics: dict[str, tuple[Metrics, ...]] = dict.fromkeys(protocols, ())
    begun = time.monotonic()
    so_far = Draws(scenario.name, wanted, metrics)
    try:
        for measured in _measured(scenario, protocols, wanted, variants or {}):
            metrics = {label: (*metrics[label], one) for label, one in measured.items()}
            so_far = Draws(scenario.name, wanted, metrics, time.monotonic() - begun)
            if on_progress is not None:
                on_progress(so_far)
            if so_far.count >= 2 and so_far.seconds > seconds:
                break
    except KeyboardInterrupt:
        if so_far.count < 2:
            raise
    return so_far


def _measured(
    scenario: Scenario, protocols: Mapping[str, str | None], count: int, variants: Mapping[str, Scenario]
) -> Iterator[dict[str, Metrics]]:
    with without_collector() as tick:
        for seed in range(1, count + 1):
            traces = [
                simulate(variants.get(label, scenario), seed, protocol)
                for label, protocol in protocols.items()
            ]
            yield dict(zip(protocols, measure(traces), strict=True))
            tick()


# --- what the draws say ---------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Verdict:
    """Labels in rising order of their medians; those of one group do not differ (their middle halves overlap)."""

    groups: tuple[tuple[str, ...], ...] = field(default=())

    @property
    def least(self) -> str | None:
        """The one label that is clearly least; None where several are, or none differ."""
        return self.groups[0][0] if len(self.groups) > 1 and len(self.groups[0]) == 1 else None

    @property
    def words(self) -> str:
        """``no difference``, or the order: ``cooperative, consumer < eager``."""
        if len(self.groups) < 2:
            return "no difference" if self.groups else ABSENT
        return " < ".join(", ".join(group) for group in self.groups)


def verdict(draws: Draws, each: Measure) -> Verdict:
    """Which protocols differ in a measure.

    Those are left out in whose draws it never occurred, or in which it means something else than under the first.
    """
    alike = [
        label for label in draws.labels if _kind(draws, each, label) == _kind(draws, each, draws.labels[0])
    ]
    found = {label: draws.distribution(each.of, label) for label in alike}
    known = {label: one for label, one in found.items() if one is not None}
    if len(known) < 2:
        return Verdict()
    ordered = sorted(known, key=lambda label: known[label].median)
    groups = [[ordered[0]]]
    for before, label in pairwise(ordered):
        upper = max(known[one].middle_half[1] for one in groups[-1])
        if known[label].middle_half[0] > upper and known[label].median > known[before].median:
            groups.append([label])
        else:
            groups[-1].append(label)
    return Verdict(tuple(tuple(label for label in draws.labels if label in group) for group in groups))


def _kind(draws: Draws, each: Measure, label: str) -> str | None:
    return None if each.kind is None or not draws.count else each.kind(draws.metrics[label][0])


def draws_head(scenario: Scenario, draws: Draws) -> str:
    """How many draws were made, and what is drawn in them."""
    made = f"{draws.count} draws" if draws.count >= draws.wanted else f"{draws.count} of {draws.wanted} draws"
    if has_windows(scenario):
        return f"{made} under each protocol; moments and latencies are drawn, the same moments for all protocols:"
    return f"{made} under each protocol; latencies are drawn, every moment of this scenario is fixed:"


def draws_table(draws: Draws) -> str:
    """Median and middle half of each measure under each protocol, and who differs, as plain text."""
    return aligned(draws_cells(draws))


def draws_cells(draws: Draws) -> list[list[str]]:
    """The same as cells: a head of labels, then a row per measure that occurred."""
    rows: list[list[str]] = [["median (middle half)", *draws.labels, "which differ"]]
    for each in MEASURES:
        cells = [_cell(each, draws.distribution(each.of, label)) for label in draws.labels]
        if any(cell != ABSENT for cell in cells):
            rows.append([each.words, *cells, verdict(draws, each).words])
    return rows


def _cell(each: Measure, found: Distribution | None) -> str:
    if found is None:
        return ABSENT
    low, high = (each.shown(value) for value in found.middle_half)
    middle = each.shown(found.median)
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def draws_sentences(draws: Draws) -> tuple[str, ...]:
    """What the draws support and what they do not, in words."""
    said = [f"{_how_many(draws)} Moments without a rule are drawn; every draw is the same for all protocols."]
    same = [
        each.words
        for each in MEASURES
        if verdict(draws, each).words == "no difference" and _varies(draws, each)
    ]
    if same:
        said.append(f"No difference between the protocols (their middle halves overlap): {'; '.join(same)}.")
    for each in MEASURES:
        groups = verdict(draws, each).groups
        if len(groups) > 1:
            said.append(f"{each.words}: {_order(draws, each, groups)}.")
    return tuple(said)


def _how_many(draws: Draws) -> str:
    if draws.count < draws.wanted:
        return f"{draws.count} of {draws.wanted} draws were made."
    return f"{draws.count} draws."


def _varies(draws: Draws, each: Measure) -> bool:
    found = (draws.distribution(each.of, label) for label in draws.labels)
    return any(one is not None and one.values[0] != one.values[-1] for one in found)


def _order(draws: Draws, each: Measure, groups: Sequence[Sequence[str]]) -> str:
    said = []
    for group in groups:
        medians = {label: draws.distribution(each.of, label) for label in group}
        shown = {label: each.shown(drawn.median) for label, drawn in medians.items() if drawn is not None}
        if len(set(shown.values())) == 1:
            said.append(f"{', '.join(shown)} {next(iter(shown.values()))}")
        else:
            said.append(", ".join(f"{label} {median}" for label, median in shown.items()))
    return "; then ".join(said)


def draws_as_json(draws: Draws) -> dict[str, object]:
    """Counts, and per label and measure: least, quartiles, greatest, and in how many draws it did not occur."""
    return {
        "count": draws.count,
        "wanted": draws.wanted,
        "seconds": round(draws.seconds, 2),
        "measures": {
            each.words: {
                **{label: _quantiles(draws.distribution(each.of, label)) for label in draws.labels},
                "which differ": verdict(draws, each).words,
            }
            for each in MEASURES
        },
    }


def _quantiles(found: Distribution | None) -> dict[str, float] | None:
    if found is None:
        return None
    names = {"least": 0.0, "lower quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "greatest": 1.0}
    return {**{name: round(found.quantile(at), 3) for name, at in names.items()}, "absent": found.absent}


class DrawProgress:
    """Shows on a terminal how many draws are done, and after the first twenty a first table."""

    def __init__(self, terminal: TextIO) -> None:
        self._terminal = terminal

    def __call__(self, draws: Draws) -> None:
        """Take note of one more draw."""
        if draws.count == FIRST_DRAWS < draws.wanted:
            self.clear()
            self._terminal.write(f"\nafter {draws.count} draws:\n\n{draws_table(draws)}\n\n")
        self._terminal.write(f"\r{draws.count} of {draws.wanted} draws (Ctrl-C shows what is known)")
        self._terminal.flush()

    def clear(self) -> None:
        """Wipe the line of progress."""
        self._terminal.write("\r\x1b[K")
        self._terminal.flush()


STRIP = 60
"""Columns of a strip."""


def strips(
    draws: Draws, of: Callable[[Metrics], float | None], words: str, recorded: Mapping[str, Sequence[float]]
) -> list[str]:
    """A measure as a picture of text: per label a strip of the draws, with the recorded values as R.

    ``-`` from the least to the greatest draw, ``=`` the middle half, ``|`` the median. All strips have one scale from 0.
    """
    found = {label: draws.distribution(of, label) for label in draws.labels}
    most = max(
        [each.values[-1] for each in found.values() if each is not None]
        + [value for values in recorded.values() for value in values]
        + [1e-9]
    )

    def column(value: float) -> int:
        return round(value / most * (STRIP - 1))

    wide = max(map(len, found))
    lines = [f"{words} (- all draws, = middle half, | median, R recorded)"]
    for label, each in found.items():
        cells = [" "] * STRIP
        if each is not None:
            for sign, low, high in (("-", 0.0, 1.0), ("=", 0.25, 0.75), ("|", 0.5, 0.5)):
                first, last = column(each.quantile(low)), column(each.quantile(high))
                cells[first : last + 1] = sign * (last + 1 - first)
        for value in recorded.get(label, ()):
            cells[column(value)] = "R"
        lines.append(f"{label:<{wide}}  {''.join(cells)}".rstrip())
    lines.append(f"{'':<{wide}}  0{f'{most:.1f} s':>{STRIP - 1}}")
    return lines


LEVEL = 0.01
"""Greatest probability of such signs by chance, divided by the number of comparisons that are made (Bonferroni)."""

Values = Sequence[float | None]


class Pairs(NamedTuple):
    """Draws in which both columns have a value: how often the first has less, as much, more.

    ``by`` is the median of second less first, ``spread`` the wider of the two middle halves, both in the measure's unit.
    """

    less: int
    same: int
    more: int
    by: float
    spread: float

    @property
    def total(self) -> int:
        """All pairs."""
        return self.less + self.same + self.more

    @property
    def chance(self) -> float:
        """Two-sided probability of such signs, or clearer ones, where nothing differs (sign test; ties are left out).

        >>> Pairs(10, 0, 0, 1.0, 0.0).chance, Pairs(0, 5, 0, 0.0, 0.0).chance
        (0.001953125, 1.0)
        """
        told = self.less + self.more
        tail = sum(comb(told, k) for k in range(min(self.less, self.more) + 1))
        return min(1.0, 2 * tail / float(2**told))

    def beyond_chance(self, comparisons: int = 1) -> bool:
        """Whether the first column has less more often than chance would have it."""
        return self.less > self.more and self.chance * comparisons < LEVEL

    def clear(self, comparisons: int = 1) -> bool:
        """Whether the first column has less beyond chance, and by more than the draws of one column differ."""
        return self.beyond_chance(comparisons) and self.by > self.spread


def pairs(first: Values, second: Values) -> Pairs:
    """Compare two columns of the same draws in their order.

    >>> pairs([1.0, 2.0, None], [2.0, 2.0, 5.0])
    Pairs(less=1, same=1, more=0, by=0.5, spread=0.5)
    """
    both = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return Pairs(
        sum(a < b for a, b in both),
        sum(a == b for a, b in both),
        sum(a > b for a, b in both),
        median(b - a for a, b in both) if both else 0.0,
        max((_middle_half([pair[side] for pair in both]) for side in (0, 1)), default=0.0),
    )


def _middle_half(values: Sequence[float]) -> float:
    """How far the upper quartile lies above the lower one."""
    if len(values) < 2:
        return 0.0
    lower, _, upper = quantiles(values, n=4, method="inclusive")
    return upper - lower


def least(columns: Sequence[Values], comparisons: int = 1) -> int | None:
    """Which column has clearly less than every other one; None where none has."""
    for place, column in enumerate(columns):
        others = [other for number, other in enumerate(columns) if number != place]
        if others and all(pairs(column, other).clear(comparisons) for other in others):
            return place
    return None
