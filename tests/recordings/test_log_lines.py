"""Log lines of a record and of a simulated run side by side: what is compared, what is forgiven, what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.recordings.folder import Line, read_run
from rebalance_kit.recordings.log_lines import compare_lines, java_members, recorded_lines, simulated_lines
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.replay import replay
from rebalance_kit.simulation.simulate import simulate

COORDINATOR = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
MANAGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
WHO = "[Consumer clientId=c1, groupId=g]"
ON_BROKER = "[GroupCoordinator id=1 topic=__consumer_offsets partition=0]"
UUID = "0b7a4b2c-1111-4222-8333-0123456789ab"


@pytest.fixture(scope="module")
def crash(recorded_folders):
    return read_run(recorded_folders["crash.eager.4.3.1"])


def lines_of(run, **files):
    """The record's relevant lines, with the given (ms, level, message) lines in place of a file's own."""
    made = {
        name: tuple(Line(run.begin + at, level, text) for at, level, text in given)
        for name, given in files.items()
    }
    broker = made.pop("broker", ())
    return recorded_lines(replace(run, broker=broker, members=made))


def joining(at_ms):
    return (at_ms, "INFO", f"{WHO} (Re-)joining group ({COORDINATOR})")


def asked(at_ms, reason="group is already rebalancing"):
    return (at_ms, "INFO", f"{WHO} Request joining group due to: {reason} ({COORDINATOR})")


def left(at_ms, name):
    return (
        at_ms,
        "INFO",
        f"{ON_BROKER} [Group g] Member {name}-{UUID} has left group through explicit `LeaveGroup` request; client reason: the consumer is being closed ({MANAGER})",
    )


def preparing(at_ms, name):
    return (
        at_ms,
        "INFO",
        f"{ON_BROKER} Preparing to rebalance group g in state PreparingRebalance with old generation 2 (reason: explicit `LeaveGroup` request for ({name}-{UUID}) members.). ({MANAGER})",
    )


def test_lines_that_tell_nothing_of_the_group_are_left_out(crash):
    files = lines_of(
        crash,
        c1=[
            joining(10),
            (20, "INFO", f"{WHO} Cluster ID: MkU3OEVBNTcwNTJENDM2Qg (org.apache.kafka.clients.Metadata)"),
        ],
    )
    assert [line.name for line in files["c1"]] == ["joining"]


def test_what_the_recordings_own_shutdown_prints_is_not_compared(crash):
    after = crash.stop - crash.begin
    assert (
        lines_of(crash, c1=[joining(after - 1), joining(after), joining(after + 500)])["c1"][-1].at_ms
        == after - 1
    )


def test_a_brokers_own_start_is_not_compared(crash):
    load = f"[GroupCoordinator id=1] Scheduling loading of metadata from __consumer_offsets-0 with epoch 0 ({MANAGER})"
    assert [line.name for line in lines_of(crash, broker=[(1, "INFO", load), left(900, "c1")])["broker"]] == [
        "left"
    ]


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (
            asked(1, f"need to re-join with the given member-id: c1-{UUID}"),
            asked(1, f"need to re-join with the given member-id: c1-{UUID.replace('0b', 'ff')}"),
        ),
        (
            (
                1,
                "INFO",
                f"{ON_BROKER} [GroupId g] Bumped group epoch to 3 with metadata hash -8213. ({MANAGER})",
            ),
            (1, "INFO", f"{ON_BROKER} [GroupId g] Bumped group epoch to 3 with metadata hash 5. ({MANAGER})"),
        ),
        (
            (
                1,
                "INFO",
                f"{ON_BROKER} [GroupId g] Computed a new target assignment for epoch 3 with 'uniform' assignor in 12ms. ({MANAGER})",
            ),
            (
                1,
                "INFO",
                f"{ON_BROKER} [GroupId g] Computed a new target assignment for epoch 3 with 'uniform' assignor in 0ms. ({MANAGER})",
            ),
        ),
    ],
)
def test_ids_hashes_and_durations_are_masked(crash, theirs, ours):
    assert compare_lines(lines_of(crash, c1=[theirs]), lines_of(crash, c1=[ours])).equal


@pytest.mark.parametrize(
    "ours",
    [
        asked(1, "need to revoke partitions [orders-5] as indicated by the current assignment and re-join"),
        (1, "WARN", asked(1)[2]),
        (1, "INFO", asked(1)[2].replace(COORDINATOR, MANAGER)),
        (1, "INFO", asked(1)[2].replace("clientId=c1", "clientId=c2")),
    ],
)
def test_another_reason_level_logger_or_client_is_a_difference(crash, ours):
    assert compare_lines(lines_of(crash, c1=[asked(1)]), lines_of(crash, c1=[ours])).differing == 2


def test_a_hash_of_nothing_is_not_masked(crash):
    bump = f"{ON_BROKER} [GroupId g] Bumped group epoch to 3 with metadata hash {{}}. ({MANAGER})"
    nobody, somebody = ([(1, "INFO", bump.format(value))] for value in (0, 77))
    assert not compare_lines(lines_of(crash, broker=nobody), lines_of(crash, broker=somebody)).equal


def test_a_line_that_one_side_says_more_often_is_a_difference(crash):
    outcome = compare_lines(
        lines_of(crash, c1=[asked(1), asked(3_001), joining(3_100)]),
        lines_of(crash, c1=[asked(1), joining(3_100)]),
    )
    assert outcome.differing == 1
    assert outcome.first.where == "c1.log"
    assert "at 3.00 s" in outcome.first.recorded
    assert outcome.first.simulated.startswith("no such line")


def test_two_lines_may_change_places_only_when_they_are_close_on_both_sides(crash):
    theirs = lines_of(crash, c1=[joining(1_000), asked(1_200)])
    assert compare_lines(theirs, lines_of(crash, c1=[asked(1_000), joining(1_250)])).equal
    apart = compare_lines(theirs, lines_of(crash, c1=[asked(1_000), joining(1_400)]))
    assert apart.first.what == "order of log lines"
    assert not compare_lines(lines_of(crash, c1=[asked(1_000), joining(1_400)]), theirs).equal


def test_partitions_begin_in_any_order(crash):
    def begins(at_ms, number):
        return (
            at_ms,
            "INFO",
            f"{WHO} Found no committed offset for partition orders-{number} ({COORDINATOR})",
        )

    theirs, ours = ([begins(0, first), begins(5_000, second)] for first, second in ((0, 1), (1, 0)))
    assert compare_lines(lines_of(crash, c1=theirs), lines_of(crash, c1=ours)).equal


def test_of_members_leaving_together_any_may_begin_the_rebalance(crash):
    def closing(first, later_by):
        return [
            left(100, first),
            preparing(101, first),
            left(100 + later_by, "c2" if first == "c1" else "c1"),
        ]

    assert compare_lines(
        lines_of(crash, broker=closing("c1", 200)), lines_of(crash, broker=closing("c2", 200))
    ).equal
    assert not compare_lines(
        lines_of(crash, broker=closing("c1", 900)), lines_of(crash, broker=closing("c2", 900))
    ).equal


def test_retries_of_one_commit_count_once(crash):
    def refused(at_ms):
        return (
            at_ms,
            "WARN",
            f"{WHO} Offset commit failed on partition orders-1 at offset 240: This server does not host this topic-partition. ({COORDINATOR})",
        )

    many = lines_of(crash, c1=[refused(at_ms) for at_ms in range(0, 5_000, 100)])
    assert compare_lines(many, lines_of(crash, c1=[refused(0)])).equal
    assert not compare_lines(many, lines_of(crash, c1=[])).equal


def test_a_spring_boot_layout_is_compared_without_its_shortened_logger(crash):
    bare = [(at_ms, level, text.rpartition(" (")[0]) for at_ms, level, text in [joining(1), asked(2)]]
    assert compare_lines(lines_of(crash, c1=bare), lines_of(crash, c1=[joining(1), asked(2)])).equal


def test_a_librdkafka_members_own_log_is_not_compared(recorded_folders):
    run = read_run(recorded_folders["rd-leave.eager.4.3.1"])
    assert java_members(run) == ()
    assert list(recorded_lines(run)) == ["broker"]


@pytest.mark.parametrize(
    "name",
    [
        "join.eager.3.9.1",
        "leave.eager.4.0.0",
        "crash-2x4.sticky.4.3.1",
        "leave.consumer.4.3.1",
        "static-restart.consumer.4.3.1",
        "six.range.3.9.1",
        "resub-crash.cooperative.4.3.1",
        "downgrade.mixed.4.3.1",
    ],
)
def test_a_recorded_run_is_repeated_line_by_line(recorded_folders, name):
    outcome = replay(recorded_folders[name], draws=12)
    assert outcome.lines.lines > 50
    assert outcome.as_json()["log_difference"] is None
    assert outcome.as_json()["log_lines_equal"] is True


def test_a_trace_with_one_generation_more_is_found_out(recorded_folders):
    run = read_run(recorded_folders["leave.consumer.4.3.1"])
    logs = recorded_lines(run)
    trace = simulate(repeat(run).scenario, 1)
    rows = tuple(
        row._replace(generation=row.generation + 1) if row.kind == "epoch_bump" else row for row in trace.rows
    )
    spoiled = compare_lines(logs, simulated_lines(replace(trace, rows=rows), logs))
    assert spoiled.first.where == "broker.log"
    assert "Bumped group epoch" in spoiled.first.recorded


def test_a_record_without_logs_says_nothing_of_log_lines(recorded_folders, tmp_path):
    bare = tmp_path / "bare"
    bare.mkdir()
    for file in recorded_folders["join.eager.3.9.1"].iterdir():
        if not file.name.endswith(".log.gz"):
            (bare / file.name).write_bytes(file.read_bytes())
    assert replay(bare, draws=1).as_json()["log_lines_equal"] is None
