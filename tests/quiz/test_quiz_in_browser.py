"""The page of the quiz in a real browser: by mouse, by keyboard alone, and what its source tells.

The script that ships is loaded into Chromium; its messages go to a real ``Practice`` and its pages come
back, as they do through a kernel.
"""

from __future__ import annotations

import json

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Choice, beliefs_of
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.practice import Practice
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.page import script
from rebalance_kit.view.quiz.poll import Poll
from rebalance_kit.view.quiz.sheets import obey
from tests.support.paths import ROOT

pytestmark = pytest.mark.browser

STATIC = ROOT / "rebalance_kit" / "view" / "quiz" / "static"
HARNESS = """
async (first) => {
  const source = await window.moduleText();
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  let page = first, listener = () => {};
  const model = {
    get: (name) => (name === "page" ? page : null),
    send: async (message) => { page = await window.kernel(message); listener(); },
    on: (name, call) => { if (name === "change:page") listener = call; },
    off: () => {},
  };
  window.told = (next) => { page = next; listener(); };
  window.missed = [];
  document.addEventListener("keydown", (event) => window.missed.push(event.key));
  module.default.render({ model, el: document.getElementById("out") });
}
"""


@pytest.fixture
def shown(chromium, single, multiple, numeric):
    """A page with a practice of one question of each kind; messages from the page are recorded."""
    practice = Practice("sample", (single, multiple, numeric))
    heard: list[dict] = []

    def kernel(message):
        heard.append(message)
        error = ""
        try:
            practice.forward() if message["do"] == "next" else practice.answer(message["given"])
        except DataError as refused:
            error = str(refused)
        return json.loads(json.dumps({**practice.page(), "error": error}))

    page = chromium.new_page()
    page.set_content('<main id="out"></main>')
    page.add_style_tag(path=STATIC / "quiz.css")
    page.expose_function("kernel", kernel)
    page.expose_function("moduleText", lambda: script("practice"))
    page.evaluate(HARNESS, practice.page())
    page.wait_for_selector("form")
    yield page, practice, heard
    page.close()


def test_a_quiz_is_done_by_mouse_and_explains_every_option(shown):
    page, practice, _ = shown
    page.get_by_label("two", exact=False).first.check()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("Not right; the answer is b.").wait_for()
    assert page.locator(".rkq-why").count() == 3
    assert page.locator(".rkq-option.right").inner_text().startswith("B")
    page.get_by_role("button", name="Next question").click()
    page.get_by_text("Question 2 of 3").wait_for()
    page.locator("input[value=a]").check()
    page.locator("input[value=c]").check()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("Right. 1 right of 2 answered.").wait_for()
    assert practice.right == 1


def test_a_quiz_is_done_by_keyboard_alone(shown):
    page, practice, _ = shown
    page.keyboard.press("Tab")
    page.keyboard.press("b")
    page.keyboard.press("Enter")
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()
    page.keyboard.press("Enter")  # Next has the focus
    page.get_by_text("Question 2 of 3").wait_for()
    page.keyboard.press("1")
    page.keyboard.press("3")
    page.keyboard.press("Enter")
    page.get_by_text("Right. 2 right of 2 answered.").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Question 3 of 3").wait_for()
    page.keyboard.press("Tab")
    page.keyboard.type("4.6")
    page.keyboard.press("Enter")
    page.get_by_text("Right. 3 right of 3 answered.").wait_for()
    assert practice.right == 3


def test_the_page_source_tells_no_key_before_the_answer(shown, single):
    page, _, heard = shown
    source = page.locator("#out").inner_html()
    for telling in (
        "rkq-why",
        "rkq-mark",
        'class="rkq-option right',
        single.options[1].why,
        "cooperative-is-default",
    ):
        assert telling not in source
    rows = page.locator(".rkq-option").evaluate_all(
        "rows => rows.map(row => row.className + [...row.attributes].map(one => one.name))"
    )
    assert len(set(rows)) == 1
    assert heard == []


def test_an_empty_answer_is_refused_in_words_and_stays_open(shown):
    page, practice, _ = shown
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("expected one of a, b, c").wait_for()
    assert practice.verdicts == {}
    page.locator("input[value=b]").check()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()


def test_single_keys_are_kept_from_the_notebooks_own_shortcuts(asked):
    for kind in ("matching", "ordering", "log", "short"):
        page, _ = asked(KINDS[kind])
        for field in (
            "select",
            "li button",
            "input[name=given]",
            "input[name=confidence]",
            "button[type=submit]",
        ):
            if page.locator(field).count():
                page.locator(field).first.focus()
                page.keyboard.press("d")
                page.keyboard.press("Control+m")
        assert set(page.evaluate("window.missed")) == {"Control", "m"}, kind


def test_text_with_markup_is_shown_as_text(chromium):
    page = chromium.new_page()
    hostile = {
        "title": "t",
        "number": 1,
        "of": 1,
        "last": True,
        "right": 0,
        "answered": 0,
        "verdict": None,
        "question": {
            "id": "x",
            "kind": "single",
            "stem": '<img src=x onerror="window.hit=1"> `code`',
            "exhibit": "<b>bold</b>",
            "options": [{"id": "a", "text": "<script>window.hit=1</script>"}],
        },
    }
    page.set_content('<main id="out"></main>')
    page.expose_function("kernel", lambda _: hostile)
    page.expose_function("moduleText", lambda: script("practice"))
    page.evaluate(HARNESS, hostile)
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script, main b").count() == 0
    assert page.locator("pre").inner_text() == "<b>bold</b>"
    assert page.locator("code").inner_text() == "code"
    page.close()


# --- further kinds, and the exam -------------------------------------------------------------
KINDS = {
    "short": "error-of-removed-member",
    "matching": "match-duplicate-instance",
    "ordering": "order-eager-join",
    "log": "log-crash-culprit",
    "picture": "picture-range-join-moves",
}


@pytest.fixture
def asked(chromium, bank, book):
    """A page with one question of the bank; gives the page and the practice behind it."""
    pages = []

    def ask(name):
        practice = Practice("sample", (question(bank.item(name), 1, book),))

        def kernel(message):
            error = ""
            try:
                practice.answer(message["given"], message.get("confidence"))
            except DataError as refused:
                error = str(refused)
            return json.loads(json.dumps({**practice.page(), "error": error, "asks_confidence": True}))

        page = chromium.new_page()
        pages.append(page)
        page.set_content('<main id="out"></main>')
        page.add_style_tag(path=STATIC / "quiz.css")
        page.expose_function("kernel", kernel)
        page.expose_function("moduleText", lambda: script("practice"))
        page.evaluate(HARNESS, {**practice.page(), "asks_confidence": True})
        page.wait_for_selector("form")
        return page, practice

    yield ask
    for page in pages:
        page.close()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_no_kind_tells_its_key_to_the_page_before_the_answer(asked, bank, kind):
    page, practice = asked(KINDS[kind])
    source = page.locator("#out").inner_html()
    assert practice.questions[0].kind == kind
    for telling in ("rkq-why", "rkq-mark", "✓", "✗", *filter(None, beliefs_of(bank.item(KINDS[kind])))):
        assert telling not in source


@pytest.mark.parametrize(
    "name",
    [
        "two-librdkafka-config",
        "code-server-properties",
        "picture-crash-cooperative",
        "match-connector-states",
    ],
)
def test_no_question_is_wider_than_a_phone(asked, name):
    page, _ = asked(name)
    page.set_viewport_size({"width": 390, "height": 844})
    wide, shown = page.evaluate(
        "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    )
    assert wide <= shown == 390


NARROW = 390


def test_lines_of_a_log_go_on_below_themselves_on_a_phone_and_a_cut_table_shows_that_it_goes_on(asked):
    log, _ = asked("streams-close-does-not-leave")
    table, _ = asked("ticket-static-ids-change")
    for page, hidden in ((log, False), (table, True)):
        page.set_viewport_size({"width": NARROW, "height": 844})
        exhibit = page.locator("pre[aria-label=exhibit]")
        assert exhibit.evaluate("(one) => one.scrollWidth > one.clientWidth") is hidden
    shadow = table.locator("pre[aria-label=exhibit]").evaluate(
        "(one) => getComputedStyle(one).backgroundAttachment"
    )
    assert shadow.startswith("local, scroll")
    mixed, _ = asked("two-client-lines-of-cooperative")
    mixed.set_viewport_size({"width": NARROW, "height": 844})
    free = mixed.locator(".rkq-free").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect())")
    assert len(free) == 5 and all(box["right"] < NARROW for box in free)
    assert max(box["height"] for box in free) > 2 * min(box["height"] for box in free)


def test_three_phones_vote_on_the_instructors_port_and_her_page_counts_them(chromium, tmp_path):
    Poll.open_room(store=Store(tmp_path / "a.sqlite"))
    poll = Poll("eager-crash-which-unread", store=Store(tmp_path / "a.sqlite"))
    instructor = chromium.new_page()
    phones = [chromium.new_context(viewport={"width": NARROW, "height": 844}).new_page() for _ in range(3)]

    def kernel(message):
        poll.handle(message)
        return poll.page

    try:
        instructor.set_content('<main id="out"></main>')
        instructor.expose_function("kernel", kernel)
        instructor.expose_function("moduleText", lambda: script("poll"))
        instructor.evaluate(HARNESS, poll.page)
        for phone, choice in zip(phones, "abb", strict=True):
            phone.goto(Poll._room.address)
            phone.locator(f"input[value={choice}]").check()
            phone.get_by_role("button", name="Vote").click()
            phone.get_by_text(f"Your vote: {choice.upper()}").wait_for()
            assert phone.evaluate("document.documentElement.scrollWidth") <= NARROW
        instructor.evaluate("page => window.told(page)", poll.page)
        instructor.get_by_text("First vote: 3 so far").wait_for()
        phones[0].get_by_role("link", name="Change it").click()
        phones[0].locator("input[value=c]").check()
        phones[0].get_by_role("button", name="Vote").click()
        phones[0].get_by_text("Your vote: C").wait_for()
        instructor.get_by_role("button", name="Show the split").click()
        split = instructor.locator("[role=img][aria-label^=split]").get_attribute("aria-label")
        assert json.loads(split.removeprefix("split: ")) == {"a": 0, "b": 2, "c": 1, "d": 0}
    finally:
        Poll.close_room()
        for each in phones:
            each.context.close()
        instructor.close()


def test_what_is_to_be_matched_stands_above_its_list_on_a_phone(asked):
    page, _ = asked(KINDS["matching"])
    page.set_viewport_size({"width": NARROW, "height": 844})
    pair = page.locator(".rkq-pair").first
    text, choice = (pair.locator(part).bounding_box() for part in (".rkq-text", "select"))
    assert text["y"] + text["height"] <= choice["y"] and text["x"] == choice["x"]


def test_a_word_is_typed_and_sent_by_enter(asked):
    page, practice = asked(KINDS["short"])
    page.get_by_label("Your answer, a word or two").fill("unknown member id")
    page.get_by_label("Guess").check()
    page.get_by_label("Your answer, a word or two").press("Enter")
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()
    assert practice.right == 1


def test_pairs_are_chosen_from_lists_by_keyboard(asked):
    page, practice = asked(KINDS["matching"])
    turned = {"1a": "b", "1b": "a", "2a": "b", "2b": "a"}
    wrong = [turned[pair] for pair in practice.questions[practice.place].key]
    for number, letter in enumerate(wrong):
        page.locator("select").nth(number).focus()
        page.keyboard.press(letter)
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Answer").press("Enter")
    page.get_by_text("Not right").wait_for()
    assert practice.verdicts[0].given == tuple(f"{number}{letter}" for number, letter in enumerate(wrong, 1))
    assert page.locator(".rkq-why").count() == 2


def test_steps_are_moved_by_mouse_and_by_keyboard_and_unmoved_ones_are_no_answer(asked):
    page, practice = asked(KINDS["ordering"])
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_text("expected each of a, b, c, d once").wait_for()
    page.get_by_role("button", name="up: the response").click()  # a c b d
    up = page.get_by_role("button", name="up: the response")
    up.focus()
    page.keyboard.press("Enter")  # c a b d
    page.get_by_role("button", name="up: its JoinGroup").click()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()
    assert practice.verdicts[0].given == ("c", "a", "d", "b")


def test_the_culprit_line_is_chosen_by_its_number(asked):
    page, practice = asked(KINDS["log"])
    key = practice.questions[0].key[0]
    page.locator("h3").focus()
    page.keyboard.press(key)
    page.keyboard.press("Enter")
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()


def test_a_row_of_a_picture_is_clicked(asked):
    page, _ = asked(KINDS["picture"])
    assert page.locator("svg[role=img]").count() == 6
    page.locator("label", has_text="orders-2").locator("svg").click()
    page.get_by_role("button", name="Answer").click()
    page.get_by_text("Right. 1 right of 1 answered.").wait_for()


@pytest.fixture
def sitting(chromium, tmp_path):
    """An exam on a page; calling it again is a new kernel and a new page on the same answers."""
    pages = []

    def sit(start=True, questions=12):
        exam = ExamSitting.begin("CCDAK", questions=questions, store=Store(tmp_path / "answers.sqlite"))
        if start:
            exam.start()
        heard = []

        def kernel(message):
            heard.append(message)
            error = ""
            try:
                obey(exam, message)
            except DataError as refused:
                error = str(refused)
            return json.loads(json.dumps({**exam.page(), "error": error}))

        page = chromium.new_page()
        pages.append(page)
        page.set_content('<main id="out"></main>')
        page.add_style_tag(path=STATIC / "quiz.css")
        page.expose_function("kernel", kernel)
        page.expose_function("moduleText", lambda: script("exam"))
        page.evaluate(HARNESS, exam.page())
        page.wait_for_selector("form" if start else "[data-role=begin]")
        return page, exam, heard

    yield sit
    for page in pages:
        page.close()


def simple(exam) -> int:
    """The place of a question with plain options."""
    return next(
        place
        for place, one in enumerate(exam.questions)
        if isinstance(one, Choice) and not one.many and not one.form
    )


def test_an_exam_survives_a_killed_kernel_and_ends_with_a_report(sitting):
    page, exam, heard = sitting()
    place = simple(exam)
    page.get_by_label(f"question {place + 1}, open").click()
    page.get_by_text(f"Question {place + 1} of").wait_for()
    page.locator("input[value=b]").check()
    page.get_by_role("button", name="strike out c").click()
    page.get_by_role("button", name="strike out c").filter(has_text="restore").wait_for()
    assert page.locator("input[value=b]").is_checked()
    page.get_by_role("button", name="Flag", exact=True).click()
    page.get_by_text("Take the flag away").wait_for()
    assert page.locator(".rkq-option.struck").count() == 1
    spent = exam.spent_s
    page.close()
    page, again, _ = sitting()
    assert again.place == place and again.spent_s >= spent
    assert page.locator("input[value=b]").is_checked() and page.locator(".rkq-option.struck").count() == 1
    page.get_by_role("button", name="Review").click()
    page.get_by_text("1 flagged").wait_for()
    page.get_by_role("button", name="Hand in").press("Enter")
    page.get_by_label("report").wait_for()
    assert "By domain:" in page.get_by_label("report").inner_text()
    page.get_by_label(f"question {place + 1}, answered").click()
    page.locator(".rkq-told", has_text=f"Question {place + 1} of").wait_for()
    assert page.locator(".rkq-why").count() == len(exam.questions[place].options)
    assert not any("verdict" in message for message in heard)


def test_an_exam_says_what_it_is_then_begins_and_takes_as_many_as_asked_for(sitting):
    page, exam, _ = sitting(start=False)
    assert "Not asked here" in page.locator(".rkq-start").inner_text() and not exam.begun
    assert page.locator("form").count() == 0 and page.get_by_role("timer").count() == 0
    page.get_by_role("button", name="Begin").click()
    page.wait_for_selector("form")
    assert exam.begun
    place = next(n for n, one in enumerate(exam.questions) if isinstance(one, Choice) and one.many)
    page.get_by_label(f"question {place + 1}, open").click()
    page.locator("h3", has_text=f"Question {place + 1} of").wait_for()
    boxes = page.locator("input[type=checkbox]")
    boxes.nth(0).check()
    page.get_by_role("button", name="Next open").click()
    lacking = len(exam.questions[place].key) - 1
    page.get_by_label(f"question {place + 1}, open, {lacking} more asked for").click()
    page.locator("h3", has_text=f"Question {place + 1} of").wait_for()
    for number in range(1, lacking + 1):
        boxes.nth(number).check()
    assert boxes.nth(lacking + 1).is_disabled() and not boxes.nth(0).is_disabled()
    page.get_by_role("button", name="Next open").click()
    page.get_by_label(f"question {place + 1}, answered").wait_for()
    page.evaluate("(now => { performance.now = () => now() + 900_000; })(performance.now.bind(performance))")
    page.get_by_role("alert").wait_for()


def test_the_report_says_open_where_nothing_was_answered_and_which_runs_its_buttons_open(sitting):
    page, exam, _ = sitting(questions=24)
    place = next(n for n, one in enumerate(exam.questions) if one.kind in {"matching", "ordering"})
    page.set_viewport_size({"width": NARROW, "height": 844})
    page.locator("[data-role=review]").click()
    box = page.locator("[data-role=finish]").bounding_box()
    assert box["height"] < 45, "Hand in stands on one line"
    page.locator("[data-role=finish]").click()
    report = page.locator("pre[aria-label=report]").inner_text()
    assert "Left open: 1, 2," in report.replace("\n", " ")
    assert "the first 8 of 24" in report.replace("\n", " ") and "Replay next" not in report
    assert page.get_by_text("Runs behind what was not right:").count() == 1
    page.locator(".rkq-places button").nth(place).click()
    page.get_by_text(f"Question {place + 1} of 24").wait_for()
    assert "✗" not in page.locator(".rkq-places").inner_text()
    assert "in your answer" not in page.locator("#out").inner_text()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide == NARROW


def test_what_is_chosen_is_kept_at_once_and_survives_a_jump_to_another_question(sitting):
    page, exam, heard = sitting()
    place = simple(exam)
    page.get_by_label(f"question {place + 1}, open").click()
    page.locator("h3", has_text=f"Question {place + 1} of").wait_for()
    page.locator("input[value=c]").check()
    other = (place + 1) % len(exam.questions)
    page.get_by_label(f"question {other + 1}, open").click()
    page.get_by_label(f"question {place + 1}, answered").wait_for()
    assert exam.given(place) == "c" and [one["do"] for one in heard] == ["go", "keep", "go"]


def test_an_exam_is_done_by_keyboard_and_shows_the_time_left_but_no_key(sitting):
    page, exam, _ = sitting()
    place = simple(exam)
    page.get_by_label(f"question {place + 1}, open").press("Enter")
    page.get_by_text(f"Question {place + 1} of").wait_for()
    source = page.locator("#out").inner_html()
    assert not any(option.why in source for option in exam.questions[place].options)
    assert page.get_by_role("timer").inner_text().endswith("left")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    page.get_by_label(f"question {place + 1}, answered").wait_for()
    assert exam.given(place) == "a"
