"""A broker's configs: what GroupCoordinatorConfig of Kafka 4.3.1 answered to the same configs."""

import pytest

from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.key_types import RefusedConfig, UnknownConfig

G = "group.consumer."
REFUSED = [
    (
        {f"{G}session.timeout.ms": 10_000},
        f"{G}session.timeout.ms must be greater than or equal to {G}min.session.timeout.ms",
    ),
    (
        {f"{G}session.timeout.ms": 70_000},
        f"{G}session.timeout.ms must be less than or equal to {G}max.session.timeout.ms",
    ),
    (
        {f"{G}min.session.timeout.ms": 70_000},
        f"{G}max.session.timeout.ms must be greater than or equal to {G}min.session.timeout.ms",
    ),
    (
        {f"{G}heartbeat.interval.ms": 1_000},
        f"{G}heartbeat.interval.ms must be greater than or equal to {G}min.heartbeat.interval.ms",
    ),
    (
        {f"{G}heartbeat.interval.ms": 20_000},
        f"{G}heartbeat.interval.ms must be less than or equal to {G}max.heartbeat.interval.ms",
    ),
    (
        {f"{G}session.timeout.ms": 5_000, f"{G}min.session.timeout.ms": 5_000},
        f"{G}heartbeat.interval.ms must be less than {G}session.timeout.ms",
    ),
    (
        {f"{G}assignment.interval.ms": 20_000},
        f"{G}assignment.interval.ms must be less than or equal to {G}max.assignment.interval.ms",
    ),
    (
        {f"{G}min.assignment.interval.ms": 16_000},
        f"{G}max.assignment.interval.ms must be greater than or equal to {G}min.assignment.interval.ms",
    ),
    (
        {f"{G}assignors": ""},
        "Configuration 'group.consumer.assignors' must not be empty. Valid values include: any non-empty value",
    ),
    ({f"{G}assignors": "nope"}, "Class nope cannot be found"),
    (
        {f"{G}migration.policy": "nope"},
        f"Invalid value nope for configuration {G}migration.policy: String must be one of (case insensitive): DISABLED, DOWNGRADE, UPGRADE, BIDIRECTIONAL",
    ),
    (
        {"group.coordinator.rebalance.protocols": "classic,x"},
        "Invalid value x for configuration group.coordinator.rebalance.protocols: String must be one of: consumer, classic, share, streams",
    ),
    (
        {"group.coordinator.rebalance.protocols": "consumer"},
        "Disabling the 'classic' protocol is not supported.",
    ),
    ({"group.max.size": 0}, "Invalid value 0 for configuration group.max.size: Value must be at least 1"),
    (
        {f"{G}regex.refresh.interval.ms": 1},
        f"Invalid value 1 for configuration {G}regex.refresh.interval.ms: Value must be at least 10000",
    ),
    (
        {"consumer.session.timeout.ms": 10_000},
        f"consumer.session.timeout.ms must be greater than or equal to {G}min.session.timeout.ms",
    ),
    (
        {"consumer.heartbeat.interval.ms": 20_000},
        f"consumer.heartbeat.interval.ms must be less than or equal to {G}max.heartbeat.interval.ms",
    ),
    (
        {f"{G}min.session.timeout.ms": 4_000, "consumer.session.timeout.ms": 5_000},
        "consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms",
    ),
]


@pytest.mark.parametrize(("configs", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_a_broker_refuses_to_start_with_is_refused_in_its_words(configs, message):
    with pytest.raises(RefusedConfig) as caught:
        BrokerConfig.of(configs, "4.3.1")
    assert caught.value.kafka_message.startswith(message)


def test_a_broker_starts_with_what_kafka_accepts():
    for configs in (
        {f"{G}assignors": "range,range"},
        {f"{G}migration.policy": "UPGRADE"},
        {"group.coordinator.rebalance.protocols": "classic"},
        {"group.min.session.timeout.ms": 2_000_000},
        {"group.initial.rebalance.delay.ms": -1},
    ):
        BrokerConfig.of(configs, "4.3.1")
    full = f"{G}assignors", "org.apache.kafka.coordinator.group.assignor.RangeAssignor"
    assert BrokerConfig.of(dict([full]), "4.3.1").consumer_assignors == ("range",)


def test_defaults_are_those_of_the_version():
    assert BrokerConfig.of({}, "3.9.1").migration_policy == "disabled"
    assert BrokerConfig.of({}, "4.0").migration_policy == "bidirectional"
    assert BrokerConfig.of({}, "4.2").consumer_assignment_interval_ms == 0
    assert BrokerConfig.of({}, "4.3").consumer_assignment_interval_ms == 1_000
    assert "consumer" not in BrokerConfig.of({}, "3.9.1").rebalance_protocols
    assert BrokerConfig.of({}, "2.4").max_session_timeout_ms == 1_800_000


def test_a_groups_own_setting_overrides_the_brokers():
    configs = {
        f"{G}min.session.timeout.ms": 6_000,
        "consumer.session.timeout.ms": 9_000,
        "consumer.assignment.interval.ms": 0,
    }
    config = BrokerConfig.of(configs, "4.3.1")
    assert config.consumer_session_timeout_ms == 9_000 and config.get(f"{G}session.timeout.ms") == 45_000
    assert config.consumer_assignment_interval_ms == 0


def test_a_broker_does_not_know_what_its_version_does_not_have():
    with pytest.raises(UnknownConfig, match=r"exists since 4\.3"):
        BrokerConfig.of({f"{G}assignment.interval.ms": 0}, "4.2.0")
    with pytest.raises(UnknownConfig, match=r"did you mean 'group\.initial\.rebalance\.delay\.ms'"):
        BrokerConfig.of({"group.initial.rebalance.delay": 0}, "4.3.1")


def test_the_brokers_range_of_session_timeouts_is_inclusive():
    config = BrokerConfig.of({}, "4.3.1")
    assert [config.allows_session(at) for at in (5_999, 6_000, 1_800_000, 1_800_001)] == [
        False,
        True,
        True,
        False,
    ]
