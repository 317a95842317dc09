"""``check-config``: where settings are found, what is said of them, and what is refused."""

from __future__ import annotations

import io
import json

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.client_keys import CLASSES, REFUSED_BY_CONSUMER
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.whatif.check_config import SERVER_ASSIGNORS, Versions, run_check_config
from rebalance_kit.whatif.config_files import read_config
from tests.support.paths import ROOT

FOUND = [
    ("a.properties", "# x\nsession.timeout.ms=10000\n", ("session.timeout.ms", "10000", 2)),
    ("a.properties", "heartbeat.interval.ms: \\\n  4000\n", ("heartbeat.interval.ms", "4000", 1)),
    ("a.ini", "[kafka]\nsession.timeout.ms = 9000\n", ("session.timeout.ms", "9000", 2)),
    ("a.env", "export KAFKA_CONSUMER_MAX_POLL_RECORDS=7\n", ("max.poll.records", "7", 1)),
    ("a.json", '{"consumer":\n\t{"session.timeout.ms": 8000}}', ("session.timeout.ms", "8000", 2)),
    ("a.json", '{"Kafka": {"SessionTimeoutMs": 8000}}', ("session.timeout.ms", "8000", 1)),
    ("values.yaml", "app:\n  sessionTimeoutMs: 7000\n", ("session.timeout.ms", "7000", 2)),
    (
        "application.yml",
        "spring:\n  kafka:\n    consumer:\n      heartbeat-interval: 3s\n",
        ("heartbeat.interval.ms", "3000", 4),
    ),
    (
        "application.properties",
        "spring.kafka.consumer.properties[session.timeout.ms]=6000",
        ("session.timeout.ms", "6000", 1),
    ),
    (
        "application.yml",
        "spring: {kafka: {properties: {session: {timeout: {ms: 4000}}}}}",
        ("session.timeout.ms", "4000", 1),
    ),
    (
        "map.yaml",
        "kind: Secret\n---\nkind: ConfigMap\ndata:\n  app.properties: |\n    # x\n    group.protocol=consumer\n",
        ("group.protocol", "consumer", 7),
    ),
    (
        "kafka.yaml",
        "kind: Kafka\nspec:\n  kafka:\n    config:\n      group.consumer.session.timeout.ms: 50000\n",
        ("group.consumer.session.timeout.ms", "50000", 5),
    ),
]


def written(folder, name, text):
    (folder / name).write_text(text, "utf-8")
    return folder / name


def asked(path, known=None):
    out = io.StringIO()
    status = run_check_config([str(path)], known or Versions(), out, as_json=True)
    return status, json.loads(out.getvalue())


@pytest.mark.parametrize(("name", "text", "expected"), FOUND)
def test_a_setting_is_found_with_its_line(tmp_path, name, text, expected):
    found = read_config(written(tmp_path, name, text)).settings
    assert [(one.key, one.text, one.line) for one in found] == [expected]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.properties", "spring.kafka.producer.properties.session.timeout.ms=1\nzookeeper.session.timeout.ms=1\n"),
        ("connect.yaml", "kind: KafkaConnect\nspec:\n  config:\n    session.timeout.ms: 10000\n"),
        ("app.yml", "zk:\n  session_timeout_ms: 3000\n"),
        ("app.yml", "session_timeout_ms: ${ZOOKEEPER_SESSION_TIMEOUT_MS:3000}\n"),
    ],
)  # fmt: skip
def test_what_is_no_consumers_is_left_alone_and_the_file_is_not_understood(tmp_path, name, text):
    status, answer = asked(written(tmp_path, name, text))
    assert (status, answer["statements"], answer["steps"]) == (3, [], [])
    assert "no setting of a consumer group" in answer["not_understood"][0]


SAID = [
    ("heartbeat.interval.ms=4000\nsession.timeout.ms=10000", {}, "more than a third of session.timeout.ms=10000"),
    ("session.timeout.ms=6000", {}, "heartbeat.interval.ms=3000 (the default, unless it is set elsewhere) is more"),
    ("session.timeout.ms=5000", {}, "outside the broker's 6000 to 1800000"),
    ("session.timeout.ms=5000\nheartbeat.interval.ms=6000", {}, "kafka-clients refuses it today: Heartbeat must be"),
    ("session.timeout.ms=400000", {"client": "librdkafka"}, "refuses it today: `max.poll.interval.ms`must be >="),
    ("session.timeout.ms=10000", {}, "noticed after 10 s today, under KIP-848 45 s"),
    ("session.timeout.ms=10000", {}, "set group.consumer.min.session.timeout.ms=10000 on the brokers"),
    ("session.timeout.ms=50000", {}, "To keep it, set consumer.session.timeout.ms=50000 on the group"),
    ("session.timeout.ms=50000\ngroup.consumer.session.timeout.ms=55000", {}, "KIP-848 55 s"),
    ("group.consumer.session.timeout.ms=10000", {}, "The broker refuses to start"),
    ("partition.assignment.strategy=com.acme.Mine", {}, "com.acme.Mine is no assignor of Kafka's"),
    ("session.timeout.ms=45000", {"client": "librdkafka"}, "It is defined broker side"),
    ("session.timeout.ms=45000", {"client": "java", "client_version": "3.9"}, "before, they were ignored"),
    ("max.poll.records=1", {"client": "java", "client_version": "3.9"}, "expected 4.0 or newer"),
    ("max.poll.records=1", {"client": "librdkafka", "client_version": "2.11"}, "expected 2.12 or newer"),
    ("max.poll.records=1", {"broker_version": "3.9"}, "the migration needs 4.0 or newer"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "known", "expected"), SAID)
def test_a_finding_says_what_holds_and_names_its_source(tmp_path, text, known, expected):
    status, answer = asked(written(tmp_path, "a.properties", text), Versions(**known))
    found = [one for one in answer["statements"] if one["finding"] and expected in one["words"]]
    assert (status, len(found)) == (1, 1)
    assert all(one["source"] for one in answer["statements"])


def test_every_key_that_the_new_consumer_refuses_is_told_in_the_words_of_kafka(tmp_path):
    path = written(tmp_path, "a.properties", "\n".join(f"{key}=45000" for key in REFUSED_BY_CONSUMER))
    _, answer = asked(path)
    for key in REFUSED_BY_CONSUMER:
        assert sum(f"{key} cannot be set when" in one["words"] for one in answer["statements"]) == 1


@pytest.mark.parametrize(("replicas", "value", "shared"), [(3, "me", 1), (1, "me", 0), (3, "$(POD_NAME)", 0)])
def test_one_instance_id_for_all_replicas_is_a_finding(tmp_path, replicas, value, shared):
    text = f"kind: Deployment\nspec:\n  replicas: {replicas}\n  env:\n  - name: GROUP_INSTANCE_ID\n    value: {value}\n"
    _, answer = asked(written(tmp_path, "d.yaml", text))
    assert sum(one["finding"] for one in answer["statements"]) == shared


def test_settings_of_two_documents_are_not_taken_together(tmp_path):
    text = "heartbeat.interval.ms: 10000\n---\nsession.timeout.ms: 12000\n"
    _, answer = asked(written(tmp_path, "a.yaml", text))
    assert not any("a third" in one["words"] for one in answer["statements"])


def test_nothing_to_do_is_status_0_and_a_placeholder_is_status_3(tmp_path, capsys):
    assert main(["check-config", str(written(tmp_path, "a.properties", "max.poll.records=5"))]) == 0
    assert "Steps to KIP-848" in capsys.readouterr().out
    assert main(["check-config", str(written(tmp_path, "b.properties", "max.poll.records=${N}"))]) == 3
    assert "b.properties:1: max.poll.records is '${N}'; expected" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "text", "known", "told"),
    [
        ("a.xml", "<a/>", {}, "ends in '.xml'; expected one of"),
        ("a.yaml", "a: [\n", {}, "not YAML"),
        ("a.properties", "group.consumer.session.timeout.ms=soon", {}, "a.properties:1: .* is 'soon'; expected a whole"),
        ("a.properties", f"session.timeout.ms={'9' * 5000}", {}, "a.properties:1: session.timeout.ms is '999"),
        ("a.properties", "", {"client_version": "4.0"}, "without --client"),
        ("a.properties", "", {"client": "librdkafka", "client_version": "new"}, "'new'; expected MAJOR.MINOR"),
        ("a.properties", "", {"broker_version": "9.9"}, "not modelled"),
    ],
)  # fmt: skip
def test_bad_input_is_told_with_value_and_expectation(tmp_path, name, text, known, told):
    with pytest.raises(RebalanceKitError, match=told):
        asked(written(tmp_path, name, text), Versions(**known))


def test_the_server_assignors_are_those_of_the_page():
    page = (ROOT / "docs" / "your-client.md").read_text("utf-8")
    for name, server in SERVER_ASSIGNORS.items():
        assert f"| {CLASSES[name].rpartition('.')[2]} | `{server}` |" in page


def test_the_default_of_a_placeholder_is_judged_and_said_to_be_one(tmp_path):
    text = "kafka:\n  session.timeout.ms: ${KAFKA_SESSION_MS:10000}\n  max.poll.records: ${KAFKA_RECORDS}\n"
    _, answer = asked(written(tmp_path, "application.yml", text))
    words = [one["words"] for one in answer["statements"]]
    assert any("${KAFKA_SESSION_MS:10000} is taken as 10000" in sentence for sentence in words)
    assert any("noticed after 10 s today" in sentence for sentence in words)
    assert [sentence for sentence in answer["not_understood"] if "max.poll.records" in sentence]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("streams.properties", "num.stream.threads=2\nconsumer.session.timeout.ms=10000\n"),
        ("app.yml", "kafka:\n  processing.guarantee: at_least_once\n  consumer.session.timeout.ms: 45000\n"),
    ],
)
def test_settings_of_kafka_streams_are_not_taken_for_a_consumers(tmp_path, name, text):
    status, answer = asked(written(tmp_path, name, text))
    assert (status, answer["statements"]) == (3, [])
    assert "Kafka Streams" in answer["not_understood"][0]
