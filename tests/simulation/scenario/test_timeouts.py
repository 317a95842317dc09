"""What a switch to KIP-848 leaves out of the clients' configs, and what a broker has to be given to make up for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.key_types import RefusedConfig
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, carry_timeouts, left_out, with_protocol
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

TEN_SECONDS = read_scenario("""\
scenario: my-crash
topics: {orders: 6}
end: 90s
members:
  - {name: consumer-1, topics: [orders], configs: {session.timeout.ms: 10000}}
  - {name: consumer-2, topics: [orders], configs: {session.timeout.ms: 10000}}
actions:
  - {at: 20s, do: crash, member: consumer-1}
""")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_protocol_changes_the_broker(protocol):
    assert with_protocol(TEN_SECONDS, protocol).broker == {}


def test_kip_848_detects_a_crash_by_the_brokers_timeout_and_not_by_the_clients():
    found = {name: metrics(simulate(TEN_SECONDS, 1, name)).detect_s for name in ("eager", "consumer")}
    assert 7 <= found["eager"] <= 10
    assert 40 <= found["consumer"] <= 45


def test_what_is_left_out_is_what_the_client_refuses_by_name():
    (key,) = left_out(TEN_SECONDS, "consumer")
    assert (key.key, key.values, key.broker_key, key.broker_value, key.refused) == (
        "session.timeout.ms",
        (10_000,),
        "group.consumer.session.timeout.ms",
        45_000,
        True,
    )
    with pytest.raises(
        RefusedConfig, match=r"session\.timeout\.ms cannot be set when group.protocol=CONSUMER"
    ):
        ClientConfig.of({"group.id": "g", "group.protocol": "consumer", key.key: key.values[0]}, "4.3.1")
    assert left_out(TEN_SECONDS, "cooperative") == () == left_out(TEN_SECONDS, None)


def test_before_4_0_the_client_ignores_what_it_refuses_now():
    (key,) = left_out(replace(TEN_SECONDS, kafka_version="3.9.0"), "consumer")
    assert not key.refused and "ignores it" in key.words
    ClientConfig.of({"group.id": "g", "group.protocol": "consumer", key.key: key.values[0]}, "3.9.0")


def test_a_group_of_its_own_settings_is_named_with_the_key_that_decides():
    (key,) = left_out(replace(TEN_SECONDS, broker={"consumer.session.timeout.ms": 50_000}), "consumer")
    assert (key.broker_key, key.broker_value) == ("consumer.session.timeout.ms", 50_000)


def test_carried_timeouts_stand_at_the_broker_with_the_limits_that_forbade_them():
    carried = carry_timeouts(TEN_SECONDS)
    assert carried.broker == {
        "group.consumer.session.timeout.ms": 10_000,
        "group.consumer.min.session.timeout.ms": 10_000,
    }
    assert metrics(simulate(carried, 1, "consumer")).detect_s < 10
    long = replace(
        TEN_SECONDS,
        members=tuple(replace(spec, configs={"session.timeout.ms": 90_000}) for spec in TEN_SECONDS.members),
    )
    assert carry_timeouts(long).broker == {
        "group.consumer.session.timeout.ms": 90_000,
        "group.consumer.max.session.timeout.ms": 90_000,
    }
    plain = replace(TEN_SECONDS, members=tuple(replace(spec, configs={}) for spec in TEN_SECONDS.members))
    assert carry_timeouts(plain) is plain
