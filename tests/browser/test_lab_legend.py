"""What stands around the board: whole titles and names, the story, the legend, numbers in Settings that step by keys."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.lessons import lesson_rows
from rebalance_kit.view.lab.requests import exported
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge


@pytest.mark.parametrize("width", [1000, 1334, 1880])
def test_the_stage_needs_no_scrollbar_and_each_title_is_whole(page, tmp_path, width):
    page.set_viewport_size({"width": width + 40, "height": 768})
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html", width)
    home = bridge.page.evaluate("[lab.ui.stageHome.scrollWidth, lab.ui.stageHome.clientWidth]")
    assert home[0] <= home[1]
    for row in lesson_rows():
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


def test_a_number_in_settings_steps_by_keys_and_strip_board_and_cost_follow(page, tmp_path, shot):
    lab = Lab("crash")
    bridge = Bridge(page, lab, tmp_path / "lab.html")
    before = lab.film
    bridge.click("Settings")
    field = bridge.root.locator("[data-field='session.timeout.ms']")
    field.focus()
    start = int(field.input_value())
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    bridge.settle()
    assert field.input_value() == str(start - 5_000)
    assert page.evaluate("document.activeElement.dataset.field") == "session.timeout.ms"
    assert {spec.configs["session.timeout.ms"] for spec in lab.scenario.members} == {start - 5_000}
    assert lab.film != before
    assert "partition-seconds" in bridge.text(".rk-cost")
    assert "unread from here on" in bridge.text(".rk-foot")
    assert len(lab.history.state.done) == 1
    assert bridge.asked.count("drag") <= 5
    shot(bridge.root, "settings-stepped")
    page.keyboard.press("Shift+ArrowDown")
    bridge.settle()
    assert field.input_value() == str(start - 15_000)


def test_a_step_that_kafka_refuses_says_so_at_its_field_and_keeps_the_run(page, tmp_path):
    lab = Lab("crash")
    bridge = Bridge(page, lab, tmp_path / "lab.html")
    bridge.click("Settings")
    field = bridge.root.locator("[data-field='heartbeat.interval.ms']")
    field.fill("45000")
    page.keyboard.press("ArrowUp")
    bridge.settle()
    assert field.get_attribute("aria-invalid") == "true"
    assert "heartbeat" in bridge.text(".rk-fielderror:not(:empty)").lower()
    assert not lab.history.state.done


def test_an_error_name_is_whole_in_its_lane(page, tmp_path, shot):
    bridge = Bridge(page, Lab("bounce-gone-wrong"), tmp_path / "lab.html", 1000)
    bridge.seek(bridge.lab.boards.end_ms)
    third = bridge.root.locator(".rk-third", has_text="INCONSISTENT_GROUP_PROTOCOL").first
    sizes = third.evaluate(
        "one => { const who = one.closest('.rk-who').getBoundingClientRect(), box = one.getBoundingClientRect(); return [one.scrollWidth <= one.clientWidth, box.bottom <= who.bottom + 1]; }"
    )
    assert sizes == [True, True]
    shot(bridge.root, "error-name")


def test_a_chosen_protocol_moves_no_button(page, tmp_path):
    bridge = Bridge(page, Lab("crash"), tmp_path / "lab.html")
    places = []
    for name in ("Eager", "Cooperative", "Consumer"):
        bridge.click(name)
        places.append(page.evaluate("lab.ui.settingsButton.getBoundingClientRect().left"))
    assert len(set(places)) == 1


def test_the_exported_animation_plays_with_space_before_any_click(page, tmp_path):
    name, content = exported(Lab("crash"), "animation")
    (tmp_path / name).write_bytes(content)
    page.goto((tmp_path / name).as_uri())
    page.locator(".rk-stage").wait_for()
    page.keyboard.press("Space")
    page.wait_for_function("document.querySelector('.rk-play').getAttribute('aria-label') === 'Pause'")
