"""Where the keys go after a click, and what is left by choosing something else."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge


@pytest.fixture
def bridge(page, tmp_path):
    page.emulate_media(reduced_motion="no-preference")
    return Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1326)


@pytest.mark.parametrize("words", ["Eager", "Consumer"])
def test_choosing_a_protocol_leaves_the_comparison_and_shows_it(bridge, words):
    bridge.click("Compare the protocols")
    bridge.pump("lab.comparison.view")
    bridge.root.get_by_role("group", name="Protocol").get_by_role("button", name=words).click()
    bridge.settle()
    assert bridge.page.evaluate("lab.comparison.view === null && lab.screen.stage.root.isConnected")
    assert bridge.lab.protocol == words.lower()
    chosen = bridge.root.locator("[data-protocol][aria-pressed=true]")
    assert chosen.all_inner_texts() == [words]
