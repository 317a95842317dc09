"""What a run cost, how protocols compare on the same events, and what may never happen."""
