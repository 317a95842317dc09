"""Records that come twice, over all lessons and protocols: told when they do, with their sum, their reason and who reads again."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from rebalance_kit.analysis.deliveries import BESIDE, OWN, TWICE, Delivery
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import RECENT_MS, BoardState
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.tabs.why import steps
from rebalance_kit.view.words.causes import deliveries_line, deliveries_words, offsets_words, places_words
from rebalance_kit.view.words.phrases import LISTED

LARGE = "fifty-by-five-hundred"
LESSONS = [preset.name for preset in lessons() if preset.name != LARGE]


def boards_of(name: str, protocol: str) -> Boards | None:
    """The boards of a lesson under a protocol; None where the lesson cannot run under it."""
    try:
        return Boards(simulate(load(name), protocol=protocol))
    except RebalanceKitError:
        return None


def first_read_ends(boards: Boards, each: Delivery) -> int | None:
    """The first moment at which the last of these records can have been read by two readers."""
    place = each.first_offset + each.records
    reads = [
        row
        for row in boards.trace.of("fetch_resumed")
        if f"{row.topic}-{row.partition}" == each.partition and row.at_ms <= each.at_ms
    ]
    if len(reads) < 2 or min(row.detail["position"] for row in reads) > each.first_offset:
        return None
    logs = [
        row.at_ms
        for row in boards.trace.of("fetch_resumed", "fetch_stopped", "progress")
        if f"{row.topic}-{row.partition}" == each.partition and row.detail["log_end"] >= place
    ]
    return min((at for at in logs if at >= reads[1].at_ms), default=each.at_ms)


def told_sum(board: BoardState) -> int | None:
    """The sum that the sentence tells of records that come twice, so far."""
    words = deliveries_words(board)
    found = re.findall(r"([\d,]+) records? comes? twice.*?\.(?: So far: ([\d,]+)\.)?(?= |$)", words)
    if not found:
        return None
    return number(found[-1][1]) if found[-1][1] else sum(number(count) for count, _ in found)


def number(words: str) -> int:
    return int(words.replace(",", ""))


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_no_record_is_told_to_come_twice_before_it_does_and_the_sums_agree(name, protocol):
    boards = boards_of(name, protocol)
    if boards is None:
        return
    for each in boards.deliveries:
        if each.kind == TWICE:
            second = first_read_ends(boards, each)
            assert second is not None, each
            assert second <= each.at_ms, each
            assert f"because {each.member} " in deliveries_words(boards.at(each.at_ms))
    for at_ms in boards.change_times:
        board = boards.at(at_ms)
        told = told_sum(board)
        tokens = sum(each.records for each in board.deliveries if each.kind == TWICE)
        recent = any(each.kind == TWICE and at_ms < each.at_ms + RECENT_MS for each in board.deliveries)
        assert told == (tokens if recent else None), at_ms


def offsets(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {offset for first, count in spans for offset in range(first, first + count)}


@pytest.mark.parametrize("name", LESSONS)
@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_the_offsets_that_are_told_are_those_that_the_run_has_counted(name, protocol):
    boards = boards_of(name, protocol)
    if boards is None:
        return
    events = [each for each in boards.deliveries if each.kind == TWICE]
    counted = [row for row in boards.trace.of("redelivered") if row.actor in boards.members]
    for partition in boards.partitions:
        told = [each for each in events if each.partition == partition]
        rows = [row.detail for row in counted if f"{row.topic}-{row.partition}" == partition]
        assert offsets((each.first_offset, each.records) for each in told) == offsets(
            (row["first_offset"], row["count"]) for row in rows
        )
        if told and len({each.partition for each in events}) <= LISTED:
            spans = places_words(told).removeprefix(f"{partition} ")
            assert spans in deliveries_line(boards.at(boards.end_ms))
            assert any(spans in step.words for step in steps(boards)) or len(told) > 1


def test_offsets_are_named_as_ranges_and_many_ranges_are_counted():
    assert offsets_words([(5, 5)]) == "offset 5"
    assert offsets_words([(9, 12), (5, 8), (20, 20)]) == "offsets 5 to 12 and 20"
    assert offsets_words([(1, 2), (4, 5), (7, 8)]) == "offsets 1 to 2, 4 to 5 and 7 to 8"
    assert offsets_words([(1, 2), (4, 5), (7, 8), (10, 11)]) == "offsets 1 to 2, 4 to 5 and 2 more ranges"


def twice(name: str, protocol: str) -> list[Delivery]:
    boards = boards_of(name, protocol)
    assert boards is not None
    return [each for each in boards.deliveries if each.kind == TWICE]


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_a_thawed_zombie_reads_on_where_it_stopped_what_the_new_owners_have_read(protocol):
    boards = boards_of("freeze", protocol)
    assert boards is not None
    own = [each for each in boards.deliveries if each.cause == OWN]
    thawed = next(row.at_ms for row in boards.trace.of("process_thawed"))
    assert {(each.at_ms, each.member) for each in own} == {(thawed, "consumer-2")}
    assert "because consumer-2 reads on where it stopped" in deliveries_words(boards.at(thawed))
    assert "begins where the last commit was" not in deliveries_words(boards.at(thawed))


@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_nothing_comes_twice_before_a_cut_off_member_has_lost_its_partitions(protocol):
    found = twice("network-cut", protocol)
    removed = next(row.at_ms for row in simulate(load("network-cut"), protocol=protocol).of("member_removed"))
    assert found[0].at_ms > removed
    assert (found[0].cause, found[0].committed) == ("commit", found[0].first_offset)
    assert {each.member for each in found if each.cause == BESIDE} >= {"consumer-2"}


def test_nobody_is_said_to_read_at_the_same_time_as_a_process_that_is_gone():
    boards = Boards(simulate(load("duplicate-instance"), protocol="eager"))
    late = [each for each in boards.deliveries if each.beside == "consumer-2"]
    board = boards.at(late[-1].at_ms + 500)
    assert board.member("consumer-2").state.life == "died"
    assert "because twin also reads what consumer-2 read before it was gone" in deliveries_words(board)
