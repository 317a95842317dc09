"""Does each exercise's check notice? Mutants of the kit's own solutions, made by rules that know nothing of the checks.

python -m scripts.exercise_mutants                    ten mutants of every exercise
python -m scripts.exercise_mutants c1 c2 --count 12   of some, and how many

A mutant is the solution with one place changed: a comparison, a number, an operator, the other of a pair of functions (min and
max, first and last), a condition turned round, a filter, an argument, an element or a statement left out, a text with another end. It is caught where a public or a hidden check
fails. What is not caught is printed with its line: either it does the same as the solution, or a check is missing.
"""

from __future__ import annotations

import argparse
import ast
import copy
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.workspace import all_names, find

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
        yield lambda new, _: setattr(new, "value", new.value + 1) is None
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


def _emptied(statement: ast.AST, tree: ast.AST) -> bool:
    for parent in ast.walk(tree):
        for _, value in ast.iter_fields(parent):
            if isinstance(value, list) and any(each is statement for each in value):
                value[next(at for at, each in enumerate(value) if each is statement)] = ast.Pass()
                return True
    return False


def examine(name: str, count: int, bench: object) -> tuple[int, list[tuple[int, str]]]:
    """How many mutants were tried, and those that no check noticed: line and text."""
    exercise = find(name)
    source = exercise.text("solution.py")
    chosen = mutants(source)
    Random(f"{SEED}/{name}").shuffle(chosen)
    chosen, missed = chosen[:count], []
    for line, text in chosen:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "answer.py"
            file.write_text(text, "utf-8")
            answer = FromFile(file, exercise.task.function)
            if _green(exercise, answer, bench):
                missed.append((line, text))
    return len(chosen), missed


def _green(exercise: object, answer: FromFile, bench: object) -> bool:
    from rebalance_kit.exercises import checking
    from rebalance_kit.exercises.code_task import check_code

    if hasattr(exercise, "folder") and "/code/" in exercise.folder.as_posix():
        return bool(check_code(exercise, answer, seed=SEED).green)  # type: ignore[attr-defined]
    return bool(checking.check_answer(exercise, answer, bench, seed=SEED).green)  # type: ignore[arg-type]


def main(arguments: list[str]) -> int:
    """Print caught of all per exercise; 1 where a mutant was not caught."""
    parser = argparse.ArgumentParser(
        description="do the exercises' checks notice mutants of their solutions?"
    )
    parser.add_argument("names", nargs="*", help="exercises (default: all)")
    parser.add_argument("--count", type=int, default=10)
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
        tried, missed = examine(name, chosen.count, bench)
        missed_in_all += len(missed)
        print(f"{name}: {tried - len(missed)} of {tried} caught", flush=True)
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
