"""Recorded runs of real clusters: read, repeated in the engine, and compared."""
