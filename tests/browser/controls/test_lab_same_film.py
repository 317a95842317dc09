"""A deed after which the film is, byte for byte, the one before: Jupyter sends no film then, and nothing waits for one."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

SIZE = {"group.max.size": "900"}
"""A limit that no group of a lesson reaches: the run goes on as before."""


@pytest.fixture
def bridge(page, tmp_path):
    return Bridge(page, Lab("two-consumers-crash"), tmp_path / "lab.html", width=1326)


def ask(bridge, **message):
    """Ask for a change; the kernel's film must stay the same."""
    film = bridge.lab.film
    bridge.page.evaluate("message => lab.ask(message)", message)
    bridge.settle()
    assert bridge.lab.film == film


def test_what_the_kernel_answers_is_followed_at_once(bridge):
    ask(bridge, type="settings", values=SIZE)
    ask(bridge, type="undo")
    assert bridge.text(".rk-notice") == "Taken back: group.max.size = 900."
    ask(bridge, type="fork")
    ask(bridge, type="branch", do="rename", number=1, name="mine")
    assert "mine" in bridge.text(".rk-branches")
    assert bridge.page.evaluate("lab.whenFilmed") is None


def test_an_answer_is_not_followed_again_when_the_next_film_comes(bridge):
    ask(bridge, type="settings", values=SIZE)
    ask(bridge, type="undo")
    bridge.seek(20_000)
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    assert not bridge.text(".rk-notice").startswith("Taken back")
    assert bridge.lab.history.state.done[-1].at_ms == 20_000


def test_the_number_that_is_dragged_is_that_of_the_run_though_its_film_stays(bridge):
    ask(bridge, type="drag", number=1, how="step", name="group.max.size", value="900")
    ask(bridge, type="drag", number=1, how="keep", name="group.max.size", value="900")
    assert bridge.page.evaluate("lab.store.numbers.get('group.max.size').value") == 900


def test_tabs_are_filled_anew_because_their_words_may_be_others(bridge):
    bridge.open_tab("why")
    bridge.asked.clear()
    ask(bridge, type="settings", values=SIZE)
    bridge.pump("lab.panels.views.why.content && !lab.panels.asking")
    assert "tab" in bridge.asked


def test_the_colours_of_the_strip_are_those_of_the_theme(bridge):
    drawn = "document.querySelector('.rk-strip canvas').toDataURL()"
    pictures = []
    for theme in ("light", "dark", "projector", "light"):
        bridge.push({"theme": theme})
        bridge.settle()
        pictures.append(bridge.page.evaluate(drawn))
    assert pictures[0] == pictures[3]
    assert len(set(pictures)) == 3
