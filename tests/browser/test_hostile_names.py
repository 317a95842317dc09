"""Hostile names on every page that shows names: no script runs, nothing is asked of a network, and nothing disappears."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

pytest.importorskip("plotly", reason="plotly is not installed: reports are left out")

from rebalance_kit.forensics.look import look
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Choice
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.practice import Practice
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.lab.run_report import write_report
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.quiz.page import script
from rebalance_kit.view.reports.log_report import write_forensics_page
from tests.support.bad_input.command import ended
from tests.support.browser.lab_bridge import Bridge

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


@pytest.fixture
def safe(page):
    """The page, after which nothing may have run, been asked, or been made of a name."""
    asked = []
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
    safe.goto(write_report(tmp_path / "report.html", [trace]).as_uri())
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
