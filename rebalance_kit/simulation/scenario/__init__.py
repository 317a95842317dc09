"""Scenarios: values, the YAML form, checks, expansion of actions, permalinks."""
