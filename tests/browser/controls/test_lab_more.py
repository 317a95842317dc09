"""More: everything that can be done, by what it is done to, with arguments."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge


@pytest.fixture
def bridge(page, tmp_path):
    bridge = Bridge(page, Lab(), tmp_path / "lab.html")
    bridge.seek(20_000)
    return bridge


def opened(bridge, by):
    """Open the menu with the mouse, or with the keyboard."""
    if by == "mouse":
        bridge.click("More actions")
    else:
        bridge.root.get_by_role("button", name="More actions").press("Enter")
    return bridge.root.locator(".rk-menu")


def do(bridge, menu, by, name, **arguments):
    """Fill in arguments and do the deed."""
    row = menu.locator(".rk-deed", has=bridge.page.locator(f"[data-do='{name}']"))
    for key, value in arguments.items():
        field = row.locator(f"[data-argument='{key}']")
        if field.evaluate("one => one.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    if by == "mouse":
        row.locator("button").click()
    elif arguments:
        row.locator("input").last.press("Enter")
    else:
        row.locator("button").press("Enter")
    bridge.settle()
    bridge.page.evaluate("lab.player.pause()")


def actions(bridge):
    return [(one.do, one.at_ms, dict(one.args)) for one in bridge.lab.scenario.actions]


BOTH = pytest.mark.parametrize("by", ["mouse", "keyboard"])


@BOTH
def test_deeds_are_grouped_and_the_menu_opens_above_its_button(bridge, by, shot):
    menu = opened(bridge, by)
    heads = menu.locator("h3").all_inner_texts()
    assert heads == ["Application", "Process", "Network", "Broker", "Topics", "Group"]
    box, bar = menu.bounding_box(), bridge.root.locator(".rk-actions").bounding_box()
    assert box["y"] + box["height"] <= bar["y"] + 1
    shot(bridge.root, f"more-{by}")
    assert menu.evaluate("one => one.scrollHeight - one.clientHeight") <= 1
    shot(bridge.root, f"more-{by}")
    bridge.page.keyboard.press("ArrowDown")
    assert bridge.page.evaluate("document.activeElement.className") == "rk-item"
    bridge.page.keyboard.press("Escape")
    label = bridge.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert label.startswith("More actions" if by == "keyboard" else "consumer-1")


@BOTH
def test_a_freeze_of_so_long_thaws_by_itself_and_is_one_step_to_undo(bridge, by):
    do(bridge, opened(bridge, by), by, "freeze_for", for_ms="7.5")
    assert actions(bridge) == [("freeze", 20_000, {}), ("thaw", 27_500, {})]
    assert bridge.lab.controls["done"] == [[20_000, "consumer-1 freezes for 7.5 s"]]
    again = Lab.from_link(bridge.lab.link)
    assert again.trace.rows == bridge.lab.trace.rows
    bridge.press("u")
    assert actions(bridge) == []


@BOTH
def test_a_topic_grows_to_the_number_that_was_asked_for(bridge, by):
    do(bridge, opened(bridge, by), by, "add_partitions", topic="orders", partitions="9")
    assert actions(bridge) == [("add_partitions", 20_000, {"topic": "orders", "partitions": 9})]


@BOTH
def test_the_group_is_scaled_to_so_many_members_so_far_apart(bridge, by):
    do(bridge, opened(bridge, by), by, "scale_to", members="5", every_ms="1.5")
    assert actions(bridge) == [("scale_to", 20_000, {"members": 5, "every_ms": 1500})]


@BOTH
def test_a_member_is_bounced_with_a_configuration_in_kafkas_names(bridge, by):
    do(bridge, opened(bridge, by), by, "reconfigure", configs="max.poll.records=7", after_ms="3")
    assert actions(bridge) == [
        ("reconfigure", 20_000, {"configs": {"max.poll.records": 7}, "after_ms": 3000})
    ]


@BOTH
def test_an_argument_that_means_nothing_is_refused_in_words(bridge, by):
    do(bridge, opened(bridge, by), by, "add_partitions", topic="orders", partitions="2")
    assert actions(bridge) == []
    assert len(bridge.text(".rk-notice.rk-refused")) > 20


def test_the_argument_belongs_to_the_button_name_and_to_the_future_that_is_shown(bridge):
    menu = opened(bridge, "mouse")
    row = menu.locator(".rk-deed", has=bridge.page.locator("[data-do=slow_callback]"))
    row.locator("input").fill("9")
    button = row.locator("button")
    assert button.get_attribute("aria-label") == "Take 9 s in each callback"
    button.hover()
    bridge.pump("document.querySelector('.rk-would').textContent")
    assert bridge.text(".rk-would").startswith("What would be: consumer-1")
