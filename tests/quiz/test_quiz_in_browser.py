"""The page of the quiz in a real browser: by mouse, by keyboard alone, and what its source tells.

The script that ships is loaded into Chromium; its messages go to a real ``Practice`` and its pages come
back, as they do through a kernel.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.practice import Practice

pytestmark = pytest.mark.browser

STATIC = Path(__file__).resolve().parents[2] / "rebalance_kit" / "view" / "static"
HARNESS = """
async (first) => {
  const source = await window.moduleText();
  const module = await import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
  let page = first, listener = () => {};
  const model = {
    get: () => page,
    send: async (message) => { page = await window.kernel(message); listener(); },
    on: (_, call) => { listener = call; },
    off: () => {},
  };
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
    page.expose_function("moduleText", lambda: (STATIC / "quiz.js").read_text(encoding="utf-8"))
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


def test_single_keys_are_kept_from_the_notebooks_own_shortcuts(shown):
    page, _, _ = shown
    assert page.locator("section.rkq").get_attribute("data-lm-suppress-shortcuts") == "true"


def test_text_with_markup_is_shown_as_text(chromium):
    page = chromium.new_page()
    hostile = {"title": "t", "number": 1, "of": 1, "last": True, "right": 0, "answered": 0, "verdict": None,
               "question": {"id": "x", "kind": "single", "stem": '<img src=x onerror="window.hit=1"> `code`', "exhibit": "<b>bold</b>",
                            "options": [{"id": "a", "text": "<script>window.hit=1</script>"}]}}  # fmt: skip
    page.set_content('<main id="out"></main>')
    page.expose_function("kernel", lambda _: hostile)
    page.expose_function("moduleText", lambda: (STATIC / "quiz.js").read_text(encoding="utf-8"))
    page.evaluate(HARNESS, hostile)
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main script, main b").count() == 0
    assert page.locator("pre").inner_text() == "<b>bold</b>"
    assert page.locator("code").inner_text() == "code"
    page.close()
