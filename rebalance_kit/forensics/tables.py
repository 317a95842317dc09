"""The tables by name: their columns with types, in order, and what orders their rows.

The words of the types are Spark's (``bigint``, ``array<string>``), so that one list serves both engines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rebalance_kit.forensics.event import TEXT_FIELDS
from rebalance_kit.forensics.grammar.template import NUMBERS
from rebalance_kit.forensics.group_row import SHOWN, TOLD
from rebalance_kit.model.errors import DataError, require_kind

if TYPE_CHECKING:
    from rebalance_kit.forensics.lines.files import PassedOver

PAGE = "report.html"
"""The page beside the tables of ``logs`` and ``watch``."""

#: A row of a table.
Row: TypeAlias = dict[str, Any]

_NAMES = "array<string>"

_REBALANCES = {
    "number": "int",
    "protocol": "string",
    "trigger": "string",
    "cause": "string",
    "culprit": "string",
    "culprit_member": "string",
    "start_ms": "bigint",
    "end_ms": "bigint",
    "duration_ms": "bigint",
    "at_least": "boolean",
    "before": "bigint",
    "after": "bigint",
    "members": "int",
    "joined": _NAMES,
    "left": _NAMES,
    "expired": _NAMES,
    "moved": _NAMES,
    "revoked": _NAMES,
    "fate": "string",
    "topics": "string",
    "waited_for": "string",
    "waited_ms": "bigint",
    "said": "string",
    "confidence": "string",
    "file": "string",
    "line": "bigint",
}

_FINDINGS = {
    "finding": "string",
    "who": "string",
    "at_ms": "bigint",
    "last_ms": "bigint",
    "times": "bigint",
    "severity": "string",
    "unread_ms": "bigint",
    "at_least": "boolean",
    "sentence": "string",
    "do": "string",
    "source": "string",
    "file": "string",
    "line": "bigint",
    "evidence": "string",
    "confidence": "string",
    "last_words": "string",
    "setting": "string",
}

_PLACE = {"path": "string", "group": "string"}


def _struct(columns: Mapping[str, str], names: tuple[str, ...]) -> str:
    return "struct<" + ",".join(f"`{name}`:{columns[name]}" for name in names) + ">"


#: Columns and types of the tables that are made of the history of each group.
GOLD: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "rebalances": _PLACE | _REBALANCES,
        "gaps": _PLACE
        | {
            "partition": "string",
            "from_ms": "bigint",
            "to_ms": "bigint",
            "duration_ms": "bigint",
            "owner_before": "string",
            "owner_after": "string",
            "known_by": "string",
            "at_least": "boolean",
            "cause": "string",
        },
        "storms": _PLACE
        | {
            "from_ms": "bigint",
            "to_ms": "bigint",
            "duration_ms": "bigint",
            "rebalances": "bigint",
            "waves": "bigint",
            "per_minute": "double",
            "triggers": _NAMES,
            "culprits": _NAMES,
            "file": "string",
            "line": "bigint",
        },
        "members": _PLACE
        | {
            "member": "string",
            "client": "string",
            "instance": "string",
            "joined_ms": "bigint",
            "ended_ms": "bigint",
            "end": "string",
        },
        "findings": _PLACE | _FINDINGS,
        "groups": _PLACE
        | {
            "generations": "array<bigint>",
            "epochs": "array<bigint>",
            "targets": "bigint",
            "expired": "bigint",
            "expired_members": _NAMES,
            "rebalances": f"array<{_struct(_REBALANCES, SHOWN)}>",
            "findings": f"array<{_struct(_FINDINGS, TOLD)}>",
            "causes": _NAMES,
        },
    }
)

#: The fields of an event.
EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "path": "string",
        "file": "string",
        "line": "bigint",
        "row": "bigint",
        "at": "timestamp",
        "event": "string",
        "side": "string",
        "level": "string",
        "group": "string",
        "client": "string",
        "instance": "string",
        **dict.fromkeys(TEXT_FIELDS, "string"),
        **dict.fromkeys(sorted(NUMBERS), "bigint"),
        "partitions": _NAMES,
        "text": "string",
        "at_ms": "bigint",
    }
)

LINES: Mapping[str, str] = MappingProxyType(
    {
        "path": "string",
        "file": "string",
        "lines": "bigint",
        "parsed": "bigint",
        "ignored": "bigint",
        "rejected": "bigint",
        "unclear": "bigint",
        "by_words": "bigint",
        "from_ms": "bigint",
        "to_ms": "bigint",
        "note": "string",
    }
)

REJECTED: Mapping[str, str] = MappingProxyType(
    {"path": "string", "file": "string", "line": "bigint", "why": "string", "text": "string"}
)

#: All tables by name.
TABLES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {"lines": LINES, "events": EVENTS, "rejected": REJECTED, **GOLD}
)

#: What orders the rows of each table.
ORDER: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "lines": ("path", "file"),
        "events": ("path", "file", "row"),
        "rejected": ("path", "file", "line"),
        "rebalances": ("path", "group", "number"),
        "gaps": ("path", "group", "from_ms", "partition", "to_ms"),
        "storms": ("path", "group", "from_ms"),
        "members": ("path", "group", "joined_ms", "member"),
        "findings": ("path", "group", "at_ms", "finding", "who", "sentence", "file", "line"),
        "groups": ("path", "group"),
    }
)


def require_table(name: object) -> None:
    """Raise ``WrongKind`` or ``DataError`` for what names no table."""
    require_kind(name, str, "the table", f"one of {', '.join(TABLES)}")
    if name not in TABLES:
        raise DataError(f"no table is called {name!r}; expected one of {', '.join(TABLES)}")


def in_order(name: str, rows: list[Row]) -> list[Row]:
    """The rows of a table in its order; what is missing comes first."""
    try:
        return sorted(rows, key=itemgetter(*ORDER[name]))
    except TypeError:  # something is missing beside something that is not
        return sorted(rows, key=_key(ORDER[name]))


def _key(names: tuple[str, ...]) -> Callable[[Row], tuple[object, ...]]:
    return lambda row: tuple((0,) if row[name] is None else (1, row[name]) for name in names)


class Tables(Protocol):
    """What a look at some logs gives, whichever engine made it: rows of the tables by name."""

    def rows(self, name: str) -> list[Row]:
        """The rows of a table (see ``ORDER`` for the names), in its order."""
        ...

    @property
    def period(self) -> tuple[int, int] | None:
        """From when to when the lines were written, those of no group too; None where the engine does not read their times."""
        ...

    @property
    def passed_over(self) -> tuple[PassedOver, ...]:
        """Files that were not read, and why."""
        ...
