"""The plugin for a listener of one's own: right ones pass, each wrong one is found, with the shortest history."""

from __future__ import annotations

import re
from contextlib import suppress

import pytest

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.testing import DEEDS, CommitFailed, Rebalance, mock_cluster, rebalance  # noqa: F401 - fixtures

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
    assert "The shortest history that shows it: " in message
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
    """Writes in batches to a database, then commits."""

    def __init__(self, database):
        self.database, self.batch = database, []

    def on_records(self, records, consumer):
        self.batch += records
        if len(self.batch) >= 60:
            self.flush(consumer)

    def flush(self, consumer):
        self.database.extend(self.batch)
        self.batch = []
        with suppress(CommitFailed):  # poll() completes the rebalance; the next batch commits
            consumer.commit()

    def on_revoked(self, partitions, consumer):
        self.flush(consumer)

    def on_lost(self, partitions, consumer):
        self.batch = []


class CommitsBeforeItWrites(Writer):
    def on_records(self, records, consumer):
        with suppress(CommitFailed):
            consumer.commit()
        super().on_records(records, consumer)


class KeepsItsBatch(Writer):
    def on_revoked(self, partitions, consumer):
        """Nothing: the batch is written later."""


class StaleCounts:
    """Counts records in memory and reads the count once, when it first gets the partition."""

    def __init__(self, counts):
        self.counts, self.cache = counts, {}

    def on_records(self, records, consumer):
        for record in records:
            name = str(record.partition)
            self.cache[name] = self.cache.get(name, self.counts.get(name, 0)) + 1
            self.counts[name] = self.cache[name]
        with suppress(CommitFailed):
            consumer.commit()


class FreshCounts(StaleCounts):
    def on_revoked(self, partitions, consumer):
        for partition in partitions:
            self.cache.pop(str(partition), None)


def counted(run):
    """Each count is that of the records below the committed offset."""
    for row in run.trace.of("account"):
        name = f"{row.topic}-{row.partition}"
        assert run.store[name] == row.detail["committed"], f"{name} counts {run.store[name]}"


def test_an_application_that_writes_before_it_commits_keeps_every_record():
    runs = Rebalance()(
        Writer, commit="none", store=list, seeds=[1], deeds=["a crash", "a member joins"], protocols=["eager"]
    )
    runs.assert_stored(list)
    runs.assert_no_record_lost()
    assert len(runs.runs) == 8  # a crash at seven moments


@pytest.mark.parametrize(
    ("application", "deed", "check", "words"),
    [
        (
            CommitsBeforeItWrites,
            "a crash",
            lambda runs: runs.assert_stored(list),
            r"are committed, and not in the store",
        ),
        (
            KeepsItsBatch,
            "a member joins",
            lambda runs: runs.assert_stored(list, at_most=1),
            r"are in the store more than 1 times",
        ),
    ],
)
def test_what_an_application_does_wrong_with_its_store_is_found(application, deed, check, words):
    runs = Rebalance()(application, commit="none", store=list, deeds=[deed], protocols=["eager"], seeds=[1])
    with pytest.raises(Failed, match=words):
        check(runs)


def test_a_cache_that_outlives_its_partition_is_found_and_one_that_does_not_passes():
    chosen = {
        "commit": "none",
        "store": dict,
        "deeds": ["a member comes and goes"],
        "protocols": ["cooperative"],
        "seeds": [1],
    }
    Rebalance()(FreshCounts, **chosen).assert_that(counted)
    with pytest.raises(Failed, match="counts"):
        Rebalance()(StaleCounts, **chosen).assert_that(counted)


def test_a_store_wants_a_class():
    with pytest.raises(ScenarioError, match="expected a class"):
        Rebalance()(Writer([]), store=list)


class Transactional:
    """Stores records and the next offsets together, and reads on where its database says."""

    def __init__(self, database):
        self.database = database

    def on_assigned(self, partitions, consumer):
        for partition in partitions:
            stored = [offset for place, offset in self.database if place == partition]
            consumer.seek(partition, max(stored, default=-1) + 1)

    def on_records(self, records, consumer):
        self.database.extend(records)


class AsksKafka(Transactional):
    def on_assigned(self, partitions, consumer):
        """Nothing: Kafka knows where the group stands."""


def test_offsets_of_the_database_are_read_from_there():
    chosen = {"commit": "none", "store": list, "deeds": ["a crash"], "protocols": ["consumer"], "seeds": [1]}
    Rebalance()(Transactional, **chosen).assert_stored(list, at_most=1)
    with pytest.raises(Failed, match="more than 1 times"):
        Rebalance()(AsksKafka, **chosen).assert_stored(list, at_most=1)


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
