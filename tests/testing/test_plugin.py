"""The plugin for a listener of one's own: right ones pass, each wrong one is found, with the shortest history."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.testing import DEEDS, Rebalance, rebalance  # noqa: F401 - a fixture

Failed = pytest.fail.Exception


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
