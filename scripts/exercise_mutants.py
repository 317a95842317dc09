"""Does each exercise's check notice? Mutants of the kit's own solutions, made by rules that know nothing of the checks.

python -m scripts.exercise_mutants                    ten mutants of every exercise
python -m scripts.exercise_mutants c1 c2 --count 12   of some, and how many

A mutant is the solution with one place changed: a comparison, a number, an operator, the other of a pair of functions (min and
max, first and last), a condition turned round, a filter, an argument, an element or a statement left out, a text with another end, a function emptied, left out or exchanged with the next. It is caught where a public or a hidden check
fails. What is not caught is printed with its line: either it does the same as the solution, or a check is missing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.workspace import AnyExercise, all_names, find

SEED = 31
COMPARISONS = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
PAIRS = (
    "min max",
    "first last",
    "lag lead",
    "sum count",
    "isNull isNotNull",
    "max_by min_by",
    "asc desc",
    "append insert",
)
TWINS = {one: other for pair in PAIRS for one, other in (pair.split(), pair.split()[::-1])}
LEFT_OUT = {"filter", "where", "distinct", "dropDuplicates", "orderBy", "cast", "otherwise"}
SHORTENED = {
    "groupBy",
    "partitionBy",
    "orderBy",
    "isin",
    "coalesce",
    "union",
    "unionByName",
    "select",
    "withColumn",
}

COMMITS = "class Listener:\n    def on_assigned(self, partitions, consumer):\n        {}\n    def on_revoked(self, partitions, consumer):\n        {}\n    def on_lost(self, partitions, consumer):\n        {}\n"
_AHEAD = "consumer.commit({p: (consumer.position(p) or 0) + 1 for p in partitions})"
_BEHIND = "consumer.commit({p: max((consumer.position(p) or 0) - 1, 0) for p in partitions})"
_REWIND = "[consumer.seek(p, 0) for p in partitions]"
IDEAS = {
    "c4-fewest-duplicates": (
        COMMITS.format("pass", _AHEAD, "pass"),
        COMMITS.format("pass", _BEHIND, "pass"),
        COMMITS.format(_REWIND, "consumer.commit()", "pass"),
        COMMITS.format("consumer.commit()", "consumer.commit(); consumer.commit()", "consumer.commit()"),
        COMMITS.format("pass", "consumer.commit({p: consumer.committed(p) for p in partitions})", "pass"),
    )
}
"""Wrong ideas written by hand, where the solution is too short for ten mutants; also without sight of the check."""


def mutants(source: str) -> list[tuple[int, str]]:
    """Every mutant of a module's functions that compiles: the line that was changed, and the text."""
    tree = _without_docstrings(ast.parse(source))
    found: dict[str, int] = {}
    for number, node in enumerate(ast.walk(tree)):
        if not isinstance(node, (ast.expr, ast.stmt)):
            continue
        for change in _changes(node):
            other = copy.deepcopy(tree)
            target = list(ast.walk(other))[number]
            assert isinstance(target, (ast.expr, ast.stmt))
            if not change(target, other):
                continue
            text = ast.unparse(ast.fix_missing_locations(other))
            if text != ast.unparse(tree):
                found.setdefault(text, node.lineno)
    return [(line, text) for text, line in found.items()]


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if (
            isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
            and ast.get_docstring(node) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def _changes(node: ast.AST) -> Iterator[object]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield lambda new, _: new.ops.__setitem__(0, COMPARISONS[type(new.ops[0])]()) is None
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        yield lambda new, _: setattr(new, "op", OPERATORS[type(new.op)]()) is None
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and not isinstance(node.value, bool):
        yield lambda new, _: setattr(new, "value", new.value + 1 if new.value < 10 else new.value * 2) is None
        yield (
            lambda new, _: setattr(new, "value", new.value - 1 if new.value < 10 else new.value // 2) is None
        )
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda new, _: setattr(new, "value", not new.value) is None
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.strip():
        yield (
            lambda new, _: (
                setattr(new, "value", new.value[:-1] + ("y" if new.value[-1] == "x" else "x")) is None
            )
        )
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)) and len(node.elts) > 1:
        yield lambda new, _: new.elts.pop() is not None
    if isinstance(node, ast.Dict) and len(node.keys) > 1:
        yield lambda new, _: (new.keys.pop(), new.values.pop()) is not None
    if isinstance(node, ast.Call) and len(node.args) > 1 and getattr(node.func, "attr", "") in SHORTENED:
        yield lambda new, _: new.args.pop() is not None
    if isinstance(node, ast.Return) and node.value is not None:
        yield lambda new, _: setattr(new, "value", None) is None
    if isinstance(node, ast.Attribute) and node.attr in TWINS:
        yield lambda new, _: setattr(new, "attr", TWINS[new.attr]) is None
    if isinstance(node, ast.Name) and node.id in {"min", "max", "sorted"}:
        yield (
            lambda new, _: setattr(new, "id", {"min": "max", "max": "min", "sorted": "list"}[new.id]) is None
        )
    if isinstance(node, ast.FunctionDef):
        yield lambda new, _: setattr(new, "body", [ast.Pass()]) is None
        yield _emptied
        yield _exchanged
        for place in range(3):
            yield partial(_copied, place)
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield lambda new, _: setattr(new, "test", ast.UnaryOp(ast.Not(), new.test)) is None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LEFT_OUT:
        yield _left_out
    if isinstance(node, (ast.Expr, ast.AugAssign)) and not isinstance(
        getattr(node, "value", None), ast.Constant
    ):
        yield _emptied


def _left_out(call: ast.AST, tree: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is call:
                setattr(parent, name, call.func.value)  # type: ignore[attr-defined]
                return True
            if isinstance(value, list) and any(each is call for each in value):
                value[next(at for at, each in enumerate(value) if each is call)] = call.func.value  # type: ignore[attr-defined]
                return True
    return False


def _exchanged(function: ast.AST, tree: ast.AST) -> bool:
    """A function and the next one beside it, with their bodies exchanged."""
    others = _beside(function, tree)
    place = next(at for at, each in enumerate(others) if each is function)
    if place + 1 == len(others):
        return False
    one, other = others[place : place + 2]
    one.body, other.body = other.body, one.body
    return True


def _copied(place: int, function: ast.AST, tree: ast.AST) -> bool:
    """A function with the body of another one beside it."""
    others = _beside(function, tree)
    if place >= len(others) or others[place] is function:
        return False
    function.body = copy.deepcopy(others[place].body)  # type: ignore[attr-defined]
    return True


def _beside(function: ast.AST, tree: ast.AST) -> list[ast.FunctionDef]:
    """The functions of the class or module that holds this one."""
    for parent in ast.walk(tree):
        if isinstance(parent, (ast.Module, ast.ClassDef)) and any(each is function for each in parent.body):
            return [each for each in parent.body if isinstance(each, ast.FunctionDef)]
    return [function] if isinstance(function, ast.FunctionDef) else []


def _emptied(statement: ast.AST, tree: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(each is statement for each in value):
                value[next(at for at, each in enumerate(value) if each is statement)] = ast.Pass()
                return True
    return False


def examine(name: str, count: int, bench: object) -> tuple[int, list[tuple[int, str]], list[str]]:
    """How many mutants were tried, those that no check noticed (line and text), and what a learner reads of the others."""
    exercise = find(name)
    source = exercise.text("solution.py")
    chosen = mutants(source)
    Random(f"{SEED}/{name}").shuffle(chosen)
    chosen = [*chosen[:count], *((0, text) for text in IDEAS.get(name, ()))]
    missed: list[tuple[int, str]] = []
    said: list[str] = []
    for line, text in chosen:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "answer.py"
            file.write_text(text, "utf-8")
            answer = FromFile(file, exercise.task.function)
            words = _words(exercise, answer, bench)
            if words is None:
                missed.append((line, text))
            else:
                said.append(f"{_difference(source, text)}\n      {words}")
    return len(chosen), missed, said


def _words(exercise: AnyExercise, answer: FromFile, bench: object) -> str | None:
    """What the first check that fails says; ``None``: the answer passes."""
    from rebalance_kit.exercises import checking
    from rebalance_kit.exercises.code_task import check_code

    if "/code/" in exercise.folder.as_posix():
        report = check_code(exercise, answer, seed=SEED)
    else:
        report = checking.check_answer(exercise, answer, bench, seed=SEED)
    return None if report.green else str(report)


def main(arguments: list[str]) -> int:
    """Print caught of all per exercise; 1 where a mutant was not caught."""
    parser = argparse.ArgumentParser(
        description="do the exercises' checks notice mutants of their solutions?"
    )
    parser.add_argument("names", nargs="*", help="exercises (default: all)")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--words", action="store_true", help="print what a learner reads of each mutant")
    chosen = parser.parse_args(arguments)
    wanted = [
        name
        for name in all_names()
        if not chosen.names or name.split("-")[0] in chosen.names or name in chosen.names
    ]
    bench, missed_in_all = None, 0
    for name in wanted:
        if bench is None and not name.startswith("c"):
            from rebalance_kit.exercises.spark_bench import SparkBench

            bench = SparkBench()
        tried, missed, said = examine(name, chosen.count, bench)
        missed_in_all += len(missed)
        print(f"{name}: {tried - len(missed)} of {tried} caught", flush=True)
        for words in said if chosen.words else ():
            print(words, flush=True)
        for line, text in missed:
            print(
                f"  not caught, line {line}:\n{_difference(find(name).text('solution.py'), text)}", flush=True
            )
    if bench is not None:
        bench.close()
    return 1 if missed_in_all else 0


def _difference(source: str, text: str) -> str:
    import difflib

    before = ast.unparse(_without_docstrings(ast.parse(source))).splitlines()
    return "\n".join(
        f"    {line}"
        for line in difflib.unified_diff(before, text.splitlines(), n=0, lineterm="")
        if line[:3] not in {"---", "+++"}
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
