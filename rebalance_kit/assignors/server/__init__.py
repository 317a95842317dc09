"""Assignors that a KIP-848 coordinator runs: range and uniform."""
