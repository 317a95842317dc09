"""``rebalance-kit what-if``: logs (or a scenario that was made of them) in, the answer out."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TextIO

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import check_draws
from rebalance_kit.analysis.metrics import aligned
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import visible
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.whatif.night import Night
from rebalance_kit.whatif.read import nights
from rebalance_kit.whatif.scenario import commented, scenario_of
from rebalance_kit.whatif.text import (
    Answer,
    answer_cells,
    answer_lines,
    as_json,
    ask,
    check_seconds,
    markdown,
    night_lines,
    target_of,
    understanding_cells,
)
from rebalance_kit.whatif.understanding import (
    DRAWS,
    FIRST_DRAWS,
    MEASURES,
    Understanding,
    Workers,
    back_test,
    costs_of,
    placed,
    understood,
    workers,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted beside the answer on the screen."""

    group: str | None = None
    draws: int = DRAWS
    seconds: float = 60.0
    target: str | None = None
    scenario: Path | None = None
    markdown: Path | None = None
    as_json: bool = False
    page: Path | None = None


Page = Callable[[Path, str, Sequence[Trace]], object]
"""Writes runs, one under the other on one clock, to a page with that title."""


def run_what_if(
    paths: Sequence[str], asked: Asked, out: TextIO, said: TextIO | None = None, page: Page | None = None
) -> int:
    """Answer for every group of the logs; 0, or 3 where some night is not understood well enough for a counterfactual.

    ``said`` is told how it goes on. Raises ``DataError`` for what cannot be read.
    """
    check_draws(asked.draws)
    check_seconds(asked.seconds)
    if asked.target is not None:
        target_of(asked.target)
    texts, status = [], 0
    for night, scenario in _asked_of(paths, asked.group):
        progress = _Progress(said, scenario.group)
        with without_collector(), workers(asked.draws) as pool:
            understanding, answer = _answered(night, scenario, asked, progress, pool)
        status = 3 if answer is None else status
        progress.clear()
        if asked.page is not None and page is not None and answer is not None:
            page(
                asked.page,
                f"{scenario.group}: as it was, and as it would have been",
                runs_of(scenario, answer),
            )
        if asked.scenario is not None:
            text = write_scenario(scenario) if night is None else commented(night, scenario)
            write_atomically(asked.scenario, text)
        texts.append(markdown(night, understanding, scenario, answer))
        if asked.as_json:
            print(json.dumps(as_json(night, scenario, understanding, answer), ensure_ascii=False), file=out)
        else:
            _print(night, scenario, understanding, answer, out)
    if asked.markdown is not None:
        write_atomically(asked.markdown, "\n".join(texts))
    return status


def _answered(
    night: Night | None, scenario: Scenario, asked: Asked, progress: _Progress, pool: Workers
) -> tuple[Understanding | None, Answer | None]:
    """The back-test, and the answer where it allows one; a person at a terminal sees one of a few draws at once."""
    problem = _refused(scenario) if night is not None else None
    if night is not None and problem is not None:
        night.missing.append(f"a scenario that the engine accepts: {problem}")
        return Understanding((), (), 0.0, tuple(night.missing)), None
    few = min(FIRST_DRAWS, asked.draws)
    costs, first = list(costs_of(scenario, few, pool)), None
    if progress.shown and few < asked.draws and (night is None or understood(night, costs).enough):
        first = ask(scenario, costs, pool=pool)
        progress.first(scenario, first)
    if night is None:
        understanding = None
        costs += costs_of(scenario, asked.draws, pool, few)
    else:
        understanding = back_test(
            night,
            scenario,
            asked.draws,
            seconds=asked.seconds / 2,
            pool=pool,
            known=costs,
            on_draw=progress.draw,
        )
        if not understanding.enough:
            return understanding, None
        costs = list(understanding.costs)
    target = None if asked.target is None else target_of(asked.target)
    return understanding, ask(
        scenario, costs, target=target, seconds=asked.seconds, first=first, pool=pool, on_done=progress.done
    )


def _refused(scenario: Scenario) -> RebalanceKitError | None:
    try:
        check(scenario)
    except RebalanceKitError as error:
        return error
    return None


def runs_of(scenario: Scenario, answer: Answer) -> list[Trace]:
    """The night as it was, in the draw whose unread time is the median, and the two alternatives that leave least unread in the same draw."""
    unread = MEASURES[0].of
    order = sorted(range(len(answer.base)), key=lambda place: (unread(answer.base[place]), place))
    seed = order[(len(order) - 1) // 2] + 1
    best = sorted(answer.answered, key=lambda one: one.differences[0].median)[:2]
    each = [
        ("as it was", scenario),
        *((one.alternative.name, one.alternative.change(scenario)) for one in best),
    ]
    return [replace(simulate(placed(one, seed), seed), label=name) for name, one in each]


def _asked_of(paths: Sequence[str], group: str | None) -> list[tuple[Night | None, Scenario]]:
    if len(paths) == 1 and (paths[0].endswith((".yaml", ".yml")) or not Path(paths[0]).exists()):
        return [(None, scenarios.scenario(paths[0]))]
    return [(night, scenario_of(night)) for night in nights(paths, group)]


class _Progress:
    """A line that says what is being drawn, and the first answer above it."""

    def __init__(self, said: TextIO | None, group: str) -> None:
        self._said, self._group = said, group

    @property
    def shown(self) -> bool:
        """Whether somebody watches."""
        return self._said is not None

    def first(self, scenario: Scenario, answer: Answer) -> None:
        """Show the answer of the first draws, which the whole one will stand below."""
        head = f"{scenario.group}: first answer, {len(answer.base)} draws:"
        self._write(f"{head}\n{aligned(answer_cells(answer))}\n\n")

    def draw(self, number: int) -> None:
        """A draw of the back-test is done."""
        if number % 10 == 0:
            self._write(f"{self._group}: back-test, {number} draws")

    def done(self, name: str) -> None:
        """An alternative is drawn."""
        self._write(f"{self._group}: {name}")

    def clear(self) -> None:
        """Wipe the line."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._said is not None:
            self._said.write(f"\r\x1b[K{visible(text)}")
            self._said.flush()


def _print(
    night: Night | None,
    scenario: Scenario,
    understanding: Understanding | None,
    answer: Answer | None,
    out: TextIO,
) -> None:
    if night is not None:
        print("\n".join(night_lines(night)), file=out)
    if understanding is not None:
        print(f"\n{understanding.sentence}", file=out)
        if understanding.compared:
            print(aligned(understanding_cells(understanding)), file=out)
    elif night is None:
        print(f"{scenario.name}: a scenario, so there are no logs to hold it against", file=out)
    if answer is not None:
        print("", *answer_lines(scenario, answer), sep="\n", file=out)
    print(file=out)
