"""Commands without their optional packages: one line says what to install, and nothing else is needed."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys

import pytest

from rebalance_kit import cli
from rebalance_kit.model.errors import missing_package, packages_by_extra, require
from tests.support.paths import ROOT

#: Extras that a command may need; the others are for developers.
EXTRAS = ("lab", "spark", "java", "study", "export", "print", "serve", "clients")

#: What the packages of an extra bring along.
BROUGHT = {"lab": ("traitlets", "IPython"), "spark": ("py4j", "numpy")}

#: Command, and the extra that it asks for when that one is missing.
NEEDS = [
    ("cards --out {new}", "print"),
    ("lab", "lab"),
    ("lab crash --text", "lab"),
    ("lab crash --html {new}", "lab"),
    ("workshop 90min --to {new} --plan-b {new}", "lab"),
    ("logs {logs} --engine spark", "spark"),
    ("logs {logs} --engine spark", "java"),
    ("logs {logs} --out {new}", "spark"),
    ("watch {logs} --once", "spark"),
    ("watch {logs} --once", "java"),
    ("sweep --scenario crash --seeds 1", "spark"),
    ("sweep --scenario crash --seeds 1", "java"),
    ("sweep --scenario crash --seeds 1 --out {new}", "lab"),
    ("exercise check 01 --folder {answers}", "spark"),
    ("exercise check 01 --folder {answers}", "java"),
    ("review --store {new}", "study"),
    ("items export anki {new} --count 1", "export"),
    ("inspect --bootstrap-server 127.0.0.1:1", "clients"),
]

#: Command, and its status where no extra is installed at all.
NEEDS_NOTHING = [
    ("bundle", 2),
    ("check-config {new}", 2),
    ("what-if /nowhere", 2),
    ("broker status", 1),
    ("record nothing --protocol eager --out {new}", 2),
    ("deeds --topic nothing", 2),
    ("beside /nowhere", 2),
    ("calibrate /nowhere", 2),
    ("today nothing", 2),
    ("plan nothing", 2),
    ("plan-deploy {new}", 2),
    ("course {new}", 0),
    ("install", 0),
    ("install nothing", 2),
    ("classroom report {new}", 2),
    ("run crash --one-run", 0),
    ("run crash --one-run --out {new}", 0),
    ("search --count 1", 0),
    ("assign {new}", 2),
    ("scenarios", 0),
    ("explain generation", 0),
    ("doctor", 0),
    ("lab crash --notebook {new}", 0),
    ("logs /nowhere", 2),
    ("logs {logs}", 1),
    ("watch /nowhere", 2),
    ("sweep --scenario crash --set nothing=1", 2),
    ("make-logs crash --out {new}", 0),
    ("replay /nowhere", 2),
    ("quiz --count 1 --store {new}", 0),
    ("exam nothing --store {new}", 2),
    ("answers report --store {new}", 0),
    ("items check {new}", 2),
    ("items export csv {new} --count 1", 0),
    ("exercise list", 0),
    ("workshop 90min --minutes", 0),
    ("vote nothing", 2),
]


def modules(extra):
    """The names under which the packages of an extra are imported."""
    return (*(name.replace("-", "_") for name in packages_by_extra()[extra]), *BROUGHT.get(extra, ()))


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """A folder of exercises with the first one solved."""
    folder = tmp_path_factory.mktemp("answers")
    assert cli.main(["exercise", "start", "01", "--folder", str(folder)]) == 0
    shutil.copy(ROOT / "exercises/spark/01-log-lines/solution.py", folder / "01-log-lines" / "answer.py")
    return folder


@pytest.fixture
def without(tmp_path, answers):
    """Runs a command in a process of its own where the packages of some extras are missing."""
    logs = answers / "01-log-lines" / "data" / "crash.eager.4.3.1"

    def run(extras, command):
        filled = command.format(new=tmp_path / "new", logs=logs, answers=answers).split()
        missing = ",".join(module for extra in extras for module in modules(extra))
        machine = {key: value for key, value in os.environ.items() if key != "JAVA_HOME"}
        if "java" in extras:
            machine["PATH"] = str(tmp_path / "empty")
        program = [sys.executable, ROOT / "tests/support/cli/without_packages.py", missing, *filled]
        return subprocess.run(
            program,
            env={**machine, "PYTHONPATH": str(ROOT)},
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.parametrize(("command", "extra"), NEEDS)
def test_a_command_without_its_extra_says_in_one_line_what_to_install(without, tmp_path, command, extra):
    done = without([extra], command)
    assert done.returncode == 2, done.stderr
    assert re.fullmatch(rf"rebalance-kit[^\n]*rebalance-kit install {extra}\b[^\n]*\n", done.stderr)
    assert not (tmp_path / "new").exists() or "review" in command


@pytest.mark.parametrize(("command", "status"), NEEDS_NOTHING)
def test_a_command_that_needs_no_extra_runs_without_any(without, command, status):
    done = without(EXTRAS, command)
    assert "Traceback" not in done.stderr and "rebalance-kit install" not in done.stderr, done.stderr
    assert done.returncode == status, done.stderr


def test_all_the_extras_that_a_command_misses_are_named_at_once(without):
    done = without(["lab", "spark"], "sweep --scenario crash --seeds 1 --out {new}")
    assert done.returncode == 2
    assert done.stderr.endswith(
        "plotly, pyspark, pyarrow are not installed; expected: rebalance-kit install lab spark\n"
    )


def test_the_tables_here_name_every_command_and_every_extra_of_a_command():
    (commands,) = (
        action for action in cli._parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    assert {command.split()[0] for command, _ in [*NEEDS, *NEEDS_NOTHING]} == set(commands.choices)
    assert {extra for _, extra in NEEDS} == set(EXTRAS) - {"serve"}


def test_a_package_that_an_extra_brings_along_is_explained_by_that_extra():
    error = ModuleNotFoundError("No module named 'traitlets'", name="traitlets.config")
    assert "rebalance-kit install lab" in str(missing_package(error))


def test_a_missing_module_of_no_extra_stays_an_error_of_ours():
    assert missing_package(ModuleNotFoundError("No module named 'nobody'", name="nobody")) is None


def test_a_library_s_own_complaint_about_a_missing_package_is_seen_through():
    wrapped = ImportError("PyArrow must be installed")
    wrapped.__cause__ = ModuleNotFoundError("No module named 'pyarrow'", name="pyarrow")
    assert "rebalance-kit install spark" in str(missing_package(wrapped))


def test_what_is_installed_is_not_asked_for():
    require("yaml", "json")
