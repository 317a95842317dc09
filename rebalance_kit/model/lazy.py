"""Packages that give names lazily: a name is imported from its module when somebody first asks for it (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

SUBMODULE = "."


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in other modules.

    ``homes`` maps each public name to the module that defines it, relative to ``package``
    (``"Lab": "lab.widget"``); the home of a name that is a module of the package itself is ``"."``.
    """

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home == SUBMODULE:
            return import_module(f"{package}.{name}")
        return getattr(import_module(f"{package}.{home}"), name)

    return get, lambda: sorted(homes), sorted(homes)
