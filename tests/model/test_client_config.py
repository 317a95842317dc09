"""A consumer's configs: what Kafka's own classes answered (kafka-clients 3.9.1 to 4.3.1, librdkafka 2.16.0) to the same configs."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_kit.model.client_keys import CLASSES, CLIENT_KEYS
from rebalance_kit.model.config import ClientConfig, common_mode
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.key_types import RefusedConfig, UnknownConfig

STRATEGY = "partition.assignment.strategy"
RANGE, STICKY = CLASSES["range"], CLASSES["sticky"]
RESET = (
    "The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."
)

# configs, Kafka's exception, Kafka's message: as printed by KafkaConsumer of kafka-clients 4.3.1
REFUSED = [
    (
        {"session.timeout.ms": "abc"},
        "ConfigException",
        "Invalid value abc for configuration session.timeout.ms: Not a number of type INT",
    ),
    (
        {"session.timeout.ms": "99999999999"},
        "ConfigException",
        "Invalid value 99999999999 for configuration session.timeout.ms: Not a number of type INT",
    ),
    (
        {"session.timeout.ms": "45_000"},
        "ConfigException",
        "Invalid value 45_000 for configuration session.timeout.ms: Not a number of type INT",
    ),
    (
        {"session.timeout.ms": "10.5"},
        "ConfigException",
        "Invalid value 10.5 for configuration session.timeout.ms: Not a number of type INT",
    ),
    (
        {"session.timeout.ms": ""},
        "ConfigException",
        "Invalid value  for configuration session.timeout.ms: Not a number of type INT",
    ),
    (
        {"session.timeout.ms": 0},
        "IllegalArgumentException",
        "Heartbeat must be set lower than the session timeout",
    ),
    (
        {"session.timeout.ms": -1},
        "IllegalArgumentException",
        "Heartbeat must be set lower than the session timeout",
    ),
    (
        {"heartbeat.interval.ms": 45_000},
        "IllegalArgumentException",
        "Heartbeat must be set lower than the session timeout",
    ),
    ({"heartbeat.interval.ms": -1}, "IllegalArgumentException", "Invalid negative timeout -1"),
    (
        {"max.poll.records": 0},
        "ConfigException",
        "Invalid value 0 for configuration max.poll.records: Value must be at least 1",
    ),
    (
        {"max.poll.interval.ms": 0},
        "ConfigException",
        "Invalid value 0 for configuration max.poll.interval.ms: Value must be at least 1",
    ),
    (
        {"auto.commit.interval.ms": -5},
        "ConfigException",
        "Invalid value -5 for configuration auto.commit.interval.ms: Value must be at least 0",
    ),
    (
        {"metadata.max.age.ms": -1},
        "ConfigException",
        "Invalid value -1 for configuration metadata.max.age.ms: Value must be at least 0",
    ),
    (
        {"enable.auto.commit": "maybe"},
        "ConfigException",
        "Invalid value maybe for configuration enable.auto.commit: Expected value to be either true or false",
    ),
    (
        {"auto.offset.reset": "never"},
        "ConfigException",
        f"Invalid value never for configuration auto.offset.reset: Invalid value `never` for configuration auto.offset.reset. {RESET}",
    ),
    (
        {"auto.offset.reset": "EARLIEST"},
        "ConfigException",
        f"Invalid value EARLIEST for configuration auto.offset.reset: Invalid value `EARLIEST` for configuration auto.offset.reset. {RESET}",
    ),
    (
        {"auto.offset.reset": "by_duration:x"},
        "ConfigException",
        f"Invalid value by_duration:x for configuration auto.offset.reset: Invalid value `by_duration:x` for configuration auto.offset.reset. {RESET}",
    ),
    (
        {"group.protocol": "new"},
        "ConfigException",
        "Invalid value new for configuration group.protocol: String must be one of (case insensitive): CONSUMER, CLASSIC",
    ),
    (
        {"group.protocol": ""},
        "ConfigException",
        "Invalid value  for configuration group.protocol: String must be one of (case insensitive): CONSUMER, CLASSIC",
    ),
    (
        {"isolation.level": "x"},
        "ConfigException",
        "Invalid value x for configuration isolation.level: String must be one of: read_committed, read_uncommitted",
    ),
    (
        {"group.protocol": "consumer", "session.timeout.ms": 1000},
        "ConfigException",
        "session.timeout.ms cannot be set when group.protocol=CONSUMER",
    ),
    (
        {
            "group.protocol": "consumer",
            "session.timeout.ms": 1000,
            "heartbeat.interval.ms": 10,
            STRATEGY: RANGE,
        },
        "ConfigException",
        "partition.assignment.strategy, heartbeat.interval.ms, session.timeout.ms cannot be set when group.protocol=CONSUMER",
    ),
    (
        {"group.remote.assignor": "range"},
        "ConfigException",
        "group.remote.assignor cannot be set when group.protocol=CLASSIC",
    ),
    (
        {STRATEGY: "org.apache.kafka.clients.consumer.Nope"},
        "KafkaException",
        "org.apache.kafka.clients.consumer.Nope ClassNotFoundException exception occurred",
    ),
    (
        {"group.id": None, "enable.auto.commit": True},
        "InvalidConfigurationException",
        "enable.auto.commit cannot be set to true when default group id (null) is used.",
    ),
    (
        {"group.id": ""},
        "InvalidGroupIdException",
        "The configured group.id should not be an empty string or whitespace.",
    ),
    (
        {"group.instance.id": ""},
        "ConfigException",
        "Invalid value  for configuration group.instance.id: String must be non-empty",
    ),
    (
        {"group.instance.id": " "},
        "ConfigException",
        "Invalid value  for configuration group.instance.id: String must be non-empty",
    ),
    (
        {"group.instance.id": "a b"},
        "InvalidConfigurationException",
        "Group instance id is invalid: 'a b' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'",
    ),
]
ACCEPTED = [
    {},
    {STRATEGY: ""},
    {STRATEGY: f"{RANGE},{RANGE}"},
    {STRATEGY: f"{RANGE}, {STICKY}"},
    {"group.id": None},
    {"group.id": None, "enable.auto.commit": False},
    {"max.poll.interval.ms": 1000},
    {"session.timeout.ms": "45000 "},
    {"auto.offset.reset": "by_duration:PT1H"},
    {"client.rack": ""},
    {"request.timeout.ms": 10},
    {"group.protocol": "consumer", "group.remote.assignor": "nope"},
    {"group.protocol": "consumer", "group.id": None},
    {"session.timeout.ms": None},
]


@pytest.mark.parametrize(("configs", "exception", "message"), REFUSED, ids=lambda value: str(value)[:60])
def test_what_the_java_consumer_refuses_is_refused_in_its_words(configs, exception, message):
    with pytest.raises(RefusedConfig) as caught:
        ClientConfig.of({"group.id": "g", **configs}, "4.3.1", "c1")
    assert caught.value.kafka_message.startswith(message)
    assert caught.value.exception == exception
    assert str(caught.value).startswith("c1: ")
    assert set(caught.value.keys) <= set(configs)


@pytest.mark.parametrize("configs", ACCEPTED, ids=str)
def test_what_the_java_consumer_accepts_is_accepted(configs):
    ClientConfig.of({"group.id": "g", **configs}, "4.3.1")


OLDER = [
    ("3.9.1", {"group.protocol": "consumer", "session.timeout.ms": 1000}, None),
    ("4.0.0", {"group.protocol": "consumer", "session.timeout.ms": 1000}, "cannot be set"),
    ("3.9.1", {"group.id": ""}, None),
    ("3.9.1", {"auto.offset.reset": "by_duration:PT1H"}, "String must be one of: latest, earliest, none"),
    (
        "4.1.0",
        {STRATEGY: f"{RANGE},{RANGE}"},
        f"The assignor name: 'range' is used in more than one assignor: {RANGE}, {RANGE}",
    ),
    ("4.2.0", {STRATEGY: f"{RANGE},{RANGE}"}, None),
]


@pytest.mark.parametrize(("version", "configs", "refusal"), OLDER, ids=str)
def test_older_clients_differ_as_those_clients_did(version, configs, refusal):
    try:
        ClientConfig.of({"group.id": "g", **configs}, version)
        said = None
    except RefusedConfig as error:
        said = str(error)
    assert (said is None) == (refusal is None) and (refusal or "") in (said or "")


def test_defaults_are_those_of_the_version():
    assert ClientConfig.of({}, "4.3.1").session_timeout_ms == 45_000
    assert ClientConfig.of({}, "2.8").session_timeout_ms == 10_000
    assert ClientConfig.of({}, "2.8").assignors == ("range",)
    assert ClientConfig.of({}, "3.0").assignors == ("range", "cooperative-sticky")


def test_the_default_list_is_eager_and_only_cooperative_sticky_alone_is_cooperative():
    assert ClientConfig.of({}, "4.3.1").mode == "EAGER"
    assert ClientConfig.of({STRATEGY: "cooperative-sticky"}, "4.3.1").mode == "COOPERATIVE"
    assert ClientConfig.of({STRATEGY: ["cooperative-sticky", "range"]}, "4.3.1").mode == "EAGER"


@pytest.mark.parametrize("written", ["sticky", "StickyAssignor", STICKY, [STICKY], [" sticky "]], ids=str)
def test_an_assignor_is_known_by_its_name_its_class_and_its_full_class(written):
    assert ClientConfig.of({STRATEGY: written}, "4.3.1").assignors == ("sticky",)


def test_an_assignor_of_ones_own_that_is_cooperative_only_has_no_common_protocol_with_range():
    supports = {"range": ("EAGER",), "mine": ("COOPERATIVE",)}
    with pytest.raises(
        RefusedConfig,
        match=r"Specified assignors \[range, mine\] do not have commonly supported rebalance protocol",
    ):
        common_mode(("range", "mine"), supports)


def test_an_unknown_key_is_refused_with_the_nearest_known_one():
    with pytest.raises(
        UnknownConfig,
        match=r"consumer-7: 'sesion.timeout.ms' is no config of a consumer of Kafka 4.3.1; did you mean 'session.timeout.ms'",
    ):
        ClientConfig.of({"sesion.timeout.ms": 1}, "4.3.1", "consumer-7")


def test_a_key_that_came_later_is_refused_in_an_older_version():
    with pytest.raises(UnknownConfig, match=r"exists since 3\.7"):
        ClientConfig.of({"group.protocol": "classic"}, "3.6")


def test_values_of_other_types_are_refused_and_not_converted():
    for key, value in (
        ("session.timeout.ms", True),
        ("session.timeout.ms", 1.5),
        (STRATEGY, 7),
        ("enable.auto.commit", 1),
        ("client.id", ["a"]),
    ):
        with pytest.raises(RefusedConfig, match=key.replace(".", r"\.")):
            ClientConfig.of({key: value}, "4.3.1")


def test_a_config_cannot_be_changed_once_made():
    config = ClientConfig.of({"session.timeout.ms": 9_000}, "4.3.1")
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.protocol = "consumer"
    with pytest.raises(TypeError):
        config.values["session.timeout.ms"] = 1
    assert config.get("session.timeout.ms") == 9_000 and config.given == {"session.timeout.ms"}


LIBRDKAFKA = [
    (
        {STRATEGY: "cooperative-sticky,range"},
        "All partition.assignment.strategy (cooperative-sticky,range) assignors must have the same protocol type, online migration between assignors with different protocol types is not supported",
    ),
    ({STRATEGY: "sticky"}, "Unsupported partition.assignment.strategy: sticky"),
    ({STRATEGY: RANGE}, f"Unsupported partition.assignment.strategy: {RANGE}"),
    ({"max.poll.interval.ms": 1000}, "`max.poll.interval.ms`must be >= `session.timeout.ms`"),
    ({"session.timeout.ms": 400_000}, "`max.poll.interval.ms`must be >= `session.timeout.ms`"),
    (
        {"session.timeout.ms": 0},
        'Configuration property "session.timeout.ms" value 0 is outside allowed range 1..3600000',
    ),
    ({"session.timeout.ms": "abc"}, 'Invalid value for configuration property "session.timeout.ms"'),
    (
        {"metadata.max.age.ms": 0},
        'Configuration property "metadata.max.age.ms" value 0 is outside allowed range 1..86400000',
    ),
    ({"auto.offset.reset": "none"}, 'Invalid value "none" for configuration property "auto.offset.reset"'),
    ({"group.protocol": "x"}, 'Invalid value "x" for configuration property "group.protocol"'),
    ({"enable.auto.commit": "maybe"}, 'Expected bool value for "enable.auto.commit": true or false'),
    (
        {"group.protocol": "consumer", "session.timeout.ms": 10_000},
        "`session.timeout.ms` is not supported for `group.protocol=consumer` or share consumer. It is defined broker side",
    ),
    (
        {"group.protocol": "consumer", STRATEGY: "range"},
        "`partition.assignment.strategy` is not supported for `group.protocol=consumer`. Use `group.remote.assignor` instead",
    ),
]


@pytest.mark.parametrize(("configs", "message"), LIBRDKAFKA, ids=lambda value: str(value)[:60])
def test_what_librdkafka_refuses_is_refused_in_its_words(configs, message):
    with pytest.raises(RefusedConfig) as caught:
        ClientConfig.of({"group.id": "g", **configs}, "4.3.1", client="librdkafka")
    assert caught.value.kafka_message == message


def test_librdkafka_accepts_what_only_java_refuses():
    for configs in (
        {"heartbeat.interval.ms": 50_000},
        {"group.remote.assignor": "range"},
        {"auto.offset.reset": "EARLIEST"},
        {STRATEGY: "range,range"},
    ):
        ClientConfig.of({"group.id": "g", **configs}, "4.3.1", client="librdkafka")


def test_librdkafka_has_its_own_defaults_and_modes():
    config = ClientConfig.of({}, "4.3.1", client="librdkafka")
    assert (
        config.assignors == ("range", "roundrobin")
        and config.mode == "EAGER"
        and config.metadata_max_age_ms == 300_000  # topic.metadata.refresh.interval.ms
    )
    assert ClientConfig.of({"group.protocol": "consumer"}, "4.3.1", client="librdkafka").mode == "COOPERATIVE"
    assert (
        ClientConfig.of({"auto.offset.reset": "smallest"}, "4.3.1", client="librdkafka").auto_offset_reset
        == "earliest"
    )


@given(
    st.dictionaries(
        st.sampled_from(sorted(CLIENT_KEYS)) | st.text(max_size=8),
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text(max_size=12)
        | st.lists(st.text(max_size=4), max_size=3),
        max_size=5,
    )
)
def test_any_configs_are_either_accepted_or_refused_with_a_config_error(configs):
    for client in ("java", "librdkafka"):
        refusal = None
        try:
            config = ClientConfig.of(configs, "4.3.1", "x", client)
        except ConfigError as error:
            refusal = str(error)
        if refusal is None:
            assert config.mode in {"EAGER", "COOPERATIVE"} and isinstance(config.session_timeout_ms, int)
        else:
            assert refusal.startswith("x: ")
