"""The desk of questions behind a worker: it says what the widgets say, and the browser can give back all that it kept."""

from __future__ import annotations

import json
import time
import zipfile
from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings.store import Attempt, Store
from rebalance_kit.view.quiz.page import Quiz
from rebalance_kit.view.quiz.poll import Vote
from rebalance_kit.view.quiz.worker import Desk
from scripts.site import lab as site

ITEM = "eager-crash-which-unread"


class Tab:
    """A tab of the page: what it was told, and the browser's place for lines, which it may share with another."""

    def __init__(self, path, kept=None, others=()):
        self.told, self.kept = [], {} if kept is None else kept
        self.others = list(others)
        self.desk = Desk(
            lambda text: self.told.append(json.loads(text)),
            self.keep,
            list(self.kept.values()),
            str(path),
            "https://site/",
        )

    def keep(self, key, line):
        self.kept.pop(key, None)
        if line:
            self.kept[key] = line
        for other in self.others:
            other.desk.hear(json.dumps({"kept": line}))

    def open(self, what, name="", **more):
        self.desk.hear(json.dumps({"open": {"what": what, "name": name, **more}}))
        return self

    def send(self, **message):
        self.desk.hear(json.dumps({"message": message}))
        return self

    @property
    def page(self):
        return next(each["state"]["page"] for each in reversed(self.told) if "page" in each.get("state", {}))


@pytest.fixture
def tab(tmp_path):
    return Tab(tmp_path / "a" / "answers.sqlite")


def test_a_practice_says_what_the_widget_says(tab, tmp_path):
    page = tab.open("practice", "eager", count=1).page
    quiz = Quiz(ids=[page["question"]["id"].partition("~")[0]], store=Store(tmp_path / "w.sqlite"))
    assert sorted(page) == sorted(quiz.page)
    assert page["verdict"] is None
    assert "key" not in json.dumps(page["question"])


def test_what_the_browser_kept_is_there_at_the_next_visit(tab, tmp_path):
    tab.open("vote", ITEM, room="k2m4p").send(do="vote", given="b")
    voted = tab.page["code"]
    tab.open("practice", count=2)
    while not tab.page["verdict"]:
        tab.send(do="answer", given=_some(tab.page["question"]), confidence="guess")
    later = Tab(tmp_path / "b" / "answers.sqlite", tab.kept)
    assert later.desk.export() == tab.desk.export() != ""
    assert later.open("vote", ITEM, room="k2m4p").send(do="vote", given="b").page["code"] == voted
    assert "1 " in later.desk.report()


def _some(question):
    if question["kind"] in {"numeric", "short"}:
        return "7"
    if question["kind"] == "matching":
        return " ".join(f"{each['id']}{question['options'][0]['id']}" for each in question["prompts"])
    if question["kind"] == "ordering":
        return " ".join(each["id"] for each in question["steps"])
    return " ".join(each["id"] for each in question["options"][: question.get("choose") or 1])


def test_an_exam_goes_on_after_the_tab_was_closed_in_its_middle(tab, tmp_path):
    tab.open("exam", "CCDAK", count=5).send(do="start")
    given = _some(tab.page["question"])
    tab.send(do="go", place=1, given=given)
    later = Tab(tmp_path / "b" / "answers.sqlite", tab.kept).open("exam", "CCDAK", count=5)
    assert "begun" not in later.page  # that it has not begun is said alone
    assert [each["answered"] for each in later.page["places"]] == [True, False, False, False, False]
    later.send(do="finish")
    assert "of 5 right" in later.page["report"]


def test_of_two_tabs_one_has_the_exam(tab, tmp_path):
    tab.open("exam", "CCDAK", count=5).send(do="start")
    second = Tab(tmp_path / "b" / "answers.sqlite", tab.kept, [tab])
    tab.others.append(second)
    second.open("exam", "CCDAK", count=5)
    tab.send(do="flag")
    assert "another window" in tab.page["error"]
    second.send(do="flag")
    assert second.page["places"][0]["flagged"]


def test_a_poll_names_an_address_where_learners_vote_and_counts_their_codes(tab, tmp_path):
    page = tab.open("poll", ITEM).page
    address, _, query = page["call"].partition("?")
    asked = dict(each.split("=") for each in query.split("&"))
    assert (address, asked["vote"]) == ("https://site/quiz.html", ITEM)
    phones = [Vote(ITEM, room=asked["room"], store=Store(tmp_path / f"{each}.sqlite")) for each in "abc"]
    tab.send(do="take", text="\n".join(phone.vote("b") for phone in phones))
    assert tab.page["votes"] == 3
    assert "split" not in tab.page
    assert tab.send(do="show").page["split"][0]["b"] == 3


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"what": "practice", "name": "egaer"}, "egaer"),
        ({"what": "exam", "name": "CCNA"}, "CCNA"),
        ({"what": "exam", "name": "CCDAK", "count": "many"}, "whole number"),
        ({"what": "poll", "name": "no-such-item"}, "no-such-item"),
        ({"what": "vote", "name": ITEM, "room": "../etc"}, "room"),
        ({"what": "heist"}, "expected practice"),
    ],
)
def test_what_cannot_be_opened_is_said(tab, wanted, said):
    tab.open(**wanted)
    assert said in tab.told[-1]["said"]


def test_answers_go_home_and_come_back(tab, tmp_path):
    tab.open("practice", "eager", count=1).send(do="answer", given=_some(tab.page["question"]))
    text = tab.desk.export()
    home = Store(tmp_path / "home.sqlite")
    assert home.bring(text.splitlines()) == (1, 0)
    assert home.bring(text.splitlines()) == (0, 1)
    assert tab.desk.bring(text) == "0 answers taken in; 1 were here before."
    other = Tab(tmp_path / "b" / "answers.sqlite")
    assert other.desk.bring(text).startswith("1 answers taken in")
    assert len(other.kept) == 1


ANSWER = Attempt("x", time.time(), "practice", "an-item", 1, "a", correct=True, credit=1.0)


@pytest.mark.parametrize(
    "line", ["not JSON", "[]", "{}", "[" * 5_000, json.dumps({"id": "x"}), '{"id": "\\ud800"}']
)
def test_a_line_that_is_no_answer_is_refused_and_nothing_is_taken_in(tmp_path, line):
    store = Store(tmp_path / "home.sqlite")
    fine = json.dumps({name: getattr(ANSWER, name) for name in Attempt.__slots__})
    with pytest.raises(DataError, match=r"line 2: .* is no answer; expected a line of"):
        store.bring([fine, line])
    assert store.attempts() == ()


@pytest.mark.parametrize(
    "change",
    [
        {"at": 1e300},
        {"at": -1},
        {"credit": float("nan")},
        {"seed": 10**30},
        {"correct": 1},
        {"beliefs": [1]},
        {"given": "\ud800"},
    ],
)
def test_an_answer_with_a_value_that_none_has_is_refused(tmp_path, change):
    line = {name: getattr(ANSWER, name) for name in Attempt.__slots__} | change
    with pytest.raises(DataError, match="line 1: "):
        Store(tmp_path / "home.sqlite").bring([json.dumps(line)])


def test_the_pages_bank_is_the_kits(tmp_path):
    site._questions(tmp_path / "quiz.zip")
    with zipfile.ZipFile(tmp_path / "quiz.zip") as archive:
        archive.extractall(tmp_path)
    whole = read_bank([tmp_path / "rebalance_kit" / "quiz" / "bank"])
    assert whole.problems == ()
    assert [_placeless(item) for item in whole.items] == [_placeless(item) for item in read_bank().items]


def _placeless(item):
    return replace(item, head=replace(item.head, where=""))
