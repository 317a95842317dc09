"""Findings: rules with evidence, advice and source."""
