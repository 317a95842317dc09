"""The picture of the four clocks tells the defaults that the engine uses."""

from __future__ import annotations

from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.view.cards.protocols import CLOCKS, clocks


def test_each_clock_has_a_bar_and_a_line():
    drawn = clocks()
    assert drawn.svg.count("<rect") == len(CLOCKS) + 1
    assert len(drawn.text.splitlines()) == len(CLOCKS)


def test_the_defaults_are_those_of_the_config_table():
    keys = [clock.key for clock in CLOCKS if clock.key in CLIENT_KEYS]
    assert len(keys) == 3
    for clock in CLOCKS:
        if clock.key in CLIENT_KEYS:
            assert clock.default_ms == CLIENT_KEYS[clock.key].history[-1][1]
