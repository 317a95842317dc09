"""Crash, join and leave under each protocol, as short texts to be read: any change shows as a difference."""

from __future__ import annotations

import pytest

from rebalance_kit.model.trace import Trace, TraceRow
from tests.support.simulation.runs import THREE, accounts, act, gaps, member, run

INTENT = {
    (
        "crash",
        "eager",
    ): "a crash under EAGER: silence until the session ends, then the survivor gives everything up and gets all",
    (
        "crash",
        "cooperative",
    ): "a crash under COOPERATIVE: one generation, the survivor keeps its own and is only told of the orphans",
    (
        "crash",
        "consumer",
    ): "a crash under KIP-848: expiry bumps the epoch, the survivor's next heartbeat computes the target",
    ("join", "eager"): "a join under EAGER: one generation, everybody revokes everything for a moment",
    (
        "join",
        "cooperative",
    ): "a join under COOPERATIVE: two generations a heartbeat apart, two partitions move",
    (
        "join",
        "consumer",
    ): "a join under KIP-848: one epoch without a barrier, each owner hands over at its own heartbeat",
    ("leave", "eager"): "a leave under EAGER: noticed at once, acted on at the survivor's next heartbeat",
    (
        "leave",
        "cooperative",
    ): "a leave under COOPERATIVE: one generation, the survivor is only told of what was left",
    (
        "leave",
        "consumer",
    ): "a leave under KIP-848: the epoch rises at once, the target waits for the survivor's heartbeat",
}
EARLIEST = {"auto.offset.reset": "earliest"}
PAIR = (member("c1", configs=EARLIEST), member("c2", configs=EARLIEST))
SCENES = {
    "crash": (act(20_000, "crash", "c1"), PAIR, 4),
    "join": (act(20_000, "start", "c3"), (*PAIR, member("c3", start=None, configs=EARLIEST)), 6),
    "leave": (act(20_000, "close", "c1"), PAIR, 4),
}
TOLD = frozenset(
    "action process_ended group_state generation assignment epoch_bump target member_added member_removed member_reconciled rejoin_requested "
    "callback_begin owned died".split()
)


def line(row: TraceRow) -> str:
    """One event in a line: when, who, what."""
    held = row.detail
    shares = {
        name: " ".join(parts) or "nothing" for name, parts in sorted(held.get("assignment", {}).items())
    }
    words = {
        "action": f"{held.get('do')} {held.get('member')}",
        "process_ended": f"ended: {held.get('how')}",
        "group_state": f"{held.get('from')} -> {held.get('to')}",
        "generation": f"generation {row.generation}, {held.get('assignor')}, led by {held.get('leader')}",
        "assignment": "stored " + "; ".join(f"{name}: {parts}" for name, parts in shares.items()),
        "epoch_bump": f"epoch {row.generation}: {held.get('reason')}",
        "target": f"target for {row.generation} by {held.get('assignor')}: "
        + "; ".join(f"{name}: {parts}" for name, parts in shares.items()),
        "member_added": f"added {held.get('name')}",
        "member_removed": f"removed {held.get('name')}: {held.get('how')}",
        "member_reconciled": f"{held.get('name')} {held.get('state')} at {held.get('epoch')}",
        "rejoin_requested": f"wants to re-join: {str(held.get('sent')).split(':')[0]}",
        "callback_begin": f"{held.get('callback')}({' '.join(held.get('partitions', []))}) shows {row.generation}",
        "owned": "owns " + (" ".join(held.get("partitions", [])) or "nothing"),
        "died": f"died: {held.get('error')}",
    }
    return f"{row.at_ms:>6} {row.actor:<11} {words[row.kind]}"


def text(trace: Trace) -> str:
    """All group and member events, then what it cost."""
    lines = [line(row) for row in trace.rows if row.kind in TOLD]
    lines.append("longest time without a reader, from 20000 on")
    lines += [f"  {tp}: {ms} ms" for tp, ms in sorted(gaps(trace, 20_000).items())]
    lines.append("records")
    lines += [
        f"  {tp}: delivered {one['delivered']}, again {one['redelivered']}, lost {one['lost']}"
        for tp, one in sorted(accounts(trace).items())
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("protocol", THREE)
@pytest.mark.parametrize("scene", SCENES)
def test_a_run_reads_as_stored(scene, protocol, golden):
    doing, members, partitions = SCENES[scene]
    golden(
        f"{scene}.{protocol}",
        INTENT[scene, protocol],
        text(run(protocol, doing, members=members, partitions=partitions)),
    )
