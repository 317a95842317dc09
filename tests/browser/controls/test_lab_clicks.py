"""What a click on a number, a label of the strip, a tile and a line of a log does, and what is said then."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario, TopicSpec
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

SESSION = "session.timeout.ms"


@pytest.fixture
def bridge(page, tmp_path):
    return Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1326)


@pytest.mark.parametrize("by", ["click", "Enter"])
def test_a_number_opens_its_field(bridge, by):
    bridge.seek(60_000)
    number = bridge.root.locator(f".rk-say [role=spinbutton][aria-label='{SESSION}']").first
    number.click() if by == "click" else number.press("Enter")
    bridge.pump("lab.drawer.open")
    assert bridge.page.evaluate("document.activeElement.dataset.field") == SESSION
    assert not bridge.lab.history.state.done


def test_a_label_of_the_strip_is_jumped_to(bridge):
    label = bridge.root.locator(".rk-mark.rk-fault").first
    label.click()
    bridge.settle()
    at = int(label.get_attribute("data-at"))
    assert bridge.page.evaluate("lab.player.at") == at
    assert at in {
        mark["at"] for mark in bridge.page.evaluate("lab.film.marks.filter((mark) => mark.kind === 'fault')")
    }


def test_what_was_said_last_holds_after_a_setting_has_changed(bridge):
    bridge.seek(bridge.page.evaluate("lab.film.marks.find((mark) => mark.kind === 'fault').at") + 700)
    bridge.page.wait_for_function("lab.ui.status.textContent.includes('At most 4')")
    bridge.page.evaluate(f"lab.ask({{ type: 'settings', values: {{ '{SESSION}': '10000' }} }})")
    bridge.settle()
    left = bridge.page.evaluate("lab.ui.effect.textContent.match(/At most [0-9.]+ s/)[0]")
    bridge.page.wait_for_function(f"lab.ui.status.textContent.includes('{left}')", timeout=30_000)


def test_a_tile_that_was_searched_says_what_it_does_and_nobody_found_is_said(page, tmp_path):
    members = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(1, 51))
    group = Scenario("large", (TopicSpec("orders", 500),), members, end_ms=30_000)
    bridge = Bridge(page, Lab(group), tmp_path / "lab.html", width=1326)
    name = bridge.page.evaluate("lab.film.members[16].name")
    bridge.press("/")
    bridge.page.keyboard.type(name)
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    assert bridge.text(".rk-filternote").startswith(f"{name}: ")
    bridge.press("/")
    bridge.root.get_by_label("Search members and partitions").fill("zzz")
    assert bridge.text(".rk-filternote") == "No member is called zzz."


def test_a_line_of_the_logs_is_unfolded_and_the_words_of_a_filter_stand_in_any_order(bridge):
    bridge.seek(90_000)
    bridge.open_tab("logs")
    bridge.root.get_by_label("Filter lines").fill("removing member")
    lines = bridge.root.locator(".rk-line")
    assert [
        word in text
        for word, text in zip(["has failed", "heartbeat expiration"], lines.all_inner_texts(), strict=True)
    ] == [True, True]
    assert lines.first.bounding_box()["height"] > 30, "under a filter lines are whole"
    assert "Click a line" not in bridge.text(".rk-logs .rk-bar")
    bridge.root.get_by_label("Filter lines").fill("")
    assert "Click a line to see all of it." in bridge.text(".rk-logs .rk-bar")
    line = lines.filter(has_text="removing member").first
    assert line.bounding_box()["height"] < 30
    line.click()
    assert line.bounding_box()["height"] > 30
    line.click()
    assert line.bounding_box()["height"] < 30
