"""Packages that give names lazily: a name is imported from its module when somebody first asks for it (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

SUBMODULE = "."


class LazyPackage(ModuleType):
    """A package whose lazy names win over modules of the same name.

    Importing ``pipeline.forensics`` makes Python bind the module as an attribute of ``pipeline``, where it would
    hide the function ``forensics`` from then on. The module stays importable by its full name.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__.get("__all__", ())):
            super().__setattr__(name, value)


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in other modules.

    ``homes`` maps each public name to the module that defines it, relative to ``package``
    (``"Lab": "lab.widget"``); the home of a name that is a module of the package itself is ``"."``.
    A name whose packages are not installed raises ``EnvironmentProblem`` with the extra that brings them.
    """
    sys.modules[package].__class__ = LazyPackage

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            if home == SUBMODULE:
                return import_module(f"{package}.{name}")
            return getattr(import_module(f"{package}.{home}"), name)
        except ImportError as error:
            from rebalance_kit.model.errors import missing_package  # the import of the kit loads nothing

            problem = missing_package(error)
            if problem is None:
                raise
            raise problem from error

    return get, lambda: sorted(homes), sorted(homes)
