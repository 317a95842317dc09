"""The order in which Java's maps hand out their keys; it decides outcomes, so it is part of the rules.

Kafka's assignors walk ``HashMap`` and ``HashSet`` objects, and who comes first gets the spare partition.
The rule, without any Java: a table of ``n`` buckets (16 unless sized, doubled whenever it holds more
than ``0.75 n`` keys). A key goes to bucket ``(h ^ (h >>> 16)) & (n - 1)`` of its hash ``h``. The map is
read bucket by bucket from 0; within a bucket the key that was put first comes first, and doubling keeps
that. So the order depends on the ids themselves and on how many there are, and hardly on who joined first.

>>> hash_map_order(["consumer1", "consumer2", "consumer3"])
['consumer3', 'consumer2', 'consumer1']

The coordinator keeps its members in a ``TimelineHashMap``, whose rule differs; see ``timeline_order``.
A bucket of nine or more keys in a table of 64 or more becomes a tree in Java. That needs ids built to
collide and is not modelled; the early doubling that such a bucket causes in a smaller table is.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TypeVar

from rebalance_kit.model.topology import TopicId, TopicPartition

Key = TypeVar("Key")
_WORD = 0xFFFF_FFFF
_LONG = 0xFFFF_FFFF_FFFF_FFFF
_CROWDED = 9  # keys in one bucket at which HashMap.treeifyBin doubles a table smaller than _TREE_TABLE
_TREE_TABLE = 64
_KNUTH = -7046029254386353131  # BaseHashTable.findSlot: Fibonacci hashing


@lru_cache(maxsize=1 << 14)
def string_hash(text: str) -> int:
    """``String.hashCode`` as an unsigned 32-bit number; remembered, as a Java string remembers its own.

    >>> string_hash("Aa") == string_hash("BB") == 2112
    True
    """
    units: Iterable[int] = text.encode() if text.isascii() else _utf16(text)
    code = 0
    for unit in units:
        code = (31 * code + unit) & _WORD
    return code


def _utf16(text: str) -> array[int]:
    units = array("H", text.encode("utf-16-le", "surrogatepass"))
    if array("H", b"\x01\x00")[0] != 1:  # a big-endian machine
        units.byteswap()
    return units


def partition_hash(partition: TopicPartition) -> int:
    """``TopicPartition.hashCode`` as an unsigned 32-bit number."""
    return (31 * (31 + partition[1]) + string_hash(partition[0])) & _WORD


def uuid_hash(topic_id: TopicId) -> int:
    """``Uuid.hashCode`` as an unsigned 32-bit number: both halves folded together."""
    folded = (topic_id[0] ^ topic_id[1]) & _LONG
    return (folded >> 32) ^ (folded & _WORD)


def int_hash(number: int) -> int:
    """``Integer.hashCode``: the number itself."""
    return number & _WORD


def hash_map_order(
    keys: Sequence[Key], hash_of: Callable[[Key], int] = string_hash, capacity: int = 16
) -> list[Key]:
    """Return distinct ``keys``, given in the order they were put, in the order a ``HashMap`` reads them.

    ``capacity`` is the number the map was made with (``new HashMap<>(capacity)``).
    """
    if len(keys) < 2:
        return list(keys)
    hashes = [hash_of(key) for key in keys]
    mask = _table_size(hashes, capacity) - 1
    slots = [(code ^ (code >> 16)) & mask for code in hashes]
    return [keys[index] for index in sorted(range(len(keys)), key=slots.__getitem__)]


def scala_map_order(keys: Sequence[str]) -> list[str]:
    """Return distinct ``keys`` in the order of Scala 2.13's ``mutable.HashMap``, the coordinator's up to Kafka 3.9.

    Its table grows one key sooner than Java's, and a bucket is sorted by hash, whoever was put first.
    """
    folded = []
    for key in keys:
        code = string_hash(key)
        code ^= code >> 16
        folded.append(code - (1 << 32) if code >> 31 else code)
    size = 16
    while 4 * len(keys) >= 3 * size:
        size *= 2
    return [
        keys[place]
        for place in sorted(range(len(keys)), key=lambda one: (folded[one] & (size - 1), folded[one]))
    ]


def hash_set_of(keys: Sequence[Key], hash_of: Callable[[Key], int]) -> list[Key]:
    """Return distinct ``keys`` in the order of ``new HashSet<>(keys)``, which sizes its table for them."""
    return hash_map_order(keys, hash_of, max(int(len(keys) / 0.75) + 1, 16))


def _table_size(hashes: Sequence[int], capacity: int) -> int:
    size = 1
    while size < capacity:
        size *= 2
    count = len(hashes)
    if size < _TREE_TABLE and _CROWDED <= count <= _TREE_TABLE * 3 // 4:
        coarse = Counter((code ^ (code >> 16)) & 15 for code in hashes)
        if max(coarse.values()) >= _CROWDED:
            return _table_size_key_by_key(hashes, size)
    while 4 * count > 3 * size:
        size *= 2
    return size


def _table_size_key_by_key(hashes: Sequence[int], size: int) -> int:
    """Follow the table put by put: a crowded bucket doubles it before it is full."""
    for count in range(1, len(hashes) + 1):
        if count >= _CROWDED and size < _TREE_TABLE:
            slots = [(code ^ (code >> 16)) & (size - 1) for code in hashes[:count]]
            if slots.count(slots[-1]) >= _CROWDED:
                size *= 2
        if 4 * count > 3 * size:
            size *= 2
    return size


def timeline_order(keys: Iterable[str], held: int = 0) -> list[str]:
    """Return distinct ``keys``, given in the order they were added, in the order a ``TimelineHashMap`` reads them.

    The coordinator keeps a group's members in one, and fills the assignors' ``HashMap`` from it. Its table
    starts with 2 slots, and doubles where it is written while ``0.75 (size + 1)`` exceeds it; it never shrinks. So it
    counts how many were ``held`` at once and written again, as members are. The slot is the top bits
    of ``h * -7046029254386353131``; slots are read upwards and, within one, the *last* added comes first.
    """
    added = list(keys)
    bits, written = 1, max(len(added) - 1, held)
    while 0.75 * (written + 1) > 1 << bits:
        bits += 1
    slots: list[list[str]] = [[] for _ in range(1 << bits)]
    for key in added:
        slots[_timeline_slot(key, bits)].append(key)
    return [key for slot in slots for key in reversed(slot)]


def _timeline_slot(key: str, bits: int) -> int:
    code = string_hash(key)
    signed = code - (1 << 32) if code >> 31 else code
    return ((signed * _KNUTH) & _LONG) >> (64 - bits)


def java_sorted(texts: Iterable[str]) -> list[str]:
    """Sort strings as ``String.compareTo`` does: by UTF-16 units, not by code points."""
    listed = list(texts)
    if all(map(str.isascii, listed)):
        return sorted(listed)
    return sorted(listed, key=java_key)


def java_key(text: str) -> bytes:
    """Return a key that sorts as ``String.compareTo``."""
    return text.encode("utf-16-be", "surrogatepass")
