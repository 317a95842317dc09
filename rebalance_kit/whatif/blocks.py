"""The configuration blocks that Kafka prints: ``ConsumerConfig values:`` and ``KafkaConfig values:``, every key with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from rebalance_kit.forensics.lines.files import Text

_HEAD = re.compile(r"\b(ConsumerConfig|KafkaConfig|GroupConfig) values:\s*$")
_ENTRY = re.compile(r"^\s+([a-z][\w.]*) = (.*?)\s*$")
_CLUSTER = re.compile(rb"groupId=([^\],]+)\] Cluster ID: ([\w-]+)")


@dataclass(slots=True)
class Block:
    """One printed block: its kind, where its head stands, and each key's value and line."""

    kind: str
    file: str
    line: int
    values: dict[str, tuple[str, int]] = field(default_factory=dict)

    def get(self, key: str) -> str | None:
        """The printed value; None where the key is not in it, or is ``null``."""
        value = self.values.get(key, ("null", 0))[0]
        return None if value == "null" else value


def blocks_in(name: str, path: Path) -> Iterator[Block]:
    """The blocks of a file, in order."""
    text = b"".join(Text(path).pieces()).decode("utf-8", "replace")
    return blocks_of(name, text.splitlines())


def clusters_in(path: Path) -> set[tuple[str, str]]:
    """Group and cluster ID, as often as the members in a file tell of them together."""
    found = _CLUSTER.findall(b"".join(Text(path).pieces()))
    return {(group.decode("utf-8", "replace"), cluster.decode()) for group, cluster in found}


def blocks_of(name: str, lines: Iterable[str]) -> Iterator[Block]:
    r"""The blocks among lines.

    >>> [block.values for block in blocks_of("c1.log", ["INFO ConsumerConfig values: ", "\tgroup.id = g", "INFO on"])]
    [{'group.id': ('g', 2)}]
    """
    block: Block | None = None
    for number, line in enumerate(lines, 1):
        head = _HEAD.search(line)
        if head:
            if block is not None:
                yield block
            block = Block(head[1], name, number)
            continue
        if block is None:
            continue
        entry = _ENTRY.match(line)
        if entry:
            block.values[entry[1]] = entry[2], number
        elif line[:1] not in {" ", "\t"}:
            yield block
            block = None
    if block is not None:
        yield block
