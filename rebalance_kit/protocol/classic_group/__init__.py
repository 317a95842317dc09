"""The coordinator of a classic group: its data, the join phase, the table of transitions."""
