"""What a group reads: topics, partitions, and the identities Kafka gives them."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """One partition of one topic; prints the way Kafka prints it.

    >>> str(TopicPartition("orders", 4))
    'orders-4'
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"


class TopicId(NamedTuple):
    """Kafka's 128-bit topic id as two signed 64-bit halves (``org.apache.kafka.common.Uuid``)."""

    most: int
    least: int


def parse_partition(text: str) -> TopicPartition:
    """Read ``orders-4`` back into a partition; raises ``ValueError`` on anything else.

    >>> parse_partition("my-topic-12")
    TopicPartition(topic='my-topic', partition=12)
    """
    topic, dash, number = text.rpartition("-")
    if not dash or not topic or not (number.isdecimal() and len(number) < 12):
        raise ValueError(f"{text!r} is not a partition: expected <topic>-<number>, as in orders-4")
    return TopicPartition(topic, int(number))
