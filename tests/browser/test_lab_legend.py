"""What stands around the board: no scrollbar of its own, whole titles, the story, and the meaning of every sign."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.lessons import preset_rows
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge


@pytest.mark.parametrize("width", [1000, 1334, 1880])
def test_the_stage_needs_no_scrollbar_and_each_title_is_whole(page, tmp_path, width):
    page.set_viewport_size({"width": width + 40, "height": 768})
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html", width)
    home = bridge.page.evaluate("[lab.ui.stageHome.scrollWidth, lab.ui.stageHome.clientWidth]")
    assert home[0] <= home[1]
    for row in preset_rows():
        bridge.page.evaluate("title => { lab.ui.title.textContent = title; }", row["title"])
        sizes = bridge.page.evaluate(
            "[lab.ui.title.scrollHeight - lab.ui.title.clientHeight, lab.ui.title.scrollWidth - lab.ui.title.clientWidth]"
        )
        assert sizes == [0, 0], row["title"]


def test_the_story_of_the_lesson_is_one_line_that_opens(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    story = bridge.root.locator(".rk-story summary")
    assert story.text_content() == bridge.lab.scenario.story
    before = story.bounding_box()["height"]
    story.click()
    assert story.bounding_box()["height"] > 1.5 * before


@pytest.mark.parametrize("by", ["key", "button"])
def test_the_legend_names_every_sign_that_the_lab_draws(page, tmp_path, shot, by):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    if by == "key":
        bridge.press("?")
    else:
        bridge.click("Keyboard and legend")
    said = bridge.text(".rk-keys")
    for sign in "■□|●◎⊠×‖?–⊘◆◷+":
        assert sign in said, sign
    for word in (
        "Dotted ring",
        "Tick",
        "notch",
        "pattern",
        "pin",
        "flows",
        "stopped",
        "no owner",
        "callback",
    ):
        assert word in said, word
    boxes = bridge.root.locator(".rk-legend dl > div, .rk-keys tr").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map(({left, right, top, bottom}) => [left, right, top, bottom])"
    )
    overlaps = [
        (one, two)
        for place, one in enumerate(boxes)
        for two in boxes[:place]
        if one[0] < two[1] - 1 and two[0] < one[1] - 1 and one[2] < two[3] - 1 and two[2] < one[3] - 1
    ]
    assert not overlaps
    shot(bridge.root, f"legend-{by}")
