"""Palettes, theme, and how a value is shown in a notebook."""
