"""What fits: the height of the lab, whole names, tokens that stay large, and a large group that can be looked through."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge
from tests.support.thinning import thinned

CELL = 1040
"""What a notebook's cell is wide at 1366."""
SCROLLING = """() => [...document.querySelectorAll('.rk-lab *')].filter((one) => {
  const { overflowX, overflowY } = getComputedStyle(one);
  return ['auto', 'scroll'].includes(overflowX) && one.scrollWidth > one.clientWidth + 1
    || ['auto', 'scroll'].includes(overflowY) && one.scrollHeight > one.clientHeight + 1;
}).map((one) => one.className).filter((name) => !name.includes('rk-view'))"""
CUT = """() => [...document.querySelectorAll('.rk-part span, .rk-name, .rk-title')]
  .filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""


def opened(page, tmp_path, name, width=CELL, protocol=None):
    """A lab on its lesson, 12 s after a crash."""
    bridge = Bridge(page, Lab(name, protocol), tmp_path / "lab.html", width)
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    bridge.seek(bridge.lab.cursor_ms + 12_000)
    bridge.settle()
    return bridge


@pytest.mark.parametrize("name", [None, "crash", "two-consumers-crash", "fifty-by-five-hundred"])
def test_the_lab_is_620_pixels_high_in_a_cell_at_1366(page, tmp_path, name):
    page.set_viewport_size({"width": 1366, "height": 768})
    bridge = opened(page, tmp_path, name)
    assert bridge.root.bounding_box()["height"] <= 620


@pytest.mark.parametrize(
    ("width", "name"), thinned([1024, 1040, 1366, 1920], ["crash", "fifty-by-five-hundred"])
)
def test_the_board_has_no_scrollbar_of_its_own_and_cuts_no_name(page, tmp_path, width, name):
    page.set_viewport_size({"width": width, "height": 900})
    bridge = opened(page, tmp_path, name, width - 40)
    assert page.evaluate(SCROLLING) == []
    assert page.evaluate(CUT) == []
    seats = bridge.root.locator(".rk-room").bounding_box()
    bar = bridge.root.locator(".rk-coordinator").bounding_box()
    assert seats["x"] + seats["width"] <= bar["x"] + bar["width"] + 1


def test_names_stay_whole_for_a_projector(page, tmp_path):
    page.set_viewport_size({"width": 1366, "height": 900})
    bridge = Bridge(page, Lab("crash-in-hand-over", "consumer", theme="projector"), tmp_path / "lab.html")
    bridge.seek(45_000)
    assert page.evaluate(CUT) == []


def test_the_tokens_of_a_member_that_crashes_keep_their_size_and_their_records(page, tmp_path):
    bridge = Bridge(page, Lab(), tmp_path / "lab.html")
    bridge.seek(20_000)
    token = bridge.root.locator("[data-partition='orders-0']")
    before = token.bounding_box()["width"]
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    assert token.bounding_box()["width"] == before >= 100
    assert token.locator(".rk-records svg").is_visible()


@pytest.fixture
def large(page, tmp_path):
    return opened(page, tmp_path, "fifty-by-five-hundred")


def shining(bridge):
    """Members whose tiles stand out."""
    return bridge.root.locator(".rk-tile:not([data-out])").evaluate_all(
        "all => all.map((one) => one.dataset.member)"
    )


@pytest.mark.parametrize("by", ["mouse", "keyboard"])
def test_fifty_members_are_filtered_by_what_stopped(page, tmp_path, by, shot):
    bridge = Bridge(page, Lab("fifty-by-five-hundred"), tmp_path / "lab.html")
    bridge.page.evaluate("lab.select(16)")
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    bridge.settle()
    bridge.seek(bridge.lab.cursor_ms + 300)
    chip = bridge.root.locator("[data-filter=unread]")
    assert chip.text_content().startswith("Unread ")
    if by == "mouse":
        chip.click()
    else:
        chip.press("Enter")
    board = bridge.lab.boards.at(bridge.lab.cursor_ms)
    unread = {part.state.owner for part in board.partitions if not part.state.flows and part.state.owner}
    assert set(shining(bridge)) == unread
    assert "consumer-17" in unread
    shot(bridge.root, "fifty-filtered")


def test_a_partition_is_searched_for_and_enter_selects_its_member(large):
    large.seek(20_000)
    owner = next(
        part.state.owner for part in large.lab.boards.at(20_000).partitions if part.name == "orders-123"
    )
    large.press("/")
    large.page.keyboard.type("orders-123")
    assert shining(large) == [owner]
    large.page.keyboard.press("Enter")
    assert large.text(".rk-selected") == f"{owner} selected"


def test_the_rows_of_the_strip_of_a_large_group_are_named(large):
    assert large.root.locator(".rk-striprows span").all_inner_texts() == ["rebalance", "unread"]


def test_no_tile_of_a_healthy_member_shrinks_or_loses_its_records_when_another_crashes(page, tmp_path):
    bridge = Bridge(page, Lab(), tmp_path / "lab.html", 934)
    widths = """() => Object.fromEntries([...document.querySelectorAll(".rk-token")].map((one) =>
      [one.dataset.partition, [one.style.width, one.querySelectorAll(".rk-records rect").length > 0]]))"""
    bridge.page.evaluate("lab.player.pause()")
    before = page.evaluate(widths)
    assert all(has for _, has in before.values())
    bridge.press("c")
    page.evaluate("lab.player.pause()")
    bridge.settle()
    assert page.evaluate(widths) == before
