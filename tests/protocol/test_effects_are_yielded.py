"""No rule drops the effects of another: a generator that is called and not yielded from does nothing at all."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import rebalance_kit.protocol
from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.effect_handlers import EFFECT_HANDLERS, POLL_DELAYS

ROOM = Path(rebalance_kit.protocol.__file__).parent
TREES = {path.relative_to(ROOM): ast.parse(path.read_text("utf-8")) for path in sorted(ROOM.rglob("*.py"))}
RETURNING = {"Effects", "Effect", "Note", "SetTimer", "Send", "Own", "Callback", "tuple[Effect, ...]"}


def giving_effects() -> set[str]:
    """Functions whose value is one effect or more."""
    return {
        node.name
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and (returned(node) in RETURNING or returned(node).startswith("Generator[Effect"))
    }


def returned(node: ast.FunctionDef) -> str:
    """What a function says that it returns, whether the room's names are imported or their module."""
    return ast.unparse(node.returns).replace("effects.", "") if node.returns is not None else ""


def called(node: ast.expr) -> str:
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def test_no_effect_is_asked_for_and_dropped():
    names = giving_effects()
    assert {"send_heartbeat", "note", "move", "remove_member", "compute_if_due"} <= names
    dropped = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and called(node.value) in names
    ]
    assert dropped == []


def test_a_generator_is_yielded_from_and_a_single_effect_yielded():
    many = {
        node.name
        for tree in TREES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and returned(node) == "Effects"
    }
    mixed = [
        f"{path}:{node.lineno}: {ast.unparse(node)}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Yield) and node.value is not None and called(node.value) in many
    ]
    assert mixed == []


def test_the_simulation_carries_out_every_effect_of_a_client_and_knows_when_every_poll_comes():
    coordinators = {fx.Reply, fx.Append, fx.Downgrade}
    assert set(EFFECT_HANDLERS) == set(get_args(fx.Effect)) - coordinators
    assert set(POLL_DELAYS) == set(fx.NextPoll)
