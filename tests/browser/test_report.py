"""The report in a real browser, with the network cut off."""

from __future__ import annotations

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate

pytest.importorskip("plotly", reason="plotly is not installed: reports are left out")

from rebalance_kit.view.reports.run_report import write_report


def test_a_report_plays_its_animation_without_any_network(page, tmp_path, shot):
    asked = []
    page.on("request", lambda request: asked.append(request.url) if request.url.startswith("http") else None)
    target = write_report(
        tmp_path / "report.html",
        [simulate(load("two-consumers-crash"), protocol=name) for name in ("eager", "cooperative")],
    )
    page.goto(target.as_uri())
    page.locator("#gantt-1 .main-svg").first.wait_for()
    before = page.locator("#flow-0 .slider-group").text_content()
    page.locator("#flow-0 .updatemenu-button").first.click()
    page.wait_for_function(
        "before => document.querySelector('#flow-0 .slider-group').textContent !== before",
        arg=before,
        timeout=20_000,
    )
    assert asked == []
    shot(page.locator("body"), "report")
