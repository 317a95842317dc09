"""Groups of either protocol in whole runs: what one leaves behind for the other, and settings of the broker."""

from __future__ import annotations

import pytest

from rebalance_kit.simulation.scenario.scenario import MemberSpec
from rebalance_kit.simulation.simulate import simulate
from tests.support.simulation.runs import act, member, rows, scenario

KIP_848 = {"group.protocol": "consumer"}


def test_an_id_that_nobody_joined_with_outlives_no_group_of_the_other_protocol():
    # c1 is given an id and dies; the empty classic group becomes a consumer group before that id expires
    members = [member("c1"), MemberSpec("c2", ("orders",), KIP_848, start_ms=5_000)]
    pending_ms = rows(simulate(scenario(members=members)), "member_pending")[0].at_ms
    trace = simulate(scenario(act(pending_ms + 1, "crash", "c1"), members=members))
    (converted,) = rows(trace, "group_converted")
    assert converted.detail["to"] == "consumer" and converted.at_ms < pending_ms + 10_000
    assert rows(trace, "member_removed") == []


def test_the_broker_resolves_patterns_again_after_its_refresh_interval():
    def scans(broker: dict[str, int]) -> int:
        members = [MemberSpec("c1", (), KIP_848, server_pattern="orders.*")]
        return len(rows(simulate(scenario(members=members, end=60_000, broker=broker)), "regex_scanned"))

    assert scans({}) == 1
    assert scans({"group.consumer.regex.refresh.interval.ms": 20_000}) == 3


@pytest.mark.parametrize("version", ["4.0.0", "4.2.0", "4.3.1"])
def test_a_lone_member_whose_pattern_is_not_resolved_yet_is_let_in_above_epoch_0(version):
    members = [MemberSpec("c1", (), KIP_848, server_pattern="orders.*")]
    trace = simulate(scenario(members=members, end=20_000, kafka_version=version))
    assert rows(trace, "died") == []
    assert [row.detail["partitions"] for row in rows(trace, "owned")][-1]
