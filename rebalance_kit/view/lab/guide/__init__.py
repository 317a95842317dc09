"""Guided playing: the beats of a run, one sentence and one rule each."""
