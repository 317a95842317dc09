"""How grave a finding is: what must be mended now, what should be, and what is only worth knowing; and the card on which rows that say the same stand."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.findings.rules.by_rule import LINE_CODES
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rebalance_kit.forensics.tables import Row

CRITICAL, WARNING, NOTE = "critical", "warning", "note"

#: From the gravest on.
SEVERITIES = (CRITICAL, WARNING, NOTE)

_CRITICAL = """
    poll_timeout_exceeded client_poll_timeout member_frozen machine_frozen rebalance_storm generation_loop fatal_error
    duplicate_instance_id instance_id_fenced instance_id_refused instance_id_shared instances_take_turns
    wrong_callback strategy_refused protocol_refused join_refused not_authorised group_full session_out_of_range
    cooperative_never_settles offsets_topic_ailing nobody_rejoined reconciliation_stuck offsets_lost
    connect_configs_differ task_failed coordinator_error assignor_failed migration_refused failover_not_followed
    leader_gone stream_thread_died consumer_crashed worker_died coordinator_not_loaded assignment_failed
"""

_NOTE = """
    static_return group_upgraded group_downgraded coordinator_moved coordinator_lost sync_race topic_changed
    rebalance_enforced admin_removal member_left lines_without_time time_goes_back same_log_twice
    metadata_not_whole stale_epoch_commit commit_during_rebalance coordinator_not_ready idle_members resubscribed
    skewed_assignment eager_by_default rolling_restart poll_overrun share_group commit_unanswered
    coordinator_writes_refused connector_not_started coordinator_changed commit_error instance_id_null
"""

#: Every kind of finding that is not a warning.
_KNOWN: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_CRITICAL.split(), CRITICAL) | dict.fromkeys(_NOTE.split(), NOTE)
)

#: So much unread partition-time makes a cause critical, and what costs a group dearly is no mere note.
_GRAVE_MS, _FELT_MS = 60_000, 60_000

#: Members that expire within this time of each other were lost by one cause; timers of clients start with their last
#: heartbeat, and run out as far apart as their heartbeats were.
_TOGETHER_MS = {"session_expired": 100, "native_session_lost": 5_000}

#: So many names are listed on a card.
_NAMED = 6

#: So many expiries of one member are no accident.
_TIMES = 3

#: Facts whose cost is that of what they stand beside.
_DEARER = frozenset({"eager_by_default", "rolling_restart"})


def severity(row: Mapping[str, Any]) -> str:
    """The severity of a row of the table of findings."""
    told = _KNOWN.get(row["finding"], WARNING)
    cost = row["unread_ms"] or 0
    if told == WARNING and (
        cost >= _GRAVE_MS or (row["finding"] == "session_expired" and row["times"] >= _TIMES)
    ):
        return CRITICAL
    return WARNING if row["finding"] in _DEARER and cost >= _FELT_MS else told


def _is_nameless(row: Row) -> bool:
    """Whether a row is about a client that is called after its file."""
    return bool(row["sentence"].startswith("a client of "))


_NAMELESS = re.compile(r"a client of \S+")
_NUMBERS = re.compile(r"\d[\d,.]*")


def _bare(row: Row) -> str:
    """What a row says, whoever it is about and whatever was counted."""
    whose = row["who"] if row["who"] and not _is_nameless(row) else ""
    said = row["sentence"].replace(whose, "") if whose else _NAMELESS.sub("", row["sentence"], count=1)
    return _NUMBERS.sub("0", said)


def gravest(told: list[str]) -> str | None:
    """The gravest of some severities; None of none."""
    return min(told, key=SEVERITIES.index, default=None)


@dataclass(slots=True)
class Card:
    """A finding, with all rows that say the same of others."""

    first: Row
    rows: list[Row] = field(default_factory=list)

    @property
    def severity(self) -> str:
        """The gravest of its rows."""
        return gravest([row["severity"] for row in self.rows]) or NOTE

    @property
    def times(self) -> int:
        """How often, all rows together."""
        return sum(row["times"] for row in self.rows)

    @property
    def tally(self) -> str:
        """How often, in words; empty for once. A client and its application may print one event on several lines, so lines are counted as lines."""
        if self.times == 1 or self.first["finding"] == "lines_without_time":  # which counts them itself
            return ""
        what = "line" if self.first["finding"] in LINE_CODES else "time"
        return counted(self.times, what)

    @property
    def unread_ms(self) -> int:
        """The unread partition-time of its rows, which share none."""
        return sum(row["unread_ms"] or 0 for row in self.rows)

    @property
    def _names(self) -> list[str]:
        """Of whom else it holds."""
        # A client without a name may be one that another line of its file names.
        named = {row["file"] for row in self.rows if not _is_nameless(row)}
        names = list(
            dict.fromkeys(
                f"a client of {row['file'].rsplit('/', 1)[-1]}"
                if _is_nameless(row)
                else row["who"] or row["group"] or f"{row['file']}:{row['line']}"
                for row in self.rows[1:]
                if not (_is_nameless(row) and row["file"] in named)
            )
        )
        return [name for name in names if name != self.first["who"]]

    @property
    def more(self) -> str:
        """Of how many others it holds, in words; empty for nobody."""
        return f" (and {counted(len(self._names), 'other')})" if self._names else ""

    @property
    def with_group(self) -> str:
        """Its sentence, with the group of a client that has no name."""
        row = self.first
        name = _NAMELESS.match(row["sentence"])
        if name is None or row["group"] is None:
            return str(row["sentence"])
        return f"{name[0]} (group {row['group']}){row['sentence'].removeprefix(name[0])}"

    @property
    def in_groups(self) -> str:
        """In which groups members of one name met it, in words; empty for one group, or several names."""
        names = dict.fromkeys(row["group"] for row in self.rows if row["group"] is not None)
        if len(names) < 2 or len({row["who"] for row in self.rows}) > 1:
            return ""
        more = ", ..." if len(names) > _NAMED else ""
        return f" (in {len(names)} groups: {', '.join([*names][:_NAMED])}{more})"

    @property
    def others(self) -> str:
        """Of whom else it holds, in words; empty for nobody."""
        names = self._names
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        alike = "the same for" if len({_bare(row) for row in self.rows}) == 1 else "of the same kind:"
        return f" ({alike} {', '.join(names[:_NAMED])}{more})" if names else ""

    @property
    def together(self) -> str:
        """That several members expired in the same moment, in words; empty where they did not."""
        moments = [row["at_ms"] for row in self.rows if row["at_ms"] is not None]
        whose = {(row["group"], row["who"]) for row in self.rows}
        within_ms = _TOGETHER_MS.get(self.first["finding"])
        if within_ms is None or len(whose) < 2 or self.times > len(self.rows):
            return ""
        apart = max(moments, default=0) - min(moments, default=0)
        if len(moments) < len(self.rows) or apart > within_ms:
            return ""
        return f"; all within {apart:,} ms: look at what they share (a host, a process, a network)"

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """What orders cards: the gravest, then the dearest, the most frequent, the earliest."""
        at_ms = self.first["at_ms"]
        return (
            SEVERITIES.index(self.severity),
            -self.unread_ms,
            -self.times,
            at_ms if at_ms is not None else 0,
        )
