"""Hostile names on every page that the kit writes or shows: no script runs, nothing is asked of a network, the console is silent, and nothing disappears.

A page that is written has a policy besides, which refuses a script that a name would bring.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("plotly", reason="plotly is not installed: reports are left out")

from rebalance_kit.classroom.class_report import as_page, sections
from rebalance_kit.classroom.gradebook import feedback_page
from rebalance_kit.classroom.guide import index
from rebalance_kit.classroom.marking import CourseMarks, LearnerMarks, Mark
from rebalance_kit.classroom.plan import Beat, HandsOn, Plan, Scene
from rebalance_kit.forensics.look import look
from rebalance_kit.pipeline.stream.query import Latest
from rebalance_kit.quiz.exports import marked
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Choice
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.practice import Practice
from rebalance_kit.quiz.sittings.room import Room
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.lab.run_report import write_report
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.quiz.page import script
from rebalance_kit.view.reports.log_report import write_forensics_page
from rebalance_kit.view.reports.sweep_report import write_sweep
from rebalance_kit.view.reports.watch_page import write_page
from tests.support.bad_input.command import ended
from tests.support.browser.lab_bridge import Bridge
from tests.support.paths import ROOT

NAMES = (
    "<!--<script>",
    "</script><script>hurt=1</script>",
    "<img src=x onerror=hurt=1>",
    '"><svg onload=hurt=1>',
    "<a href=javascript:hurt=1>x</a>",
    '<a href="https://example.org/hurt">y</a> &lt; <b>z</b>',
)
ONE = "<!--<script><img src=x onerror=hurt=1>"
LOG = (
    "[2026-11-21 02:15:{second},894] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] Preparing to rebalance group "
    "{name} in state PreparingRebalance with old generation {number} (reason: {name}). "
    "(org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
    "[2026-11-21 02:15:{second},999] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] Stabilized group "
    "{name} generation {number} with 3 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)
HARNESS = """
async (first) => {
  const module = await import(URL.createObjectURL(new Blob([await window.moduleText()], { type: "text/javascript" })));
  const model = { get: (name) => (name === "page" ? first : null), send: () => {}, on: () => {}, off: () => {} };
  module.default.render({ model, el: document.getElementById("out") });
}
"""


@pytest.fixture
def scenario():
    members = "".join(f"- {{name: {json.dumps(name)}, topics: [orders]}}\n" for name in NAMES)
    text = f"scenario: hostile\ntitle: {json.dumps(ONE)}\nstory: {json.dumps(ONE)}\ngroup: {json.dumps(ONE)}\ntopics: {{orders: 6}}\nmembers:\n{members}"
    return f"{text}actions:\n- {{at: 5s, do: crash, member: {json.dumps(NAMES[0])}}}\nend: 20s\n"


WRITES_PAGES = {
    "classroom/class_report.py": "test_the_report_of_a_class",
    "classroom/gradebook.py": "test_the_feedback_of_a_learner",
    "classroom/guide.py": "test_the_pages_of_plan_b",
    "quiz/sittings/room.py": "test_the_page_of_a_room_for_phones",
    "quiz/exports/marked.py": "test_the_questions_on_paper",
    "view/lab/page.py": "test_the_exported_lab",
    "view/reports/log_report.py": "test_the_page_about_logs",
    "view/reports/sweep_report.py": "test_the_report_of_a_run, test_the_page_of_a_sweep",
    "view/reports/watch_page.py": "test_the_page_of_a_watched_folder",
}
"""Every module that writes a page, and the test that opens it."""


def test_every_module_that_writes_a_page_is_listed_with_a_test_that_opens_it():
    kit = ROOT / "rebalance_kit"
    writers = {
        file.relative_to(kit).as_posix()
        for file in kit.rglob("*.py")
        if "<!doctype html" in file.read_text("utf-8").lower()
    }
    assert writers == WRITES_PAGES.keys()
    assert all(name in globals() for names in WRITES_PAGES.values() for name in names.split(", "))


@pytest.fixture
def safe(page, request):
    """The page, after which nothing may have run, been asked, said in the console, or been made of a name."""
    asked = []
    page.on("console", lambda said: asked.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
    yield page
    assert page.evaluate("typeof hurt") == "undefined"
    assert (
        page.evaluate(
            "[...document.querySelectorAll('img[src=x], svg[onload], a')]"
            ".filter((one) => one.localName !== 'a' || /hurt/.test(one.outerHTML.split('>')[0])).length"
        )
        == 0
    )
    assert asked == []
    if request.node.name in ", ".join(WRITES_PAGES.values()).split(", "):
        refuses_a_script(page)


def refuses_a_script(page):
    """Ask that the page's policy refuses a script that a name would have brought."""
    page.evaluate(
        """() => {
          document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=hurt=1>");
          const failed = new Promise((done) => document.body.lastElementChild.addEventListener("error", done));
          const script = document.createElement("script");
          script.textContent = "hurt=1";
          document.body.append(script);
          return failed;
        }"""
    )
    assert page.evaluate("typeof hurt") == "undefined"


def shows(page, *names):
    """Ask that a page's text, or the words of its drawings, hold each name as it stands."""
    words = page.evaluate(
        "() => [document.body.textContent, ...[...document.querySelectorAll('[aria-label],[title]')].map((one) => (one.ariaLabel || '') + one.title)].join('\\n')"
    )
    missing = [name for name in names if name not in words]
    assert missing == []
    return True


def test_the_report_of_a_run(safe, scenario, tmp_path):
    trace = simulate(read_scenario(scenario, "s.yaml"), protocol="eager")
    title = f"{NAMES[1]}: as it was"  # a what-if page is titled with the group of the logs
    safe.goto(write_report(tmp_path / "report.html", [trace], title).as_uri())
    safe.locator("#run-0 .rk-stage").wait_for()
    assert shows(safe, ONE, *NAMES)


def test_the_page_about_logs(safe, tmp_path):
    (tmp_path / "broker.log").write_text(
        "".join(
            LOG.format(name=name, number=number, second=10 + number) for number, name in enumerate(NAMES)
        ),
        "utf-8",
    )
    (tmp_path / "out").mkdir()
    safe.goto(write_forensics_page(look([tmp_path / "broker.log"]), tmp_path / "out").as_uri())
    safe.locator("#g0").wait_for()
    assert shows(safe, *(name for name in NAMES if " " not in name))


def test_the_exported_lab(safe, scenario, tmp_path):
    (tmp_path / "s.yaml").write_text(scenario, "utf-8")
    assert ended("lab", tmp_path / "s.yaml", "--html", tmp_path / "lab.html").status == 0
    safe.goto((tmp_path / "lab.html").as_uri())
    safe.locator(".rk-stage").wait_for()
    assert shows(safe, ONE, NAMES[1], NAMES[3])


def test_the_page_of_a_sweep(safe, tmp_path):
    rows = [
        {
            "protocol": protocol,
            ONE: members,
            "error": None,
            "group_gap_s": float(members),
            "unread_partition_s": 2.0 * members,
        }
        for protocol in ("eager", "consumer")
        for members in (2, 3)
    ]
    safe.goto(write_sweep(tmp_path / "sweep.html", rows, [ONE], ONE).as_uri())
    safe.locator(".js-plotly-plot .main-svg").first.wait_for()
    assert shows(safe, ONE)


def test_the_page_of_a_watched_folder(safe, tmp_path):
    row = {
        "start_ms": 1_795_227_311_745,
        "end_ms": None,
        "group": ONE,
        "number": 1,
        "before": 0,
        "after": None,
        "cause": NAMES[1],
        "settled": False,
    }
    latest = Latest(3, 1234, 1, "2026-11-21T02:29:20.685Z", (row,))
    safe.goto(write_page(tmp_path / "watch.html", latest, NAMES[3]).as_uri())
    assert shows(safe, ONE, NAMES[1], NAMES[3])


@pytest.fixture
def hostile_class():
    learners = tuple(
        LearnerMarks(name, 1, {"c1-write-range": Mark("c1-write-range", 1, 0, name, name, name)}, (), (name,))
        for name in NAMES
    )
    return CourseMarks(ONE, ("c1-write-range",), learners, ())


def test_the_feedback_of_a_learner(safe, tmp_path, hostile_class):
    (tmp_path / "ada.html").write_text(feedback_page(hostile_class.learners[0], hostile_class), "utf-8")
    safe.goto((tmp_path / "ada.html").as_uri())
    assert shows(safe, ONE, NAMES[0])


def test_the_report_of_a_class(safe, tmp_path, hostile_class):
    marks = hostile_class
    (tmp_path / "report.html").write_text(as_page(marks, sections(marks, {})), "utf-8")
    safe.goto((tmp_path / "report.html").as_uri())
    assert shows(safe, ONE, *NAMES)


def test_the_questions_on_paper(safe, tmp_path):
    item, _ = question()
    (tmp_path / "paper.html").write_bytes(marked.written([item], ONE, with_key=True))
    safe.goto((tmp_path / "paper.html").as_uri())
    assert shows(safe, ONE, *(option.text for option in item.options))


def test_the_pages_of_plan_b(safe, tmp_path, scenario):
    scene = Scene("hostile", "eager", 1, 0)
    plan = Plan(
        "p", ONE, 5, ONE, (), (), (), (Beat(NAMES[3], 0, 5, (), lab=scene, hands_on=HandsOn(3, NAMES[1])),)
    )
    (tmp_path / "index.html").write_text(index(plan, [f"hostile-{NAMES[0]}"]), "utf-8")
    safe.goto((tmp_path / "index.html").as_uri())
    assert shows(safe, ONE, NAMES[3], NAMES[1], NAMES[0])


def test_the_page_of_a_room_for_phones(page, tmp_path):
    item, bank = question()
    count = PollCount(item.head.id, store=Store(tmp_path / "a.sqlite"), bank=bank)
    room = Room(count.room)
    said = []
    page.on("console", lambda line: said.append(line.text) if "favicon" not in line.location["url"] else None)
    try:
        room.show(count, lambda: None)
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto(room.address)
        assert shows(page, ONE, *(option.text for option in item.options))
        page.locator("input[name=answer]").first.check()
        page.get_by_role("button", name="Vote").click()
        page.get_by_text("Your vote").wait_for()
        assert count.page()["votes"] == 1
        assert page.evaluate("typeof hurt") == "undefined"
        assert said == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        refuses_a_script(page)
    finally:
        room.close()


def test_the_lab(safe, scenario, tmp_path):
    bridge = Bridge(safe, Lab(read_scenario(scenario, "s.yaml")), tmp_path / "lab.html")
    bridge.pump("lab.serial !== undefined")
    assert shows(safe, NAMES[1], NAMES[3])


def question():
    """An item whose texts are all hostile, in a bank of its own."""
    bank = read_bank()
    item = next(
        item
        for item in bank.items
        if isinstance(item, Choice) and item.kind == "single" and item.head.exhibit is None
    )
    options = tuple(
        replace(option, text=f"{name} {option.id}", why=ONE)
        for option, name in zip(item.options, NAMES, strict=False)
    )
    item = replace(item, head=replace(item.head, stem=f"Which? {ONE}"), options=options)
    return item, Bank((item,), (), bank.beliefs)


def test_the_quiz(safe):
    item, _ = question()
    rendered(safe, "practice", {**Practice("t", (item,)).page(), "error": ONE})
    assert shows(safe, ONE, *(option.text for option in item.options))


def test_the_poll(safe, tmp_path):
    item, bank = question()
    count = PollCount(item.head.id, store=Store(tmp_path / "a.sqlite"), bank=bank)
    rendered(safe, "poll", {**count.page(), "error": ONE})
    assert shows(safe, ONE, *(option.text for option in item.options))


def rendered(page, name, state):
    """Show a page of the quiz with this state."""
    page.set_content('<main id="out"></main>')
    page.expose_function("moduleText", lambda: script(name))
    page.evaluate(HARNESS, json.loads(json.dumps(state)))
    page.locator("#out *").first.wait_for()
