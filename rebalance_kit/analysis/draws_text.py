"""The draws of a scenario in words: the table of medians, what differs and what does not, JSON, progress."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TextIO

from rebalance_kit.analysis.draws import FIRST_DRAWS, Distribution, Draws, verdict
from rebalance_kit.analysis.metrics import ABSENT, MEASURES, Measure, Metrics, aligned
from rebalance_kit.simulation.scenario.expansion import has_windows
from rebalance_kit.simulation.scenario.scenario import Scenario


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
