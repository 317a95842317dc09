"""Six pictures for the documents, each of a moment that its words describe; scripts/pictures.py copies them."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

MOMENTS = (
    (
        "board",
        "crash-in-hand-over",
        "cooperative",
        50_000,
        "light",
        "The join phase waits for consumer-2, which crashed.",
    ),
    (
        "timeline",
        "crash-in-hand-over",
        "eager",
        50_000,
        "light",
        "The join phase waits for consumer-2, which crashed.",
    ),
    ("fifty", "fifty-by-five-hundred", "eager", 48_700, "dark", "The join phase waits for"),
    ("why", "join", "eager", 34_850, "light", "The join phase waits for"),
    ("messages", "join", "eager", 34_867, "light", "Everybody has joined generation 2."),
)


@pytest.mark.parametrize(
    ("name", "scenario", "protocol", "at_ms", "theme", "words"), MOMENTS, ids=[one[0] for one in MOMENTS]
)
def test_the_sentence_above_each_picture_is_that_of_its_moment(
    page, tmp_path, shot, name, scenario, protocol, at_ms, theme, words
):
    bridge = Bridge(page, Lab(scenario, protocol=protocol, theme=theme), tmp_path / "lab.html")
    bridge.seek(at_ms)
    if name in {"timeline", "why", "messages"}:
        bridge.open_tab(name)
    assert bridge.text(".rk-cause").startswith(words)
    shot(bridge.root, f"doc-{name}")


def test_the_picture_of_the_comparison_has_three_columns_of_one_moment(page, tmp_path, shot):
    bridge = Bridge(page, Lab("crash-in-hand-over"), tmp_path / "lab.html")
    bridge.seek(50_000)
    bridge.press("v")
    bridge.pump("lab.comparison.view")
    flowing = bridge.root.locator(".rk-count").all_inner_texts()
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.simulate import simulate
    from rebalance_kit.view.board.boards import Boards

    boards = [
        Boards(simulate(load("crash-in-hand-over"), protocol=one)).at(50_000)
        for one in ("eager", "cooperative", "consumer")
    ]
    assert flowing == [f"{one.flowing} of 6 flow" for one in boards]
    shot(bridge.root, "doc-compare")
