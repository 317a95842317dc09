"""Every configuration key that the kit accepts changes something, or says that it does not."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from rebalance_kit.glossary import lookup
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.client_keys import KEYS as LIBRDKAFKA
from rebalance_kit.model.config import BrokerConfig, all_keys
from rebalance_kit.model.key_types import ACTS, RefusedConfig
from rebalance_kit.simulation.scenario.checks import foresee
from rebalance_kit.simulation.scenario.scenario import Action
from rebalance_kit.simulation.simulate import simulate
from tests.support.simulation.config_effects import (
    BOUNDS,
    CASES,
    CONSUMER,
    CRASH,
    JOIN,
    QUICK,
    Case,
    other_value,
    run,
    scenario,
)

KEYS = all_keys()
OFFERED = "group.coordinator.rebalance.protocols"
IDLE = [name for name, key in KEYS.items() if key.acts == "nothing"]
TROUBLE = (
    Action(12_000, "drop_next", "c1", {"api": "Heartbeat"}),
    Action(14_000, "coordinator_failover", None, {"for_ms": 500}),
    JOIN,
    CRASH,
    Action(30_000, "cut_network", "c1"),
    Action(36_000, "heal_network", "c1"),
)
"""Lost requests, a failover and a member without its network: what timeouts and backoffs are for."""


def clients(name):
    """Clients that have the key; a broker's key meets Java clients alone."""
    # librdkafka sees new partitions by topic.metadata.refresh.interval.ms; this key bounds its cache alone
    both = KEYS[name].scope == "client" and name in LIBRDKAFKA and name != "metadata.max.age.ms"
    return ("java", "librdkafka") if both else ("java",)


def test_every_key_has_a_case_a_bound_or_says_that_it_does_nothing():
    of = {how: {name for name, key in KEYS.items() if key.acts == how} for how in ACTS}
    file = "tests/support/simulation/config_effects.py"
    assert of["engine"] == set(CASES), (
        f"keys that act and cases in CASES of {file}: {of['engine'] ^ set(CASES)}"
    )
    assert of["bounds"] == {*BOUNDS, OFFERED}, (
        f"bounds and BOUNDS of {file}: {of['bounds'] ^ {*BOUNDS, OFFERED}}"
    )
    assert of["logs"] == {"client.id"}
    assert set(KEYS) == set().union(*of.values()) and of["nothing"] == set(IDLE)


@pytest.mark.parametrize(("name", "client"), [(name, one) for name in CASES for one in clients(name)])
def test_another_value_of_a_key_that_acts_changes_what_happens(name, client):
    case = CASES[name]
    assert run(KEYS[name], case, case.before, client) != run(KEYS[name], case, case.value, client), (
        f"{name} says that the engine reads it, but {case.value} changes nothing: nothing in rebalance_kit/simulation or "
        "rebalance_kit/protocol reads it yet, or its case does not show it (tests/support/simulation/config_effects.py)"
    )


@pytest.mark.parametrize(("name", "configs"), list(product(IDLE, (QUICK, CONSUMER))))
def test_another_value_of_a_key_that_does_nothing_changes_nothing(name, configs):
    key = KEYS[name]
    version = "4.3.1" if key.exists("4.3.1") else "3.9.1"
    case = Case(other_value(key), actions=TROUBLE, configs=configs, kafka_version=version)
    assert case.value != key.default(version)
    assert run(key, case, None) == run(key, case, case.value)


@pytest.mark.parametrize("name", BOUNDS)
def test_a_bound_refuses_another_key_and_changes_no_run(name):
    bound, refused = BOUNDS[name]
    BrokerConfig.of(refused)
    with pytest.raises(RefusedConfig, match=name):
        BrokerConfig.of({**refused, name: bound})
    case = Case(KEYS[name].default("4.3.1"), actions=(CRASH,), configs=CONSUMER)
    assert run(KEYS[name], case, None) == run(KEYS[name], case, case.value)


def test_a_broker_without_the_consumer_protocol_refuses_members_that_want_it():
    case = Case("classic", configs=CONSUMER)
    assert list(foresee(scenario(KEYS[OFFERED], case, None))) == []
    assert {one.error for one in foresee(scenario(KEYS[OFFERED], case, "classic"))} == {"UNSUPPORTED_VERSION"}


def test_the_client_id_shows_in_log_lines_alone(tmp_path):
    case = Case("app")
    assert run(KEYS["client.id"], case, None) == run(KEYS["client.id"], case, "app")
    texts = []
    for value in (None, "app"):
        write_logs(simulate(scenario(KEYS["client.id"], case, value), 1), tmp_path / str(value))
        texts.append((tmp_path / str(value) / "c1.log").read_text("utf-8"))
    assert "clientId=app" in texts[1] and "clientId=app" not in texts[0]


def test_patterns_are_resolved_again_at_the_configured_interval():
    key = KEYS["group.consumer.regex.refresh.interval.ms"]
    case = CASES[key.name]
    scans = {
        value: [row.at_ms for row in run(key, case, value) if row.kind == "regex_scanned"]
        for value in (None, 10_000, 20_000)
    }
    assert len(scans[None]) == 1, "600 s by default"
    for value in (10_000, 20_000):
        between = [later - at for at, later in pairwise(scans[value])]
        assert len(between) > 1 and all(value <= one < value + 6_000 for one in between)


def test_whoever_asks_about_a_key_is_told_that_it_does_not_act():
    assert "the engine does not act on it" in lookup("retry.backoff.ms").text
    assert "which values of other keys are accepted" in lookup("group.consumer.min.session.timeout.ms").text
    assert "the engine" not in lookup("session.timeout.ms").text
