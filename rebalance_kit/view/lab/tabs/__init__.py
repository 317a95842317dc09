"""Tabs of the lab: their contents, the account of each step, and the metrics as steps over time."""
