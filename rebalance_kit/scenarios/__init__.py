"""The scenarios that come with the kit: ``names()`` lists them, ``scenario(name)`` reads one, ``simulate(name)`` runs it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rebalance_kit.glossary import Entry
    from rebalance_kit.model.trace import Trace
    from rebalance_kit.simulation.scenario.scenario import Scenario

SUFFIX = ".yaml"


def explained(term: str) -> Entry:
    """What a term, an error, a state, a config key or an action of a scenario means, however it is capitalised.

    Raises ``DataError`` naming the nearest known terms.
    """
    from rebalance_kit.glossary import Entry, lookup
    from rebalance_kit.model.errors import DataError
    from rebalance_kit.simulation.scenario.scenario import ACTIONS

    try:
        return lookup(term)
    except DataError:
        action = "_".join(term.lower().replace("-", "_").split())
        if action not in ACTIONS:
            raise
        return Entry(action, f"An action of a scenario: {ACTIONS[action]}.", "docs/scenario.md")


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Names of the kit's scenarios, sorted."""
    from importlib.resources import files

    entries = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(SUFFIX) for name in entries if name.endswith(SUFFIX)))


def source(name: str) -> str:
    """The YAML text of a scenario of the kit; raises ``ScenarioError`` naming the nearest ones."""
    from importlib.resources import files

    if name not in names():
        from difflib import get_close_matches

        from rebalance_kit.model.errors import ScenarioError

        close = get_close_matches(name, names(), n=3, cutoff=0.4) or list(names())
        raise ScenarioError(
            f"no scenario of the kit is called {name!r}; expected one such as {', '.join(close)}, "
            "or the path of a YAML file"
        )
    return files(__name__).joinpath(name + SUFFIX).read_text(encoding="utf-8")


def load(name: str) -> Scenario:
    """Read a scenario of the kit; raises ``ScenarioError`` naming the nearest ones for an unknown name."""
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario

    return read_scenario(source(name), name + SUFFIX)


def scenario(what: str | Path) -> Scenario:
    """Read a scenario: one of the kit by its name, a YAML file by its path, or YAML text of several lines.

    Raises ``ScenarioError`` naming the nearest names of the kit where nothing of that name is there.
    """
    from pathlib import Path

    from rebalance_kit.model.errors import require_kind

    require_kind(what, (str, Path), "the scenario", "the name of one of the kit's, a path, or YAML text")
    if what in names():
        return load(str(what))
    from rebalance_kit.model.files import is_file
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario

    if isinstance(what, Path) or "\n" in what:
        return read_scenario(what)
    path = Path(what)
    return read_scenario(path) if path.suffix in {".yaml", ".yml"} or is_file(path) else load(what)


def simulate(
    what: Scenario | str | Path,
    seed: int | None = None,
    protocol: str | None = None,
    *,
    listeners: Mapping[str, Any] | None = None,
    assignors: Mapping[str, Callable[..., Any]] | None = None,
) -> Trace:
    """Run a scenario to its end and return all that happened; ``what`` is a scenario, or whatever ``scenario`` reads.

    ``seed`` replaces the scenario's own, ``protocol`` (eager, cooperative, consumer, ...) switches every member first.
    ``listeners`` are rebalance listeners of your own by member, ``assignors`` functions
    ``(partition_counts, members) -> {member_id: partitions}`` by the name that ``partition.assignment.strategy`` may
    then list. Raises ``ScenarioError`` or ``ConfigError`` before anything runs when the scenario cannot mean anything.
    """
    from pathlib import Path

    from rebalance_kit.simulation.simulate import simulate as run

    wanted = scenario(what) if isinstance(what, (str, Path)) else what
    return run(wanted, seed, protocol, listeners=listeners, assignors=assignors)
