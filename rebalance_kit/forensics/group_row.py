"""The row of a group: what is compared with what the brokers counted, and the lists of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.history.history import Counts
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: What a group's row shows of a rebalance and of a finding.
SHOWN = (
    "number",
    "protocol",
    "trigger",
    "cause",
    "culprit",
    "start_ms",
    "end_ms",
    "duration_ms",
    "at_least",
    "before",
    "after",
    "members",
    "joined",
    "left",
    "expired",
    "fate",
    "moved",
    "revoked",
    "waited_for",
    "waited_ms",
    "culprit_member",
    "confidence",
    "file",
    "line",
)
TOLD = (
    *(
        "at_ms",
        "last_ms",
        "finding",
        "who",
        "times",
        "severity",
        "unread_ms",
        "at_least",
        "sentence",
        "do",
        "source",
    ),
    *("file", "line", "evidence", "confidence", "last_words", "setting"),
)


def group_row(
    counts: Counts,
    rebalances: Sequence[Rebalance],
    findings: Sequence[dict[str, object]],
    *,
    coordinated: bool,
) -> dict[str, object]:
    """The row; ``coordinated``: the coordinator's own lines are there."""
    # Without a coordinator's log: what the members themselves reported.
    felt = {
        protocol: [row.after for row in rebalances if row.protocol == protocol and row.after is not None]
        for protocol in ("classic", "consumer")
    }
    counted = coordinated or not rebalances
    return {
        "generations": counts.generations if counted else felt["classic"],
        "epochs": counts.epochs if counted else felt["consumer"],
        "targets": counts.targets,
        "expired": len(counts.expired),
        "expired_members": [name for name in counts.expired if name is not None],
        "rebalances": [{name: getattr(row, name) for name in SHOWN} for row in rebalances] or None,
        "causes": [row.cause for row in rebalances],
        "findings": [{name: row[name] for name in TOLD} for row in findings] or None,
    }
