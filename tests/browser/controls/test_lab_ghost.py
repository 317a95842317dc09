"""An action that is looked at shows its future on the strip, pale, and changes nothing."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

STRIP = "document.querySelector('.rk-strip canvas').toDataURL()"
GHOST = "document.querySelector('.rk-would').textContent"


@pytest.fixture
def bridge(page, tmp_path):
    bridge = Bridge(page, Lab(), tmp_path / "lab.html")
    bridge.seek(20_000)
    return bridge


def look_at(bridge, by, name):
    node = bridge.root.get_by_role("button", name=name)
    if by == "mouse":
        node.hover()
    else:
        node.focus()


def look_away(bridge, by):
    if by == "mouse":
        bridge.page.mouse.move(2, 2)
    else:
        bridge.page.evaluate("lab.screen.focusTarget().focus()")


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_looking_at_crash_shows_its_future_pale_and_looking_away_takes_it_back(bridge, by, shot):
    before, film = bridge.page.evaluate(STRIP), bridge.lab.film
    look_at(bridge, by, "Crash consumer-1")
    bridge.pump(GHOST)
    assert bridge.page.evaluate(GHOST) == "What would be: consumer-1 crashes"
    assert bridge.page.evaluate(STRIP) != before
    assert "consumer-1 crashes" in bridge.text(".rk-marks")
    assert "partition-seconds in all" in bridge.text(".rk-cost[role=status]")
    assert "more than without it" in bridge.text(".rk-cost")
    shot(bridge.root, f"ghost-{by}")
    look_away(bridge, by)
    assert bridge.page.evaluate(f"!{GHOST}")
    assert bridge.page.evaluate(STRIP) == before
    assert bridge.text(".rk-cost") == ""
    assert bridge.lab.film == film
    assert bridge.lab.controls["done"] == []


def test_the_future_that_was_shown_is_the_one_that_comes(bridge):
    look_at(bridge, "mouse", "Crash consumer-1")
    bridge.pump(GHOST)
    axis = bridge.text(".rk-axis")
    bridge.click("Crash consumer-1")
    bridge.page.evaluate("lab.player.pause()")
    assert bridge.page.evaluate(f"!{GHOST}")
    assert bridge.text(".rk-axis") == axis
    assert not bridge.root.locator(".rk-foreseen").count()


def test_leaving_before_the_answer_shows_nothing_and_the_next_button_is_asked_for(bridge):
    bridge.listening = False
    look_at(bridge, "mouse", "Crash consumer-1")
    bridge.page.wait_for_timeout(250)
    look_at(bridge, "mouse", "Leave consumer-1")
    bridge.listening = True
    bridge.pump(GHOST)
    assert bridge.page.evaluate(GHOST) == "What would be: consumer-1 leaves"


def test_a_large_group_gets_a_sentence_and_nothing_is_simulated(page, tmp_path):
    bridge = Bridge(page, Lab("fifty-by-five-hundred"), tmp_path / "large.html")
    look_at(bridge, "mouse", "Crash consumer-1")
    bridge.pump("document.querySelector('.rk-cost').textContent")
    assert bridge.text(".rk-cost").startswith("consumer-1 reads ")
    assert bridge.page.evaluate(f"!{GHOST}")
