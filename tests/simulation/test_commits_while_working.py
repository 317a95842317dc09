"""Auto-commit of an application that is busy for a part of every poll interval."""

from __future__ import annotations

from dataclasses import replace

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate


def test_a_commit_that_falls_due_inside_a_batch_goes_out_with_the_next_poll():
    """AbstractCoordinator.poll() sends it before it returns records, however often the timer meets a batch."""
    crash = load("crash")
    busy = replace(crash, members=tuple(replace(spec, processing_ms=10.0) for spec in crash.members))
    for seed in range(1, 6):
        run = simulate(busy, seed, "eager")
        (died,) = (row.at_ms for row in run.of("process_ended") if row.detail["how"] == "crash")
        sent = [row.at_ms for row in run.of("commit") if row.actor == "consumer-2" and row.at_ms < died]
        assert len(sent) >= 3, seed
        assert all(later - before < 5_600 for before, later in zip(sent, [*sent[1:], died], strict=True)), (
            seed
        )
