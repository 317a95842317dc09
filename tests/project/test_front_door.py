"""``import rebalance_kit as rk``: the names people use most, at no cost until they are asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rebalance_kit as rk
from tests.support.paths import ROOT

CRASH = ROOT / "rebalance_kit" / "scenarios" / "crash.yaml"


def test_importing_the_kit_loads_the_lazy_names_and_no_other_module_of_it():
    script = "import rebalance_kit, sys; print(*(name for name in sys.modules if 'rebalance' in name))"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert set(done.stdout.split()) == {"rebalance_kit", "rebalance_kit.model", "rebalance_kit.model.lazy"}


def test_type_checkers_are_told_the_same_names_that_the_front_door_gives():
    tree = ast.parse((ROOT / "rebalance_kit" / "__init__.py").read_text("utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    told = [alias.asname for node in block.body for alias in node.names]
    assert sorted(told) == rk.__all__ == dir(rk)


@pytest.mark.parametrize("name", rk.__all__)
def test_every_name_of_the_front_door_is_there(name):
    assert getattr(rk, name) is not None


def test_a_name_that_the_front_door_lacks_is_refused_by_name():
    with pytest.raises(AttributeError, match="'rebalance_kit' has no attribute 'simulat'"):
        _ = rk.simulat


@pytest.mark.parametrize("what", ["crash", CRASH, str(CRASH), CRASH.read_text("utf-8")])
def test_a_scenario_is_found_by_name_by_path_and_in_its_own_text(what):
    assert rk.scenario(what).title == rk.scenario("crash").title


@pytest.mark.parametrize("what", ["no-such.yaml", Path("no-such")])
def test_a_scenario_file_that_is_missing_is_named(what):
    with pytest.raises(rk.RebalanceKitError, match="no-such"):
        rk.scenario(what)


def test_a_name_that_is_no_scenario_is_refused_with_the_nearest_ones():
    with pytest.raises(rk.RebalanceKitError, match=r"'crush'; expected one such as crash.*or the path"):
        rk.scenario("crush")
