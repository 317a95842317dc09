"""What the lab's controls do on a real page: lessons, settings, branches, comparison, prediction, links, files."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.model.trace import parse_trace
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.widget import Lab
from tests.browser.conftest import SHOTS
from tests.support.browser.lab_bridge import Bridge


@pytest.fixture
def bridge(page, tmp_path):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return Bridge(page, Lab("crash"), tmp_path / "lab.html")


def member_states(bridge):
    return dict(
        bridge.root.locator(".rk-lane").evaluate_all(
            "all => all.map((one) => [one.dataset.member, one.dataset.doing])"
        )
    )


def test_each_lesson_opens_paused_before_its_event_and_says_what_to_try(bridge, shot):
    for place, preset in enumerate(lessons()):
        bridge.click("Lessons")
        bridge.root.locator(f"[data-preset='{preset.name}']").click()
        bridge.settle()
        assert bridge.lab.scenario.name == preset.name
        assert (
            bridge.text(".rk-lesson")
            == f"Lesson {place + 1} of {len(lessons())}. Try: {preset.try_} Watch: {preset.watch}."
        )
        assert bridge.text(".rk-title") == load(preset.name).title
        assert not bridge.page.evaluate("lab.player.playing")
        shot(bridge.root, f"preset-{place + 1:02d}-{preset.name}")


def test_lessons_are_found_by_words_and_a_word_that_is_nowhere_says_so(bridge):
    bridge.click("Lessons")
    bridge.page.keyboard.type("zombie")
    assert bridge.root.locator("[data-preset]").evaluate_all(
        "all => all.map((one) => one.dataset.preset)"
    ) == ["freeze", "network-cut"]
    bridge.page.keyboard.type("xyz")
    assert "No lesson has these words." in bridge.text(".rk-presetlist")
    bridge.press("Escape")
    assert bridge.page.evaluate("document.activeElement.className") == "rk-lane"  # where a mouse goes on


def test_a_menu_that_a_key_opened_gives_the_focus_back_to_its_button(bridge):
    bridge.page.evaluate("lab.ui.root.querySelector('.rk-presetbutton').focus()")
    bridge.press("Enter")
    assert bridge.page.evaluate("document.activeElement.type") == "search"
    bridge.press("Escape")
    assert bridge.page.evaluate("document.activeElement.className").startswith("rk-presetbutton")


def test_a_setting_that_kafka_refuses_says_kafkas_words_at_its_field_and_keeps_the_run(bridge, shot):
    before = bridge.lab.film
    bridge.click("Settings")
    field = bridge.root.locator("[data-field='session.timeout.ms']")
    field.fill("2000")
    bridge.press("Enter")
    assert "Heartbeat must be set lower than the session timeout" in bridge.text(
        ".rk-field:has([data-field='session.timeout.ms']) .rk-fielderror"
    )
    assert field.get_attribute("aria-invalid") == "true"
    assert bridge.lab.film == before
    shot(bridge.root, "settings-refused")
    field.fill("10000")
    bridge.press("Enter")
    assert {spec.configs["session.timeout.ms"] for spec in bridge.lab.scenario.members} == {10_000}
    bridge.pump("document.querySelector('.rk-drawer [role=status]').innerText.includes('session.timeout.ms')")
    bridge.press("Escape", "u")
    assert bridge.lab.film == before


def test_acting_in_the_past_makes_a_branch_and_the_old_one_is_kept(bridge, shot):
    bridge.seek(45_000)
    bridge.root.get_by_role("option", name="consumer-3").click()
    bridge.press("c")
    late = bridge.lab.trace
    bridge.page.evaluate("lab.player.pause()")
    bridge.seek(40_000)
    bridge.press("z")
    bridge.page.evaluate("lab.player.pause()")
    assert "New branch" in bridge.text(".rk-notice")
    assert [one.name for one in bridge.lab.history.branches] == ["main", "consumer-3 freezes"]
    bridge.press("h")
    shot(bridge.root, "history")
    bridge.root.locator(".rk-branchrow .rk-item").first.click()
    bridge.settle()
    assert bridge.lab.trace.rows == late.rows
    bridge.press("k")
    assert bridge.lab.controls["here"] == 2
    assert bridge.lab.controls["done"] == []


def test_undo_and_redo_keys_walk_without_deleting(bridge):
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    assert member_states(bridge)["consumer-1"] == "crashed"
    bridge.press("u")
    assert member_states(bridge)["consumer-1"] == "polls"
    bridge.press("Shift+U")
    assert member_states(bridge)["consumer-1"] == "crashed"


def test_three_protocols_stand_side_by_side_with_the_table_and_what_differs(bridge, shot):
    bridge.seek(80_000)
    bridge.press("v")
    bridge.pump("lab.comparison.view")
    heads = bridge.root.locator(".rk-compare thead th b").all_inner_texts()
    assert heads == ["Eager", "Cooperative", "Consumer"]
    table = {
        row.locator("th").inner_text().split("\n")[0]: row.locator("td b").all_inner_texts()
        for row in bridge.root.locator(".rk-compare tbody tr").all()
    }
    from rebalance_kit.analysis.metrics import metrics
    from rebalance_kit.simulation.simulate import simulate

    runs = [metrics(simulate(load("crash"), protocol=name)) for name in ("eager", "cooperative", "consumer")]
    assert table["partitions unread"] == [str(one.partitions_unread) for one in runs]
    assert table["unread partition-seconds"] == [f"{one.unread_partition_s:,.1f}" for one in runs]
    assert bridge.text(".rk-answer").startswith("What differs. Under Eager all ")
    answer, table = (bridge.root.locator(part).bounding_box() for part in (".rk-answer", ".rk-compare table"))
    assert answer["y"] + answer["height"] <= table["y"]
    shot(bridge.root, "compare")
    bridge.press("v")
    assert bridge.root.locator(".rk-stage").is_visible()


def test_a_button_says_what_it_will_cost_and_the_cost_is_what_the_run_then_costs(bridge):
    bridge.seek(20_000)
    bridge.root.get_by_role("button", name="Crash consumer-1").hover()
    bridge.pump("document.querySelector('.rk-cost').textContent.includes('partition-seconds')")
    told = float(bridge.text(".rk-cost").split("partition-seconds")[0].split()[-1].replace(",", ""))
    bridge.click("Crash consumer-1")
    from rebalance_kit.view.lab.costs import stopped_s

    trace = bridge.lab.trace
    assert told == round(stopped_s(trace, 20_000, trace.end_ms), 1) > 100


def test_after_a_deed_the_cost_stands_beside_what_was_foreseen(bridge):
    bridge.seek(20_000)
    bridge.root.get_by_role("button", name="Crash consumer-1").hover()
    bridge.pump("document.querySelector('.rk-cost').textContent.includes('partition-seconds')")
    bridge.click("Crash consumer-1")
    bridge.pump("document.querySelector('.rk-cost').textContent.startsWith('Unread from here on')")
    words = bridge.text(".rk-cost").replace(",", "")
    came, foreseen = (float(words.split(sign)[1].split()[0]) for sign in ("here on: ", "foreseen "))
    assert came == foreseen > 100


def step_by(bridge, kind):
    bridge.root.locator(".rk-pacebutton").click()
    bridge.root.locator(".rk-menu").get_by_label(kind, exact=True).check()
    bridge.press("Escape")
    assert bridge.text(".rk-pacebutton") == f"Auto · by {kind} ▾"


def test_steps_go_by_event_message_rebalance_callback_or_fault(bridge):
    boards = bridge.lab.boards
    step_by(bridge, "fault")
    bridge.click("Step forward")
    crash = next(mark.at_ms for mark in boards.marks if mark.kind == "fault")
    assert bridge.lab.cursor_ms == crash
    step_by(bridge, "callback")
    bridge.click("Step forward")
    begun = [row.at_ms for row in bridge.lab.trace.of("callback_begin") if row.at_ms > crash]
    assert bridge.lab.cursor_ms == begun[0]
    step_by(bridge, "rebalance")
    bridge.click("Step back")
    assert bridge.lab.cursor_ms == max(
        mark.at_ms for mark in boards.marks if mark.kind == "rebalance" and mark.at_ms < begun[0]
    )
    step_by(bridge, "message")
    now = bridge.lab.cursor_ms
    bridge.click("Step forward")
    assert bridge.lab.cursor_ms == min(one.sent_ms for one in boards.messages if one.sent_ms > now)


def test_one_control_holds_speed_and_step_and_the_keys_change_it(bridge, shot):
    bridge.press("]", "]")
    assert bridge.text(".rk-pacebutton") == "0.25 × · by event ▾"
    assert bridge.page.evaluate("lab.player.speed") == 0.25
    button = bridge.root.locator(".rk-pacebutton")
    button.focus()
    bridge.page.keyboard.press("Enter")
    shot(bridge.root, "speed-and-step")
    menu, bar = bridge.root.locator(".rk-menu").bounding_box(), button.bounding_box()
    assert menu["y"] + menu["height"] <= bar["y"]
    bridge.root.locator(".rk-menu").get_by_label("10 ×", exact=True).focus()
    bridge.page.keyboard.press("Space")
    bridge.page.keyboard.press("ArrowRight")
    assert bridge.page.evaluate("lab.player.speed") == 30
    bridge.page.keyboard.press("Escape")
    assert bridge.page.evaluate("document.activeElement.className") == "rk-pacebutton"
    assert bridge.root.locator(".rk-transport select").count() == 0


def test_a_click_on_a_partition_marks_it_and_its_menu_acts_on_its_topic(bridge):
    bridge.lab.load("a-to-b-move")
    bridge.push(bridge._state())
    bridge.settle()
    bridge.seek(60_000)
    box = bridge.root.locator("[data-partition='audits-1']").bounding_box()
    bridge.page.mouse.click(box["x"] + 20, box["y"] + 10, button="right")
    assert "audits-1 is marked" in bridge.text(".rk-menu")
    bridge.root.locator("[data-do='add_partitions']").click()
    bridge.settle()
    bridge.page.evaluate("lab.player.pause()")
    (action,) = [one for one in bridge.lab.scenario.actions if one.do == "add_partitions"]
    assert dict(action.args) == {"topic": "audits", "partitions": 4}


def test_the_queue_of_a_stopped_partition_grows_and_that_of_a_flowing_one_stays_short(bridge):
    def queues():
        return dict(
            bridge.root.locator(".rk-token").evaluate_all(
                "all => all.map((one) => [one.dataset.partition, one.querySelector('.rk-lag').getBoundingClientRect().width])"
            )
        )

    bridge.seek(40_000)
    early, stopped = (
        queues(),
        [
            name
            for name, track in bridge.lab.boards.partitions.items()
            if track.at(40_000).owner == "consumer-2"
        ],
    )
    bridge.seek(70_000)
    late = queues()
    assert stopped
    assert all(late[name] > early[name] * 1.5 > 15 for name in stopped)
    assert all(wide < 15 for name, wide in late.items() if name not in stopped)


def test_a_member_that_does_not_poll_shows_what_is_left_of_its_poll_interval(bridge):
    bridge.lab.load("poll-timeout")
    bridge.push(bridge._state())
    bridge.settle()
    (late,) = [row.at_ms for row in bridge.lab.trace.of("poll_timeout")]

    def left(at_ms):
        bridge.seek(at_ms)
        arc = bridge.root.locator("[data-member='consumer-2'] .rk-ringpoll").get_attribute("stroke-dasharray")
        silent = bridge.root.locator(".rk-lane[data-silent]").evaluate_all(
            "all => all.map((one) => one.dataset.member)"
        )
        return float(arc.split()[0]), silent

    assert left(25_000) == (0.0, [])
    assert left(late - 6_000) == (50.0, ["consumer-2"])
    assert left(late - 1_200) == (10.0, ["consumer-2"])


def test_nothing_of_the_outcome_is_on_the_page_before_the_prediction_is_locked_in(bridge, shot):
    bridge.seek(20_000)
    bridge.press("g", "c")
    assert "Which partitions will have another owner" in bridge.text(".rk-drawer")
    assert bridge.lab.controls["done"] == []
    assert "76.9" not in bridge.root.locator(".rk-drawer").inner_text()
    bridge.root.locator("[data-tab=why]").click()
    assert "hidden while you predict" in bridge.text(".rk-notice")
    owned = [
        name for name, track in bridge.lab.boards.partitions.items() if track.at(20_000).owner == "consumer-1"
    ]
    for name in owned:
        bridge.root.locator(f"[data-option='{name}'] input").check()
    bridge.root.locator(".rk-question input[type=number]").fill("45")
    shot(bridge.root, "predict")
    bridge.click("Lock in")
    marks = bridge.lab.predictions[0]["marks"]
    assert marks[0]["false"] == []
    assert marks[2]["score"] == 1.0
    shot(bridge.root, "predict-marked")
    bridge.click("Do it and watch")
    bridge.page.evaluate("lab.player.pause()")
    assert next(row.detail["do"] for row in bridge.lab.trace.of("action")) == "crash"
    assert not bridge.page.evaluate("lab.predict.on")


def test_a_copied_link_rebuilds_scenario_deeds_and_cursor(bridge, shot):
    bridge.seek(20_000)
    bridge.press("z")
    bridge.page.evaluate("lab.player.pause()")
    bridge.settle()
    bridge.seek(60_000)
    bridge.press("q")
    shot(bridge.root, "copy-link")
    token = bridge.root.get_by_label("link", exact=True).input_value()
    assert bridge.page.evaluate("navigator.clipboard.readText()").endswith(f'Lab.from_link("{token}")')
    again = Lab.from_link(token)
    assert again.trace.rows == bridge.lab.trace.rows
    assert again.cursor_ms == 60_000
    assert again.controls["done"] == bridge.lab.controls["done"]


def test_a_link_in_the_address_opens_and_a_damaged_one_leaves_the_run_and_says_why(bridge, page):
    token = write_link(Link(load("storm"), 44_000, protocol="consumer"))
    page.goto(page.url.split("?")[0] + f"?rebalance-lab={token}")
    page.wait_for_function("window.ready")
    bridge.begin()
    bridge.pump("document.querySelector('.rk-title').textContent === 'A rebalance storm'")
    assert (bridge.lab.cursor_ms, bridge.lab.protocol) == (44_000, "consumer")
    bridge.press("q")
    bridge.root.get_by_label("Link to open").fill(token[:-2])
    bridge.root.get_by_role("button", name="Open", exact=True).click()
    bridge.settle()
    assert bridge.text(".rk-told").startswith("the link is damaged: a part of it is missing")
    assert (bridge.lab.scenario.name, bridge.lab.cursor_ms) == ("storm", 44_000)


@pytest.mark.parametrize(
    "words", ["Trace", "Scenario", "Report", "Animation", "Picture of this view", "Picture of the board"]
)
def test_every_export_is_the_run_that_is_shown(bridge, page, words, tmp_path):
    bridge.seek(40_000)
    bridge.click("More: files, theme, history")
    with page.expect_download() as coming:
        bridge.root.get_by_role("button", name=words).click()
        bridge.settle()
    path = tmp_path / coming.value.suggested_filename
    coming.value.save_as(path)
    if words == "Trace":
        assert parse_trace(path.read_text(encoding="utf-8").splitlines()).rows == bridge.lab.trace.rows
    elif words == "Scenario":
        assert read_scenario(path) == bridge.lab.scenario
    elif words == "Picture of this view":
        assert path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert path.stat().st_size > 50_000
        tall = int.from_bytes(path.read_bytes()[20:24], "big") / 2
        bars = page.evaluate(
            "[lab.ui.actionBar, lab.ui.transport, lab.ui.details].reduce((sum, bar) => sum + bar.offsetHeight, 0)"
        )
        assert abs(tall + bars - page.evaluate("lab.ui.root.offsetHeight")) <= 1
        shutil.copy(path, SHOTS / "exported.png")
    elif words == "Picture of the board":
        assert path.read_text(encoding="utf-8") == still(bridge.lab.board, bridge.lab.theme)
    else:
        assert "consumer-2" in path.read_text(encoding="utf-8")


def test_the_exported_animation_plays_without_a_kernel_and_asks_no_network(bridge, page, tmp_path, shot):
    from rebalance_kit.view.lab.requests import exported

    path = tmp_path / "animation.html"
    path.write_bytes(exported(bridge.lab, "animation")[1])
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.locator(".rk-stage").wait_for()
    assert not page.get_by_role("button", name="Crash consumer-1").is_visible()
    page.keyboard.press("Tab")
    page.get_by_role("slider", name="Time").press("End")
    assert "gone" in page.locator("[data-member='consumer-2']").get_attribute("aria-label")
    shot(page.locator(".rk-lab"), "animation-alone")
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def test_all_deeds_of_the_menu_are_done_or_refused_in_words(bridge):
    done, refused = [], []
    names = bridge.root.locator("[data-do]")
    bridge.click("More actions")
    wanted = names.evaluate_all("all => all.map((one) => one.dataset.do)")
    assert len(wanted) >= 20
    bridge.press("Escape")
    for entry in wanted:
        bridge.seek(20_000)
        bridge.click("More actions")
        bridge.root.locator(f"[data-do='{entry}']").click()
        bridge.settle()
        bridge.page.evaluate("lab.player.pause()")
        bridge.settle()
        if bridge.lab.controls["done"]:
            done.append(entry)
            bridge.lab.undo()
            bridge.push(bridge._state())
            bridge.settle()
        else:
            assert len(bridge.text(".rk-notice")) > 10, entry
            refused.append(entry)
    assert {
        "crash",
        "leave",
        "freeze",
        "stall",
        "add",
        "add_partitions",
        "coordinator_failover",
        "cut_network",
    } <= set(done)
    assert set(refused) <= {"duplicate", "heal_network", "broker_up", "enforce_rebalance", "restart", "thaw"}


def test_clicks_while_the_kernel_is_busy_wait_one_deep_and_a_kernel_that_is_gone_is_said(bridge):
    bridge.listening = False
    bridge.page.evaluate("for (const what of ['crash', 'leave', 'freeze']) lab.act(what)")
    bridge.page.wait_for_function(
        "document.querySelector('.rk-notice').textContent === 'Waits for the kernel.'"
    )
    bridge.page.evaluate("lab.dead(true)")
    assert "The kernel does not answer" in bridge.text(".rk-band")
    bridge.page.evaluate("lab.seek(30000, false)")
    assert bridge.text(".rk-clock") == "30.0 s"
    bridge.listening = True
    bridge.settle()
    assert bridge.asked.count("act") == 2
    assert bridge.text(".rk-clock") != ""
    assert bridge.root.locator(".rk-band").inner_text() == ""
