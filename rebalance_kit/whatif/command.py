"""``rebalance-kit what-if``: logs (or a scenario that was made of them) in, the answer out.

``Desk`` answers one wish after the other, as sliders move: the page without installation and the notebook ask it the same way.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import Distribution, check_draws
from rebalance_kit.analysis.metrics import aligned
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import visible
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.whatif.alternatives import (
    detection,
    mode_of,
    session_and_beat,
    static_members,
    with_clocks,
    with_configs,
)
from rebalance_kit.whatif.lives import Night
from rebalance_kit.whatif.read import nights
from rebalance_kit.whatif.scenario import commented, scenarios_of
from rebalance_kit.whatif.text import (
    Answer,
    Sweep,
    answer_cells,
    answer_lines,
    as_json,
    ask,
    check_seconds,
    difference,
    markdown,
    night_lines,
    target_of,
    understanding_cells,
)
from rebalance_kit.whatif.understanding import (
    DRAWS,
    FIRST_DRAWS,
    MEASURES,
    Cost,
    Drawn,
    Understanding,
    Workers,
    back_test,
    cost_of,
    costs_of,
    each_changed,
    first_deed,
    likeliest,
    of_draw,
    placed,
    shown,
    under,
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
    #: Draws a large search elsewhere.
    sweep: Sweep | None = None


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
    for night, drawn in _asked_of(paths, asked.group):
        scenario = likeliest(drawn)
        progress = _Progress(said, scenario.group)
        with without_collector(), workers(asked.draws) as pool:
            understanding, answer = _answered(night, drawn, asked, progress, pool)
        status = 3 if answer is None else status
        progress.clear()
        if asked.page is not None and page is not None and answer is not None:
            page(
                asked.page, f"{scenario.group}: as it was, and as it would have been", runs_of(drawn, answer)
            )
        if asked.scenario is not None:
            text = write_scenario(scenario) if night is None else commented(night, scenario)
            write_atomically(asked.scenario, text)
        texts.append(markdown(night, understanding, scenario, answer))
        if asked.as_json:
            print(json.dumps(as_json(night, scenario, understanding, answer), ensure_ascii=False), file=out)
        else:
            _print(night, drawn, understanding, answer, out)
    if asked.markdown is not None:
        write_atomically(asked.markdown, "\n".join(texts))
    return status


def _answered(
    night: Night | None, scenario: Drawn, asked: Asked, progress: _Progress, pool: Workers
) -> tuple[Understanding | None, Answer | None]:
    """The back-test, and the answer where it allows one; a person at a terminal sees one of a few draws at once."""
    if night is not None and (night.unknown or (problem := _refused(likeliest(scenario))) is not None):
        if not night.unknown:
            night.missing.append(f"a scenario that the engine accepts: {problem}")
        return Understanding((), (), 0.0, tuple(night.missing), night.unknown), None
    few = min(FIRST_DRAWS, asked.draws)
    costs, first = list(costs_of(scenario, few, pool)), None
    if progress.shown and few < asked.draws and (night is None or understood(night, costs).enough):
        first = ask(scenario, costs, pool=pool)
        progress.first(first)
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
        scenario,
        costs,
        target=target,
        seconds=asked.seconds,
        first=first,
        pool=pool,
        sweep=asked.sweep,
        on_done=progress.done,
    )


def _refused(scenario: Scenario) -> RebalanceKitError | None:
    try:
        check(scenario)
    except RebalanceKitError as error:
        return error
    return None


def runs_of(drawn: Drawn, answer: Answer) -> list[Trace]:
    """The night as it was, in the draw whose unread time is the median, and the two alternatives that leave least unread in the same draw."""
    unread = MEASURES[0].of
    order = sorted(range(len(answer.base)), key=lambda place: (unread(answer.base[place]), place))
    seed = order[(len(order) - 1) // 2] + 1
    best = sorted(answer.answered, key=lambda one: one.differences[0].median)[:2]
    each = [
        ("as it was", of_draw(drawn, seed)),
        *((one.alternative.name, one.alternative.change(of_draw(drawn, seed))) for one in best),
    ]
    return [replace(simulate(placed(one, seed), seed), label=name) for name, one in each]


def _asked_of(paths: Sequence[str], group: str | None) -> list[tuple[Night | None, Drawn]]:
    if len(paths) == 1 and (paths[0].endswith((".yaml", ".yml")) or not Path(paths[0]).exists()):
        return [(None, scenarios.scenario(paths[0]))]
    return [(night, scenarios_of(night)) for night in nights(paths, group)]


# --- sliders ---------------------------------------------------------------------------------------------

STEP_S = 0.1
"""About how long one answer draws."""
WANTED = 60
"""Draws after which an answer is as good as it gets while somebody waits."""
CONTROLS: Mapping[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "protocol": ("protocol", (("eager", "eager"), ("cooperative", "cooperative"), ("consumer", "KIP-848"))),
    "static": ("static members", (("no", "no"), ("yes", "yes"))),
    "session": (
        "session timeout",
        tuple((str(s * 1_000), f"{s} s") for s in (6, 10, 15, 20, 30, 45, 60, 120)),
    ),
    "heartbeat": ("heartbeat interval", tuple((str(s * 1_000), f"{s} s") for s in (1, 2, 3, 5, 10))),
    "poll": ("poll limit", tuple((str(s * 1_000), f"{s} s") for s in (10, 30, 60, 120, 300, 600, 1_200))),
}
"""What can be set, each with its values in order; a value that the night has and that is not among them is set in its place."""


class Desk:
    """A night at which settings are tried; each answer draws for ``STEP_S`` and goes on where the last one stopped.

    The logs are read when the first wish comes, so that what is wrong with them is an answer too.
    """

    def __init__(self, *paths: str | Path) -> None:
        self.paths = [str(path) for path in paths]
        self._nights: list[Night] = []
        self._kept: dict[tuple[tuple[str, str], ...], list[Cost]] = {}

    def choose(self, group: str | None = None) -> None:
        """Go to the night of a group, or to the first one; raises ``DataError`` for what cannot be read, or a group that is not told of."""
        self._nights = self._nights or nights(self.paths)
        found = [night for night in self._nights if group in {None, night.group}]
        if not found:
            named = ", ".join(night.group for night in self._nights)
            raise DataError(f"group {group!r} is in none of these logs; expected one of {named}")
        self.night, self.drawn = found[0], scenarios_of(found[0])
        self._kept = {}

    def hear(self, text: str) -> str:
        """Answer a wish as JSON: ``{"group": …}`` tells of a night, ``{"set": {control: value}}`` draws it; what is wrong comes as ``refused``."""
        try:
            asked = json.loads(text)
            if "group" in asked or not self._nights:
                self.choose(asked.get("group"))
            if "set" not in asked:
                return json.dumps(self.told(), ensure_ascii=False)
            wish = {str(key): str(value) for key, value in asked["set"].items()}
            return json.dumps(self.answer(wish), ensure_ascii=False)
        except (RebalanceKitError, ValueError, KeyError, TypeError, AttributeError) as problem:
            return json.dumps({"refused": str(problem)}, ensure_ascii=False)

    def told(self) -> dict[str, Any]:
        """The night in words, and the controls with the value that it had (None where no line tells one)."""
        now = _present(self.drawn)
        controls = []
        for key, (words, values) in CONTROLS.items():
            each = [list(value) for value in values]
            had = now[key]
            if had is not None and had not in dict(values):
                each = sorted([*each, [had, f"{int(had) / 1000:g} s"]], key=lambda one: int(one[0]))
            controls.append({"key": key, "words": words, "values": each, "now": now[key]})
        return {
            "groups": [night.group for night in self._nights],
            "group": self.night.group,
            "lines": list(night_lines(self.night)),
            "controls": controls,
        }

    def answer(self, wish: Mapping[str, str], seconds: float = STEP_S) -> dict[str, Any]:
        """Draw the night as it was and as it is wished, in turn, for about so long; what is known by then.

        No counterfactual is told of a night that is not understood.
        """
        wish = {key: value for key, value in wish.items() if value != _present(self.drawn).get(key)}
        if self.night.unknown:
            raise DataError(
                Understanding((), (), 0.0, tuple(self.night.missing), self.night.unknown).sentence
            )
        problem = _refused(likeliest(self.drawn))
        if problem is not None:
            raise DataError(f"the night cannot be drawn: {problem}")
        changed = each_changed(self.drawn, lambda one: _wished(one, wish))
        for one in [changed] if isinstance(changed, Scenario) else changed:
            check(one)
        base, costs = self._kept.setdefault((), []), self._kept.setdefault(tuple(sorted(wish.items())), [])
        begun = time.monotonic()
        with without_collector():
            while len(costs) < WANTED or len(base) < WANTED:
                ahead = base if len(base) <= len(costs) else costs
                ahead.append(cost_of(self.drawn if ahead is base else changed, len(ahead) + 1))
                if time.monotonic() - begun >= seconds and len(base) > 1 and len(costs) > 1:
                    break
        understanding = understood(self.night, base)
        both = min(len(base), len(costs))
        rows = []
        for each in MEASURES:
            row = {
                "words": each.words,
                "base": shown(Distribution(tuple(sorted(map(each.of, base)))), each.digits),
            }
            if understanding.enough:
                told = difference(each, base[:both], costs[:both])
                row |= {"wished": told.shown, "by": f"{told.by:+.{each.digits}f}", "verdict": told.verdict}
            rows.append(row)
        return {
            "draws": both,
            "wanted": WANTED,
            "understood": understanding.enough,
            "sentence": understanding.sentence,
            "holds": _present(changed),
            "detection": detection(*([changed] if isinstance(changed, Scenario) else changed)),
            "rows": rows,
            "markdown": _pasted(rows, both, wish),
            "links": [
                self._link(self.drawn),
                *([self._link(changed)] if wish and understanding.enough else []),
            ],
        }

    def _link(self, drawn: Drawn) -> str:
        """The first draw in the lab, from its first deed on."""
        placed_there = placed(of_draw(drawn, 1), 1)
        return write_link(Link(placed_there, max(0, first_deed(placed_there) - 1_000), seed=1))


def _pasted(rows: Sequence[Mapping[str, str]], draws: int, wish: Mapping[str, str]) -> str:
    """The table of a desk for a postmortem."""
    named = ", ".join(
        f"{CONTROLS[key][0]} {dict(CONTROLS[key][1]).get(value, value)}" for key, value in wish.items()
    )
    lines = [f"| | as it was | {named or 'the same'} | difference |", "|---|---|---|---|"]
    lines += [
        f"| {row['words']} | {row['base']} | {row.get('wished', '–')} | {row.get('by', '–')} |"
        for row in rows
    ]
    return "\n".join([*lines, "", f"{draws} draws, the same for both; median (middle half)."]) + "\n"


def _present(drawn: Drawn) -> dict[str, str | None]:
    """The value of each control in a night; None where its scenarios differ."""
    each = [_values(one) for one in ([drawn] if isinstance(drawn, Scenario) else drawn)]
    return {key: each[0][key] if len({one[key] for one in each}) == 1 else None for key in CONTROLS}


def _values(scenario: Scenario) -> dict[str, str]:
    session, beat = session_and_beat(scenario)
    configs = [
        ClientConfig.of(one.configs, scenario.kafka_version, client=one.client) for one in scenario.members
    ]
    static = all("group.instance.id" in one.configs for one in scenario.members)
    return {
        "protocol": mode_of(scenario),
        "static": "yes" if static else "no",
        "session": str(session),
        "heartbeat": str(beat),
        "poll": str(max(one.max_poll_interval_ms for one in configs)),
    }


def _wished(scenario: Scenario, wish: Mapping[str, str]) -> Scenario:
    """The night with controls set; raises ``DataError`` for a control or a value that there is not."""
    for key, value in wish.items():
        if key not in CONTROLS or not (value.isdecimal() or value in dict(CONTROLS[key][1])):
            raise DataError(
                f"{key[:40]!r} is {value[:40]!r}; expected one of {', '.join(CONTROLS)} and a value of it"
            )
    if "protocol" in wish:
        scenario = under(scenario, wish["protocol"])
    if "static" in wish:
        scenario = static_members(scenario, wish["static"] == "yes")
    if {"session", "heartbeat"} & wish.keys():
        session, beat = session_and_beat(scenario)
        scenario = with_clocks(scenario, int(wish.get("session", session)), int(wish.get("heartbeat", beat)))
    if "poll" in wish:
        scenario = with_configs(scenario, {"max.poll.interval.ms": int(wish["poll"])})
    return scenario


class _Progress:
    """A line that says what is being drawn, and the first answer above it."""

    def __init__(self, said: TextIO | None, group: str) -> None:
        self._said, self._group = said, group

    @property
    def shown(self) -> bool:
        """Whether somebody watches."""
        return self._said is not None

    def first(self, answer: Answer) -> None:
        """Show the answer of the first draws, which the whole one will stand below."""
        head = f"{self._group}: first answer, {len(answer.base)} draws:"
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
    night: Night | None, drawn: Drawn, understanding: Understanding | None, answer: Answer | None, out: TextIO
) -> None:
    if night is not None:
        print("\n".join(night_lines(night)), file=out)
    if understanding is not None:
        print(f"\n{understanding.sentence}", file=out)
        if understanding.compared:
            print(aligned(understanding_cells(understanding)), file=out)
    elif night is None:
        print(f"{likeliest(drawn).name}: a scenario, so there are no logs to hold it against", file=out)
    if answer is not None:
        print("", *answer_lines(drawn, answer), sep="\n", file=out)
    print(file=out)
