"""Votes in a classroom: the room sees no split and no key before the instructor says so."""

from __future__ import annotations

import io
import json
import os
import time
from dataclasses import replace
from math import log2

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.poll import (
    _DIGESTS_PER_TRY,
    _DRAWN,
    _LETTERS,
    MOST_VOTERS,
    SESSION_S,
    Ballot,
    PollCount,
    asked_in_poll,
    cast,
    draw_room,
    read_code,
    session_room,
    voter_of,
    write_code,
    write_file,
)
from rebalance_kit.quiz.sittings.store import Store

ITEM = "eager-crash-which-unread"
ROOM = "k2m4p"


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "room.sqlite")


@pytest.fixture
def poll(store, bank) -> PollCount:
    return PollCount(ITEM, store=store, bank=bank, room=ROOM)


def code(voter: int, answer: str, number: int = 1, poll: str = ITEM) -> str:
    return write_code(Ballot(poll, number, f"{voter:08x}", answer), ROOM)


def room(answers: str, number: int = 1) -> str:
    """A chat in which the first learner voted for the first letter, and so on."""
    return "\n".join(
        f"[10:0{who}] somebody: {code(who, answer, number)}, I think" for who, answer in enumerate(answers)
    )


# --- votes -----------------------------------------------------------------------------------
def test_codes_are_found_in_a_pasted_chat_and_counted_once_a_learner(poll):
    assert poll.take(room("aab") + "\n" + room("aab")) == 6
    assert poll.counts(1) == {"a": 2, "b": 1, "c": 0, "d": 0} and poll.page()["votes"] == 3
    poll.take(code(0, "c"))
    assert poll.counts(1) == {"a": 1, "b": 1, "c": 1, "d": 0}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (code(1, "a")[:-1] + "A", "is damaged"),
        (
            code(1, "a", poll="three-crash-gap"),
            "a vote for three-crash-gap received, expected one for eager-crash",
        ),
        (code(1, "q"), "names no option of this question"),
        (code(1, "a", 2), "is of the vote after the discussion, which is not open"),
        ("I vote for b", "no code in it"),
        (write_code(Ballot(ITEM, 1, "../../etc", "a"), ROOM), "holds no vote"),
        (write_code(Ballot("a/b/c", 1, "00000001", "a"), ROOM), "holds no vote"),
    ],
)
def test_a_vote_that_is_none_is_refused_with_the_reason_and_without_the_vote(poll, text, expected):
    assert poll.take(text) == 0
    assert expected in poll.refused[0] and poll.page()["refused"] == list(poll.refused)
    assert poll.page()["votes"] == 0


def test_one_damaged_code_does_not_stop_the_others(poll):
    assert poll.take(f"{code(1, 'a')[:-1]}A {code(2, 'b')}") == 1
    assert len(poll.refused) == 1 and poll.page()["votes"] == 1


def test_a_code_of_another_room_and_one_without_its_word_are_refused(poll, store, bank):
    guessed = write_code(Ballot(ITEM, 1, "00000001", "b"), "zzzzz")
    assert poll.take(guessed) == 0 and "of another room" in poll.refused[0]
    drawn = [PollCount(ITEM, store=Store(store.path.with_name(f"{n}.sqlite")), bank=bank) for n in "ab"]
    assert drawn[0].room != drawn[1].room and f'room="{drawn[0].room}"' in drawn[0].page()["call"]
    theirs = write_code(Ballot(ITEM, 1, "00000001", "b"), drawn[0].room)
    assert drawn[1].take(theirs) == 0 and drawn[0].take(theirs) == 1


def test_all_polls_of_a_session_have_one_word_also_over_a_killed_kernel(store, bank):
    first = PollCount(ITEM, store=store, bank=bank)
    first.reveal()
    other = PollCount("cooperative-when-revoked", store=Store(store.path), bank=bank)
    assert other.room == first.room == session_room(store) and len(other.room) == 10
    with pytest.raises(DataError, match="1 to 20 letters"):
        PollCount(ITEM, store=store, bank=bank, room="a/b")


def test_votes_of_the_evening_before_are_forgotten_with_their_word(store, bank):
    evening = PollCount(ITEM, store=store, bank=bank)
    evening.enter(Ballot(ITEM, 1, "00000001", "a"), "pasted")
    assert PollCount(ITEM, store=store, bank=bank).page()["votes"] == 1
    word = session_room(store, now_s=time.time() + SESSION_S + 1)
    morning = PollCount(ITEM, store=store, bank=bank, room=word)
    assert word != evening.room and morning.page()["votes"] == 0
    assert session_room(store, new=True) != word


def test_a_voter_counts_by_the_first_road_and_a_room_has_so_many_voters(poll, tmp_path):
    assert poll.take(code(1, "a")) == 1
    with pytest.raises(DataError, match="came another way before"):
        poll.enter(Ballot(ITEM, 1, "00000001", "b"), "page")
    assert poll.take(code(1, "c")) == 1 and poll.counts(1)["c"] == 1
    for voter in range(2, MOST_VOTERS + 1):
        poll._enter(Ballot(ITEM, 1, f"{voter:08x}", "b"), "page")
    assert poll.take(code(MOST_VOTERS + 1, "d")) == 0 and "no further voter" in poll.refused[0]
    assert poll.take(code(1, "a")) == 1


def test_a_drawn_word_costs_more_than_sixty_bits_of_work_to_search_for():
    tries = len(_LETTERS) ** _DRAWN
    assert len(draw_room()) == _DRAWN and log2(tries * _DIGESTS_PER_TRY) >= 60


def test_a_learners_code_survives_the_way_through_a_chat(bank):
    ballot = cast(asked_in_poll(bank.item(ITEM), 1), "B", "0a1b2c3d", again=True)
    assert read_code(write_code(ballot, ROOM), ROOM) == ballot == Ballot(ITEM, 2, "0a1b2c3d", "b")
    with pytest.raises(DataError, match="expected one of a, b, c"):
        cast(asked_in_poll(bank.item(ITEM), 1), "z", "0a1b2c3d")


def test_both_votes_of_a_learner_carry_one_number_and_two_learners_have_two(tmp_path):
    one, other = Store(tmp_path / "one.sqlite"), Store(tmp_path / "other.sqlite")
    assert voter_of(one) == voter_of(one) == voter_of(Store(one.path)) != voter_of(other)


@pytest.mark.parametrize(
    "item", ["eager-join-how-many-unread", "survivor-requests", "match-duplicate-instance"]
)
def test_a_question_without_one_right_option_makes_no_poll(item, store):
    with pytest.raises(DataError, match="expected a question with one right option"):
        PollCount(item, store=store)


# --- files -----------------------------------------------------------------------------------
def test_files_in_a_shared_folder_are_counted_and_odd_ones_named(tmp_path, store, bank):
    folder = tmp_path / "shared"
    folder.mkdir()
    for voter, answer in enumerate("abb"):
        write_file(Ballot(ITEM, 1, f"{voter:08x}", answer), ROOM, folder)
    write_file(Ballot(ITEM, 1, "00000000", "c"), ROOM, folder)  # changed their mind
    (folder / "binary.vote").write_bytes(b"\xff\xfe")
    (folder / "huge.vote").write_text("x" * 3_000_000)
    (folder / "notes.txt").write_text(code(9, "a"))
    os.mkfifo(folder / "pipe.vote")
    poll = PollCount(ITEM, store=store, bank=bank, folder=folder, room=ROOM)
    assert poll.collect() == 3 and poll.counts(1) == {"a": 0, "b": 2, "c": 1, "d": 0}
    assert poll.refused == ("binary.vote cannot be read",)
    poll.revote()
    write_file(Ballot(ITEM, 1, "00000002", "a"), ROOM, folder)  # too late for the first vote
    write_file(Ballot(ITEM, 2, "00000002", "b"), ROOM, folder)
    poll.collect()
    assert poll.counts(1)["a"] == 0 and poll.counts(2) == {"a": 0, "b": 1, "c": 0, "d": 0}
    assert any("first vote, which is not open" in why for why in poll.refused)


def test_a_folder_that_is_not_there_is_named(tmp_path, store):
    with pytest.raises(DataError, match="no folder to collect from"):
        PollCount(ITEM, store=store).collect()
    with pytest.raises(DataError, match="cannot be read"):
        PollCount(ITEM, store=store, folder=tmp_path / "gone").collect()
    with pytest.raises(DataError, match="expected a folder that is shared"):
        write_file(Ballot(ITEM, 1, "00000001", "a"), ROOM, tmp_path / "gone")


# --- what the room sees ----------------------------------------------------------------------
def told(poll: PollCount) -> set[str]:
    return {"split", "moves", "verdict", "replays"} & set(poll.page())


def test_the_screen_has_no_split_before_show_and_no_key_before_reveal(poll):
    secrets = [option.why for option in poll.asked.options]

    def silent() -> bool:
        seen = json.dumps(poll.page()) + poll.text()
        return not any(why in seen for why in secrets)

    poll.take(room("aabbbc"))
    assert not told(poll) and "a  before" not in poll.text() and silent()
    poll.end_round()
    assert not told(poll) and silent()
    poll.revote()
    poll.take(room("bbbbbc", 2))
    assert not told(poll) and silent()
    poll.show()
    assert told(poll) == {"split", "moves"} and silent()
    poll.reveal()
    assert told(poll) == {"split", "moves", "verdict", "replays"} and not silent()
    assert poll.page()["replays"] == ["crash, eager"]


def test_the_split_of_the_first_vote_is_hidden_again_in_the_second(poll):
    poll.take(room("ab"))
    poll.show()
    assert poll.page()["split"] == [{"a": 1, "b": 1, "c": 0, "d": 0}] and not poll.is_open
    poll.revote()
    assert not told(poll)


def test_the_shift_chart_counts_who_moved_where(poll):
    poll.take(room("aabbc"))
    poll.revote()
    poll.take(room("abbbb", 2))
    poll.show()
    assert poll.page()["split"] == [{"a": 2, "b": 2, "c": 1, "d": 0}, {"a": 1, "b": 4, "c": 0, "d": 0}]
    assert poll.moves() == {("a", "a"): 1, ("a", "b"): 1, ("b", "b"): 2, ("c", "b"): 1}
    assert "1 went from a to b" in poll.text() and "1 went from c to b" in poll.text()


def test_raised_hands_are_counted_beside_codes_and_have_no_name(poll):
    poll.take(room("ab"))
    poll.hands(a=3, c=2)
    assert poll.counts(1) == {"a": 4, "b": 1, "c": 2, "d": 0} and poll.page()["votes"] == 7
    poll.revote()
    poll.hands(b=7)
    assert poll.counts(2) == {"a": 0, "b": 7, "c": 0, "d": 0} and poll.moves() == {}
    poll.end_round()
    with pytest.raises(DataError, match="no vote is open"):
        poll.hands(a=1)
    with pytest.raises(DataError, match="expected numbers from 0 on for a, b, c, d"):
        poll.hands(e=1)


def test_votes_after_the_end_change_nothing(poll):
    poll.take(room("ab"))
    poll.reveal()
    assert poll.take(code(9, "a")) == 0 and poll.counts(1) == {"a": 1, "b": 1, "c": 0, "d": 0}
    with pytest.raises(DataError, match="open or over"):
        poll.revote()


# --- a killed kernel -------------------------------------------------------------------------
def test_a_killed_kernel_comes_back_to_its_votes_until_the_answer_was_revealed(poll, store, bank):
    poll.take(room("ab"))
    poll.revote()
    poll.take(room("bb", 2))
    again = PollCount(ITEM, store=Store(store.path), bank=bank, room=ROOM)
    assert (again.round, again.counts(1), again.counts(2)) == (2, poll.counts(1), poll.counts(2))
    again.reveal()
    fresh = PollCount(ITEM, store=Store(store.path), bank=bank, room=ROOM)
    assert fresh.round == 1 and fresh.page()["votes"] == 0 and not told(fresh)


def test_begin_anew_forgets_all_votes(poll):
    poll.take(room("ab"))
    poll.show()
    poll.restart()
    assert poll.page()["votes"] == 0 and poll.is_open and not told(poll)


def test_votes_for_options_that_the_item_lost_are_forgotten(store, bank, poll):
    poll.take(room("ac"))
    fewer = replace(poll.item, options=poll.item.options[:2])
    changed = replace(bank, items=tuple(fewer if one.head.id == ITEM else one for one in bank.items))
    assert PollCount(ITEM, store=store, bank=changed, room=ROOM).counts(1) == {"a": 1, "b": 0}


# --- the widgets and the terminal --------------------------------------------------------------
def test_the_widgets_pass_votes_on_and_hold_no_key(store, tmp_path):
    from rebalance_kit.view import Poll as Screen
    from rebalance_kit.view import Vote

    screen = Screen(ITEM, store=store)
    vote = Vote(ITEM, room=screen.count.room, store=Store(tmp_path / "learner.sqlite"))
    secret = screen.count.asked.options[1].why
    vote.handle({"do": "vote", "given": "zz"})
    assert "expected one of a, b, c" in vote.page["error"] and vote.page["code"] == ""
    vote.handle({"do": "vote", "given": "b", "again": False})
    screen.handle({"do": "take", "text": vote.page["code"]})
    for step in ("lab", "nonsense", "end_round", "revote"):
        screen.handle({"do": step})
    assert screen.lab is None and screen.page["round"] == 2
    seen = json.dumps(
        [vote.get_state(["page"]), screen.get_state(["page"]), vote._repr_mimebundle_()], default=str
    )
    assert secret not in seen and '"split"' not in seen
    screen.handle({"do": "revote"})
    assert "expected a poll in its first round" in screen.page["error"]
    screen.handle({"do": "reveal"})
    screen.handle({"do": "lab", "run": 0})
    assert screen.lab.cursor_ms == 29_000 and screen.page["split"][0] == {"a": 0, "b": 1, "c": 0, "d": 0}


def test_a_vote_in_a_terminal_prints_a_code_that_the_poll_takes(monkeypatch, tmp_path, poll):
    monkeypatch.setattr("sys.stdin", io.StringIO("b\n"))
    out = io.StringIO()
    assert main(["vote", ITEM, ROOM, "--folder", str(tmp_path)], out) == 0
    text = out.getvalue()
    assert "The topic orders has four partitions" in text and "Not right" not in text
    assert poll.take(text) == 1 and poll.counts(1)["b"] == 1
    assert len(list(tmp_path.glob("*.vote"))) == 1
