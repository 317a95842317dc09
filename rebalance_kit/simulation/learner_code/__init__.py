"""Listeners and assignors that the learner wrote, run under the engine's guard."""
