"""The fold keeps what is open and a short past: its state is the same after 200 rebalances and after 2,000."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.group_tables import PAST_MS, Fold, Sink, group_tables, in_order_of_time
from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from tests.support.deep import objects_in
from tests.support.pipeline.kafka_lines import GROUP, broker, client, preparing, received, stabilized

#: A rebalance every so many seconds: eight an hour.
EVERY_S = 450

UUID = "0000-0000-0000-000000000000"


def classic(number: int) -> tuple[str, str]:
    """The coordinator's and a member's lines while a new member comes, calls back, is lost and is found again."""
    begun_s, name = EVERY_S * number, f"c{number % 3}"
    member, topic = f"{name}-{number:08x}-{UUID}", f"orders-{number % 4}"
    theirs = (
        broker(begun_s, f"Dynamic member with unknown member id joins group {GROUP} in Stable state. "
               f"Created a new member id {member} and requesting the member to rejoin with this id.")
        + preparing(begun_s, 2 * number, f"Adding new member {member} with group instance id null; "
                    f"client reason: need to re-join with the given member-id: {member}")
        + stabilized(begun_s + 1, 2 * number + 1)
        + received(begun_s + 1, 2 * number + 1)
        + broker(begun_s + 100, f"Member {member} in group {GROUP} has failed, removing it from the group")
        + preparing(begun_s + 100, 2 * number + 1, f"removing member {member} on heartbeat expiration")
        + stabilized(begun_s + 101, 2 * number + 2)
        + received(begun_s + 101, 2 * number + 2)
    )  # fmt: skip
    own = (
        client(begun_s - 1, name, "Subscribed to topic(s): orders, payments" if number % 2 else "Subscribed to topic(s): orders")
        + client(begun_s, name, "(Re-)joining group")
        + client(begun_s + 1, name, f"Successfully joined group with generation Generation{{generationId={2 * number + 1}, "
                 f"memberId='{member}', protocol='range'}}")
        + client(begun_s + 1.5, name, f"Adding newly assigned partitions: [{topic}]")
        + client(begun_s + 120, name, f"Lost previously assigned partitions [{topic}]")
    )  # fmt: skip
    return theirs, own


def felt(number: int) -> tuple[str, str]:
    """The members' lines alone."""
    return "", classic(number)[1]


def consumer(number: int) -> tuple[str, str]:
    """A KIP-848 coordinator's lines: a member joins, its epoch is bumped, a target is computed, it leaves."""
    begun_s, member, epoch = EVERY_S * number, f"{number:022d}", 2 * number + 1
    said = f"[GroupId {GROUP}]"
    return (
        broker(begun_s, f"{said} Member {member} joins the consumer group using the consumer protocol.")
        + broker(begun_s, f"{said} Bumped group epoch to {epoch} with metadata hash 1.")
        + broker(begun_s + 1, f"{said} Computed new target assignment for epoch {epoch} with 'uniform' assignor in 1ms: x.")
        + broker(begun_s + 60, f"{said} Member {member} left the consumer group.")
        + broker(begun_s + 60, f"{said} Bumped group epoch to {epoch + 1} with metadata hash 1.")
    ), ""  # fmt: skip


def events_of(make, rebalances: int):
    texts = [make(number) for number in range(1, rebalances + 1)]
    reader = FileReader(Reading())
    files = ("broker.log", "".join(one for one, _ in texts)), ("member.log", "".join(own for _, own in texts))
    return in_order_of_time(
        [event for name, text in files for event in reader.read("run", name, [text.encode()]).events]
    )


def state_after(make, rebalances: int) -> tuple[int, int]:
    """How much the fold holds at most when rebalances have just left it for the sink, and how many have."""
    sink, most, left = Sink(), 0, 0
    fold = Fold(GROUP, sink, alone=True)
    for event in events_of(make, rebalances):
        fold.take(event)
        if len(sink.rebalances) > left:
            most, left = max(most, objects_in(fold, but=sink)), len(sink.rebalances)
    return most, left


@pytest.mark.parametrize("make", [classic, felt, consumer])
def test_ten_times_as_many_rebalances_leave_the_fold_as_large_as_it_was(make):
    few, _ = state_after(make, 200)
    many, told = state_after(make, 2_000)
    assert many < 1.05 * few
    assert told > 1_900


def test_what_has_left_the_fold_is_numbered_and_told_as_ever():
    rebalances = group_tables(GROUP, events_of(classic, 200), alone=True).rebalances
    assert [row["number"] for row in rebalances] == list(range(1, 401))
    short = group_tables(GROUP, events_of(classic, PAST_MS // EVERY_S // 1000), alone=True).rebalances
    assert rebalances[: len(short) - 1] == short[:-1]


def test_a_process_that_comes_back_much_later_is_not_told_as_dead():
    member = f"c1-{7:08x}-{UUID}"
    texts = (
        client(0, "c1", f"Successfully joined group with generation Generation{{generationId=1, memberId='{member}', protocol='range'}}"),
        broker(0, f"Dynamic member with unknown member id joins group {GROUP} in Stable state. Created a new member id {member} and requesting the member to rejoin with this id."),
        broker(100, f"Member {member} in group {GROUP} has failed, removing it from the group"),
        preparing(100, 1, f"removing member {member} on heartbeat expiration"),
        stabilized(101, 2),
        *(broker(hour * 3_600, f"Loading group metadata for {GROUP} with generation {hour}") for hour in range(1, 20)),
        client(19 * 3_600 + 1, "c1", "(Re-)joining group"),
    )  # fmt: skip
    events = FileReader(Reading()).read("run", "all.log", ["".join(texts).encode()]).events
    (row, *_) = group_tables(GROUP, events, alone=True).rebalances
    assert row["cause"].endswith("its log has no line of the hours after")
