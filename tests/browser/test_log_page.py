"""The page about logs in a real browser: timeline, cards, keys, small screens; no network."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.look import look
from rebalance_kit.recordings.folder import unpack
from rebalance_kit.view.reports.log_report import write_forensics_page

RANGE = ".range"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    runs = unpack(tmp_path_factory.mktemp("runs"), {"freeze.cooperative.4.3.1", "crash.eager.4.3.1"})
    return write_forensics_page(look(runs), tmp_path_factory.mktemp("page"))


@pytest.fixture
def opened(page, report):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    page.goto(report.as_uri())
    page.locator("#g0 .chart svg .mark").first.wait_for()
    yield page
    assert asked == []


def test_a_finding_leads_to_its_moment_and_its_mark_leads_to_the_card(opened, shot):
    whole = opened.locator(f"#g0 {RANGE}").text_content()
    opened.locator("#g0 .card .show").first.click()
    assert opened.locator(f"#g0 {RANGE}").text_content() != whole
    assert opened.locator("#g0 .card.chosen").count() == 1
    opened.locator("#g0 .mark:not(.chosen)").first.click()
    chosen = opened.locator("#g0 .mark.chosen").get_attribute("data-card")
    assert opened.locator("#g0 .card.chosen").get_attribute("id") == chosen
    shot(opened, "log-page")


def test_keys_zoom_move_and_go_from_finding_to_finding(opened):
    chart = opened.locator("#g0 .chart")
    said = lambda: opened.locator(f"#g0 {RANGE}").text_content()  # noqa: E731
    whole = said()
    chart.focus()
    seen = [whole]
    for key in ("+", "ArrowRight", "n", "n", "-"):
        opened.keyboard.press(key)
        seen.append(
            said()
            + str(
                opened.locator("#g0 .mark.chosen").get_attribute("data-card", timeout=1_000)
                if key == "n"
                else ""
            )
        )
    assert len(set(seen)) == len(seen)
    opened.keyboard.press("0")
    assert said() == whole


def test_a_link_to_a_finding_opens_its_group(page, report):
    page.goto(f"{report.as_uri()}#g1-f1")
    page.locator("#g1 .card.chosen").wait_for()
    assert page.locator("#g1 .mark.chosen").count() == 1


def test_the_command_for_the_lab_is_copied_whole(opened):
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened.locator("#g0 .copy").first.click()
    opened.wait_for_function("document.querySelector('#g0 .copy').textContent !== 'Copy'")
    copied = opened.evaluate("navigator.clipboard.readText()")
    assert copied == opened.locator("#g0 code.command").first.text_content()
    assert copied.startswith("rebalance-kit lab rk1.")


@pytest.mark.parametrize("theme", ["light", "dark", "projector"])
@pytest.mark.parametrize("width", [375, 1366, 1920])
def test_nothing_stands_outside_the_screen(page, report, width, theme, shot):
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{report.as_uri()}?theme={theme}")
    page.locator("#g0 .chart svg .mark").first.wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    shot(page, f"log-page-{width}-{theme}")
