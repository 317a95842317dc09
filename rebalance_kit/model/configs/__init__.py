"""Kafka's configuration keys as tables, and how a value is checked."""
