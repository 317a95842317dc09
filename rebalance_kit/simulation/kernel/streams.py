"""Chance: random streams by name, so that a new draw in one never shifts another."""

from __future__ import annotations

import base64
import random


class Streams:
    """Named random streams, all made from one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[str, random.Random] = {}

    def __getitem__(self, name: str) -> random.Random:
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = random.Random(f"{self._seed}/{name}")
        return stream


def draw_uuid(stream: random.Random) -> str:
    """A version 4 UUID in its usual spelling, as in classic member ids."""
    bits = stream.getrandbits(128) & ~(0xF << 76) | (0x4 << 76)
    bits = bits & ~(0x3 << 62) | (0x2 << 62)
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def draw_kafka_uuid(stream: random.Random) -> str:
    """A Kafka Uuid: 22 characters of URL-safe base64 that do not begin with a dash."""
    while True:
        text = base64.urlsafe_b64encode(stream.getrandbits(128).to_bytes(16, "big")).decode().rstrip("=")
        if not text.startswith("-"):
            return text
