"""What an item is: immutable values, one class a kind.

``Single``, ``Multiple`` and ``Numeric`` can be shown and graded as they are. ``Generated`` is a recipe that
``generate.variant`` turns into a ``Single`` or a ``Numeric``. A further kind (matching, ordering, short text,
picture, log) is one more class here, one more branch of ``schema.json`` and one more row in ``grade.GRADERS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

NOTHING: Mapping[str, Any] = MappingProxyType({})
SEEDS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Head:
    """What every item says of itself; ``where`` is file and line."""

    id: str
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    objective: str
    domains: tuple[str, ...]
    versions: str
    difficulty: str
    stem: str
    exhibit: str | None
    source: tuple[str, ...]
    where: str = "<item>"


@dataclass(frozen=True, slots=True)
class Option:
    """One option with its explanation; a wrong one may name the belief it comes from."""

    id: str
    text: str
    why: str
    right: bool = False
    misconception: str | None = None


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run to ask: a scenario by name or written out, and the protocol to run it with."""

    scenario: str | Mapping[str, Any]
    protocol: str | None = None
    kafka_version: str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """How the engine decides an item: runs, seeds, and an expression per option (or one for the number)."""

    runs: Mapping[str, RunSpec]
    seeds: tuple[int, ...] = SEEDS
    claims: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    value: Any = None


@dataclass(frozen=True, slots=True)
class Choice:
    """Options to choose from; ``many`` when several are right and the stem says how many."""

    head: Head
    options: tuple[Option, ...]
    many: bool = False
    proof: Proof | None = None

    @property
    def kind(self) -> str:
        """``single`` or ``multiple``."""
        return "multiple" if self.many else "single"

    @property
    def key(self) -> tuple[str, ...]:
        """Ids of the right options."""
        return tuple(option.id for option in self.options if option.right)


@dataclass(frozen=True, slots=True)
class WrongNumber:
    """The number that a belief gives."""

    value: float
    misconception: str
    why: str


@dataclass(frozen=True, slots=True)
class Numeric:
    """A number is asked for; an answer within ``tolerance`` of the key is right."""

    head: Head
    key: float
    unit: str
    why: str
    wrong: tuple[WrongNumber, ...]
    tolerance: float = 0.0
    proof: Proof | None = None
    kind: ClassVar[str] = "numeric"


@dataclass(frozen=True, slots=True)
class Made:
    """An option of a recipe: the expression of its value, how it is shown, why, and the belief (None: the key)."""

    value: Any
    why: str
    text: str | None = None
    misconception: str | None = None


@dataclass(frozen=True, slots=True)
class Generated:
    """A recipe: parameters are drawn by a seed, the key and every distractor are computed."""

    head: Head
    form: str
    draw: Mapping[str, tuple[Any, ...]]
    key: Made
    distractors: tuple[Made, ...]
    let: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    where: Any = None
    runs: Mapping[str, RunSpec] = field(default_factory=lambda: NOTHING)
    proof: Any = None
    unit: str = ""
    tolerance: float = 0.0
    kind: ClassVar[str] = "generated"


Question = Choice | Numeric
"""What can be shown and graded."""
Item = Choice | Numeric | Generated
