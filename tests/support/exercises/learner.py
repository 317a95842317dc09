"""Whose exercises the tests check: one learner, whose hidden cases are drawn from this seed."""

from rebalance_kit.exercises.task import names

SEED = 2026
HIDDEN = names()[::3]
"""Exercises whose hidden cases ``make test`` checks; ``make test-long`` checks all."""
