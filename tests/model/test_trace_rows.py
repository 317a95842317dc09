"""Rows of a trace: which of them belong to a protocol."""

import pytest

from rebalance_kit import scenarios
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.simulate import simulate

OF_NO_PROTOCOL = {
    "action",
    "account",
    "topic_changed",
    "coordinator_up",
    "coordinator_down",
    "leader_changed",
    "run_end",
}


@pytest.mark.parametrize(
    "name", ["crash", "coordinator-failover", "broker-bounce-racks", "defect-deleted-topic-hangs"]
)
def test_rows_of_the_cluster_and_of_the_run_belong_to_no_protocol_and_all_others_to_one(name):
    for row in simulate(scenarios.load(name), protocol="consumer").rows:
        assert row.protocol == (None if row.kind in OF_NO_PROTOCOL else "consumer"), row


def test_asking_such_a_row_for_its_protocol_names_the_row():
    end = simulate(scenarios.load("crash"), protocol="eager").rows[-1]
    with pytest.raises(
        DataError, match=r"\(run_end at \d+ ms\) has no protocol, expected classic or consumer"
    ):
        end.speaks()
