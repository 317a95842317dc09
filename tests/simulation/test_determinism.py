"""The same scenario and seed give the same bytes, whatever Python's hash seed is."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_kit.model.trace import parse_trace
from rebalance_kit.simulation.kernel import Streams, draw_kafka_uuid, draw_uuid
from tests.support.paths import ROOT
from tests.support.simulation.runs import THREE, act, member, run

HERE = Path(__file__).parent
SCRIPT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from tests.support.simulation.runs import THREE, act, member, run

members = [member("c1"), member("c2", instance="i2"), member("c3", start=None), member("c4", "orders", "bills")]
doings = [
    act(15_000, "start", "c3"), act(20_000, "crash", "c1"), act(22_000, "start", "c1"), act(24_000, "stall", "c4", for_ms=9_000),
    act(30_000, "close", "c2"), act(33_000, "start", "c2"), act(35_000, "add_partitions", topic="orders", partitions=7),
    act(40_000, "coordinator_failover", for_ms=2_000), act(50_000, "freeze", "c3"), act(65_000, "thaw", "c3"),
]
for protocol in THREE:
    trace = run(protocol, *doings, members=members, partitions={"orders": 5, "bills": 3}, end=80_000, seed=7)
    print(protocol, len(trace.rows), hashlib.sha256("\\n".join(trace.jsonl()).encode()).hexdigest())
"""


def test_a_run_is_byte_for_byte_the_same_under_any_hash_seed():
    told = []
    for hash_seed in ("1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(HERE)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout.splitlines())
    assert told[0] == told[1] and len(told[0]) == 3


@pytest.mark.parametrize("protocol", THREE)
def test_a_second_run_in_the_same_process_is_the_same(protocol):
    first, second = (run(protocol, act(20_000, "crash", "c1")) for _ in range(2))
    assert list(first.jsonl()) == list(second.jsonl())


def test_another_seed_draws_other_moments_and_ids():
    first, second = (run("eager", seed=seed) for seed in (1, 2))
    assert [row.at_ms for row in first.rows] != [row.at_ms for row in second.rows]
    assert {row.member_id for row in first.rows} & {row.member_id for row in second.rows} == {None}


def test_a_trace_is_read_back_from_its_own_lines():
    trace = run("consumer", act(20_000, "crash", "c1"))
    again = parse_trace(trace.jsonl())
    assert list(again.jsonl()) == list(trace.jsonl()) and again.rows[5] == trace.rows[5]


def test_a_member_more_does_not_shift_the_chance_of_the_others():
    alone = run("eager", members=[member("c1")])
    beside = run("eager", members=[member("c1"), member("c2", start=44_000)])
    mine = [
        [row for row in trace.rows if row.actor == "c1" and row.at_ms < 40_000] for trace in (alone, beside)
    ]
    assert [row._replace(seq=0, detail={}) for row in mine[0]] == [
        row._replace(seq=0, detail={}) for row in mine[1]
    ]


def test_streams_are_told_apart_by_name_and_seed():
    draws = {(seed, name): Streams(seed)[name].random() for seed in (1, 2) for name in ("a", "b", "a/b")}
    assert len(set(draws.values())) == 6 and draws[1, "a"] == Streams(1)["a"].random()


def test_ids_look_like_kafkas():
    stream = Streams(1)["ids"]
    classic = [draw_uuid(stream) for _ in range(50)]
    assert all(len(one) == 36 and one[14] == "4" and one[19] in "89ab" for one in classic)
    modern = [draw_kafka_uuid(stream) for _ in range(200)]
    assert all(len(one) == 22 and not one.startswith("-") for one in modern) and len(set(modern)) == 200


DRAWS = re.compile(r"\.(randint|random|uniform|choice|shuffle|gauss|getrandbits)\(")
DRAWN_BY_NAME = {"kernel", "scenario"}
"""Rooms that draw themselves: latencies and ids, and the moments of a scenario's windows."""
BACKOFF_AND_IDS = {"incarnation.py", "topics.py"}
"""Draw the jitter of a backoff, and the ids of topics."""


def test_nothing_takes_a_time_that_is_drawn_without_a_name():
    rooms = ROOT / "rebalance_kit" / "simulation"
    unnamed = [
        f"{path.relative_to(rooms)}:{number}"
        for path in sorted(rooms.rglob("*.py"))
        if not {path.parent.name, path.stem} & DRAWN_BY_NAME and path.name not in BACKOFF_AND_IDS
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if DRAWS.search(line)
    ]
    assert unnamed == []
