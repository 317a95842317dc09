"""The headline names only what is so: of the living, of each member its own, and of sessions what renewed them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import BoardState
from rebalance_kit.view.lab.state import LabState, first_lesson
from rebalance_kit.view.lab.tabs.why import steps
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import LISTED, member_line


def boards_of(name: str, protocol: str) -> Boards:
    return Boards(simulate(load(name), protocol=protocol))


def renewals(boards: Boards) -> list[str]:
    return [step.words for step in steps(boards) if step.kind == "removed session"]


@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_a_consumer_that_died_in_a_callback_is_in_none(protocol):
    boards = boards_of("crash-in-hand-over", protocol)
    (died,) = [row.at_ms for row in boards.trace.of("process_ended")]
    for board in boards.walk([at_ms for at_ms in boards.change_times if at_ms >= died]):
        assert "consumer-2 is in on" not in " ".join(sentence(board)), board.at_ms
        assert board.member("consumer-2").state.callback is None
    end = " ".join(sentence(boards.at(boards.end_ms)))
    assert "consumer-2 crashed and is not in the group any more." in end


def with_callbacks(board: BoardState, callbacks: dict[str, str]) -> BoardState:
    """The board with these living members in these callbacks."""
    members = tuple(
        replace(
            each, state=each.state._replace(callback=callbacks[each.name], doing=f"in {callbacks[each.name]}")
        )
        if each.name in callbacks
        else each
        for each in board.members
    )
    return replace(board, members=members)


def test_each_member_is_told_with_its_own_callback():
    boards = boards_of("two-consumers-crash", "eager")
    board = boards.at(boards.change_times[-1])
    living = [each.name for each in board.members if each.state.life == "alive"]
    board = boards.at(30_000)
    both = with_callbacks(board, {"consumer-1": "onPartitionsAssigned", "consumer-2": "onPartitionsRevoked"})
    assert (
        sentence(both).cause
        == "consumer-1 is in onPartitionsAssigned and consumer-2 is in onPartitionsRevoked."
    )
    same = with_callbacks(board, dict.fromkeys(("consumer-1", "consumer-2"), "onPartitionsLost"))
    assert sentence(same).cause == "consumer-1 and consumer-2 are in onPartitionsLost."
    assert living == ["consumer-2"]


@pytest.mark.parametrize(
    ("protocol", "goodbye"),
    [("eager", "LeaveGroup"), ("cooperative", "LeaveGroup"), ("consumer", "last heartbeat")],
)
def test_a_member_that_says_goodbye_is_not_said_to_be_silent(protocol, goodbye):
    boards = boards_of("leave", protocol)
    closed = next(row.at_ms for row in boards.trace.of("process_ended"))
    words = sentence(boards.at(closed))
    assert words.cause == f"consumer-2 has left (its {goodbye} is on its way). The group does not know yet."
    assert "session" not in words.effect


def test_the_close_of_a_static_member_is_no_leave():
    classic, consumer = (boards_of("static-restart-too-late", protocol) for protocol in ("eager", "consumer"))
    assert "consumer-2 closes, without LeaveGroup" in [mark.words for mark in classic.marks]
    assert "consumer-2 leaves for a while (epoch -2)" in [mark.words for mark in consumer.marks]
    assert "consumer-2 leaves" in [mark.words for mark in boards_of("leave", "eager").marks]


@pytest.mark.parametrize(
    ("name", "renewed"),
    [
        ("static-restart-too-late", "its OffsetCommit at 33.1 s"),
        ("freeze", "its OffsetCommit at 30.8 s"),
        ("lost-records", "its SyncGroup at 7.1 s"),
        ("crash", "its Heartbeat at 28.8 s"),
    ],
)
def test_a_session_is_counted_from_what_renewed_it(name, renewed):
    (words,) = renewals(boards_of(name, "eager"))
    assert f"(45.0 s after {renewed})" in words


def test_under_kip_848_a_commit_renews_no_session():
    boards = boards_of("freeze", "consumer")
    (removed,) = [row for row in boards.trace.of("member_removed") if row.detail["how"] == "session"]
    name = removed.detail["name"]
    commits = [
        row.at_ms for row in boards.trace.of("commit") if row.actor == name and row.at_ms < removed.at_ms
    ]
    assert commits[-1] > removed.at_ms - boards.session_ms(name, "consumer") - 5_000
    assert boards.session_ends_ms(name, removed.at_ms - 1) == removed.at_ms
    (words,) = renewals(boards)
    assert "after its ConsumerGroupHeartbeat" in words


def test_who_has_crashed_is_not_said_to_crash_again():
    state = LabState(load("two-consumers-crash"), None, None, simulate).with_protocol("eager")
    boards = state.acted("crash", "consumer-1", 37_600).boards
    told = [mark.words for mark in boards.marks if "crash" in mark.words]
    assert told == ["consumer-1 crashes", "crash of consumer-1: its process is gone already"]
    assert [step.words for step in steps(boards) if step.kind == "action crash"] == [
        f"{words}." for words in told
    ]


def emptied(*, delete: bool) -> LabState:
    """The first lesson with both members crashed, and its topic deleted or not."""
    state = LabState(first_lesson(), None, None, simulate).with_protocol("eager")
    for name in ("consumer-1", "consumer-2"):
        state = state.acted("crash", name, 20_000)
    return state.acted("delete_topic", None, 21_000, {"topic": "orders"}) if delete else state


def test_adding_a_member_is_advised_where_it_helps():
    state = emptied(delete=False)
    at_ms = state.boards.end_ms - 1_000
    words = sentence(state.boards.at(at_ms))
    assert words == (
        "Nobody is in the group.",
        f"Add a member. {words.effect.partition('Add a member. ')[2]}",
    )
    added = state.acted("add", None, at_ms).boards
    assert added.at(added.end_ms).flowing == 4


def test_adding_a_member_is_not_advised_where_no_topic_is_left():
    state = emptied(delete=True)
    words = " ".join(sentence(state.boards.at(state.boards.end_ms)))
    assert "no topic that it reads has partitions" in words
    assert "Add a member" not in words
    added = state.acted("add", None, state.boards.end_ms - 1_000).boards
    assert added.at(added.end_ms).flowing == 0


@pytest.mark.parametrize("protocol", THREE_PROTOCOLS)
def test_a_large_group_is_told_in_a_few_lines_with_all_its_members_counted(protocol):
    boards = boards_of("fifty-by-five-hundred", protocol)
    taken: set[int] = set()
    for board in boards.walk(boards.change_times):
        said = sentence(board)
        assert len(said.effect) <= 420, (board.at_ms, said)
        if " will get " in said.cause:
            names = {each.name for each in board.members}
            takers = {
                each.state.target
                for each in board.partitions
                if each.state.target in names
                and each.state.target not in {each.state.owner, each.state.planned}
            }
            taken.add(len(takers))
            assert len(takers) <= LISTED or said.cause.startswith(f"{len(takers)} members will get "), said
    assert protocol != "consumer" or max(taken) > LISTED


@pytest.mark.parametrize("name", ["restaurant", "migration", "scale-out", "defect-empty-group-waits"])
def test_nobody_will_get_with_a_heartbeat_what_the_last_one_brought(name):
    boards = boards_of(name, "consumer")
    rows = list(boards.trace.of("member_reconciled"))
    given: dict[str, set[str]] = {}
    told = []
    for board in boards.walk(boards.change_times):
        while rows and rows[0].at_ms <= board.at_ms:
            row = rows.pop(0)
            given[row.detail["name"]] = set(row.detail["assigned"])
        cause = sentence(board).cause
        coming = {
            each.name
            for each in board.partitions
            if each.state.owner is None and each.name not in given.get(each.state.target or "", ())
        }
        told += [kind for kind in (" will get ", " been given ") if kind in cause]
        assert " will get " not in cause or coming, (board.at_ms, cause)
        assert " been given " not in cause or not coming, (board.at_ms, cause)
    assert {" will get ", " been given "} & set(told) == set(told)
    assert told


@pytest.mark.parametrize("name", ["slow-callback", "defect-deleted-topic-hangs"])
def test_a_member_line_says_of_what_it_owns_what_is_not_plainly_read(name):
    boards = boards_of(name, "consumer")
    for row in boards.trace.of("member_reconciled"):
        board = boards.at(row.at_ms + 1)
        for member in board.members:
            assert "()" not in member_line(member, board), (board.at_ms, member.name)
