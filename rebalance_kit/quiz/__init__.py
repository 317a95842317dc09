"""What you learned: items, recipes, grading, and the check that the engine agrees with every key.

Importing this room reads no file and runs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Bank": "bank",
    "read_bank": "bank",
    "Practice": "practice",
    "pick_questions": "practice",
    "Verdict": "grade",
    "grade": "grade",
    "question": "generate",
    "check": "check",
    "run_items_check": "check",
    "run_quiz": "terminal",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
