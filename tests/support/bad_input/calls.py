"""Calls of the Python interface with arguments of the wrong kind, as somebody who has not read the page would write them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import rebalance_kit as rk
from rebalance_kit import notebook, view
from rebalance_kit.analysis.metrics import sentences
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.figures.comparison import comparison_figure

Call = Callable[[Path], object]


def calls() -> Iterator[tuple[str, Call]]:
    """Names and calls; each gets an empty folder."""
    for make in (_simulations, _readings, _labs, _sittings):
        yield from make().items()


def _crash() -> Scenario:
    return rk.scenario("crash")


def _trace() -> Any:
    return rk.simulate(_crash())


def _simulations() -> dict[str, Call]:
    odd: dict[str, Any] = {
        "a number": 5,
        "None": None,
        "bytes": b"crash",
        "a mapping": {"topics": {"a": 1}},
        "a list": ["crash"],
    }
    seeds: dict[str, Any] = {"text": "1", "a fraction": 1.5, "true": True, "a list": [1]}
    whole: dict[str, Call] = {
        **{f"scenario of {name}": lambda _, given=given: rk.scenario(given) for name, given in odd.items()},
        **{f"simulate {name}": lambda _, given=given: rk.simulate(given) for name, given in odd.items()},
        "simulate a name": lambda _: rk.simulate("crush"),
        **{
            f"simulate with a seed of {name}": lambda _, given=given: rk.simulate(_crash(), given)
            for name, given in seeds.items()
        },
        "simulate with a seed of 400 digits": lambda _: rk.simulate(_crash(), 10**400),
        **{
            f"simulate under {given!r}": lambda _, given=given: rk.simulate(_crash(), protocol=given)
            for given in (5, ["eager"], "EAGER", "")
        },
        "simulate with listeners in a list": lambda _: rk.simulate(_crash(), listeners=["x"]),  # type: ignore[arg-type]
        "simulate with assignors in a list": lambda _: rk.simulate(_crash(), assignors=["range"]),  # type: ignore[arg-type]
        "simulate with an assignor called 5": lambda _: rk.simulate(_crash(), assignors={5: print}),  # type: ignore[dict-item]
        **{
            f"{name} of {what}": lambda _, call=call, given=given: call(given)
            for name, call in _OF_TRACES.items()
            for what, given in {"None": None, "text": "crash", "nothing": [], "a scenario": _crash()}.items()
        },
        "compare one run": lambda _: rk.compare(_trace()),
        "a report in place of runs": lambda folder: view.write_report("x.html", folder),  # type: ignore[arg-type]
    }
    return whole


_OF_TRACES: dict[str, Callable[[Any], object]] = {
    "metrics": rk.metrics,
    "compare": rk.compare,
    "sentences": sentences,
    "comparison_figure": comparison_figure,
    "gantt_figure": rk.gantt_figure,
    "three": notebook.three,
}


def _readings() -> dict[str, Call]:
    odd: dict[str, Any] = {"None": None, "a number": 5, "a list": ["a.log"], "bytes": b"a.log"}

    def table(name: Any) -> Call:
        def call(folder: Path) -> object:
            (folder / "a.log").write_text("x")
            return rk.read_logs(folder / "a.log").rows(name)

        return call

    return {
        **{f"read_logs {name}": lambda _, given=given: rk.read_logs(given) for name, given in odd.items()},
        **{f"read_trace {name}": lambda _, given=given: rk.read_trace(given) for name, given in odd.items()},
        **{f"replay {name}": lambda _, given=given: rk.replay(given) for name, given in odd.items()},
        **{f"watching {name}": lambda _, given=given: view.watching(given) for name, given in odd.items()},
        "watching what is missing": lambda folder: view.watching(folder / "gone"),
        "read_logs nothing": lambda _: rk.read_logs(),
        "read_logs by an engine of None": lambda folder: rk.read_logs(folder, engine=None),  # type: ignore[arg-type]
        "read_logs with a reading in a mapping": lambda folder: rk.read_logs(folder, reading={"year": 1}),  # type: ignore[arg-type]
        "a table of nobody": table("rebalance"),
        "a table of None": table(None),
    }


def _labs() -> dict[str, Call]:
    odd: dict[str, Any] = {
        "a number": 5,
        "a list": ["crash"],
        "a mapping": {"a": 1},
        "a name of nobody": "crahs",
    }
    links: dict[str, Any] = {
        "None": None,
        "a number": 5,
        "bytes": b"rk1.a.b",
        "nothing": "",
        "a name": "crash",
    }
    return {
        **{f"Lab of {name}": lambda _, given=given: rk.Lab(given) for name, given in odd.items()},
        **{
            f"Lab at {given!r}": lambda _, given=given: rk.Lab("crash", at_ms=given)
            for given in ("5s", 1.5, -5)
        },
        **{
            f"Lab with a seed of {given!r}": lambda _, given=given: rk.Lab("crash", seed=given)
            for given in ("x", 1.5)
        },
        **{
            f"a link of {name}": lambda _, given=given: rk.Lab.from_link(given)
            for name, given in links.items()
        },
        "a setting of 5,000 digits": lambda _: rk.Lab("crash").set(session_timeout_ms="9" * 5000),
        "a setting of a superscript": lambda _: rk.Lab("crash").set(session_timeout_ms="²"),
        "another seed of text": lambda _: rk.Lab("crash").reseed("x"),  # type: ignore[arg-type]
    }


def _sittings() -> dict[str, Call]:
    return {
        **{
            f"Quiz with a count of {given!r}": lambda _, given=given: rk.Quiz("eager", count=given)
            for given in ("3", 2.5, 0, -1)
        },
        "Quiz with a seed of text": lambda _: rk.Quiz("eager", count=1, seed="x"),  # type: ignore[arg-type]
        "Quiz with a store of text": lambda _: rk.Quiz("eager", count=1, store="x"),  # type: ignore[arg-type]
        **{f"Exam of {given!r}": lambda _, given=given: rk.Exam(given) for given in (None, 5, "CCDK")},
        **{
            f"Exam with {key} of {given!r}": lambda _, key=key, given=given: rk.Exam("CCDAK", **{key: given})
            for key, given in (("minutes", "5"), ("questions", "ten"), ("seed", "1"), ("questions", 2.5))
        },
        **{f"Review of {given!r}": lambda _, given=given: rk.Review(given) for given in ("x", 1.5)},
        **{
            f"Exercise of {given!r}": lambda _, given=given: rk.Exercise(given)
            for given in (None, 3.5, ["03"], "")
        },
        "Exercise of a number": lambda _: rk.Exercise(3),  # type: ignore[arg-type]
        **{f"Poll of {given!r}": lambda _, given=given: rk.Poll(given) for given in (None, 5, ["a"])},
    }
