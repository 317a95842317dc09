"""C6 Break an assignor. This file is read as data and never run."""

ANSWER = None  # a dict with a list of events for "counts", "returns" and "blocks"
