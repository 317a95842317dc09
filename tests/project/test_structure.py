"""What a newcomer can hold in mind: folders, functions, and rooms that import downwards. A file is an idea; its length is judged."""

from __future__ import annotations

import ast
import importlib.util

import pytest

from tests.support.paths import ROOT

MOST_FILES, MOST_LINES = 25, 80


def rooms():
    spec = importlib.util.spec_from_file_location("rooms", ROOT / "scripts" / "rooms.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROOMS = rooms()


def source_files():
    for top in ("rebalance_kit", "page", "tests", "scripts", "benchmarks", "notebooks", "exercises"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in {".py", ".js"} and not {"__pycache__", "node_modules"} & set(path.parts):
                yield path


def test_no_folder_holds_more_files_than_one_can_look_over():
    counted = {}
    for path in source_files():
        folder = path.parent.relative_to(ROOT).as_posix()
        counted[folder] = counted.get(folder, 0) + 1
    assert {folder: count for folder, count in counted.items() if count > MOST_FILES} == {}, (
        f"more than {MOST_FILES} files: merge files of one idea, or give an idea of its own a folder"
    )


def test_no_function_of_the_package_is_longer_than_two_screens():
    lengths = {}
    for path in (ROOT / "rebalance_kit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"{path.relative_to(ROOT / 'rebalance_kit')}: {node.name}"
                lengths[name] = max(lengths.get(name, 0), node.end_lineno - node.lineno + 1)
    too_long = {name for name, lines in lengths.items() if lines > MOST_LINES}
    assert sorted(too_long) == []


@pytest.mark.parametrize("room", ROOMS.ROOMS)
def test_the_rooms_inside_a_room_import_downwards(room):
    assert ROOMS.circles(ROOMS.inside(room)) == []


def test_a_circle_of_rooms_is_found_and_a_chain_is_none():
    chain = {"a": frozenset("b"), "b": frozenset("c"), "c": frozenset()}
    assert ROOMS.circles(chain) == []
    assert ROOMS.circles({**chain, "c": frozenset("a")}) == ["a", "b", "c"]


def test_the_rooms_drawn_in_the_design_are_those_of_the_imports():
    text = (ROOT / "docs" / "design.md").read_text("utf-8")
    assert ROOMS.block() in text, "run scripts/rooms.py"
