"""Tables of one KIP-848 run: the three kinds of epoch, and what members should own beside what they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_kit.analysis.metrics import study_from
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.notebook.events import clock
from rebalance_kit.notebook.text import Text, columns
from rebalance_kit.view.words.phrases import partitions_in_words


def epochs(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> Text:
    """The three kinds of epoch over time: of the group, of the target assignment, of each member."""
    names = [str(name) for name in trace.meta["members"]]
    at: dict[str, str] = dict.fromkeys(names, "-")
    group = target = "-"
    rows = [("at", "what happens", "group", "target", *names)]
    for row in trace.of("epoch_bump", "target", "member_reconciled", "member_removed"):
        words = ""
        if row.kind == "epoch_bump":
            group, words = (
                str(row.generation),
                f"epoch bumped: {row.detail['trigger']} of {row.detail['culprit']}",
            )
        elif row.kind == "target":
            target, words = str(row.generation), f"target computed by {row.detail['assignor']}"
        else:
            words = _member_step(row, at)
        if row.at_ms >= since_s * 1000 and (until_s is None or row.at_ms <= until_s * 1000):
            rows.append((clock(row), words, group, target, *at.values()))
    return columns(rows)


def _member_step(row: TraceRow, at: dict[str, str]) -> str:
    name, detail = row.detail["name"], row.detail
    if row.kind == "member_removed":
        at[name] = "-"
        return f"{name} is removed ({detail['how']})"
    at[name] = str(detail["epoch"])
    partitions = partitions_in_words(detail["assigned"])
    if detail["state"] == "UNREVOKED_PARTITIONS":
        return f"{name} has to give up {partitions_in_words(detail['pending_revocation'])}"
    if detail["state"] == "UNRELEASED_PARTITIONS":
        return f"{name} may have {partitions}, waits for more"
    return f"{name} has {partitions}"


def target_beside_current(trace: Trace, at: float | str) -> Text:
    """What each member of a KIP-848 group should own and what the broker lets it own, at a moment.

    ``at`` is a second, ``"target"`` (the first target from the moment on that is studied), ``"first revocation"``
    after it, or ``"end"``.
    """
    at_ms = _moment(trace, at) if isinstance(at, str) else round(at * 1000)
    rows = [row for row in trace.of("target", "member_reconciled", "member_removed") if row.at_ms <= at_ms]
    goal: Mapping[str, Sequence[str]] = {}
    current: dict[str, TraceRow] = {}
    for row in rows:
        if row.kind == "target":
            goal = row.detail["assignment"]
        elif row.kind == "member_removed":
            current.pop(row.detail["name"], None)
        else:
            current[row.detail["name"]] = row
    head = ("member", "target assignment", "current assignment", "still to be revoked", "state")
    return columns(
        [head, *(_goal_line(name, goal.get(name, ()), row) for name, row in sorted(current.items()))]
    )


def _moment(trace: Trace, name: str) -> int:
    since = study_from(trace)
    target = next((row.at_ms for row in trace.of("target") if row.at_ms >= since), since)
    if name == "target":
        return target
    if name == "end":
        return trace.end_ms
    revoking = (row for row in trace.of("member_reconciled") if row.detail["pending_revocation"])
    return next((row.at_ms for row in revoking if row.at_ms >= target), trace.end_ms)


def _goal_line(name: str, goal: Sequence[str], row: TraceRow) -> tuple[str, ...]:
    detail = row.detail
    revoking = partitions_in_words(detail["pending_revocation"])
    return (
        name,
        partitions_in_words(goal),
        partitions_in_words(detail["assigned"]),
        revoking,
        detail["state"],
    )
