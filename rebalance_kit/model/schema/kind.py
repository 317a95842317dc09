"""What the schema says of one kind of row, and of one key of its ``detail``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from rebalance_kit.model.schema.types import Type, parse_type

Place = Literal["", "topic", "partition"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a ``detail``: its type and what it holds.

    An ``optional`` key may be missing. One with ``recorded=False`` is missing from traces of recorded runs,
    whose logs do not tell it; there any value may be None. ``logs`` marks what only Kafka's log lines need
    (``rebalance_kit.logs`` writes them from the trace); no rule and no figure reads it.
    """

    type: Type
    text: str
    optional: bool = False
    recorded: bool = True
    logs: bool = False


def key(
    notation: str, text: str, *, optional: bool = False, recorded: bool = True, logs: bool = False
) -> Key:
    """A key whose type is written in the notation of ``schema.types``."""
    return Key(parse_type(notation), text, optional, recorded, logs)


Keys = Mapping[str, Key]
NO_KEYS: Keys = MappingProxyType({})
NO_VARIANTS: Mapping[str, Keys] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row: what it means, and the keys of its ``detail``.

    ``protocol`` says whether its rows belong to a protocol, ``place`` what they are about: a topic, a
    partition or neither. Where the keys depend on a value of the detail (``by``: a message's ``api``, an
    action's ``do``), ``variants`` holds the further keys for each of its values.
    """

    text: str
    keys: Keys = field(default_factory=lambda: NO_KEYS)
    protocol: bool = True
    place: Place = ""
    by: str | None = None
    variants: Mapping[str, Keys] = field(default_factory=lambda: NO_VARIANTS)

    def keys_of(self, detail: Mapping[str, Any]) -> Keys:
        """The keys that belong into this detail."""
        return (
            self.keys if self.by is None else {**self.keys, **self.variants.get(str(detail.get(self.by)), {})}
        )

    def all_keys(self) -> Iterator[tuple[str, str, Key]]:
        """Every key with the variant it belongs to (the empty string: all of them)."""
        for name, key in self.keys.items():
            yield "", name, key
        for variant, keys in self.variants.items():
            for name, key in keys.items():
                yield variant, name, key

    def sentence(self) -> str:
        """What the row means, and its keys by name."""
        names = [name for name, key in self.keys.items() if not key.logs]
        names += [f"what belongs to the {self.by}"] if self.by else []
        return f"{self.text}: {', '.join(names)}" if names else self.text
