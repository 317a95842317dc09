"""Pictures of a run, each a function."""
