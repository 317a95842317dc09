"""A look at real groups: each trouble staged on a broker and found there, over TLS with SCRAM and the least ACLs, and five hundred groups."""

from __future__ import annotations

import asyncio
import io
import json
import re
import time
from contextlib import ExitStack

import pytest

from rebalance_kit import live
from rebalance_kit.cli import main
from rebalance_kit.live.inspection.look import findings, groups_of, look
from rebalance_kit.live.jars import LiveError
from tests.support.wire import Line, classic_group, coordinator, heartbeat, join

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

LONG = 1_800_000
QUIET = {
    "group.consumer.assignment.interval.ms": 0,
    "group.initial.rebalance.delay.ms": 400,
    "group.consumer.max.session.timeout.ms": LONG,
    "group.consumer.session.timeout.ms": LONG,
}
GROUPS, MEMBERS, WAVE = 500, 20, 25
PATIENT = {**QUIET, "group.initial.rebalance.delay.ms": 4_000}
"""A new group waits until no member came for so long: on a busy machine 400 ms pass between two of twenty."""
PASSWORD = "not-to-be-seen-1"


def admin_of(bootstrap, **more):
    from confluent_kafka.admin import AdminClient

    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0, **more})


def fill(admin, bootstrap, topics):
    """Make topics, each of so many partitions, with so many records in each."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import NewTopic

    made = admin.create_topics([NewTopic(name, parts, 1) for name, (parts, _) in topics.items()])
    for done in made.values():
        done.result(20)
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for name, (parts, records) in topics.items():
        for number in range(parts):
            for _ in range(records):
                producer.produce(name, b"1", partition=number)
    producer.flush(20)
    return producer


def commit(admin, group, offsets):
    from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

    parts = [TopicPartition(topic, number, at) for (topic, number), at in offsets.items()]
    (done,) = admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, parts)]).values()
    errors = [one.error for one in done.result(20).topic_partitions if one.error]
    assert not errors, errors


def all_of(topic, parts, at):
    return {(topic, number): at for number in range(parts)}


STAGED = {
    "healthy": set(),
    "nobody": {"empty-with-lag"},
    "left-out": {"unowned-partitions"},
    "idle": {"idle-members"},
    "skewed": {"skew"},
    "ranged": {"eager"},
    "no-commit": {"never-committed"},
    "old-commit": {"commit-before-log"},
    "new-topic": {"commit-beyond-log"},
    "hot": {"hot-partition"},
    "half-static": {"static-and-dynamic"},
    "one-name": {"same-client-id"},
    "waits": {"long-rebalance"},
    "stuck": {"behind-its-target"},
    "slow": {"lag-grows"},
}


async def stage(bootstrap, admin):
    """The groups of ``STAGED``, and what keeps them so."""
    from confluent_kafka import TopicPartition

    await coordinator(bootstrap)
    two = [{"orders": [0, 1]}, {"orders": [2, 3]}]
    before = {
        "healthy": all_of("orders", 4, 100),
        "nobody": all_of("orders", 4, 10),
        "left-out": all_of("orders", 4, 100),
        "idle": all_of("orders", 4, 100),
        "skewed": all_of("orders", 4, 100),
        "ranged": all_of("orders", 4, 100),
        "old-commit": all_of("cut", 2, 10),
        "new-topic": all_of("orders", 4, 1_000),
        "hot": all_of("orders", 4, 100) | {("busy", 0): 0},
        "half-static": all_of("orders", 4, 100),
        "one-name": all_of("orders", 4, 100),
        "slow": all_of("grows", 2, 100),
    }
    for group, offsets in before.items():
        commit(admin, group, offsets)
    (cut,) = admin.delete_records([TopicPartition("cut", 0, 50)]).values()
    cut.result(20)
    stable = {
        "healthy": (two, {}),
        "left-out": ([{"orders": [0, 1]}, {"orders": [2]}], {}),
        "idle": ([*two, {}], {}),
        "skewed": ([{"orders": [0, 1, 2]}, {"orders": [3]}], {}),
        "ranged": (two, {"protocol": "range"}),
        "no-commit": (two, {}),
        "old-commit": ([{"cut": [0]}, {"cut": [1]}], {}),
        "new-topic": (two, {}),
        "hot": ([{"orders": [0, 1]}, {"orders": [2, 3], "busy": [0]}], {}),
        "half-static": (two, {"instances": {0: "pod-1"}}),
        "one-name": (two, {"clients": ["same", "same"]}),
        "slow": ([{"grows": [0]}, {"grows": [1]}], {}),
    }
    made = await asyncio.gather(
        *(classic_group(bootstrap, group, shares, **more) for group, (shares, more) in stable.items())
    )
    lines = [line for lines in made for line in lines]
    lines += await classic_group(bootstrap, "waits", two)
    late = await Line.open(bootstrap, "late")
    waiting = asyncio.create_task(join(late, "waits", ["orders"], "cooperative-sticky"))
    first, second = await Line.open(bootstrap, "stuck-1"), await Line.open(bootstrap, "stuck-2")
    await heartbeat(first, "stuck", "member-1")
    await heartbeat(second, "stuck", "member-2")
    return [*lines, first, second, late], waiting


def test_each_trouble_staged_on_a_broker_is_found_and_no_other():
    with live.Broker(configs=QUIET) as broker, asyncio.Runner() as runner:
        admin = admin_of(broker.bootstrap)
        producer = fill(
            admin,
            broker.bootstrap,
            {"orders": (4, 100), "cut": (2, 100), "busy": (1, 5_000), "grows": (2, 100)},
        )
        lines, waiting = runner.run(stage(broker.bootstrap, admin))

        async def looked():
            first = asyncio.to_thread(look, broker.bootstrap, None, tuple(STAGED), 6.0)
            seen = asyncio.create_task(first)
            while not seen.done():
                producer.produce("grows", b"1", partition=0)
                producer.flush(5)
                await asyncio.sleep(0.2)
            return seen.result()

        groups = groups_of(runner.run(looked()))
        found = {group.name: {one.rule for one in findings([group])} for group in groups}
        waiting.cancel()
        for line in lines:
            line.close()
    assert found == STAGED


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    """A broker with a user who may describe the groups and topics called open-*, and nothing else; and its file of client configs."""
    from confluent_kafka.admin import (
        AclBinding,
        AclOperation,
        AclPermissionType,
        ResourcePatternType,
        ResourceType,
    )

    with ExitStack() as held:
        broker = held.enter_context(live.Broker(configs=QUIET, users={"reader": PASSWORD}))
        admin = admin_of(broker.bootstrap)
        fill(admin, broker.bootstrap, {"open-orders": (4, 100)})
        may = [
            AclBinding(
                kind, "open-", ResourcePatternType.PREFIXED, "User:reader", "*", AclOperation.DESCRIBE,
                AclPermissionType.ALLOW,
            )
            for kind in (ResourceType.GROUP, ResourceType.TOPIC)
        ]  # fmt: skip
        for done in admin.create_acls(may).values():
            done.result(20)

        async def groups():
            await coordinator(broker.bootstrap)
            commit(admin, "open-app", all_of("open-orders", 4, 40))
            commit(admin, "open-empty", all_of("open-orders", 4, 40))
            shares = [{"open-orders": [0, 1]}, {"open-orders": [2, 3]}]
            return [
                *await classic_group(broker.bootstrap, "open-app", shares),
                *await classic_group(broker.bootstrap, "hidden-app", shares),
            ]

        lines = asyncio.run(groups())
        file = tmp_path_factory.mktemp("guarded") / "client.properties"
        file.write_text(
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
            f'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="reader" password="{PASSWORD}";\n'
            f"ssl.ca.location={broker.certificate}\n",
            "utf-8",
        )
        file.chmod(0o600)
        yield broker, file
        del lines


def inspected(*words):
    out = io.StringIO()
    return main(["inspect", *map(str, words)], out), out.getvalue()


def test_over_tls_with_scram_describe_on_groups_and_topics_is_enough(guarded):
    broker, file = guarded
    status, said = inspected(
        "--bootstrap-server", broker.secure, "--command-config", file, "--seconds", "0", "--json"
    )
    groups = {row["group"]: row for row in map(json.loads, said.splitlines())}
    assert set(groups) == {"open-app", "open-empty"}, "hidden-app is not even listed"
    assert sum(groups["open-app"]["lag"].values()) == 240
    assert [one["rule"] for one in groups["open-empty"]["findings"]] == ["empty-with-lag"]
    assert status == 1
    assert PASSWORD not in said


def test_what_the_reader_may_do_is_not_enough_to_write(guarded):
    broker, _ = guarded
    reader = admin_of(broker.secure, **broker.client_configs("reader"))
    with pytest.raises(AssertionError, match="AUTHORIZATION_FAILED"):
        commit(reader, "open-empty", {("open-orders", 0): 1})


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ({"password": "wrong-1"}, r"expected sasl\.username and sasl\.password that this cluster knows"),
        ({"certificate": "/etc/hostname"}, r"no certificate.*expected .*ssl\.ca\.location=FILE\.pem"),
        ({"ssl.ca.location": "#"}, r"certificate verify failed.*expected .*ssl\.ca\.location=FILE\.pem"),
        ({"protocol": "SASL_PLAINTEXT"}, r"expected a reachable cluster: check the address, and whether it wants TLS"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_client_configs_is_told_without_the_password(guarded, tmp_path, lines, words):
    broker, file = guarded
    text = file.read_text("utf-8")
    text = text.replace(PASSWORD, lines.get("password", PASSWORD))
    text = text.replace("SASL_SSL", lines.get("protocol", "SASL_SSL"))
    text = text.replace(str(broker.certificate), lines.get("certificate", str(broker.certificate)))
    text = text.replace("ssl.ca.location", lines.get("ssl.ca.location", "ssl.ca.location"))
    wrong = tmp_path / "client.properties"
    wrong.write_text(text, "utf-8")
    from rebalance_kit.live.inspection.look import read_configs

    with pytest.raises(LiveError, match=words) as told:
        look(broker.secure, read_configs(wrong), seconds=0)
    assert PASSWORD not in str(told.value)
    assert "wrong-1" not in str(told.value)


def test_a_cluster_that_wants_tls_is_told_of_to_a_plain_client(guarded):
    broker, _ = guarded
    with pytest.raises(LiveError, match=re.escape(broker.secure) + ".*whether it wants TLS or SASL"):
        look(broker.secure, seconds=0)


async def many(bootstrap, admin):
    fill(admin, bootstrap, {"orders": (2 * MEMBERS, 1)})
    await coordinator(bootstrap)
    line = await Line.open(bootstrap, "many")
    for group in range(GROUPS // 2):
        for member in range(MEMBERS):
            await heartbeat(line, f"new-{group:03}", f"member-{group}-{member}")
    line.close()
    shares = [{"orders": [2 * place, 2 * place + 1]} for place in range(MEMBERS)]
    for begin in range(0, GROUPS // 2, WAVE):
        names = [f"old-{group:03}" for group in range(begin, min(begin + WAVE, GROUPS // 2))]
        for lines in await asyncio.gather(*(classic_group(bootstrap, name, shares) for name in names)):
            for one in lines:
                one.close()


def test_five_hundred_groups_of_twenty_members_are_seen(record_property):
    with live.Broker(configs=PATIENT) as broker:
        asyncio.run(many(broker.bootstrap, admin_of(broker.bootstrap)))
        begun = time.monotonic()
        groups = groups_of(look(broker.bootstrap, seconds=0))
        record_property("took_s", round(time.monotonic() - begun, 1))
    assert (len(groups), sum(len(group.members) for group in groups)) == (GROUPS, GROUPS * MEMBERS)
