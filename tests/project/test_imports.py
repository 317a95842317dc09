"""Who may import what: the rooms, the standard library alone, and nothing heavy at the door."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import ROOT

PACKAGE = ROOT / "rebalance_kit"
STDLIB_ROOMS = ("model", "assignors", "protocol", "simulation", "analysis", "logs", "recordings")
HEAVY = (
    "pyspark",
    "pandas",
    "numpy",
    "pyarrow",
    "plotly",
    "ipywidgets",
    "anywidget",
    "IPython",
    "confluent_kafka",
    "kafka",
    "aiokafka",
    "yaml",
    "asyncio",
)


def test_imports_point_down_the_list_of_rooms():
    command = [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def imported(path):
    """Top-level names that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


def kit_modules():
    """Every module of the package by its dotted name."""
    modules = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(ROOT).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


def kit_imports(path, modules):
    """Modules of the package that a file imports anywhere: inside functions and for types alone, too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in modules else node.module for name in inside)


def cycles(graph):
    """Groups of more than one node that reach each other (Tarjan's strongly connected components)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
            if target in stack:
                low[node] = min(low[node], low[target])
        if low[node] == index[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def test_a_cycle_is_found_and_a_chain_is_none():
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]
    assert cycles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_two_modules_import_each_other():
    modules = kit_modules()
    graph = {name: set(kit_imports(path, modules)) - {name} for name, path in modules.items()}
    assert cycles(graph) == []


@pytest.mark.parametrize("room", STDLIB_ROOMS)
def test_a_room_of_the_engine_needs_the_standard_library_and_yaml_alone(room):
    files = sorted((PACKAGE / room).rglob("*.py"))
    assert files
    allowed = sys.stdlib_module_names | {"rebalance_kit", "yaml"}
    foreign = {f"{path.name}: {name}" for path in files for name in imported(path) if name not in allowed}
    assert foreign == set()


def loaded_after(statement):
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_importing_the_kit_loads_nothing_heavy():
    assert loaded_after("import rebalance_kit") & set(HEAVY) == set()


@pytest.mark.parametrize("room", sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py")))
def test_importing_a_room_loads_nothing_heavy(room):
    assert loaded_after(f"import rebalance_kit.{room}") & set(HEAVY) == set()


def test_the_simulator_runs_without_any_third_party_library_but_yaml():
    loaded = loaded_after("import rebalance_kit.simulation.simulate")
    assert loaded & (set(HEAVY) - {"yaml", "asyncio"}) == set()
