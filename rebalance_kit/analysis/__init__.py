"""Costs of a run, comparison of protocols on the same events, and invariants."""
