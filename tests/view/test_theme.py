"""Colours are read from the theme itself and held to WCAG's contrast."""

from __future__ import annotations

import itertools

import pytest

from rebalance_kit.view.style.theme import (
    ROLES,
    THEMES,
    contrast,
    css_variables,
    look,
    looks,
    member_order,
    stylesheet,
)

MEMBERS = range(1, 13)


@pytest.mark.parametrize("theme", THEMES)
def test_every_member_hue_stands_out_and_everything_written_on_it_can_be_read(theme):
    for number in MEMBERS:
        one = look("", number, theme)
        assert contrast(one.hue, ROLES[theme]["surface"]) >= 3
        assert contrast(one.on_hue, one.hue) >= 4.5
        assert contrast(ROLES[theme]["ink"], one.tint) >= 7
        assert contrast(ROLES[theme]["ink2"], one.tint) >= 4.5


@pytest.mark.parametrize(("theme", "ground"), list(itertools.product(THEMES, ("page", "surface", "sunk"))))
def test_words_of_the_interface_reach_aa_on_every_ground(theme, ground):
    for role in ("ink", "ink2", "ink3", "alert", "ok"):
        assert contrast(ROLES[theme][role], ROLES[theme][ground]) >= 4.5, role
    assert contrast(ROLES[theme]["control"], ROLES[theme][ground]) >= 3


def test_sixty_members_have_sixty_looks_and_keep_them_in_every_theme():
    for theme in THEMES:
        seen = looks([f"consumer-{number}" for number in range(1, 61)], theme)
        assert len({(one.hue, one.pattern) for one in seen.values()}) == 60
    light, dark = (look("consumer-14", 14, theme) for theme in ("light", "dark"))
    assert (light.hue_name, light.pattern, light.label) == (dark.hue_name, dark.pattern, dark.label)


def test_no_two_members_share_a_label():
    assert len({one.label for one in looks(["consumer-1", "collector-1", "copy", "cut-3"]).values()}) == 4


def test_members_are_coloured_by_first_appearance_in_the_scenario(by_hand):
    assert member_order(by_hand.trace) == ("consumer-1", "consumer-2")


def test_an_unknown_theme_is_refused_with_those_that_exist():
    with pytest.raises(ValueError, match=r"'sepia' is unknown; expected one of light, dark, projector"):
        look("consumer-1", 1, "sepia")


def test_the_stylesheet_defines_every_colour_of_every_theme():
    sheet = stylesheet()
    for theme in THEMES:
        assert f".rk-{theme}{{" in sheet
        for name, value in css_variables(theme).items():
            assert f"{name}:{value}" in sheet
