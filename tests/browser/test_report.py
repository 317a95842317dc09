"""Pages that are saved and opened from a file, with the network cut off: the report of runs, and the page of a sweep."""

from __future__ import annotations

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.figures.flow import flow_figure
from rebalance_kit.view.lab.run_report import write_report
from rebalance_kit.view.reports.sweep_report import write_sweep

PROTOCOLS = ("eager", "cooperative", "consumer")


@pytest.fixture
def asked(page):
    """What the page has asked of a network."""
    addresses = []
    page.on(
        "request", lambda request: addresses.append(request.url) if request.url.startswith("http") else None
    )
    return addresses


def test_each_run_of_a_report_plays_and_is_guided_without_any_network(page, asked, tmp_path, shot):
    traces = [simulate(load("two-consumers-crash"), protocol=name) for name in PROTOCOLS]
    page.goto(write_report(tmp_path / "report.html", traces).as_uri())
    labs = page.locator(".rk-lab")
    assert labs.count() == 3
    assert page.locator(".rk-offer").count() == 0
    first, last = labs.nth(0), labs.nth(2)
    assert first.locator(".rk-presetbutton").is_disabled()
    for lab in (first, last):
        lab.locator(".rk-stage").wait_for()
    before, other = first.locator(".rk-clock").text_content(), last.locator(".rk-clock").text_content()
    first.get_by_role("button", name="Play", exact=True).click()
    page.wait_for_function(
        "before => document.querySelector('.rk-clock').textContent !== before", arg=before, timeout=20_000
    )
    first.get_by_role("button", name="Pause", exact=True).click()
    assert last.locator(".rk-clock").text_content() == other
    last.get_by_role("button", name="Guide me").click()
    last.locator(".rk-beat .rk-progress").wait_for()
    assert "consumer-1" in last.locator(".rk-beat").inner_text()
    chart = page.locator("#gantt-0 svg").bounding_box()
    assert chart["width"] <= first.bounding_box()["width"]
    assert asked == []
    shot(page.locator("body"), "report")


def test_the_page_of_a_sweep_draws_its_figures_without_any_network(page, asked, tmp_path):
    pytest.importorskip("plotly", reason="plotly is not installed: the page of a sweep is left out")
    rows = [
        {
            "protocol": protocol,
            "members": members,
            "error": None,
            "group_gap_s": float(members),
            "unread_partition_s": 2.0 * members,
        }
        for protocol in PROTOCOLS
        for members in (2, 4, 8)
    ]
    target = write_sweep(tmp_path / "sweep.html", rows, ["members"], "members")
    assert target.stat().st_size < 2_500_000
    page.goto(target.as_uri())
    page.locator("#sweep-0 .main-svg").first.wait_for()
    assert page.locator("#sweep-0 .scatterlayer .trace").count() == 6
    assert asked == []


#: Whether the line of the moment stands where the moment of the figure's data is.
IN_PLACE = """() => {
  const figure = document.querySelector(".js-plotly-plot");
  const axis = figure._fullLayout.xaxis2;
  const line = figure.querySelector(".x2y2 .js-line, .xy2 .js-line, .x2y .js-line");
  const at = figure.getBoundingClientRect().x + axis._offset + axis.d2p(figure.data[6].x[0]);
  return Math.abs(line.getBoundingClientRect().x - at) < 1.5 ? true : false;
}"""


def test_a_flow_that_plays_jumps_whole_to_a_place_of_its_slider(page, tmp_path):
    pytest.importorskip("plotly", reason="plotly is not installed: the flow cannot be drawn")
    from plotly.graph_objects import Figure

    figure = Figure(flow_figure([simulate(load("restaurant"), protocol=name) for name in PROTOCOLS]))
    target = tmp_path / "flow.html"
    figure.write_html(target, auto_play=False)
    page.goto(target.as_uri())
    slider = page.locator(".slider-rail-rect").bounding_box()
    moment = "() => document.querySelector('.js-plotly-plot').data[6].x[0]"
    for place in (0.2, 0.8, 0.35, 0.9, 0.5, 0.1):
        before = page.evaluate(moment)
        page.locator(".updatemenu-button").first.click()
        page.wait_for_function(f"before => ({moment})() !== before", arg=before)
        page.mouse.click(slider["x"] + place * slider["width"], slider["y"] + slider["height"] / 2)
        page.wait_for_function(IN_PLACE, timeout=5_000)
