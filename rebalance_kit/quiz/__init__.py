"""Questions about rebalances: items, recipes, grading, and the check that the engine agrees with every key.

Importing this room reads no file and runs nothing.
"""

from __future__ import annotations

from rebalance_kit.model.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Bank": "items.bank",
        "Practice": "sittings.practice",
        "Verdict": "sittings.grade",
        "check": "items.check",
        "grade": "sittings.grade",
        "pick_questions": "sittings.practice",
        "question": "proof.generate",
        "read_bank": "items.bank",
        "run_items_check": "items.check",
        "run_quiz": "sittings.terminal",
    },
)
