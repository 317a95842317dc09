"""Reads what to sweep from a YAML file or from command-line options.

A file has ``scenarios`` (names of the kit's, or files beside it), ``set`` (names with lists of values to try),
``protocols`` (a list, or ``all``) and ``seeds`` (a number of seeds, or a list).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.files import is_file
from rebalance_kit.model.yaml_text import YamlRules, load_yaml
from rebalance_kit.pipeline.sweep.grid import Grid, make_grid
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario

KEYS = ("scenarios", "set", "protocols", "seeds")


def read_spec(path: Path) -> Grid:
    """The grid of a file; raises ``ScenarioError`` naming file, key and value."""
    spec = load_yaml(path, YamlRules("a YAML file of a sweep", error=ScenarioError))
    if not isinstance(spec, dict) or not spec.get("scenarios"):
        raise ScenarioError(
            f"{path}: expected a mapping with scenarios (and set, protocols, seeds), got {type(spec).__name__}"
        )
    for key in spec:
        if key not in KEYS:
            raise ScenarioError(f"{path}: unknown key {key!r}; expected one of {', '.join(KEYS)}")
    names = _listed(spec["scenarios"])
    values = spec.get("set") or {}
    if not isinstance(values, dict):
        raise ScenarioError(f"{path}: set: {values!r} is no mapping; expected names with lists of values")
    parameters = {str(name): _listed(value) for name, value in values.items()}
    chosen = [find(str(name), path.parent) for name in names]
    return make_grid(
        chosen, parameters, _seeds(spec.get("seeds", 10), path), _protocols(spec.get("protocols", "all"))
    )


def read_words(names: Sequence[str], settings: Sequence[str], protocol: str | None, seeds: int) -> Grid:
    """The grid of ``--scenario NAME``, ``--set KEY=VALUE,VALUE`` and ``--protocol all|NAME,NAME``."""
    parameters: dict[str, list[Any]] = {}
    for setting in settings:
        name, equals, values = setting.partition("=")
        if not equals or not values:
            raise ScenarioError(f"--set {setting}: expected KEY=VALUE or KEY=VALUE,VALUE,...")
        parameters[name.strip()] = [_value(text) for text in values.split(",")]
    return make_grid([find(name, Path()) for name in names], parameters, seeds, _protocols(protocol))


def find(name: str, folder: Path) -> Scenario:
    """A scenario of the kit by name, or one from a file relative to ``folder``."""
    if name not in scenarios.names() and is_file(folder / name):
        return read_scenario(folder / name)
    return scenarios.load(name)


def _protocols(value: Any) -> Sequence[str] | None:
    if value is None:
        return None
    if value == "all":
        return THREE_PROTOCOLS
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple):
        raise ScenarioError(f"protocols: {value!r}; expected all, or a list of names")
    return [str(name).strip() for name in names]


def _seeds(value: Any, path: Path) -> int | list[int]:
    seeds = _listed(value)
    if not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
        raise ScenarioError(f"{path}: seeds: {value!r}; expected how many, or a list of whole numbers")
    return seeds if isinstance(value, list) else int(value)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _value(text: str) -> Any:
    """The text as a boolean or a number where it is one, else unchanged."""
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
