"""Numbers that are settings: dragged with the mouse and stepped with keys, in sentences, in Why and in Settings."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

SESSION = "session.timeout.ms"


@pytest.fixture
def bridge(page, tmp_path):
    return Bridge(page, Lab(), tmp_path / "lab.html")


@pytest.fixture
def crashed(bridge):
    """The first lesson, 5 s after consumer-1 has crashed."""
    bridge.seek(20_000)
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    bridge.seek(25_000)
    return bridge


def spin(bridge, name=SESSION, within=".rk-say"):
    return bridge.root.locator(f"{within} [role=spinbutton][aria-label='{name}']").first


def drag(bridge, node, by):
    box = node.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    bridge.page.mouse.move(x, y)
    bridge.page.mouse.down()
    for part in range(1, 6):
        bridge.page.mouse.move(x + by * part / 5, y)
        bridge.settle()


def session_s(bridge):
    return {spec.configs.get(SESSION, 45_000) for spec in bridge.lab.scenario.members}


def test_a_number_in_the_sentence_is_dragged_and_strip_board_and_cost_follow(crashed, shot):
    assert spin(crashed).inner_text() == "45.0 s"
    assert spin(crashed).get_attribute("aria-valuenow") == "45000"
    before = crashed.page.evaluate("document.querySelector('.rk-strip canvas').toDataURL()")
    drag(crashed, spin(crashed), -6 * 25)
    assert spin(crashed).inner_text() == "20.0 s"
    assert session_s(crashed) == {20_000}
    assert crashed.page.evaluate("document.querySelector('.rk-strip canvas').toDataURL()") != before
    assert crashed.text(".rk-cost").startswith("session.timeout.ms 45.0 s → 20.0 s: unread from here on:")
    shot(crashed.root, "number-dragged")
    crashed.page.mouse.up()
    crashed.settle()
    assert len(crashed.lab.controls["done"]) == 2
    crashed.press("u")
    assert session_s(crashed) == {45_000}
    assert len(crashed.lab.controls["done"]) == 1


def test_keys_step_a_number_esc_gives_it_back_and_the_focus_stays(crashed):
    spin(crashed).focus()
    for key in ("ArrowDown", "ArrowLeft", "PageDown"):
        crashed.page.keyboard.press(key)
        crashed.settle()
    assert session_s(crashed) == {33_000}
    assert crashed.page.evaluate("document.activeElement.getAttribute('aria-label')") == SESSION
    assert crashed.page.evaluate("document.activeElement.getAttribute('aria-valuetext')") == "33.0 s"
    crashed.page.keyboard.press("Escape")
    crashed.settle()
    assert session_s(crashed) == {45_000}
    assert crashed.lab.controls["undo"] == "consumer-1 crashes"
    crashed.page.keyboard.press("ArrowUp")
    crashed.page.keyboard.press("Enter")
    crashed.settle()
    assert session_s(crashed) == {46_000}
    assert crashed.page.evaluate("document.activeElement.getAttribute('aria-label')") == SESSION


def test_steps_are_drawn_on_the_same_board_while_its_members_and_partitions_stay(crashed):
    spin(crashed).focus()
    crashed.page.evaluate("window.kept = [...document.querySelectorAll('.rk-lane, .rk-token')]")
    for key in ("ArrowDown", "PageDown"):
        crashed.page.keyboard.press(key)
        crashed.settle()
    assert session_s(crashed) == {34_000}
    assert crashed.page.evaluate("kept.length === 6 && kept.every((node) => node.isConnected)")
    crashed.press("Enter")
    crashed.press("m")
    assert not crashed.page.evaluate("kept.some((node) => node.isConnected)")
    assert crashed.page.evaluate("document.querySelectorAll('.rk-lane').length") == 3


def test_a_number_goes_on_being_dragged_where_the_sentence_no_longer_names_it(crashed):
    crashed.seek(45_000)
    drag(crashed, spin(crashed), -6 * 30)
    assert session_s(crashed) == {15_000}
    assert "All 4 partitions flow" in crashed.text(".rk-cause").replace("\n", " ")
    crashed.page.mouse.move(0, 0)
    crashed.page.mouse.up()
    crashed.settle()
    assert len(crashed.lab.controls["done"]) == 2


def test_what_kafka_refuses_is_said_and_falls_back_to_the_last_value_that_it_took(crashed):
    spin(crashed).focus()
    for _ in range(5):
        crashed.page.keyboard.press("PageDown")
        crashed.settle()
    assert spin(crashed).get_attribute("aria-invalid") == "true"
    assert len(crashed.text(".rk-notice")) > 20
    crashed.page.keyboard.press("Enter")
    crashed.settle()
    assert session_s(crashed) == {5_000}


def test_partitions_are_dragged_in_all_n_partitions_flow(bridge):
    bridge.seek(15_000)
    node = spin(bridge, "partitions.orders")
    assert node.inner_text() == "4"
    node.focus()
    bridge.page.keyboard.press("ArrowUp")
    bridge.settle()
    bridge.page.keyboard.press("Enter")
    bridge.settle()
    assert len(bridge.lab.boards.partitions) == 5
    assert bridge.text(".rk-cause") == "All 5 partitions flow."


def test_a_number_in_why_is_stepped_and_the_board_follows(crashed):
    crashed.open_tab("why")
    spin(crashed, within="[aria-current=step]").focus()
    crashed.page.keyboard.press("PageDown")
    crashed.settle()
    assert session_s(crashed) == {35_000}
    crashed.page.keyboard.press("Enter")
    crashed.settle()
    crashed.pump("document.querySelector('.rk-why [aria-current=step]')")
    assert spin(crashed, within=".rk-why").inner_text() == "35.0 s"


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_members_in_settings_change_the_group_and_are_one_step_to_undo(bridge, by):
    bridge.press("s")
    field = bridge.root.locator("[data-field=members]")
    if by == "mouse":
        drag(bridge, bridge.root.locator(".rk-field:has([data-field=members]) label"), 6 * 3)
        bridge.page.mouse.up()
    else:
        field.focus()
        for key in ("ArrowUp", "ArrowUp", "ArrowUp", "Enter"):
            bridge.page.keyboard.press(key)
            bridge.settle()
    bridge.settle()
    assert field.input_value() == "5"
    assert len(bridge.root.locator(".rk-lane").all()) == 5
    field.press("Escape")
    bridge.press("u")
    assert len(bridge.lab.scenario.members) == 2


def test_a_large_group_shows_the_first_second_while_dragged_and_the_whole_run_afterwards(page, tmp_path):
    bridge = Bridge(page, Lab("fifty-by-five-hundred"), tmp_path / "large.html")
    bridge.press("s")
    field = bridge.root.locator(f"[data-field='{SESSION}']")
    field.focus()
    page.keyboard.press("PageDown")
    bridge.settle()
    assert page.evaluate("lab.film.known") == bridge.lab.cursor_ms + 1000
    page.keyboard.press("Enter")
    bridge.settle()
    bridge.pump("lab.film.known === lab.film.end")
    assert bridge.lab.trace.end_ms == bridge.lab.scenario.end_ms
    assert session_s(bridge) == {35_000}
