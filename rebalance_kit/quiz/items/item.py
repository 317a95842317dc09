"""Items as immutable values, one class per kind.

``Choice``, ``Numeric``, ``Short``, ``Matching`` and ``Ordering`` can be shown and graded as they are. ``Generated``
is a recipe that ``generate.variant`` turns into a ``Choice`` or a ``Numeric``; ``Drawn`` (a picture, or lines of a
log) is a ``Choice`` once its run has been made (``rendered.py``). A further kind is one more class here, one more
branch of ``schema.json`` and one more row in ``grade.GRADERS``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar

NOTHING: Mapping[str, Any] = MappingProxyType({})
SEEDS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run to ask: a scenario by name or written out, and the protocol to run it with."""

    scenario: str | Mapping[str, Any]
    protocol: str | None = None
    kafka_version: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """Something to show of a run: ``broker``, a member's log, ``offsets``, ``members``, ``state`` or ``gantt``.

    ``since`` and ``until`` are expressions of times (``at`` of a description is its ``until``); ``only`` keeps
    the lines of a log that contain one of these texts.
    """

    run: RunSpec
    what: str
    since: Any = None
    until: Any = None
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """Fields that every item has; ``where`` is file and line.

    ``fact`` is what the item asks, its own id where no other item asks it, ``enemies`` are ids that may not stand in one paper with this one, ``regardless`` names premises that change nothing about the key, and
    ``options_note`` tells why a single-choice item has another number of options than four.
    """

    id: str
    tags: tuple[str, ...]
    topics: tuple[str, ...]
    objective: str
    domains: tuple[str, ...]
    versions: str
    difficulty: str
    stem: str
    exhibit: str | Shown | None
    source: tuple[str, ...]
    where: str = "<item>"
    fact: str = ""
    regardless: tuple[str, ...] = ()
    options_note: str = ""
    enemies: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PictureRow:
    """A row of a Gantt chart: what it is of, and stretches ``(from_ms, to_ms, member)`` in which records flowed."""

    name: str
    spans: tuple[tuple[int, int, str], ...]


@dataclass(frozen=True, slots=True)
class GanttChart:
    """A Gantt chart of one run between two times; ``events`` are what was done to the group, and when."""

    rows: tuple[PictureRow, ...]
    since_ms: int
    until_ms: int
    events: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """One option with its explanation; a wrong one may name the belief it comes from."""

    id: str
    text: str
    why: str
    right: bool = False
    misconception: str | None = None
    picture: GanttChart | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """How the engine decides an item: runs, seeds, and an expression per option, prompt or step (or one for a value)."""

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
    picture: GanttChart | None = None
    form: str | None = None

    @property
    def kind(self) -> str:
        """``single``, ``multiple``, ``picture`` or ``log``."""
        return self.form or ("multiple" if self.many else "single")

    @property
    def key(self) -> tuple[str, ...]:
        """Ids of the right options."""
        return tuple(option.id for option in self.options if option.right)


@dataclass(frozen=True, slots=True)
class WrongNumber:
    """A number that is not right, and the belief that gives it, if there is one."""

    value: float
    misconception: str | None
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

    @property
    def unit_of_one(self) -> str:
        """The unit beside the number 1: *rebalance* for *rebalances*; a symbol such as s stays."""
        return self.unit.removesuffix("s") or self.unit

    def amount(self, number: float) -> str:
        """A number with the unit that fits it."""
        figure = f"{number:g}" if abs(number) < 1e6 else f"{number:.0f}"
        return f"{figure} {self.unit_of_one if number == 1 else self.unit}".strip()


@dataclass(frozen=True, slots=True)
class WrongText:
    """Words that are not right, and the belief that gives them, if there is one."""

    text: str
    misconception: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Short:
    """A word or two are asked for; any spelling of an accepted answer is right (letters and digits count)."""

    head: Head
    accept: tuple[str, ...]
    why: str
    wrong: tuple[WrongText, ...]
    proof: Proof | None = None
    kind: ClassVar[str] = "short"

    @property
    def key(self) -> str:
        """The answer as it is shown."""
        return self.accept[0]


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to be matched: its option, why, and the beliefs behind other options."""

    id: str
    text: str
    key: str
    why: str
    beliefs: Mapping[str, str] = field(default_factory=lambda: NOTHING)


@dataclass(frozen=True, slots=True)
class Matching:
    """To each prompt belongs one option; options may belong to several prompts or to none."""

    head: Head
    prompts: tuple[Prompt, ...]
    options: tuple[tuple[str, str], ...]
    proof: Proof | None = None
    kind: ClassVar[str] = "matching"

    @property
    def key(self) -> tuple[str, ...]:
        """``("1b", "2a")``: each prompt with its option."""
        return tuple(prompt.id + prompt.key for prompt in self.prompts)


@dataclass(frozen=True, slots=True)
class OrderedStep:
    """One thing to be put in order."""

    id: str
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class WrongOrder:
    """An order that is not right, and the belief that gives it, if there is one."""

    order: tuple[str, ...]
    misconception: str | None
    why: str


@dataclass(frozen=True, slots=True)
class Ordering:
    """Steps in their right order; they are shown in the order of their ids."""

    head: Head
    steps: tuple[OrderedStep, ...]
    why: str
    wrong: tuple[WrongOrder, ...]
    proof: Proof | None = None
    kind: ClassVar[str] = "ordering"

    @property
    def key(self) -> tuple[str, ...]:
        """Ids in the right order."""
        return tuple(step.id for step in self.steps)


@dataclass(frozen=True, slots=True)
class DrawnOption:
    """A line of a log (the one that contains ``match``), a row of a picture, or a picture of its own, as an option."""

    id: str
    why: str
    match: str = ""
    shown: Shown | None = None
    right: bool = False
    misconception: str | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture or lines of a log, drawn from a run when the item is asked; ``other`` explains unmarked lines and rows."""

    head: Head
    kind: str
    marks: tuple[DrawnOption, ...]
    shown: Shown | None = None
    other: str = ""
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class WorkedOption:
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
    key: WorkedOption
    distractors: tuple[WorkedOption, ...]
    let: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    where: Any = None
    runs: Mapping[str, RunSpec] = field(default_factory=lambda: NOTHING)
    proof: Any = None
    unit: str = ""
    tolerance: float = 0.0
    kind: ClassVar[str] = "generated"


Question = Choice | Numeric | Short | Matching | Ordering
"""Items that can be shown and graded."""
Item = Question | Drawn | Generated
"""Items as files hold them."""


def kind_asked(item: Item) -> str:
    """The kind as a learner meets it: a recipe's is that of its form."""
    return item.form if isinstance(item, Generated) else item.kind


def beliefs_of(item: Item) -> tuple[str, ...]:
    """The beliefs that an item's wrong answers name, in order, repeated where several answers name one."""
    if isinstance(item, Choice):
        return tuple(option.misconception for option in item.options if option.misconception)
    if isinstance(item, Drawn):
        return tuple(mark.misconception for mark in item.marks if mark.misconception)
    if isinstance(item, Matching):
        return tuple(slug for prompt in item.prompts for slug in prompt.beliefs.values())
    if isinstance(item, Generated):
        return tuple(distractor.misconception for distractor in item.distractors if distractor.misconception)
    return tuple(wrong.misconception for wrong in item.wrong if wrong.misconception)
