"""The history of one group of one cluster: a fold over its events in order of time."""
