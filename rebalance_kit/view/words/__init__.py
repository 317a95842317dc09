"""The text twin of every picture."""
