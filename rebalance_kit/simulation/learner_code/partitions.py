"""Partitions as learners write them."""

from __future__ import annotations

from typing import Any

from rebalance_kit.model.topology import TopicPartition, parse_partition


def as_partition(value: Any) -> TopicPartition:
    """A partition as the kit has it, from one, from a pair, or from Kafka's way to print it (``orders-4``)."""
    if isinstance(value, str):
        return parse_partition(value)
    topic, number = value
    if not isinstance(topic, str) or isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{value!r} is not a partition: expected (topic, number) or 'orders-4'")
    return TopicPartition(topic, number)
