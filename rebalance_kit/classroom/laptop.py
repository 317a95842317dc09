"""What a learner's laptop needs for a workshop, tried one after another, with a line for each."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TextIO

from rebalance_kit.classroom.plan import Plan, Scene
from rebalance_kit.model.about import __version__
from rebalance_kit.model.errors import RebalanceKitError

NEEDED = ("anywidget", "ipywidgets", "jupyterlab")


def check_laptop(plan: Plan, out: TextIO) -> int:
    """Try packages, every scene of the plan and the place of votes; 0 and *Ready*, or 1 and what is missing."""
    failed = []
    for what, trial in _trials(plan):
        try:
            trial()
            print(f"  ok      {what}", file=out, flush=True)
        except (RebalanceKitError, ImportError, OSError) as error:
            failed.append(what)
            print(f"  MISSING {what}: {error}", file=out, flush=True)
    where = f"{platform.node() or 'this laptop'}, Python {platform.python_version()}, kit {__version__}"
    print(f"Not ready ({where}): {', '.join(failed)}" if failed else f"Ready: {where}", file=out)
    return 1 if failed else 0


def _trials(plan: Plan) -> Iterator[tuple[str, Callable[[], object]]]:
    from rebalance_kit.quiz.sittings.ballot import voter_of
    from rebalance_kit.quiz.sittings.store import Store

    for package in NEEDED:
        yield package, partial(import_module, package)
    for scene in dict.fromkeys(beat.lab for beat in plan.beats if beat.lab is not None):
        yield f"{scene.scenario}, {scene.protocol}", partial(_run, scene)
    yield "a place for your votes", lambda: voter_of(Store())


def _run(scene: Scene) -> object:
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.scenario.expansion import drawn
    from rebalance_kit.simulation.simulate import simulate

    return simulate(drawn(load(scene.scenario), scene.seed), scene.seed, scene.protocol)
