"""PySpark exercises on rebalance logs: what they are made of, a learner's folder, and checks that teach.

Importing this room starts nothing; Spark comes in through ``rebalance_kit.pipeline`` when a check runs.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Desk": "desk",
    "Identity": "desk",
    "check_answer": "checking",
    "names": "shelf",
    "load": "shelf",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
