"""Findings: rules over the history of a group, each with its evidence, advice and source."""
