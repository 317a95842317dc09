"""Deeds on a real group: four clients in one group, cuts, a coordinator that moves, orders in lines."""

from __future__ import annotations

import io
import json
import subprocess

import pytest

from rebalance_kit import live
from rebalance_kit.assignors.java_order import hash_map_order, timeline_order
from rebalance_kit.live.group import serve
from rebalance_kit.live.jars import LiveError
from rebalance_kit.logs.described import (
    COORDINATOR,
    Described,
    DescribedMember,
    describe_members,
    describe_state,
)
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.testing import real_broker, real_cluster  # noqa: F401 - fixtures

pytestmark = [pytest.mark.live, pytest.mark.timeout(600)]

QUICK = {"session.timeout.ms": 6_000, "heartbeat.interval.ms": 2_000}


@pytest.fixture
def broker(real_broker):  # noqa: F811
    return real_broker


def test_four_clients_make_one_group_and_a_kill_a_cut_and_a_close_are_seen(broker):
    with live.Group(broker, name="four", protocol="eager", configs=QUICK) as group:
        for member, client in (("j", "java"), ("l", "librdkafka"), ("k", "kafka-python"), ("a", "aiokafka")):
            group.start(member, client)
        assert set(group.together(4)["members"]) and set(group.owners().values()) == set("jlka")
        group.do("kill", "k")
        group.together(3)
        group.do("cut", "j")
        group.together(2)
        assert set(group.owners().values()) == {"l", "a"}
        group.do("heal", "j")
        group.together(3)
        assert [row["partitions"] for row in group.rows("lost") if row["by"] == "j"]
        group.do("close", "a")
        group.together(2)
        assert not group.rows("died")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("kil", "j"), "did you mean 'kill'"),
        (("kill", "nobody"), "was never started"),
        (("partitions", "orders"), r"deed partitions orders: .*see docs/live\.md"),
        (("partitions", "orders", "1"), "would not be an increase"),
        (("start", "x", "sarama"), "expected one of java, librdkafka, aiokafka, kafka-python"),
    ],
)
def test_a_deed_that_cannot_be_done_is_told(broker, words, told):
    with live.Group(broker, name="none") as group, pytest.raises(LiveError, match=told):
        group.do(*words)


def test_orders_come_in_lines_and_are_answered_in_json(broker):
    out = io.StringIO()
    with live.Group(broker, {"lines": 2}, name="lines") as group:
        serve(group, io.StringIO("start a\ntogether 1\nowners\n\nbogus\nrows start\nend\nnever\n"), out)
    said = [json.loads(line) for line in out.getvalue().splitlines()]
    assert said[0]["topics"] == {"lines": 2}
    assert said[3] == {"owners": {"lines-0": "a", "lines-1": "a"}}
    assert said[4]["error"].startswith("deed 'bogus'")
    assert [row["by"] for row in said[5]["rows"]] == ["a"]
    assert len(said) == 6


@pytest.mark.parametrize("protocol", ["cooperative", "consumer"])
def test_the_coordinator_moves_when_its_broker_is_killed_and_the_group_keeps_its_owners(protocol):
    with live.Broker(nodes=3) as brokers, live.Group(brokers, protocol=protocol) as group:
        group.start("a")
        group.start("b", "librdkafka")
        before = group.together(2)
        owners, coordinator = group.owners(), int(before["coordinator"])
        brokers.kill(coordinator)
        group.until(
            lambda: group.described()["coordinator"] not in {None, coordinator}, "another coordinator", 120
        )
        after = group.together(2)
        assert group.owners() == owners
        assert set(after["members"]) == set(before["members"]), "the same member ids"
        assert not group.rows("lost", "died")
        brokers.start(coordinator)
        assert brokers.living == [1, 2, 3]


@pytest.mark.parametrize("commits", [True, False])
def test_an_application_of_ones_own_stands_beside_the_kits_members(real_cluster, commits):  # noqa: F811
    from confluent_kafka import Consumer

    group = real_cluster({"own": 4}, name=f"own-{commits}", protocol="cooperative")
    handed = []

    def revoked(consumer, partitions):
        if commits:
            consumer.commit(offsets=consumer.position(partitions), asynchronous=False)

    configs = group.configs_of("mine", "librdkafka", {"enable.auto.commit": False})
    mine = Consumer({**configs, "bootstrap.servers": group.broker.members, "log_level": 0})
    mine.subscribe(["own"], on_revoke=revoked)

    def poll():
        given = mine.consume(200, 0.05)
        handed.extend((one.partition(), one.offset()) for one in given if not one.error())
        return False

    with pytest.raises(LiveError, match="records"):
        group.until(lambda: poll() or len({number for number, _ in handed}) == 5, "records", 15)
    group.start("peer")

    def shared():
        poll()
        return sorted(group.owners().values()) == ["mine", "mine", "peer", "peer"] and bool(
            group.rows("records")
        )

    group.until(shared, "a share for each", 60)
    mine.close()
    theirs = {
        (int(name.rpartition("-")[2]), offset)
        for row in group.rows("records")
        for name, (first, last) in row["records"].items()
        for offset in range(first, last + 1)
    }
    assert bool(theirs & set(handed)) != commits, "the peer reads again what was not committed"


def asked_of(group, *options):
    """What kafka-consumer-groups prints of the group."""
    words = ("--bootstrap-server", group.broker.bootstrap, "--describe", "--group", group.name, *options)
    command = group.broker.java("org.apache.kafka.tools.consumer.group.ConsumerGroupCommand", *words)
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL, timeout=120
    )
    # the kit's log4j writes to the same output: the table begins with GROUP, and a line of the log with its time
    lines = done.stdout.splitlines(keepends=True)
    begin = next(place for place, line in enumerate(lines) if line.startswith("GROUP "))
    return "".join(line for line in lines[begin:] if not line.startswith("[20"))


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_kafka_consumer_groups_and_the_kit_print_the_same_of_the_same_state(real_cluster, protocol):  # noqa: F811
    group = real_cluster({"said": 4}, name=f"said-{protocol}", protocol=protocol)
    for member in "abc":
        group.start(member)
    row = group.together(3)
    modern = protocol == "consumer"
    names = {name.partition("/")[2]: (name.partition("/")[0], held) for name, held in row["members"].items()}
    order = timeline_order(names) if modern else hash_map_order(list(names))

    def parts(held):
        return tuple(map(parse_partition, held))

    members = tuple(
        DescribedMember(
            who,
            names[who][0],
            parts(names[who][1]["owned"]),
            *(
                (names[who][1]["epoch"], parts(names[who][1]["target"]), row["target_epoch"])
                if modern
                else ()
            ),
        )
        for who in order
    )
    ours = Described(group.name, group.broker.version, row["state"], row["assignor"], members, ())
    assert describe_members(ours).split() == asked_of(group, "--members", "--verbose").split()
    place = f"{group.broker.bootstrap} (1)"
    state = " ".join(describe_state(ours).split()).replace(" ".join(COORDINATOR.split()), place)
    assert state == " ".join(asked_of(group, "--state").split())
