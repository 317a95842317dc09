"""A link is copied, and opened where it is pasted; what cannot be opened leaves the run."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

TOLD = "document.querySelector('.rk-menu .rk-told').textContent"


@pytest.fixture
def bridge(page, tmp_path):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    return Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1326)


def paste(bridge, text):
    """Put a text into the field of the dialog and press Enter."""
    field = bridge.root.get_by_label("Link to open")
    field.fill(text)
    field.press("Enter")
    bridge.settle()


def test_the_cell_that_was_copied_opens_where_it_is_pasted(bridge):
    bridge.click("Copy link")
    bridge.page.wait_for_function(f"{TOLD}.includes('cell is copied')")
    copied = bridge.page.evaluate("navigator.clipboard.readText()")
    at = bridge.page.evaluate("lab.player.at")
    bridge.page.keyboard.press("Escape")
    bridge.press("c", "Escape")
    bridge.page.evaluate("lab.player.pause()")
    assert bridge.lab.history.state.done
    bridge.click("Copy link")
    paste(bridge, copied)
    assert not bridge.lab.history.state.done
    assert bridge.page.evaluate("lab.popup.open") is False
    assert bridge.page.evaluate("lab.player.at") == at


def test_the_first_thing_to_share_is_one_file_that_plays_offline_and_carries_the_link(bridge, tmp_path):
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    bridge.click("Copy link")
    first = bridge.root.locator(".rk-menu button:not(.rk-close)").first
    with bridge.page.expect_download() as saving:
        first.click()
        bridge.settle()
    saved = tmp_path / "saved.html"
    saving.value.save_as(saved)
    assert saved.stat().st_size < 600_000
    page = bridge.page.context.new_page()
    page.route("http*://**", lambda route: route.abort())
    page.goto(saved.as_uri())
    page.get_by_role("button", name="Copy link").click()
    cell = page.get_by_label("in a notebook", exact=True).input_value()
    assert cell.startswith("from rebalance_kit import Lab; ")
    assert Lab.from_link(cell.split('"')[1]).film == bridge.lab.film
    page.close()


def test_the_address_of_a_loopback_server_says_that_nobody_else_can_open_it(bridge):
    bridge.click("Copy link")
    told = bridge.root.locator(".rk-field", has_text="address of this page").inner_text()
    assert "On this machine alone" in told


def test_copied_is_said_inside_the_dialog(bridge):
    bridge.click("Copy link")
    bridge.root.get_by_role("button", name="Copy in a terminal").click()
    bridge.page.wait_for_function(f"{TOLD} === 'Copied.'")


@pytest.mark.parametrize("text", ["nonsense", "https://host/?rebalance-lab=rk1.0123456789.abc"])
def test_a_link_that_cannot_be_read_leaves_the_run_and_says_why(bridge, text):
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    before = (bridge.lab.history, bridge.page.evaluate("[lab.film.end, lab.player.at]"))
    bridge.click("Copy link")
    paste(bridge, text)
    assert "link" in bridge.page.evaluate(TOLD)
    assert bridge.page.evaluate("lab.popup.open")
    assert (bridge.lab.history, bridge.page.evaluate("[lab.film.end, lab.player.at]")) == before
