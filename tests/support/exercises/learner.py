"""Whose exercises the tests check: one learner, whose hidden cases are drawn from this seed."""

SEED = 2026
