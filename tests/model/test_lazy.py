"""A lazy name is what its table says, whatever has been imported before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

PACKAGES = ("rebalance_kit", "rebalance_kit.view", "rebalance_kit.pipeline", "rebalance_kit.quiz")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_hides_a_lazy_name_of_the_same_name(package):
    script = f"""
import importlib, pkgutil, types
package = importlib.import_module({package!r})
for _ in range(2):  # the first asking imports the modules that could hide a name
    names = {{name: getattr(package, name) for name in package.__all__}}
for module in pkgutil.iter_modules(package.__path__):
    if module.name in names:
        importlib.import_module(f"{{package.__name__}}.{{module.name}}")
exec(f"from {{package.__name__}} import {{', '.join(names)}}", taken := {{}})
print(*(name for name in names if isinstance(taken[name], types.ModuleType)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_module_that_shares_its_name_with_a_lazy_name_is_imported_by_its_full_name():
    script = "import rebalance_kit.pipeline as p; from rebalance_kit.pipeline.inquiry import Forensics; print(p.forensics)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("<function forensics")


def test_a_name_whose_packages_are_missing_says_which_extra_brings_them():
    script = """
import sys
sys.path.insert(0, "tests/support/cli")
from importlib.machinery import PathFinder
from without_packages import PathFinderWithout
names = {"anywidget", "ipywidgets", "traitlets", "IPython"}
sys.meta_path[:] = [PathFinderWithout(names) if finder is PathFinder else finder for finder in sys.meta_path]
import rebalance_kit as rk
for name in ("Lab", "Quiz", "Exam", "Poll", "Vote", "Exercise"):
    try:
        getattr(rk, name)
    except rk.RebalanceKitError as error:
        print(name, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = done.stdout.splitlines()
    assert len(told) == 6 and all("rebalance-kit install lab" in line for line in told), done.stdout
