"""The language of claims and the functions that ask no run.

The little language of claims: numbers with units, names, facts, comparisons. Nothing else can happen.

``count(unread()) == 4 and gap("orders-0") < 5s`` is read by Python's own parser and never by its evaluator: this
module walks the tree, knows the few nodes in its tables, and can only call the functions it is handed. Times are
milliseconds (``10s`` is 10000); text in quotes is taken as it stands; ``true``, ``false`` and ``none`` are words.

Functions an expression may use that ask no run: counting, nearness, and Kafka's assignors.

The assignor helpers write a group as text lists: topics as ``["orders:3", "bills:3"]``, members by id.
Every member subscribes to every topic.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.topology import TopicPartition

UNITS = MappingProxyType({"ms": 1, "s": 1000, "m": 60_000})
LONGEST = 600
DEEPEST = 40
Call = Callable[[str, list[Any], dict[str, Any]], Any]

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<refused>\#|(?:"[^"]*"|'[^']*')\s*(?=["']))|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m)(?![\w.])"""
)
_WORDS: Mapping[str, Any] = MappingProxyType({"true": True, "false": False, "none": None})
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda item, items: item in items,
    }
)
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)


@cache
def parse(text: str) -> ast.expr:
    """Read an expression into a tree; raises ``DataError`` saying where it stops making sense."""
    if len(text) > LONGEST:
        raise DataError(f"an expression of {len(text)} characters; expected at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python only frowns at (``1in``) is refused
            tree = ast.parse(_TOKEN.sub(_in_python, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        problem = error.msg if isinstance(error, SyntaxError) else str(error) or "nested too deep"
        raise DataError(
            f"{text!r} makes no sense ({problem}); expected numbers, names, text in quotes and operators"
        ) from error
    _check(tree, text, 1)
    return tree


def evaluate(expression: Any, names: Mapping[str, Any], call: Call) -> Any:
    """The value of an expression; numbers, booleans and lists that YAML already read stand for themselves.

    ``names`` are the values a bare name may mean, ``call`` answers ``fact(arguments)``. Raises
    ``DataError`` for an unknown name or operands that do not go together.
    """
    if not isinstance(expression, str):
        return expression
    try:
        return _value(parse(expression), names, call)
    except (TypeError, ArithmeticError) as error:
        raise DataError(
            f"{expression!r} cannot be worked out ({error}); expected operands that go together"
        ) from error


def _in_python(token: re.Match[str]) -> str:
    """A token of ours in Python's words: a time as milliseconds, text in quotes with nothing escaped."""
    if token["space"]:
        return " "
    if token["number"]:
        number = float(token["number"]) if "." in token["number"] else int(token["number"])
        return repr(number * UNITS[token["unit"]])
    if token["refused"]:
        return "?"  # a comment that hides the rest, or two texts without a comma: Python would take both
    quoted = token["double"] if token["double"] is not None else token["single"]
    return f" {quoted!r}"  # the space keeps a letter before it from being a prefix of Python's


def _check(node: ast.expr, text: str, depth: int) -> None:
    """Refuse every node that ``_value`` does not know, and trees that are too deep to be read."""
    if depth > DEEPEST:
        raise DataError(f"an expression nested deeper than {DEEPEST}; expected something readable")
    match node:
        case ast.Constant(value=constant) if type(constant) in {int, float, str}:
            known = True
        case ast.BoolOp() | ast.List() | ast.UnaryOp(op=ast.Not() | ast.USub()):
            known = True
        case ast.BinOp(op=sign):
            known = type(sign) in _ARITHMETIC
        case ast.Compare(ops=[sign]):
            known = type(sign) in _COMPARE
        case ast.Call(func=function, keywords=named):
            known = _name(function) is not None and all(name.arg for name in named)
        case _:
            known = _name(node) is not None
    if not known:
        raise DataError(
            f"{text!r}: {ast.unparse(node)[:40]!r} received, expected a number, name, text in quotes, list, "
            "comparison, sum or call"
        )
    for inner in _operands(node):
        _check(inner, text, depth + 1)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.Attribute):
        return []
    return [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr)]


def _name(node: ast.expr) -> str | None:
    """``count``, or ``run.count``; None for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=run), attr=name):
            return f"{run}.{name}"
    return None


def _value(node: ast.expr, names: Mapping[str, Any], call: Call) -> Any:
    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.List(elts=parts):
            return [_value(part, names, call) for part in parts]
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, names, call) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, names, call) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _value(part, names, call)
        case ast.UnaryOp(operand=part):
            return _arithmetic(ast.Sub(), 0, _value(part, names, call))
        case ast.BinOp(left=left, op=sign, right=right):
            return _arithmetic(sign, _value(left, names, call), _value(right, names, call))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return _COMPARE[type(comparison)](_value(left, names, call), _value(right, names, call))
        case ast.Call(func=function, args=plain, keywords=named):
            arguments = [_value(part, names, call) for part in plain]
            return call(
                str(_name(function)),
                arguments,
                {str(name.arg): _value(name.value, names, call) for name in named},
            )
    return _named(str(_name(node)), names)


def _named(name: str, names: Mapping[str, Any]) -> Any:
    if name in _WORDS:
        return _WORDS[name]
    if name not in names:
        known = ", ".join(names) or "none"
        raise DataError(f"{name!r} is no name here; expected one of {known}, or text in quotes")
    return names[name]


def _arithmetic(sign: ast.operator, left: Any, right: Any) -> Any:
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        # "a" * 10**9 would fill the memory
        raise TypeError(f"{type(sign).__name__} joins numbers, not {left!r} and {right!r}")
    return _ARITHMETIC[type(sign)](left, right)


Members = Sequence[str]
LARGEST_GROUP = 64


def count(entries: Sequence[Any]) -> int:
    """How many entries a list has."""
    return len(entries)


def near(first: float, second: float, within: float) -> bool:
    """Whether two numbers differ by at most ``within``."""
    return abs(first - second) <= within


def same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists hold the same entries in any order."""
    return sorted(map(str, first)) == sorted(map(str, second))


def least(*numbers: float) -> float:
    """The least of the numbers."""
    return min(numbers)


def most(*numbers: float) -> float:
    """The greatest of the numbers."""
    return max(numbers)


def names(prefix: str, number: int) -> list[str]:
    """``["c1", "c2", "c3"]`` for ``names("c", 3)``."""
    return [f"{prefix}{index}" for index in range(1, _group_size(number) + 1)]


def topic(name: str, partitions: int) -> str:
    """``"orders:3"`` for ``topic("orders", 3)``."""
    return f"{name}:{partitions}"


def pick(entries: Sequence[Any], number: int) -> Any:
    """The entry at a place, counted from 1."""
    if not 0 < number <= len(entries):
        raise DataError(f"pick: place {number!r} received, expected 1 to {len(entries)}")
    return entries[number - 1]


def without(entries: Sequence[Any], gone: Any) -> list[Any]:
    """The list without one entry."""
    return [entry for entry in entries if entry != gone]


def assigned(assignor: str, topics: Sequence[str], members: Members, member: str) -> list[str]:
    """Partitions of the member in the first assignment of such a group."""
    return _spell(_fresh(assignor, _cluster(topics), members), member)


def after_leave(assignor: str, topics: Sequence[str], members: Members, gone: str, member: str) -> list[str]:
    """Partitions of the member after the first assignment and one more without ``gone``."""
    cluster = _cluster(topics)
    return _spell(
        _again(assignor, cluster, without(members, gone), _fresh(assignor, cluster, members)), member
    )


def after_join(
    assignor: str, topics: Sequence[str], members: Members, newcomer: str, member: str
) -> list[str]:
    """Partitions of the member once ``newcomer`` has joined and nothing moves any more."""
    cluster = _cluster(topics)
    return _spell(
        _settled(assignor, cluster, [*members, newcomer], _fresh(assignor, cluster, members)), member
    )


def moves_on_leave(assignor: str, topics: Sequence[str], members: Members, gone: str) -> int:
    """How many partitions change their owner when ``gone`` leaves (its own included)."""
    cluster = _cluster(topics)
    before = _fresh(assignor, cluster, members)
    return _moves(before, _again(assignor, cluster, without(members, gone), before))


def moves_on_join(assignor: str, topics: Sequence[str], members: Members, newcomer: str) -> int:
    """How many partitions change their owner when ``newcomer`` joins, all told."""
    cluster = _cluster(topics)
    before = _fresh(assignor, cluster, members)
    return _moves(before, _settled(assignor, cluster, [*members, newcomer], before))


def _group_size(number: int) -> int:
    if not 0 < number <= LARGEST_GROUP:
        raise DataError(f"a group of {number!r} received, expected 1 to {LARGEST_GROUP}")
    return number


def _cluster(topics: Sequence[str]) -> Cluster:
    counts = {}
    for text in topics:
        name, colon, number = str(text).rpartition(":")
        if not colon or not name or not (number.isdecimal() and len(number) < 9) or int(number) > 1000:
            raise DataError(f"topic {text!r} received, expected <name>:<partitions> as in orders:3")
        counts[name] = int(number)
    return Cluster(counts)


def _fresh(assignor: str, cluster: Cluster, members: Members) -> Assignment:
    _group_size(len(members))
    topics = tuple(sorted(cluster.partitions))
    return assign(assignor, cluster, [MemberSubscription(name, topics) for name in members])


def _again(
    assignor: str, cluster: Cluster, members: Members, before: Assignment, generation: int = 1
) -> Assignment:
    topics = tuple(sorted(cluster.partitions))
    claims = [
        MemberSubscription(
            name, topics, owned=before[name], generation=generation, subscription_generation=generation
        )
        if name in before
        else MemberSubscription(name, topics)
        for name in members
    ]
    return assign(assignor, cluster, claims)


def _settled(assignor: str, cluster: Cluster, members: Members, before: Assignment) -> Assignment:
    """Repeat until nobody has to give anything up: what a cooperative group does in two generations."""
    for generation in range(1, 6):
        after = _again(assignor, cluster, members, before, generation)
        if assignor != "cooperative-sticky" or all(
            set(after[name]) == set(before.get(name, ())) for name in members
        ):
            return after
        before = after
    raise DataError(f"{assignor} did not settle; expected it to within five generations")


def _moves(before: Assignment, after: Assignment) -> int:
    owners: dict[TopicPartition, str] = {tp: name for name, partitions in before.items() for tp in partitions}
    return sum(owners.get(tp) != name for name, partitions in after.items() for tp in partitions)


def _spell(assignment: Assignment, member: str) -> list[str]:
    if member not in assignment:
        raise DataError(f"member {member!r} is not in the group; expected one of {', '.join(assignment)}")
    return [str(tp) for tp in sorted(assignment[member])]


HELPERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            count,
            near,
            same,
            least,
            most,
            names,
            topic,
            pick,
            without,
            assigned,
            after_leave,
            after_join,
            moves_on_leave,
            moves_on_join,
        )
    }
)
