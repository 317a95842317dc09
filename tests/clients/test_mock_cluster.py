"""Real librdkafka clients over its mock cluster: what a right and a wrong rebalance callback do."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rebalance_kit.clients.mock_cluster import ClientRunError, run_clients

RIGHT = """
def on_assign(consumer, partitions):
    consumer.incremental_assign(partitions)

def on_revoke(consumer, partitions):
    consumer.incremental_unassign(partitions)
"""
WRONG = RIGHT.replace("incremental_assign", "assign").replace(
    "incremental_unassign(partitions)", "unassign()"
)


@pytest.fixture(scope="module")
def right():
    return run_clients(RIGHT, seconds=10)


def test_incremental_calls_hand_the_partitions_over(right):
    assert not right.of("poll raised")
    assert right.reads("a")
    assert right.reads("b")
    gone = [event["partitions"] for event in right.of("callback", "a") if event["callback"] == "revoked"]
    came = [event["partitions"] for event in right.of("callback", "b") if event["callback"] == "assigned"]
    assert gone[0] == came[0] != []


def test_assign_under_an_incremental_protocol_is_an_erroneous_state_and_nothing_is_read():
    wrong = run_clients(WRONG, seconds=5, members={"a": {"from_s": 0}})
    (error, *_) = wrong.of("poll raised", "a")
    assert error["error"].startswith("_STATE (-172): ")
    assert not wrong.reads("a")
    assert "a: reads nothing at the end; poll() raised _STATE" in wrong.summary


def test_the_same_calls_are_right_with_an_eager_assignor():
    eager = run_clients(WRONG, strategy="range", seconds=6, members={"a": {"from_s": 0}})
    assert not eager.of("poll raised")
    assert eager.reads("a")


def test_a_callback_that_never_returns_is_ended():
    with pytest.raises(ClientRunError, match="did not end"):
        run_clients("def on_assign(consumer, partitions):\n    while True: pass\n", seconds=1, grace_s=1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"strategy": "sticky"}, "strategy 'sticky' is unknown"),
        ({"seconds": 0}, "seconds=0"),
        ({"callbacks": "def on_assign(", "seconds": 1}, "without a result: SyntaxError"),
    ],
)
def test_bad_input_is_named(arguments, words):
    with pytest.raises(ClientRunError, match=words):
        run_clients(**arguments)


def test_the_same_clients_run_on_a_cluster_at_an_address():
    """Another process's mock cluster stands for it; it knows no admin requests, so the topic comes with the first record."""
    host = "import sys; from confluent_kafka import Producer; p = Producer({'test.mock.num.brokers': 1}); "
    host += "print(*(f'{b.host}:{b.port}' for b in p.list_topics(timeout=10).brokers.values()), flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", host], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as cluster:
        try:
            address = cluster.stdout.readline().strip()
            there = run_clients(seconds=5, members={"a": {"from_s": 0}}, bootstrap=address)
        finally:
            cluster.terminate()
    assert there.reads("a")


def test_a_cluster_that_does_not_answer_is_said():
    with pytest.raises(ClientRunError, match=r"without a result|did not end"):
        run_clients(seconds=1, bootstrap="127.0.0.1:1", grace_s=25)
