"""A consumer under KIP-848 (``group.protocol=consumer``)."""
