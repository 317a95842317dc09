"""The room's page for phones: who may see it, what counts, what it never says, and what hostile requests get."""

from __future__ import annotations

import re
import socket
import threading
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import pytest

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.room import MOST_AT_ONCE, MOST_OF_ONE, Room, as_picture
from rebalance_kit.quiz.sittings.store import Store

ITEM = "eager-crash-which-unread"


@pytest.fixture
def poll(tmp_path, bank):
    return PollCount(ITEM, store=Store(tmp_path / "a.sqlite"), bank=bank, room="k2m4p")


@pytest.fixture
def room(poll):
    made = Room(poll.room)
    made.show(poll, lambda: None)
    yield made
    made.close()


def ask(room, form=None, cookie="", place="", body=None):
    """Status, text and cookie of a request."""
    parts = urlsplit(room.address)
    link = HTTPConnection(parts.hostname, parts.port, timeout=10)
    data = body if body is not None else urlencode(form) if form else None
    head = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
    link.request("POST" if data is not None else "GET", place or parts.path, data, head)
    answer = link.getresponse()
    text = answer.read().decode()
    cookie = (answer.getheader("Set-Cookie") or "").partition(";")[0]
    link.close()
    return answer.status, text, cookie


def voted(room, answer, number="1", cookie="", poll=ITEM):
    return ask(room, {"poll": poll, "round": number, "answer": answer}, cookie)


def test_it_listens_on_this_machine_alone_unless_told_otherwise(room):
    assert room.address.startswith("http://127.0.0.1:") and room.address.endswith("/k2m4p")
    port = urlsplit(room.address).port
    with pytest.raises(EnvironmentProblem, match="cannot be listened to"):
        Room("k2m4p", port=port)
    for host, wrong in (("203.0.113.9", 0), ("127.0.0.1", 70_000)):
        with pytest.raises(EnvironmentProblem):
            Room("k2m4p", host, wrong)


def test_a_phone_votes_changes_its_vote_and_votes_again_after_the_discussion(room, poll):
    status, page, cookie = ask(room)
    assert status == 200 and "First vote" in page and "HttpOnly" not in page
    assert page.count("type='radio'") == 4
    assert voted(room, "a", cookie=cookie)[0] == 200 and poll.counts(1)["a"] == 1
    assert "Your vote: <b>A</b>" in ask(room, cookie=cookie)[1]
    voted(room, "b", cookie=cookie)
    assert (poll.counts(1)["a"], poll.counts(1)["b"]) == (0, 1)
    assert "type='radio'" in ask(room, cookie=cookie, place="/k2m4p?change")[1]
    poll.revote()
    assert "Second vote" in ask(room, cookie=cookie)[1]
    voted(room, "c", "2", cookie)
    assert poll.counts(2)["c"] == 1 and poll.moves() == {("b", "c"): 1}


def test_each_phone_is_a_voter_of_its_own_and_nothing_tells_the_key(room, poll):
    pages = [voted(room, "a")[1] for _ in range(30)]
    assert poll.page()["votes"] == 30
    reasons = [option.why for option in poll.asked.options]
    poll.reveal()
    pages.append(ask(room)[1])
    assert "No vote is open" in pages[-1]
    assert not [why for why in reasons for page in pages if why and why in page]


def test_thirty_votes_at_once_are_all_counted(room, poll):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(30) as pool:
        assert {one[0] for one in pool.map(lambda _: voted(room, "b"), range(30))} == {200}
    assert poll.counts(1)["b"] == 30


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"poll": ITEM, "round": "2", "answer": "a"}, "not open"),
        ({"poll": ITEM, "round": "7", "answer": "a"}, "names no round"),
        ({"poll": ITEM, "round": "1", "answer": "zz"}, "no option of this question"),
        ({"poll": "<script>", "round": "1", "answer": "a"}, "&lt;script&gt;"),
        ({"answer": "a"}, "names no round"),
    ],
)
def test_a_vote_that_cannot_count_is_told_in_words(room, poll, form, said):
    status, page, _ = ask(room, form)
    assert status == 200 and said in page and "<script" not in page
    assert poll.page()["votes"] == 0


def test_who_does_not_know_the_word_and_who_sends_too_much_gets_nothing(room, poll):
    assert ask(room, place="/")[0] == ask(room, place="/other")[0] == ask(room, place="/../k2m4p")[0] == 404
    assert ask(room, body="x" * 3000)[0] == 413
    assert ask(room, body="answer=" + "%ff" * 100)[0] == 200
    assert re.fullmatch("voter=[0-9a-f]{16}", ask(room, cookie="voter=<b>")[2])
    parts = urlsplit(room.address)
    for raw in (b"\xff\xfe\r\n\r\n", b"GET " + b"/" * 70_000 + b" HTTP/1.1\r\n\r\n", b"POST /k2m4p HTTP/1.1\r\nContent-Length: -5\r\n\r\n"):  # fmt: skip
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as link:
            link.sendall(raw)
            assert b"200 OK" not in link.recv(4000)
    assert ask(room)[0] == 200 and poll.page()["votes"] == 0


def test_the_address_is_a_picture_that_a_phone_reads():
    pytest.importorskip("reportlab", reason="reportlab is not installed: the address is shown as text")
    svg = as_picture("http://192.0.2.7:8765/k2m4p9xrtw")
    assert svg.startswith("<svg") and 'viewBox="0 0 37 37"' in svg


def silent(room, number, source="127.0.0.1", data=b"GET /"):
    """Connections that say a little and then nothing."""
    made = []
    for _ in range(number):
        link = socket.create_connection(("127.0.0.1", urlsplit(room.address).port), 10, (source, 0))
        link.sendall(data)
        made.append(link)
    return made


@pytest.mark.parametrize("source", ["127.0.0.1", "127.0.0.2"])
def test_connections_that_are_held_keep_nobody_out(source, room):
    """Of the same address as the voter, behind which a class may be, and of another."""
    held = silent(room, 2 * MOST_AT_ONCE, source)
    try:
        assert voted(room, "a")[0] == 200
        assert sum(host == source for host, _ in list(room._server._open.values())) <= MOST_OF_ONE
        assert threading.active_count() < 2 * MOST_AT_ONCE
    finally:
        for link in held:
            link.close()


def test_addresses_together_hold_no_more_than_a_room_has(room):
    held = [link for last in range(2, 6) for link in silent(room, MOST_OF_ONE, f"127.0.0.{last}")]
    try:
        assert voted(room, "a")[0] == 200
        assert len(room._server._open) <= MOST_AT_ONCE
    finally:
        for link in held:
            link.close()


def test_a_connection_that_drips_ends_when_its_time_is_over(room, monkeypatch):
    (link,) = silent(room, 1)
    with link:
        ask(room)  # by then the connection is one of those that are open
        begun = [since for _, since in room._server._open.values()]
        link.sendall(b"x" * 4)
        ask(room)
        assert begun[0] in [since for _, since in room._server._open.values()]  # what drips gains no time
        monkeypatch.setattr("rebalance_kit.quiz.sittings.room.PATIENCE_S", -1.0)
        ask(room)  # whoever comes next ends it
        assert link.recv(1_000) == b""
