"""What kafka-consumer-groups prints: against the recorded output, and of simulated groups at a moment."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.assignors.java_order import hash_map_order, timeline_order
from rebalance_kit.logs.described import (
    COORDINATOR,
    Described,
    DescribedMember,
    DescribedOffset,
    describe,
    describe_members,
    describe_offsets,
    describe_state,
)
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.recordings.folder import read_file
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec, carry_timeouts
from rebalance_kit.simulation.simulate import simulate

RUNS = (
    "join.consumer.4.3.1",
    "join.consumer-range.4.3.1",
    "join.consumer.4.0.0",
    "join.eager.4.3.1",
    "join.cooperative.4.0.0",
    "join.cooperative.3.9.1",
    "join.eager.3.9.1",
)


def said(run):
    """The three outputs of a recorded run, without the prompts: offsets, members, state."""
    text = read_file(run, "cli.txt").decode()
    parts = re.split(r"^\$ kafka-consumer-groups (.*)\n", text, flags=re.MULTILINE)[1:]
    found = {}
    for asked, answer in zip(parts[::2], parts[1::2], strict=True):
        kind = "members" if "--members" in asked else "state" if "--state" in asked else "offsets"
        found[kind] = answer.rstrip("\n") + "\n"
    return found


def partitions(text):
    if text == "-" or text.startswith("("):
        return tuple(
            TopicPartition("orders", int(one)) for one in text.strip("()").split(",") if one not in {"", "-"}
        )
    return tuple(
        TopicPartition(part.partition(":")[0], int(one))
        for part in text.split(";")
        for one in part.partition(":")[2].split(",")
    )


def described(run, texts):
    """The group that a recorded output tells of."""
    version = run.split(".", 2)[2]
    modern = not version.startswith("3")
    members = []
    for line in texts["members"].strip("\n").splitlines()[1:]:
        cells = line.split()
        if modern and cells[5] != "-":
            members.append(
                DescribedMember(
                    cells[1],
                    cells[3],
                    partitions(cells[6]),
                    int(cells[5]),
                    partitions(cells[8]),
                    int(cells[7]),
                )
            )
        else:
            members.append(DescribedMember(cells[1], cells[3], partitions(cells[6 if modern else 5])))
    offsets = []
    for line in texts["offsets"].strip("\n").splitlines()[1:]:
        cells = line.split()
        offsets.append(DescribedOffset(TopicPartition(cells[1], int(cells[2])), int(cells[3]), int(cells[4])))
    state = texts["state"].split()
    assignor, stands = state[-3], state[-2]
    return Described(
        "orders-app",
        version,
        stands,
        assignor,
        tuple(members),
        tuple(sorted(offsets, key=lambda one: one.partition)),
    )


@pytest.mark.parametrize("run", RUNS)
def test_the_recorded_output_is_printed_again_to_the_blank(run):
    texts = said(run)
    group = described(run, texts)
    assert describe_offsets(group) == texts["offsets"]
    assert describe_members(group) == texts["members"]
    port = re.search(r"127\.0\.0\.1:\d+  \(1\)", texts["state"])[0]
    assert describe_state(group) == texts["state"].replace(port, COORDINATOR.ljust(len(port))), (
        "the port was drawn"
    )


@pytest.mark.parametrize("run", RUNS)
def test_recorded_members_stand_in_the_order_of_the_coordinators_map(run):
    group = described(run, said(run))
    ids = [one.member_id for one in group.members]
    by_name = [one.member_id for one in sorted(group.members, key=lambda one: one.client_id)]
    in_map = timeline_order(by_name) if group.members[0].epoch is not None else hash_map_order(by_name)
    if not run.endswith("3.9.1"):  # a Scala map
        assert ids == in_map


# --- simulated -------------------------------------------------------------------------------------------
QUICK = {"session.timeout.ms": 10_000}


def crash(protocol, version="4.3.1", end=60_000, *more):
    members = tuple(
        MemberSpec(name, ("orders",), {**QUICK, "auto.offset.reset": "earliest"}) for name in ("c1", "c2")
    )
    scenario = Scenario(
        "run",
        (TopicSpec("orders", 4),),
        members,
        (Action(20_000, "crash", "c1"), *more),
        end,
        kafka_version=version,
    )
    return simulate(carry_timeouts(scenario) if protocol == "consumer" else scenario, 1, protocol)


def cells(text):
    return [line.split() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_before_a_crash_every_partition_has_its_member_and_its_lag(protocol):
    group = describe(crash(protocol), 19_000)
    head, *rows = cells(describe_offsets(group))
    assert len(head) == len(rows[0]) == 9 and {row[2] for row in rows} == {"0", "1", "2", "3"}
    assert sorted(row[8] for row in rows) == ["c1", "c1", "c2", "c2"]
    for row in rows:
        assert row[4] == "190" and int(row[3]) + int(row[5]) == 190 and 0 <= int(row[5]) <= 60, (
            "10 records a second, commits every 5 s"
        )
    assert describe_state(group).split()[-2:] == ["Stable", "2"]


def test_a_dead_member_is_listed_until_its_session_ends():
    trace = crash("eager")
    gone = next(row.at_ms for row in trace.of("member_removed"))
    assert {one.client_id for one in describe(trace, gone - 1).members} == {"c1", "c2"}
    assert {one.client_id for one in describe(trace, gone).members} == {"c2"}
    assert describe_members(describe(trace, gone)).startswith(
        "\nWarning: Consumer group 'orders-app' is rebalancing.\n"
    )
    assert describe_members(describe(trace, 59_000)).split()[-4:] == ["-", "orders:0,1,2,3", "-", "-"]


def test_a_classic_group_names_its_assignor_only_when_it_is_stable():
    trace = crash("eager")
    gone = next(row.at_ms for row in trace.of("member_removed"))
    assert describe_state(describe(trace, gone - 1)).split()[-3:] == ["range", "Stable", "2"]
    assert describe(trace, gone).assignor == "" and describe(trace, 59_000).assignor == "range"


def test_a_group_in_rebalance_keeps_its_assignment_since_4_0_and_hides_it_before():
    for version, expected in (("4.3.1", 2), ("3.9.1", 0)):
        trace = crash("eager", version)
        gone = next(row.at_ms for row in trace.of("member_removed"))
        (left,) = describe(trace, gone).members
        assert len(left.assigned) == expected


def test_under_kip_848_epoch_and_target_are_told():
    trace = crash("consumer")
    bump = next(row for row in trace.of("epoch_bump") if row.at_ms > 20_000)
    target = next(row for row in trace.of("target") if row.at_ms > 20_000)
    (between,) = describe(trace, target.at_ms - 1).members
    assert (between.epoch, between.target_epoch, len(between.assigned)) == (
        bump.generation - 1,
        bump.generation - 1,
        2,
    )
    (after,) = describe(trace, 59_000).members
    assert (after.epoch, after.target_epoch, len(after.assigned), after.target) == (
        bump.generation,
        bump.generation,
        4,
        after.assigned,
    )
    assert describe(trace, target.at_ms - 1).state == "Assigning"


def test_an_empty_group_says_so_and_keeps_its_offsets():
    trace = crash("eager", "4.3.1", 60_000, Action(40_000, "close", "c2"))
    group = describe(trace, 59_000)
    text = describe_offsets(group)
    assert text.startswith("\nConsumer group 'orders-app' has no active members.\n") and group.members == ()
    assert [row[6:] for row in cells(text.partition(".\n")[2])[1:]] == [["-", "-", "-"]] * 4
    assert describe_members(group) == "\nConsumer group 'orders-app' has no active members.\n"
    assert describe_state(group).split()[-2:] == ["Empty", "0"]


def test_a_group_that_nobody_has_joined_yet_does_not_exist():
    group = describe(crash("eager"), 0)
    assert (
        describe_offsets(group)
        == describe_members(group)
        == describe_state(group)
        == "\nError: Consumer group 'orders-app' does not exist.\n"
    )


def test_a_static_member_that_left_for_a_while_has_epoch_minus_two():
    member = MemberSpec("c1", ("orders",), {"group.instance.id": "i1"})
    trace = simulate(
        Scenario("run", (TopicSpec("orders", 2),), (member,), (Action(20_000, "close", "c1"),), 30_000),
        1,
        "consumer",
    )
    (away,) = describe(trace, 25_000).members
    assert (away.epoch, len(away.assigned)) == (-2, 2)


@pytest.mark.parametrize("version", ["3.9.1", "4.3.1"])
def test_instance_ids_have_a_column_as_soon_as_one_member_is_static(version):
    configs: tuple[dict[str, object], ...] = ({"group.instance.id": "svc-7f9c4-aa-long"}, {})
    members = tuple(MemberSpec(f"c{n}", ("orders",), each) for n, each in enumerate(configs, 1))
    actions = (Action(12_000, "restart", "c1", {"after_ms": 2_000}),)
    trace = simulate(Scenario("run", (TopicSpec("orders", 2),), members, actions, 30_000), 1, "eager")
    for at_ms in (10_000, 25_000):
        head, *rows = describe_members(describe(trace, at_ms, version=version)).split("\n")[1:-1]
        place = head.index("GROUP-INSTANCE-ID")
        cells = sorted(row[place : head.index("HOST")].strip() for row in rows)
        assert head.split()[:4] == ["GROUP", "CONSUMER-ID", "GROUP-INSTANCE-ID", "HOST"]
        assert cells == ["", "svc-7f9c4-aa-long"]
    assert "GROUP-INSTANCE-ID" not in describe_members(describe(crash("eager"), 10_000))


def test_a_classic_group_is_read_back_with_its_stored_members():
    trace = crash(
        "eager",
        "4.3.1",
        40_000,
        Action(24_000, "remove", "c2"),
        Action(24_005, "coordinator_failover", None, {"for_ms": 100}),
    )
    assert len(describe(trace, 24_004).members) == 1 and len(describe(trace, 24_200).members) == 2


def test_a_partition_number_is_ordered_as_a_text():
    member = DescribedMember(
        "c1-x",
        "c1",
        (*tuple(TopicPartition("orders", number) for number in (1, 2, 10)), TopicPartition("bills", 0)),
    )
    group = Described("g", "4.3.1", "Stable", "range", (member,), ())
    assert "bills:0;orders:1,10,2" in describe_members(group)


@pytest.mark.parametrize("at", [-1, 60_001])
def test_a_moment_outside_of_the_run_is_refused(at):
    with pytest.raises(DataError, match="expected a moment of the run, 0 to 60000"):
        describe(crash("eager"), at)
