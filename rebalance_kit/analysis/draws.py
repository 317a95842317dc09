"""One scenario drawn many times under several protocols: the distribution of each measure, and what differs.

Every draw has its own seed, so its own moments and latencies; one seed is shared by all protocols, so that they face
the same crash at the same moment. A difference counts only where the middle halves (from the lower to the upper
quartile) do not overlap.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from rebalance_kit.analysis.collector import without_collector
from rebalance_kit.analysis.comparison import measure
from rebalance_kit.analysis.metrics import ABSENT, Measure, Metrics
from rebalance_kit.model.errors import ScenarioError
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
