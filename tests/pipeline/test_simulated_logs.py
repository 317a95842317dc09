"""Logs that the kit writes are read back by its own pipeline: the same generations, epochs, targets and expired members."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rebalance_kit import scenarios
from rebalance_kit.logs.write import write_logs
from rebalance_kit.simulation.simulate import simulate

RUNS = (
    ("two-consumers-crash", "eager"), ("two-consumers-crash", "cooperative"), ("two-consumers-crash", "consumer"),
    ("storm", "eager"), ("storm", "consumer"), ("scale-out", "cooperative"),
)  # fmt: skip


def of_trace(trace):
    """What the pipeline should find, from the trace alone."""
    removed = [row for row in trace.of("member_removed") if row.detail["how"] == "session"]
    return {
        "generations": [row.generation for row in trace.of("generation")],
        "epochs": [row.generation for row in trace.of("epoch_bump")],
        "targets": len(list(trace.of("target"))),
        "expired": len(removed),
        "expired_members": sorted({row.detail["name"] for row in removed}),
    }


@pytest.mark.spark
def test_the_pipeline_finds_in_written_logs_what_the_trace_holds(tmp_path):
    from rebalance_kit.pipeline import run_logs

    expected = {}
    for number, (name, protocol) in enumerate(RUNS):
        trace = simulate(scenarios.load(name), None, protocol)
        folder = tmp_path / f"{name}.{protocol}"
        write_logs(trace, folder, layout="spring" if number % 2 else "kafka", packed=number % 3 == 0)
        expected[folder.name] = of_trace(trace)
    out = io.StringIO()
    assert run_logs([tmp_path], as_json=True, out=out) == 0
    told = {}
    for line in out.getvalue().splitlines():
        record = json.loads(line)
        told[Path(record["path"]).name] = {key: record[key] for key in next(iter(expected.values()))}
        told[Path(record["path"]).name]["expired_members"] = sorted(set(record["expired_members"]))
    assert told == expected
    assert any(one["expired"] for one in expected.values()) and any(one["epochs"] for one in expected.values())
