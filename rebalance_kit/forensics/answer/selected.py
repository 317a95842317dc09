"""The tables of a look, narrowed to a stretch of time, to groups and to members."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rebalance_kit.forensics.answer.wishes import Wishes
    from rebalance_kit.forensics.lines.files import PassedOver
    from rebalance_kit.forensics.tables import Row, Tables

#: From when to when a row of a table lasts, and who is in it.
_SPANS = {
    "rebalances": ("start_ms", "end_ms"),
    "findings": ("at_ms", "last_ms"),
    "gaps": ("from_ms", "to_ms"),
    "storms": ("from_ms", "to_ms"),
    "members": ("joined_ms", "ended_ms"),
}
_WHO = {
    "rebalances": ("culprit", "culprit_member", "joined", "left", "expired", "waited_for"),
    "findings": ("who",),
    "gaps": ("owner_before", "owner_after"),
    "storms": ("culprits",),
    "members": ("member", "client", "instance"),
}


#: So many names are told where a pattern fits none.
_TOLD = 8


def check_names(result: Tables, wishes: Wishes) -> None:
    """Raise ``ConfigError`` for a pattern that fits no group, or no member, of these logs; it names those that there are."""
    if not wishes.groups and not wishes.members:
        return
    groups = {str(row["group"]) for row in result.rows("groups")}
    members = {str(name) for row in result.rows("members") for name in (row["member"], row["client"]) if name}
    if wishes.members:
        members |= {str(row["client"]) for row in result.rows("events") if row["client"]}
        members |= {str(row["who"]) for row in result.rows("findings") if row["who"]}
    for option, patterns, names in (("group", wishes.groups, groups), ("member", wishes.members, members)):
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in names):
                known = sorted(names)
                more = f" and {len(known) - _TOLD} more" if len(known) > _TOLD else ""
                there = f"; there are {', '.join(known[:_TOLD])}{more}" if known else "; these logs name none"
                raise ConfigError(f"--{option} {pattern!r} fits no {option} of these logs{there}")


class Selected:
    """A look through ``wishes``: ``rows`` gives what is asked for, everything where nothing is."""

    def __init__(self, result: Tables, wishes: Wishes) -> None:
        self._result, self._wishes = result, wishes
        self._rows: dict[str, list[Row]] = {}
        ends = [row["to_ms"] for row in self.rows("lines") if row["to_ms"] is not None]
        self.since_ms, self.until_ms = wishes.period(max(ends, default=None))

    @property
    def passed_over(self) -> tuple[PassedOver, ...]:
        """Files that were not read, and why."""
        return self._result.passed_over

    @property
    def period(self) -> tuple[int, int] | None:
        """From when to when the lines were written, where the engine tells it of all lines."""
        return self._result.period

    @property
    def narrowed(self) -> bool:
        """Whether less than everything is asked for."""
        return self._wishes.narrowed

    def rows(self, name: str) -> list[Row]:
        """The rows of a table that are asked for, in its order."""
        if name not in self._rows:
            rows = self._result.rows(name)
            if self._wishes.narrowed and name in _SPANS:
                rows = [row for row in rows if self._wanted(name, row)]
            elif self._wishes.narrowed and name == "groups":
                rows = [self._narrowed(row) for row in rows if self._of_group(row["group"])]
            self._rows[name] = rows
        return self._rows[name]

    def _wanted(self, name: str, row: Row) -> bool:
        return self._of_group(row["group"]) and self._in_time(name, row) and self._of_member(name, row)

    def _of_group(self, group: str | None) -> bool:
        wanted = self._wishes.groups
        return not wanted or (group is not None and any(fnmatchcase(group, pattern) for pattern in wanted))

    def _in_time(self, name: str, row: Mapping[str, Any]) -> bool:
        begin, end = (row.get(column) for column in _SPANS[name])
        if begin is None and end is None:
            return self.since_ms is None and self.until_ms is None
        if begin is not None and self.until_ms is not None and begin > self.until_ms:
            return False
        if name == "members" and end is None:
            return True
        last = begin if end is None else end
        return self.since_ms is None or last is None or bool(last >= self.since_ms)

    def _of_member(self, name: str, row: Mapping[str, Any]) -> bool:
        wanted = self._wishes.members
        if not wanted:
            return True
        told: list[str] = []
        for column in _WHO[name]:
            value = row.get(column)
            told += value if isinstance(value, list) else [] if value is None else [str(value)]
        # A storm writes "c2 x 14".
        bare = [one.rsplit(" x ", 1)[0] for one in told]
        return any(fnmatchcase(one, pattern) for one in bare for pattern in wanted)

    def _narrowed(self, row: Row) -> Row:
        """The row of a group with what happened in the period; of numbers, those that its rebalances tell."""
        filters: tuple[tuple[str, Callable[[Row], bool]], ...] = tuple(
            (name, lambda one, name=name: self._in_time(name, one) and self._of_member(name, one))  # type: ignore[misc]
            for name in ("rebalances", "findings")
        )
        told = {name: [one for one in row[name] or [] if keeps(one)] for name, keeps in filters}
        after = {
            protocol: [
                one["after"] for one in told["rebalances"] if one["protocol"] == protocol and one["after"]
            ]
            for protocol in ("classic", "consumer")
        }
        expired = [
            one["client"] or one["member"]
            for one in self.rows("members")
            if one["path"] == row["path"]
            and one["group"] == row["group"]
            and one["end"] == "expired"
            and self._ended_in_time(one["ended_ms"])
        ]
        return {
            **row, **told, "causes": [one["cause"] for one in told["rebalances"]],
            "generations": after["classic"], "epochs": after["consumer"],
            "expired": len(expired), "expired_members": expired,
        }  # fmt: skip

    def _ended_in_time(self, at_ms: int) -> bool:
        return (self.since_ms is None or at_ms >= self.since_ms) and (
            self.until_ms is None or at_ms <= self.until_ms
        )
