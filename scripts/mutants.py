"""Break the rules of ``protocol`` and ``assignors``, one at a time, and see whether a test fails.

``python scripts/mutants.py cover STATE`` runs the tests once and notes which of them execute which line;
``python scripts/mutants.py run STATE [--count 400] [--seed 25] [--seconds 540]`` takes the next mutants of a seeded sample and
runs, of each, the tests that execute its line, the quickest first, until one fails. It goes on where it stopped; the last
line says how many were killed. A mutant that no test executes, or whose tests all pass, survives.

A mutant is one change of one expression: a comparison turned or moved by one, ``and`` for ``or``, a ``not`` or a condition
dropped, a number moved by one, a truth value turned, a ``yield`` or a call left out, what is returned left out.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.abc
import importlib.util
import io
import json
import os
import random
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import coverage
import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("rebalance_kit/protocol", "rebalance_kit/assignors")
TESTS = (
    "tests/protocol",
    "tests/assignors",
    "tests/simulation",
    "tests/claims",
    "tests/recordings/test_repeating.py",
)
NOT_RULES = {"vectors.py"}
"""The reader of Kafka's test vectors: a tool of the tests."""
BEFOREHAND = (
    "hypothesis",
    "yaml",
    "rebalance_kit.doctor",
    "rebalance_kit.model.config",
    "rebalance_kit.pipeline.spark.java",
)
"""What every test imports and no mutant changes: imported once."""
LIMIT_S = 40
"""Seconds of tests for a mutant; a loop without end is stopped, and counts as killed, after three times as many."""
TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
}  # fmt: skip


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """What may be put in the place of a node, each with its name."""
    new: Any = copy.deepcopy(node)
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in TURNED:
            new.ops = [TURNED[type(operator)]()]
            yield "comparison", new
        case ast.BoolOp():
            new.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
            yield "and/or", new
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", new.operand
        case ast.BinOp(op=operator) if type(operator) in ARITHMETIC:
            new.op = ARITHMETIC[type(operator)]()
            yield "arithmetic", new
        case ast.Constant(value=bool()):
            yield "truth", ast.Constant(not node.value)
        case ast.Constant(value=int()):
            yield "number", ast.Constant(int(node.value) + 1)
        case ast.IfExp():
            yield "condition", new.body
        case ast.If():
            new.test = ast.Constant(value=True)
            yield "condition", new
        case ast.Return(value=ast.expr()) if not isinstance(node.value, ast.Constant):
            new.value = ast.Constant(None)
            yield "return", new
        case (
            ast.Expr(value=ast.Yield() | ast.YieldFrom() | ast.Call()) | ast.Assign(targets=[ast.Attribute()])
        ):
            yield "left out", ast.Pass()


class _Site(ast.NodeTransformer):
    """Puts the change in the place of the node with that number, counted in the order of the walk."""

    def __init__(self, number: int, what: str) -> None:
        self.left, self.what = number, what

    def visit(self, node: ast.AST) -> ast.AST:
        if self.left == 0:
            self.left -= 1
            return next(new for name, new in _changes(node) if name == self.what)
        self.left -= 1
        return super().generic_visit(node) if self.left >= 0 else node


def _numbered(tree: ast.AST, first: int = 1) -> Iterator[tuple[ast.AST, int]]:
    """The nodes in the order in which ``_Site`` visits them, each with the first line of its statement."""
    if isinstance(tree, ast.stmt):
        first = tree.lineno
    yield tree, first
    for child in ast.iter_child_nodes(tree):
        yield from _numbered(child, first)


def sites() -> list[dict[str, Any]]:
    """Every mutant that there is: file, number of its node, line, and what changes. Annotations and docstrings have none."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.name in NOT_RULES:
                continue
            tree = ast.parse(path.read_text("utf-8"))
            passed_over = {
                id(inner)
                for node in ast.walk(tree)
                for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
                if part is not None
                for inner in ast.walk(part)
            }
            for number, (node, first) in enumerate(_numbered(tree)):
                if id(node) not in passed_over:
                    name = path.relative_to(ROOT).as_posix()
                    found += [
                        {"file": name, "node": number, "line": first, "what": what}
                        for what, _ in _changes(node)
                    ]
    return found


class _Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module as its mutant; every other one as it stands in its file."""

    def __init__(self, mutant: dict[str, Any]) -> None:
        self.mutant = mutant
        self.name = mutant["file"].removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name: str, *_: object) -> Any:
        """Only the mutant's own name is found here."""
        if name != self.name:
            return None
        file = ROOT / self.mutant["file"]
        inner = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, file, loader=self, submodule_search_locations=inner
        )

    def exec_module(self, module: Any) -> None:
        """Run the changed text in the module."""
        tree = _Site(self.mutant["node"], self.mutant["what"]).visit(
            ast.parse((ROOT / self.mutant["file"]).read_text("utf-8"))
        )
        exec(compile(ast.fix_missing_locations(tree), self.mutant["file"], "exec"), module.__dict__)  # noqa: S102  our own text


class _Chosen:
    """Runs these tests alone, in this order; notes the time of each, and tells coverage whose lines come next."""

    def __init__(self, order: Sequence[str] | None = None, measured: coverage.Coverage | None = None) -> None:
        self.order, self.measured = order, measured
        self.seconds: dict[str, float] = {}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was chosen."""
        if self.order is not None:
            place = {name: at for at, name in enumerate(self.order)}
            items[:] = sorted(
                (item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid]
            )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Lines that are executed from here on are this test's."""
        if self.measured is not None:
            self.measured.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long it took, and whether it failed."""
        if report.when == "call":
            self.seconds[report.nodeid] = report.duration
        if report.failed and not self.failed:
            self.failed = report.nodeid


def cover(state: Path) -> None:
    """Run the tests once, each line with the tests that execute it."""
    data = coverage.Coverage(data_file=str(state / "lines"), source=[str(ROOT / room) for room in ROOMS])
    data.start()
    chosen = _Chosen(measured=data)
    pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *TESTS], plugins=[chosen])
    data.stop()
    data.save()
    (state / "seconds.json").write_text(json.dumps(chosen.seconds), "utf-8")


def _tests_of(state: Path) -> dict[tuple[str, int], list[str]]:
    """Of each line, its tests, the quickest first; under line 0 those of the whole file, for what is executed when it is imported."""
    seconds = json.loads((state / "seconds.json").read_text("utf-8"))
    data = coverage.CoverageData(basename=str(state / "lines"))
    data.read()
    tests: dict[tuple[str, int], set[str]] = {}
    for file in data.measured_files():
        name = Path(file).relative_to(ROOT).as_posix()
        for line, of_line in data.contexts_by_lineno(file).items():
            known = {test for test in of_line if test in seconds}
            tests.setdefault((name, line), set()).update(known)
            tests.setdefault((name, 0), set()).update(known)
    return {place: sorted(names, key=seconds.__getitem__) for place, names in tests.items()}


def _outcome(mutant: dict[str, Any], tests: Sequence[str], budget_s: float) -> str:
    """The name of the test that fails, ``a loop``, ``imports nothing``, or nothing: tried in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(3 * budget_s) + 20)
        sys.meta_path.insert(0, _Mutated(mutant))
        chosen = _Chosen(tests)
        files = list(dict.fromkeys(name.partition("::")[0] for name in tests))
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            status = pytest.main(
                ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", *files],
                plugins=[chosen],
            )
        told = chosen.failed or ("imports nothing" if int(status) not in {0, 1} else "")
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    return "a loop" if os.WIFSIGNALED(status) else told


def _within(tests: Sequence[str], seconds: dict[str, float], budget_s: float) -> list[str]:
    """The first tests that fit into so many seconds; at least one."""
    spent, taken = 0.0, []
    for name in tests:
        spent += seconds[name]
        if taken and spent > budget_s:
            break
        taken.append(name)
    return taken


def run(state: Path, count: int, seed: int, for_s: float) -> None:
    """Take the next mutants of the sample, as many as fit into the time."""
    began = time.monotonic()
    for name in BEFOREHAND:
        importlib.import_module(name)
    found = sites()
    sample = random.Random(seed).sample(found, min(count, len(found)))
    file = state / f"mutants-{seed}-{count}.jsonl"
    done = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
    tests_of = _tests_of(state)
    seconds = json.loads((state / "seconds.json").read_text("utf-8"))
    for mutant in sample[len(done) :]:
        if time.monotonic() - began > for_s:
            break
        here = tests_of.get((mutant["file"], mutant["line"])) or tests_of.get((mutant["file"], 0), [])
        tests = _within(here, seconds, LIMIT_S)
        killed = _outcome(mutant, tests, LIMIT_S) if tests else ""
        done.append({**mutant, "tests": len(tests), "killed": killed})
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(done[-1]) + "\n")
    survivors = [mutant for mutant in done if not mutant["killed"]]
    for mutant in survivors:
        print(f"{mutant['file']}:{mutant['line']}: {mutant['what']} ({mutant['tests']} tests)")
    print(f"{len(done)} of {len(sample)} tried ({len(found)} in all), {len(done) - len(survivors)} killed")


def main() -> None:
    """Read the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("what", choices=("cover", "run"))
    parser.add_argument("state", type=Path, help="folder for what was found so far")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=540.0)
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    given.state.mkdir(parents=True, exist_ok=True)
    if given.what == "cover":
        cover(given.state)
    else:
        run(given.state, given.count, given.seed, given.seconds)


if __name__ == "__main__":
    main()
