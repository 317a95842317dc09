"""The words that Python and the page share, each listed once: marks, words of partitions, looks of members, lives, seats.

``scripts/bundle.py`` writes ``page/generated/kinds.js`` of ``TABLES``, with a type for the keys of each table. So a kind that
is missing here is refused by mypy and by the page's type checker, and one that lacks a half cannot be made.
Standard library alone: the wheel's build hook reads this file before the package is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal, NamedTuple, Self, get_args


class MarkKind(StrEnum):
    """What a mark on the strip is, with its sign, what it weighs, how it is drawn, and what the legend says.

    ``weight``: the smallest gives a place with several marks its words. ``colour`` is a role of the theme, ``strong`` means bold.
    A mark without a sign is not drawn on the strip.
    """

    FAULT = "fault", "×", 0, "alert", True, "a fault"
    SKIPPED = "skipped", "⊠", 1, "alert", True, "records are skipped"
    TWICE = "twice", "◎", 2, "ink", True, "records come twice"
    TIMER = "timer", "◷", 3, "ink", False, "a timer of Kafka ends"
    ACTION = "action", "+", 4, "ink", False, "an action of the scenario, or one of yours"
    REBALANCE = "rebalance", "◆", 5, "ink", False, "a rebalance begins"
    DONE = "done", "", 6, "ink", False, ""

    sign: str
    weight: int
    colour: str
    strong: bool
    legend: str

    def __new__(cls, name: str, sign: str, weight: int, colour: str, strong: bool, legend: str) -> Self:
        """A kind is its name, as the film has it; what it is drawn with stands beside."""
        kind = str.__new__(cls, name)
        kind._value_ = name
        kind.sign, kind.weight, kind.colour, kind.strong, kind.legend = sign, weight, colour, strong, legend
        return kind


class PartitionWord(NamedTuple):
    """What a sentence says of a partition, and whether its token has the colour of alarm."""

    spoken: str
    alerting: bool


PARTITION_WORDS: Mapping[str, PartitionWord] = {
    "flows": PartitionWord("flowing", False),
    "give up": PartitionWord("to be given up", False),
    "callback": PartitionWord("unread during a callback", False),
    "new": PartitionWord("new, no record yet", False),
    "was leaving": PartitionWord("unread while leaving", True),
    "stopped": PartitionWord("stopped", True),
    "zombie": PartitionWord("zombie", True),
    "no owner": PartitionWord("no owner", True),
    "not there": PartitionWord("not there", False),
}
"""Each word that a token may say."""
LOOKS: Mapping[str, tuple[str, str]] = {
    "live": ("", "A member has a colour and a pattern; both stay with it everywhere."),
    "crashed": ("×", "× crashed or died of an error; the dashed disc has no process."),
    "died": ("×", ""),
    "frozen": ("‖", "‖ frozen: its process stands still."),
    "zombie": ("?", "? removed from the group, but it still works."),
    "fenced": ("–", "– fenced: another consumer has its instance id."),
    "cut": ("⊘", "⊘ cut off from the network."),
    "gone": ("", "Grey and dashed: not in the group."),
    "closed": ("", ""),
    "absent": ("", ""),
}
"""How a member looks: the badge beside its disc, and what the legend says (nothing: another row says it)."""
Life = Literal["absent", "alive", "frozen", "crashed", "died", "closed"]
"""A process."""
Standing = Literal["none", "pending", "member", "away", "removed"]
"""What the coordinator holds of a member."""
SEATS = ("", "joined", "awaited", "coming")
"""Places in the waiting room of a classic group."""
DELIVERIES = ("twice", "skipped")
"""What may happen to records beside being read once."""

TABLES: Mapping[str, tuple[str, Mapping[str, Mapping[str, object]]]] = {
    "MARKS": (
        "MarkKind",
        {
            kind.value: {
                "sign": kind.sign,
                "weight": kind.weight,
                "colour": kind.colour,
                "strong": kind.strong,
                "legend": kind.legend,
            }
            for kind in MarkKind
        },
    ),
    "PARTITION_WORDS": ("PartitionWord", {word: said._asdict() for word, said in PARTITION_WORDS.items()}),
    "LOOKS": ("Look", {look: {"badge": badge, "legend": legend} for look, (badge, legend) in LOOKS.items()}),
    "LIVES": ("Life", {life: {} for life in get_args(Life)}),
    "STANDINGS": ("Standing", {standing: {} for standing in get_args(Standing)}),
    "SEATS": ("Seat", {seat: {} for seat in SEATS}),
    "DELIVERIES": ("DeliveryKind", {kind: {} for kind in DELIVERIES}),
}
"""What the page is given: the name of each table, the type of its keys, and its rows."""
