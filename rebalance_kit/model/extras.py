"""The kit's optional packages: which extra brings which, and what to say when one is missing."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from rebalance_kit.model.errors import EnvironmentProblem

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
            extra = _extra_of(cause.name)
            return None if extra is None else _problem(cause.name, extra)
        cause = cause.__cause__ or cause.__context__
    return None


def require(*modules: str) -> None:
    """Raise ``EnvironmentProblem`` for the first of ``modules`` that is not installed."""
    for module in modules:
        if find_spec(module) is None:
            raise _problem(module, _extra_of(module))


def _problem(module: str, extra: str | None) -> EnvironmentProblem:
    package = module.split(".", maxsplit=1)[0]
    wanted = package if extra is None else f"rebalance-kit[{extra}]"
    return EnvironmentProblem(f"the package {package} is not installed; expected: pip install '{wanted}'")


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
