"""The plugin for a listener of one's own: right ones pass, each wrong one is found, with the shortest history."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.testing import DEEDS, Rebalance, mock_cluster, rebalance  # noqa: F401 - fixtures

Failed = pytest.fail.Exception
RIGHT = """
def on_assign(consumer, partitions):
    consumer.incremental_assign(partitions)

def on_revoke(consumer, partitions):
    consumer.incremental_unassign(partitions)
"""


class CommitsWhatLeaves:
    def on_revoked(self, partitions, consumer):
        positions = {partition: consumer.position(partition) for partition in partitions}
        consumer.commit({partition: offset for partition, offset in positions.items() if offset is not None})

    def on_lost(self, partitions, consumer):
        pass


class CommitsWhatIsLost:
    def on_revoked(self, partitions, consumer):
        consumer.commit()


class ForgetsToCommit:
    def on_revoked(self, partitions, consumer):
        pass


class SkipsOne(CommitsWhatLeaves):
    def on_assigned(self, partitions, consumer):
        for partition in partitions:
            if consumer.committed(partition):
                consumer.seek(partition, consumer.committed(partition) + 1)


def test_a_right_listener_passes_every_deed_and_protocol(rebalance):  # noqa: F811
    runs = rebalance(CommitsWhatLeaves, commit="per_batch", seeds=(1,))
    assert {(run.deed, run.protocol) for run in runs} == {
        (deed, protocol) for deed in DEEDS for protocol in ("eager", "cooperative", "consumer")
    }
    runs.assert_no_record_lost()
    runs.assert_no_callback_raised()
    rebalance(CommitsWhatLeaves, commit="per_batch", deeds=["a member joins"]).assert_at_most_twice(0)


@pytest.mark.parametrize(
    ("listener", "commit", "deed", "check", "words"),
    [
        (
            CommitsWhatIsLost,
            "none",
            "the poll timeout passes",
            "assert_no_callback_raised",
            "on_lost of b raises",
        ),
        (ForgetsToCommit, "none", "a member joins", "assert_at_most_twice", "delivered again"),
        (SkipsOne, "per_batch", "a member joins", "assert_no_record_lost", "records are lost"),
        (CommitsWhatLeaves, "per_batch", "a slow callback", "assert_callbacks_within", "took 3.0 s"),
    ],
)
def test_a_wrong_one_is_found_with_the_shortest_history(listener, commit, deed, check, words):
    runs = Rebalance()(listener, commit=commit, deeds=[deed], protocols=["eager"], seeds=[1])
    arguments = {"assert_at_most_twice": (50,), "assert_callbacks_within": (1.0,)}.get(check, ())
    with pytest.raises(Failed, match=words) as told:
        getattr(runs, check)(*arguments)
    message = str(told.value)
    assert f"({deed}, eager, seed 1; 1 of 1 runs show it)" in message
    assert "The shortest history that shows it; in it: " in message
    link = read_link(re.search(r"rk1\.\S+", message)[0])
    assert len(link.scenario.actions) <= 2
    assert link.scenario.topics[0].partitions <= 4
    assert link.scenario.members[0].configs["auto.offset.reset"] == "earliest"


def test_a_run_is_the_same_every_time():
    first, second = (
        [run.trace.rows for run in Rebalance()(CommitsWhatLeaves, deeds=["a crash"], seeds=[3])] for _ in "ab"
    )
    assert first == second


def test_an_unknown_deed_is_named():
    with pytest.raises(ScenarioError, match="did you mean 'a crash'"):
        Rebalance()(CommitsWhatLeaves, deeds=["a crahs"])


class Writer:
    """Writes in batches and leaves the commits to the consumer: the fault of docs/testing.md that shows its own default."""

    def __init__(self, database):
        self.database, self.batch = database, []

    def on_records(self, records, consumer):
        self.batch += records
        if len(self.batch) >= 60:
            self.on_revoked((), consumer)

    def on_revoked(self, partitions, consumer):
        self.database.extend(self.batch)
        self.batch = []


def test_what_the_default_commits_is_said_once_and_the_history_has_the_applications_steps():
    runs = Rebalance()(Writer, store=list, deeds=["a crash"], protocols=["eager"], seeds=[1])
    assert len(runs.runs) == 7
    with pytest.raises(Failed, match="are committed, and not in the store") as told:
        runs.assert_stored(list)
    message = str(told.value)
    assert message.count('an application that commits itself takes commit="none"') == 1
    assert re.search(r"  b  on_records: orders-\d 0–\d+", message)
    assert re.search(r"  b  commit \(auto\) orders-\d at \d+", message)
    history = message[message.index("crash b") :]
    assert "close a (end of the run)" in history
    assert "close b" not in history


def test_another_commit_is_refused_with_what_it_takes():
    with pytest.raises(ConfigError, match=r"commit='sync' is unknown.*'auto' \(.*the default\).*'none'"):
        Rebalance()(CommitsWhatLeaves, commit="sync")


def test_a_store_wants_a_class():
    with pytest.raises(ScenarioError, match="expected a class"):
        Rebalance()(Writer([]), store=list)


# --- the mock cluster ----------------------------------------------------------------------------
def test_a_stall_on_the_mock_cluster_loses_what_the_member_had(mock_cluster):  # noqa: F811
    run = mock_cluster(RIGHT, deed="the poll timeout passes", strategy="consumer")
    assert [event["callback"] for event in run.of("callback", "b")].count("lost") == 1
    assert run.reads("a") and run.reads("b")


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        (
            "a crash",
            "cannot be done on the mock cluster: its clients live in one process.*do it on real_cluster",
        ),
        ("the topic grows", "its topic and coordinator stay as they are"),
        ("a member joint", "is unknown; did you mean 'a member joins'"),
    ],
)
def test_a_deed_that_the_mock_cluster_cannot_do_is_refused_by_name(mock_cluster, deed, words):  # noqa: F811
    with pytest.raises(ScenarioError, match=words):
        mock_cluster(RIGHT, deed=deed)
