"""How Kafka consumer groups rebalance: an engine that behaves as Kafka behaves, and ways to see it."""

from __future__ import annotations

__version__ = "0.1.0"
