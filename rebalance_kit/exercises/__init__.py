"""PySpark exercises on rebalance logs and code exercises: what they are made of, a learner's folder, and checks that teach.

Importing this room starts nothing; Spark comes in through ``rebalance_kit.pipeline`` when a check runs.
"""

from __future__ import annotations

from rebalance_kit.model.lazy import lazy_names

FOLDER = "my-exercises"
"""A learner's folder, unless another one is named."""

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Workspace": "workspace",
        "Identity": "workspace",
        "check_answer": "checking",
        "load": "task",
        "names": "task",
    },
)
