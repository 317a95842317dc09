"""The schema of the trace: each kind of row with its keys and types, as data."""
