"""How a moment of some logs is opened in the lab: the recorded run itself where it can be repeated, else a like scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import RebalanceKitError

if TYPE_CHECKING:
    from rebalance_kit.recordings.folder import RecordedRun
    from rebalance_kit.simulation.scenario.scenario import Scenario

#: A scenario of the kit that shows the trouble of a finding.
ALIKE: Mapping[str, str] = MappingProxyType(
    {
        "assignment_lost": "freeze",
        "coordinator_lost": "coordinator-failover",
        "coordinator_moved": "coordinator-failover",
        "died_without_goodbye": "crash",
        "duplicate_instance_id": "duplicate-instance",
        "group_downgraded": "migration",
        "group_upgraded": "migration",
        "instance_id_fenced": "duplicate-instance",
        "instance_id_refused": "duplicate-instance",
        "instances_take_turns": "duplicate-instance",
        "member_frozen": "freeze",
        "member_fenced": "freeze",
        "poll_overrun": "poll-timeout",
        "poll_timeout_exceeded": "poll-timeout",
        "protocol_refused": "bounce-gone-wrong",
        "rebalance_storm": "storm",
        "rolling_restart": "rolling-restart",
        "session_expired": "crash",
        "rebalance_held_up": "slow-callback",
        "skewed_assignment": "skewed-range",
        "slow_callback": "slow-callback",
        "static_return": "static-restart-in-time",
        "topic_changed": "partitions-added",
        "wrong_callback": "wrong-librdkafka-callback",
        "zombie_commit": "freeze",
    }
)


@dataclass(frozen=True, slots=True)
class LabCommand:
    """A command for a terminal, and what it opens; ``whole``: this very run, at the moment asked for."""

    command: str
    whole: bool


def lab_command(path: str, finding: str, at_ms: int | None, *, repeat: bool = True) -> LabCommand | None:
    """The command for a finding of the run at ``path``; None where neither run nor a like scenario is known."""
    from rebalance_kit.simulation.permalink import Link, LinkError, write_link

    repeated = _repeated(path) if repeat and at_ms is not None else None
    if repeated is not None and at_ms is not None:
        scenario, begin_ms = repeated
        try:
            link = write_link(Link(scenario, max(0, min(at_ms - begin_ms, scenario.end_ms))))
            return LabCommand(f"rebalance-kit lab {link}", whole=True)
        except LinkError:
            pass  # too long for a link: a like scenario is offered
    alike = ALIKE.get(finding)
    return None if alike is None else LabCommand(f"rebalance-kit lab {alike}", whole=False)


@cache
def _repeated(path: str) -> tuple[Scenario, int] | None:
    """The scenario that repeats a recorded run and when it begins; None for logs that are no recorded run."""
    from rebalance_kit.recordings.folder import read_run
    from rebalance_kit.recordings.repeat import repeat

    if not (Path(path) / "run.json").is_file():
        return None
    try:
        run: RecordedRun = read_run(path)
        return repeat(run).scenario, run.begin
    except (RebalanceKitError, LookupError, ValueError):
        return None  # a run that cannot be repeated
