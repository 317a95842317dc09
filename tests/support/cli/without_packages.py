"""Run ``rebalance-kit`` where some packages are not installed: ``without_packages.py NAME,NAME COMMAND ...``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from typing import Any


class PathFinderWithout:
    """Python's finder of installed packages, except that it finds none of ``names``."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The module's spec, or None as for a package that is not there."""
        return (
            None if name.split(".", maxsplit=1)[0] in self.names else PathFinder.find_spec(name, path, target)
        )

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        """The metadata of the packages that are there; the kit's own names its extras."""
        found = PathFinder.find_distributions(context)
        return [package for package in found if package.name.replace("-", "_") not in self.names]


if __name__ == "__main__":
    without = PathFinderWithout(set(sys.argv[1].split(",")))
    sys.meta_path[:] = [without if finder is PathFinder else finder for finder in sys.meta_path]
    from rebalance_kit.cli import main

    sys.exit(main(sys.argv[2:]))
