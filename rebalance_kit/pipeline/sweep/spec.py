"""What to sweep, from a YAML file or from the words of a command line.

A file says ``scenarios`` (names of the kit's, or files beside it), ``set`` (what to vary: lists of values),
``protocols`` (a list, or ``all``) and ``seeds`` (how many, or which).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.yaml_text import YamlRules, load_yaml
from rebalance_kit.pipeline.sweep.grid import Grid, make_grid
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario

KEYS = ("scenarios", "set", "protocols", "seeds")


def read_spec(path: Path) -> Grid:
    """The grid that a file asks for; raises ``ScenarioError`` naming file, key and value."""
    told = load_yaml(path, YamlRules("a YAML file of a sweep", error=ScenarioError))
    if not isinstance(told, dict) or not told.get("scenarios"):
        raise ScenarioError(
            f"{path}: expected a mapping with scenarios (and set, protocols, seeds), got {type(told).__name__}"
        )
    for key in told:
        if key not in KEYS:
            raise ScenarioError(f"{path}: unknown key {key!r}; expected one of {', '.join(KEYS)}")
    names = _listed(told["scenarios"])
    values = told.get("set") or {}
    if not isinstance(values, dict):
        raise ScenarioError(f"{path}: set: {values!r} is no mapping; expected names with lists of values")
    parameters = {str(name): _listed(value) for name, value in values.items()}
    found = [find(str(name), path.parent) for name in names]
    return make_grid(
        found, parameters, _seeds(told.get("seeds", 10), path), _protocols(told.get("protocols", "all"))
    )


def read_words(names: Sequence[str], settings: Sequence[str], protocol: str | None, seeds: int) -> Grid:
    """The grid of ``--scenario NAME``, ``--set KEY=VALUE,VALUE`` and ``--protocol all|NAME,NAME``."""
    parameters: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        if not equals or not values:
            raise ScenarioError(f"--set {setting}: expected KEY=VALUE or KEY=VALUE,VALUE,...")
        parameters[name.strip()] = [_value(one) for one in values.split(",")]
    return make_grid([find(name, Path()) for name in names], parameters, seeds, _protocols(protocol))


def find(name: str, folder: Path) -> Scenario:
    """A scenario of the kit by its name, or a file, looked for from ``folder``."""
    if name not in scenarios.names() and (folder / name).is_file():
        return read_scenario(folder / name)
    return scenarios.load(name)


def _protocols(told: Any) -> Sequence[str] | None:
    if told is None:
        return None
    return (
        THREE_PROTOCOLS
        if told == "all"
        else [str(one).strip() for one in (told.split(",") if isinstance(told, str) else told)]
    )


def _seeds(told: Any, path: Path) -> int | list[int]:
    listed = told if isinstance(told, list) else [told]
    if not all(isinstance(one, int) and not isinstance(one, bool) for one in listed):
        raise ScenarioError(f"{path}: seeds: {told!r}; expected how many, or a list of whole numbers")
    return told


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _value(text: str) -> Any:
    """A number where it is one, true and false as they are, else text."""
    bare = text.strip()
    known: Mapping[str, bool] = {"true": True, "false": False}
    if bare.lower() in known:
        return known[bare.lower()]
    for kind in (int, float):
        try:
            return kind(bare)
        except ValueError:
            continue
    return bare
