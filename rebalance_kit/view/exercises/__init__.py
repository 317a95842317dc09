"""The exercise widget."""
