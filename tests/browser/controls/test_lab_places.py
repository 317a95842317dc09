"""Thirteen places of the lab on four screens in three themes: no words are cut, cover each other, or stand outside.

``make test-long`` tries every place on every screen and leaves pictures in build/screenshots;
``python scripts/pictures.py sheets`` lays them out to be looked at.
"""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from tests.support.browser.places import COVERED, CUT, OUTSIDE, PLACES, SIZES, THEMES, in_theme, opened
from tests.support.thinning import thinned

NOTHING = {"cut": [], "outside": [], "covered": []}


@pytest.mark.parametrize(("place", "size"), thinned(tuple(PLACES), tuple(SIZES)))
def test_a_place_shows_all_its_words(page, tmp_path, shot, place, size):
    bridge = opened(page, tmp_path / "lab.html", place, size)
    found = {}
    for theme in THEMES:
        in_theme(bridge, theme)
        shot(page if place == "present" else bridge.root, f"place-{place}-{size}-{theme}")
        scripts = {"cut": CUT, "outside": OUTSIDE, "covered": COVERED}
        found[theme] = {name: page.evaluate(script) for name, script in scripts.items()}
    assert found == dict.fromkeys(THEMES, NOTHING)


def test_what_is_wrong_with_a_picture_is_found(page, tmp_path):
    opened(page, tmp_path / "lab.html", "first", "1366")
    page.evaluate("document.querySelector('.rk-name').style.width = '20px'")
    assert page.evaluate(CUT) == ["rk-name: consumer-1"]
    page.evaluate("document.querySelector('.rk-meter').style.position = 'relative'")
    page.evaluate("document.querySelector('.rk-meter').style.left = '90px'")
    assert "rk-meter" in page.evaluate(OUTSIDE)
    page.evaluate("document.querySelector('.rk-effect').style.marginTop = '-16px'")
    assert any("Nothing waits" in words for words in page.evaluate(COVERED))
