"""The public names: few, written down, each with an example that runs; what the core never needs, and who stands alone."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

import rebalance_kit as rk
from tests.support.paths import ROOT

CORE = (
    "model",
    "assignors",
    "protocol",
    "simulation",
    "scenarios",
    "analysis",
    "logs",
    "view.board",
    "view.style",
    "view.words",
    "view.figures",
    "view.cards",
    "view.lab",
)
SIDE = {
    "forensics": (),
    "quiz": (),
    "recordings": (),
    "whatif": ("forensics",),
    "pipeline": ("forensics", "whatif"),
    "classroom": ("exercises", "quiz", "pipeline", "forensics", "recordings", "whatif"),
}
"""Rooms beside the core, and the rooms that each builds on."""
NEEDS = {"sweep": "spark", "run_clients": "clients"}
"""Examples that start a Java or librdkafka."""


def api():
    spec = importlib.util.spec_from_file_location("api", ROOT / "scripts" / "api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


API = api()


def test_the_kit_has_at_most_twenty_five_public_names_each_with_an_example():
    assert len(rk.__all__) <= API.MOST_NAMES
    assert sorted(API.EXAMPLES) == rk.__all__, (
        "scripts/api.py: EXAMPLES has one for each name of rebalance_kit"
    )


def test_the_page_of_public_names_is_that_of_the_code():
    assert API.page() == API.PAGE.read_text("utf-8"), "a public name changed: on purpose? then run make api"


def test_every_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "attempts.sqlite"))
    names = {"rk": rk}
    for name, example in API.EXAMPLES.items():
        if name not in NEEDS:
            exec(compile(example, f"the example of {name}", "exec"), names)  # noqa: S102 - texts of our own script


@pytest.mark.spark
def test_the_example_of_sweep_runs():
    crash = rk.scenario("crash")
    exec(API.EXAMPLES["sweep"], {"rk": rk, "crash": crash})  # noqa: S102


def test_the_example_of_run_clients_runs():
    pytest.importorskip("confluent_kafka")
    exec(API.EXAMPLES["run_clients"], {"rk": rk})  # noqa: S102


ALONE = """
import importlib, pkgutil, sys
from importlib.abc import MetaPathFinder

class Refuse(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        for room in {refused!r}:
            if name == f"rebalance_kit.{{room}}" or name.startswith(f"rebalance_kit.{{room}}."):
                raise ImportError(f"{{name}} belongs to another room")

sys.meta_path.insert(0, Refuse())
for top in {rooms!r}:
    package = importlib.import_module(f"rebalance_kit.{{top}}")
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)
"""


def import_all(rooms, refused):
    script = ALONE.format(rooms=tuple(rooms), refused=tuple(refused))
    return subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("room", SIDE)
def test_a_room_beside_the_core_is_importable_with_what_it_builds_on_alone(room):
    refused = [other for other in SIDE if other != room and other not in SIDE[room]]
    done = import_all([room], [*refused, "view", "notebook", "cli"])
    assert done.returncode == 0, done.stderr[-600:]


def test_the_core_is_importable_without_any_room_beside_it():
    done = import_all(CORE, [*SIDE, "exercises", "notebook", "cli", "clients"])
    assert done.returncode == 0, done.stderr[-600:]
