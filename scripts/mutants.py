"""Break the rules of ``protocol`` and ``assignors``, one at a time, and see whether a test fails.

``python scripts/mutants.py cover STATE`` runs the tests once and notes which of them execute which line;
``python scripts/mutants.py run STATE [--count 400] [--seed 25] [--seconds 540]`` takes the next mutants of a seeded sample and
runs, of each, the tests that execute its line, the quickest first, until one fails. It goes on where it stopped; the last
line says how many were killed. A mutant that no test executes, or whose tests all pass, survives.

A mutant is one change of one expression: a comparison turned or moved by one, ``and`` for ``or``, a ``not`` or a condition
dropped, a number moved by one, a truth value turned, a ``yield`` or a call left out, what is returned left out. What is executed when a module is imported (tables, defaults) has none.
"""

from __future__ import annotations

import argparse
import ast
import copy
import gc
import json
import os
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest
from _pytest.runner import runtestprotocol

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
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", "--no-summary")
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
    """Every mutant that there is: file, number of its node, first line of its statement, and what changes; of functions alone."""
    found = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            if path.name in NOT_RULES:
                continue
            tree = ast.parse(path.read_text("utf-8"))
            inside = {
                id(inner)
                for function in ast.walk(tree)
                if isinstance(function, ast.FunctionDef)
                for statement in function.body
                for inner in ast.walk(statement)
            }
            passed_over = {
                id(inner)
                for node in ast.walk(tree)
                for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
                if part is not None
                for inner in ast.walk(part)
            }
            for number, (node, first) in enumerate(_numbered(tree)):
                if id(node) in inside and id(node) not in passed_over:
                    name = path.relative_to(ROOT).as_posix()
                    found += [
                        {"file": name, "node": number, "line": first, "what": what}
                        for what, _ in _changes(node)
                    ]
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _name_of(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _put_in(mutant: dict[str, Any], functions: dict[tuple[str, str, int], list[FunctionType]]) -> None:
    """Give every function of the mutant's file that differs its changed code, wherever it is held."""
    file = str(ROOT / mutant["file"])
    tree = ast.parse(Path(file).read_text("utf-8"))
    before = {_name_of(code): code for code in _codes(compile(tree, file, "exec"))}
    changed = ast.fix_missing_locations(_Site(mutant["node"], mutant["what"]).visit(tree))
    for code in _codes(compile(changed, file, "exec", dont_inherit=True)):
        if before.get(_name_of(code)) != code:
            for function in functions.get(_name_of(code), ()):
                function.__code__ = code


class _Measured:
    """Tells coverage whose lines come next, and notes how long each test takes."""

    def __init__(self, data: coverage.Coverage) -> None:
        self.data = data
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Lines that are executed from here on are this test's."""
        self.data.switch_context(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how long it took."""
        if report.when == "call":
            self.seconds[report.nodeid] = report.duration


def cover(state: Path) -> None:
    """Run the tests once, each line with the tests that execute it."""
    data = coverage.Coverage(data_file=str(state / "lines"), source=[str(ROOT / room) for room in ROOMS])
    data.start()
    measured = _Measured(data)
    pytest.main([*OPTIONS, *TESTS], plugins=[measured])
    data.stop()
    data.save()
    (state / "seconds.json").write_text(json.dumps(measured.seconds), "utf-8")


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


class _Tried:
    """In place of running the tests once: the next mutants of the sample, each in a process of its own that has all collected."""

    def __init__(self, state: Path, count: int, seed: int, for_s: float) -> None:
        found = sites()
        self.all = len(found)
        self.sample = random.Random(seed).sample(found, min(count, len(found)))
        self.file = state / f"mutants-{seed}-{count}.jsonl"
        lines = self.file.read_text("utf-8").splitlines() if self.file.exists() else []
        self.done = [json.loads(line) for line in lines]
        self.tests_of = _tests_of(state)
        self.seconds: dict[str, float] = json.loads((state / "seconds.json").read_text("utf-8"))
        self.for_s = for_s

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Take mutants while there is time."""
        ends = time.monotonic() + self.for_s
        items = {item.nodeid: item for item in session.items}
        functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        for function in gc.get_objects():
            if isinstance(function, FunctionType):
                functions.setdefault(_name_of(function.__code__), []).append(function)
        for mutant in self.sample[len(self.done) :]:
            if time.monotonic() > ends:
                break
            tests = _within(self.tests_of.get((mutant["file"], mutant["line"]), []), self.seconds, LIMIT_S)
            chosen = [items[name] for name in tests if name in items]
            killed = _outcome(mutant, chosen, functions) if chosen else ""
            self.done.append({**mutant, "tests": len(chosen), "killed": killed})
            with self.file.open("a", encoding="utf-8") as out:
                out.write(json.dumps(self.done[-1]) + "\n")
        return True


def _outcome(
    mutant: dict[str, Any],
    tests: Sequence[pytest.Item],
    functions: dict[tuple[str, str, int], list[FunctionType]],
) -> str:
    """The name of the test that fails, ``a loop``, or nothing."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (3 * LIMIT_S, 3 * LIMIT_S))
        _put_in(mutant, functions)
        for place, item in enumerate(tests):
            reports = runtestprotocol(
                item, log=False, nextitem=tests[place + 1] if place + 1 < len(tests) else None
            )
            if any(report.failed for report in reports):
                os.write(writing, item.nodeid.encode())
                break
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
    """Take the next mutants of the sample, as many as fit into the time, and say how it stands."""
    tried = _Tried(state, count, seed, for_s)
    pytest.main([*OPTIONS, *TESTS], plugins=[tried])
    survivors = [mutant for mutant in tried.done if not mutant["killed"]]
    for mutant in survivors:
        print(f"{mutant['file']}:{mutant['line']}: {mutant['what']} ({mutant['tests']} tests)")
    done, killed = len(tried.done), len(tried.done) - len(survivors)
    print(f"{done} of {len(tried.sample)} tried ({tried.all} in all), {killed} killed")


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
