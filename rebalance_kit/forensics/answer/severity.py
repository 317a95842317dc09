"""How grave a finding is: what must be mended now, what should be, and what is only worth knowing."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

CRITICAL, WARNING, NOTE = "critical", "warning", "note"

#: From the gravest on.
SEVERITIES = (CRITICAL, WARNING, NOTE)

_CRITICAL = """
    poll_timeout_exceeded client_poll_timeout member_frozen machine_frozen rebalance_storm generation_loop fatal_error
    duplicate_instance_id instance_id_fenced instance_id_refused instance_id_shared instances_take_turns
    wrong_callback strategy_refused protocol_refused join_refused not_authorised group_full session_out_of_range
    cooperative_never_settles offsets_topic_ailing nobody_rejoined reconciliation_stuck offsets_lost
    connect_configs_differ task_failed coordinator_error assignor_failed migration_refused failover_not_followed
    leader_gone
"""

_NOTE = """
    static_return group_upgraded group_downgraded coordinator_moved coordinator_lost sync_race topic_changed
    rebalance_enforced admin_removal member_left lines_without_time time_goes_back same_log_twice
    metadata_not_whole stale_epoch_commit commit_during_rebalance coordinator_not_ready idle_members resubscribed
    skewed_assignment eager_by_default rolling_restart poll_overrun share_group
"""

#: Every kind of finding that is not a warning.
_KNOWN: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(_CRITICAL.split(), CRITICAL) | dict.fromkeys(_NOTE.split(), NOTE)
)

#: So much unread partition-time makes a cause critical, and what costs a group dearly is no mere note.
_GRAVE_MS, _FELT_MS = 60_000, 60_000

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


def gravest(told: list[str]) -> str | None:
    """The gravest of some severities; None of none."""
    return min(told, key=SEVERITIES.index, default=None)
