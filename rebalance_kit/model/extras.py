"""The kit's optional packages: which extra brings which, and what to say when one is missing."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Packages that the kit imports and that come with a package of an extra.
_BROUGHT_BY = {"IPython": "ipywidgets", "traitlets": "ipywidgets", "numpy": "pandas", "py4j": "pyspark"}


def packages_by_extra() -> dict[str, list[str]]:
    """Package names by extra, from the installed kit's metadata; empty when the kit is not installed."""
    try:
        lines = requires("rebalance-kit") or []
    except PackageNotFoundError:
        return {}
    packages: dict[str, list[str]] = {}
    for line in lines:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", line)
        if name and extra:
            packages.setdefault(extra[1], []).append(name[0])
    return packages


def missing_package(error: BaseException) -> EnvironmentProblem | None:
    """The problem to report for an import that failed because an extra is not installed; None for other errors.

    Libraries may wrap the failed import, so the causes of ``error`` are examined too.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModuleNotFoundError) and cause.name is not None:
            return None if _extra_of(cause.name) is None else _problem([cause.name])
        cause = cause.__cause__ or cause.__context__
    return None


def require(*modules: str) -> None:
    """Raise ``EnvironmentProblem`` unless all of ``modules`` are installed; it names every extra that is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise _problem(missing)


def _problem(modules: Sequence[str]) -> EnvironmentProblem:
    packages = [module.split(".", maxsplit=1)[0] for module in modules]
    extras = dict.fromkeys(extra for package in packages if (extra := _extra_of(package)) is not None)
    wanted = f"'rebalance-kit[{','.join(extras)}]'" if extras else " ".join(packages)
    verb = "is" if len(packages) == 1 else "are"
    return EnvironmentProblem(f"{', '.join(packages)} {verb} not installed; expected: pip install {wanted}")


def _extra_of(module: str) -> str | None:
    """The first extra whose packages bring ``module``."""
    name = module.split(".", maxsplit=1)[0]
    package = _normal(_BROUGHT_BY.get(name, name))
    for extra, packages in packages_by_extra().items():
        if package in map(_normal, packages):
            return extra
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
