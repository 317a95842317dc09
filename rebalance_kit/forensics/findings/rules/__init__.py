"""Findings that one line or one rebalance proves: rules as data, and what applies them."""
