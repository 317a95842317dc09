"""Quiz, exam and poll in a real notebook: by keyboard, through a killed kernel, and without a key on the way."""

from __future__ import annotations

import os
import re
import signal
import sqlite3

import pytest

from rebalance_kit.quiz.exports.marked import whys
from rebalance_kit.quiz.items.item import Choice
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.poll import Ballot, write_code
from rebalance_kit.quiz.sittings.store import Store

TRIES = 5
WAIT_MS = 30_000
KINDS = {
    "single": "eager-crash-which-unread",
    "multiple": "survivor-requests",
    "numeric": "eager-join-how-many-unread",
    "short": "error-of-removed-member",
    "matching": "match-duplicate-instance",
    "ordering": "order-eager-join",
    "log": "log-crash-culprit",
    "picture": "picture-range-join-moves",
    "generated": "gen-range-skew",
}


@pytest.fixture
def traffic(page) -> list[str]:
    """Everything that passes between page and kernel from here on, as text."""
    heard: list[str] = []

    def hear(payload) -> None:
        heard.append(payload.decode("utf-8", "ignore") if isinstance(payload, bytes) else payload)

    def listen(socket) -> None:
        socket.on("framereceived", hear)
        socket.on("framesent", hear)

    page.on("websocket", listen)
    return heard


@pytest.fixture
def answers(tmp_path) -> Store:
    """Where the notebook keeps its answers."""
    return Store(tmp_path / "answers.sqlite")


@pytest.fixture
def written(write_notebook, answers):
    """Write a notebook whose answers are kept there; its first cell tells the kernel's process."""

    def write(name: str, *cells: str) -> str:
        first = f"import os\nos.environ['REBALANCE_KIT_ATTEMPTS'] = {str(answers.path)!r}\nprint('process', os.getpid())"
        return write_notebook(name, first, *cells)

    return write


def opened(page, jupyter: str, notebook: str) -> None:
    """Open a notebook and wait until its kernel is there."""
    page.goto(f"{jupyter}/lab/tree/{notebook}?reset", wait_until="domcontentloaded")
    page.locator(".jp-Notebook").wait_for(timeout=2 * WAIT_MS)
    idle = page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    idle.wait_for(state="attached", timeout=2 * WAIT_MS)


def run_all(page, seen: str):
    """Run all cells until what they make is seen; a click is swallowed while a session connects or a dialog comes up."""
    from playwright.sync_api import TimeoutError as TooLate

    found = page.locator(seen).first
    for _ in range(TRIES):
        page.keyboard.press("Escape")  # a dialog or a menu left from before
        try:
            page.get_by_role("menuitem", name="Run", exact=True).click(timeout=5_000)
            page.get_by_text("Run All Cells", exact=True).click(timeout=5_000)
            found.wait_for(timeout=20_000)
        except TooLate:
            continue
        return found
    raise AssertionError(f"the notebook never showed {seen}")


def saved(page, notebooks, name: str) -> str:
    """Save the notebook and return its file."""
    page.keyboard.press("Control+s")
    page.wait_for_function("!document.querySelector('.jp-mod-dirty')", timeout=WAIT_MS)
    return (notebooks / name).read_text(encoding="utf-8")


def fragments(why: str) -> list[str]:
    """Pieces of an explanation that look the same in JSON and in HTML."""
    return re.findall(r"[A-Za-z0-9 ,.:-]{24,60}", " ".join(why.split()))


def told(exam: ExamSitting, *texts: str) -> list[str]:
    """The explanations of an exam's questions of which a piece stands in one of the texts."""
    pieces = [piece for asked in exam.questions for _, why in whys(asked) for piece in fragments(why)]
    assert len(pieces) > 50
    whole = "\n".join(texts)
    return [piece for piece in pieces if piece in whole]


def test_an_exam_survives_a_killed_kernel_and_no_key_travels_before_the_end(
    page, jupyter, notebooks, written, answers, traffic, shot
) -> None:
    name = written(
        "exam.ipynb",
        'from rebalance_kit.view import Exam\nexam = Exam("CCDAK", questions=12)\nexam.start()\nexam',
    )
    opened(page, jupyter, name)
    run_all(page, "section.rkq form")
    beside = answers.path.with_name("beside.sqlite")  # the page's exam keeps its owner
    with sqlite3.connect(answers.path) as kept_answers, sqlite3.connect(beside) as copy:
        kept_answers.backup(copy)
    sitting = ExamSitting.begin("CCDAK", questions=12, store=Store(beside))
    place = next(
        n
        for n, one in enumerate(sitting.questions)
        if isinstance(one, Choice) and not one.form and not one.many
    )
    while page.get_by_text(f"Question {place + 1} of 12").count() == 0:
        before = page.locator("section.rkq h3").inner_text()
        page.get_by_role("button", name="Next", exact=True).click()
        page.wait_for_function(
            "before => document.querySelector('section.rkq h3').innerText !== before", arg=before
        )
    page.locator("section.rkq h3").focus()
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.get_by_label(f"question {place + 1}, answered").wait_for()
    page.get_by_role("button", name="Flag", exact=True).click()
    page.locator(".rkq-places button", has_text="⚑").wait_for()
    shot(page, "quiz-exam")
    process = int(re.search(r"process (\d+)", page.locator(".jp-OutputArea-output").first.inner_text())[1])
    os.kill(process, signal.SIGKILL)
    page.get_by_role("dialog").wait_for(timeout=WAIT_MS)
    answered = f"button[aria-label='question {place + 1}, answered']"
    run_all(page, f".jp-Notebook:not(:has-text('process {process}')):has({answered})")
    assert page.locator(".rkq-places button", has_text="⚑").count() == 1
    kept = next(iter(Store(answers.path).kept("exam").values()))
    assert 0 < kept["spent"] < 300 and kept["given"] == {str(place): "b"}
    assert told(sitting, *traffic, page.content(), saved(page, notebooks, name)) == []
    page.get_by_role("button", name="Review").click()
    page.get_by_role("button", name="Hand in").click()
    page.get_by_label("report").wait_for(timeout=WAIT_MS)
    page.get_by_label(f"question {place + 1}, answered").click()
    page.locator(".rkq-told", has_text=f"Question {place + 1} of").wait_for()
    shot(page.locator("section.rkq"), "quiz-exam-over")
    assert told(sitting, *traffic), "the reader of the traffic sees nothing at all"


def test_a_question_of_each_kind_is_answered_by_keyboard_alone_and_its_run_opened(
    page, jupyter, notebooks, written, answers, traffic, shot
) -> None:
    name = written(
        "quiz.ipynb", f"from rebalance_kit.view import Quiz\nquiz = Quiz(ids={list(KINDS.values())!r})\nquiz"
    )
    opened(page, jupyter, name)
    run_all(page, "section.rkq form")
    page.locator("section.rkq h3").focus()
    for number, kind in enumerate(KINDS, start=1):
        page.get_by_text(f"Question {number} of {len(KINDS)}").wait_for(timeout=WAIT_MS)
        assert not page.locator(".rkq-why").count()
        shot(page.locator("section.rkq"), f"quiz-{number}-{kind}")
        by_keyboard(page, kind)
        page.locator("[data-role=next]").or_(page.locator(".rkq-why")).first.wait_for(timeout=WAIT_MS)
        shot(page.locator("section.rkq"), f"quiz-{number}-{kind}-told")
        if number == 1:
            assert not page.locator(".rkq-lab > *").count()
            page.locator("[data-role=lab]").first.press("Enter")
            page.locator(".rkq-lab .rk-stage").wait_for(timeout=WAIT_MS)
            assert page.locator(".rkq-lab .rk-clock").inner_text() == "29.0 s"
            shot(page, "quiz-run-in-the-lab")
            page.locator("[data-role=next]").focus()
        if number < len(KINDS):
            page.keyboard.press("Enter")
    kept = Store(answers.path).attempts()
    assert [one.item for one in kept] == list(KINDS.values())
    assert kept[0].confidence == "think"
    assert page.locator(".jp-Notebook .jp-Cell").count() == 2, "a key reached the notebook's own commands"


def by_keyboard(page, kind: str) -> None:
    """Answer the question shown with keys alone, whatever the answer's worth."""
    fields = "section.rkq " + ("input[type=text]" if kind in {"numeric", "short", "generated"} else "select")
    number = page.locator("section.rkq input[name=given][type=radio][value='1']").count()
    if kind in {"single", "log", "picture", "multiple"}:
        page.keyboard.press("1" if number else "a")
        if kind == "multiple":
            page.keyboard.press("b")
    elif kind == "ordering":
        page.locator(".rkq-steps button[aria-label^=down]").first.focus()
        page.keyboard.press("Enter")
    elif kind == "matching":
        for place in range(page.locator(fields).count()):
            page.locator(fields).nth(place).focus()
            page.keyboard.press("a")
    elif page.locator("section.rkq input[name=given][type=radio]").count():
        page.keyboard.press("a")
    else:
        page.locator(fields).first.focus()
        page.keyboard.type("7")
    page.locator("section.rkq input[name=confidence]").first.focus()
    page.keyboard.press("ArrowDown")
    page.locator("section.rkq button[type=submit]").focus()
    page.keyboard.press("Enter")


def test_a_poll_shows_the_room_no_split_before_the_instructor_says_so(
    page, jupyter, written, traffic, shot
) -> None:
    item = "eager-crash-which-unread"
    name = written(
        "poll.ipynb",
        f'from rebalance_kit.view import Poll, Vote\npoll = Poll("{item}", room="k2m4p")\npoll',
        f'Vote("{item}", room="k2m4p")',
    )
    opened(page, jupyter, name)
    run_all(page, "section[aria-label=Vote] form")
    screen, own = page.locator("section[aria-label=Poll]"), page.locator("section[aria-label=Vote]")
    own.locator("input[value=b][name=given]").check()
    own.get_by_role("button", name="Vote", exact=True).click()
    code = own.locator(".rkq-code")
    code.wait_for(timeout=WAIT_MS)
    shot(own, "quiz-vote")

    def room(answers: str, number: int) -> str:
        return " ".join(
            write_code(Ballot(item, number, f"{who:08x}", one), "k2m4p") for who, one in enumerate(answers)
        )

    screen.get_by_label("codes of the learners").fill(f"{code.input_value()} {room('aaaabbcc', 1)}")
    screen.get_by_role("button", name="Count them").click()
    screen.get_by_text("First vote: 9 so far").wait_for(timeout=WAIT_MS)
    shot(screen, "quiz-poll-first")
    screen.get_by_role("button", name="End the first vote").click()
    screen.get_by_role("button", name="Open the second vote").click()
    screen.get_by_label("codes of the learners").fill(room("aabbbbbc", 2))
    screen.get_by_role("button", name="Count them").click()
    screen.get_by_text("Second vote: 8 of 9 so far").wait_for(timeout=WAIT_MS)
    assert screen.locator(".rkq-shift").count() == 0 and not [one for one in traffic if '"split"' in one]
    screen.get_by_role("button", name="Show the split").click()
    screen.get_by_text("2 went from A to B, 1 went from C to B").wait_for(timeout=WAIT_MS)
    assert screen.locator(".rkq-why").count() == 0
    screen.get_by_role("button", name="Show the answer").click()
    screen.locator(".rkq-why").first.wait_for(timeout=WAIT_MS)
    shot(screen, "quiz-poll-over")
