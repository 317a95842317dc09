"""Tabs on one cursor: what each shows is what the kernel's own reading of the same run says."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.described import describe, describe_members
from rebalance_kit.logs.lines import render
from rebalance_kit.view.lab.tabs.metrics import metric_rows
from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

AT = 40_000


@pytest.fixture(params=["eager", "consumer"])
def bridge(request, page, tmp_path):
    made = Bridge(page, Lab("crash", protocol=request.param), tmp_path / "lab.html")
    made.seek(AT)
    return made


def test_every_tab_shows_the_run_at_the_cursor_and_asks_once(bridge, shot):
    lab, protocol = bridge.lab, bridge.lab.protocol
    for name in ("timeline", "messages", "logs", "cli", "metrics", "members", "why", "invariants"):
        bridge.open_tab(name)
        shot(bridge.root, f"tab-{name}-{protocol}")
    assert sorted(bridge.asked) == ["tab"] * 6

    bridge.open_tab("logs")
    broker = [render(line) for line in broker_lines(lab.trace) if line.at_ms <= AT]
    shown = bridge.root.locator(".rk-line:not(.rk-later)").all_inner_texts()
    assert [line for line in shown if line in broker] == broker
    bridge.open_tab("cli")
    assert (
        describe_members(describe(lab.trace, AT)) in bridge.page.locator(".rk-output").nth(1).text_content()
    )
    bridge.open_tab("metrics")
    rows = {(one.member, one.name): one.steps for one in metric_rows(lab.boards, "consumer-1")}
    for row in bridge.root.locator(".rk-metrics tbody tr").all():
        member, name, value = (
            row.locator("td").first.inner_text(),
            row.locator("th").evaluate("one => one.firstChild.data"),
            row.locator(".rk-number2").inner_text(),
        )
        steps = rows[None if member == "group" else member, name]
        last = [steps[place + 1] for place in range(0, len(steps), 2) if steps[place] <= AT][-1]
        assert float(value.replace(",", "")) == last, name
    assert sorted(bridge.asked) == ["tab"] * 6


def test_the_cursor_moves_all_tabs_and_only_the_cli_is_asked_for_again(bridge):
    bridge.open_tab("why")
    first = bridge.text(".rk-why [aria-current] button")
    assert "consumer-2 crashes" in first
    assert "coordinator removes" not in first
    bridge.seek(bridge.lab.trace.end_ms)
    assert bridge.text(".rk-why [aria-current] button") != first
    bridge.open_tab("members")
    assert re.search(r"consumer-2\s+gone at", bridge.text(".rk-memberstab"))
    bridge.open_tab("cli")
    asked = len(bridge.asked)
    bridge.seek(20_000)
    bridge.pump("document.querySelector('.rk-cli p').textContent === 'As of 20.0 s.'")
    assert len(bridge.asked) == asked + 1


def test_a_step_of_why_and_a_bar_of_the_timeline_lead_to_their_moment(bridge):
    bridge.open_tab("why")
    bridge.root.locator(".rk-why button", has_text="consumer-2 was removed").click()
    bridge.settle()
    removed = next(row.at_ms for row in bridge.lab.trace.of("member_removed"))
    assert bridge.lab.cursor_ms == removed
    bridge.open_tab("timeline")
    box = bridge.root.locator(".rk-chart canvas").bounding_box()
    bridge.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    bridge.settle()
    assert abs(bridge.lab.cursor_ms - bridge.lab.trace.end_ms / 2) < 500
    assert bridge.root.locator(".rk-selected").inner_text().startswith("consumer-")


def test_the_timeline_says_in_words_what_it_draws(bridge):
    bridge.open_tab("timeline")
    bridge.root.get_by_text("Timeline as text").click()
    rows = {
        row.locator("th").inner_text(): row.inner_text()
        for row in bridge.root.locator(".rk-timetext tbody tr").all()
    }
    assert set(rows) == set(bridge.lab.boards.partitions)
    crashed = next(
        name for name, track in bridge.lab.boards.partitions.items() if track.at(AT).owner == "consumer-2"
    )
    assert "consumer-2 (stopped)" in rows[crashed]


def test_messages_can_be_filtered_by_kind_and_by_member(bridge):
    bridge.open_tab("messages")
    few = int(bridge.text(".rk-messages .rk-dim").split(" of ")[1].split()[0])
    bridge.root.get_by_label("heartbeats without news").check()
    bridge.pump()
    many = int(bridge.text(".rk-messages .rk-dim").split(" of ")[1].split()[0])
    assert many > few
    bridge.root.get_by_label("only the selected member").check()
    bridge.pump()
    only = int(bridge.text(".rk-messages .rk-dim").split(" of ")[1].split()[0])
    own = [
        one for one in bridge.lab.boards.messages if one.member == "consumer-1" and one.api != "OffsetCommit"
    ]
    assert only == len(own) < many


def test_a_request_that_waits_is_a_bar_until_its_answer_and_a_new_generation_is_a_band(bridge):
    bridge.seek(bridge.lab.trace.end_ms)
    bridge.open_tab("messages")
    shown = [one for one in bridge.lab.boards.messages if one.api in {"JoinGroup", "SyncGroup"}]
    answered = sum(1 for one in shown if not one.request)
    bars = bridge.root.locator(".rk-sequence title").all_text_contents()
    assert len(bars) <= answered
    assert all(words.endswith(" waits") for words in bars)
    assert bool(bars) == (bridge.lab.protocol == "eager")
    bands = bridge.root.locator(".rk-bandline + text").all_text_contents()
    word = "generation" if bridge.lab.protocol == "eager" else "group epoch"
    assert f"{word} {bridge.lab.boards.group.states[-1].generation}" in bands


def test_lines_can_be_filtered_by_source_and_text(bridge):
    bridge.open_tab("logs")
    bridge.root.get_by_label("Source").select_option("consumer-3")
    bridge.root.get_by_label("Filter lines").fill("groupId=")
    bridge.pump()
    lines = bridge.root.locator(".rk-line").all_inner_texts()
    assert lines
    assert all("clientId=consumer-3," in line for line in lines)


def test_tabs_are_walked_with_arrows_and_opened_with_alt_and_a_number(bridge):
    bridge.root.locator("[data-tab=flow]").focus()
    bridge.press("ArrowRight")
    assert bridge.root.get_by_role("tab", selected=True).inner_text() == "Timeline"
    bridge.press("Alt+8")
    assert bridge.root.get_by_role("tab", selected=True).inner_text() == "Why"
    bridge.press("Alt+1")
    assert bridge.root.locator(".rk-stage").is_visible()
