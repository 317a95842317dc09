"""Any state machine can be drawn: each edge has its arrow, and no label stands over another or off the page."""

from __future__ import annotations

import random
import re
from html import unescape
from itertools import combinations
from types import MappingProxyType

import pytest

from rebalance_kit.protocol.classic_group.group import ClassicGroupState
from rebalance_kit.protocol.classic_group.table import TRANSITIONS
from rebalance_kit.protocol.messages import Heartbeat
from rebalance_kit.view.figures import state_machines
from rebalance_kit.view.figures.state_machines import Arrow, draw_machine
from rebalance_kit.view.style.showing import WIDTH
from rebalance_kit.view.style.theme import ROLES

TEXT = re.compile(
    r'<text x="([-\d.]+)" y="([-\d.]+)" font-size="([\d.]+)" fill="[^"]*" text-anchor="(\w+)"( font-weight="700")?>([^<]*)<'
)
LABELS = ("", "JoinGroup", "LeaveGroup, a timer ran out", "JoinGroup, LeaveGroup, Heartbeat, a timer ran out")


def texts(parts):
    """Left, top, right, bottom of each text, as wide as the letters of DejaVu Sans are in Chromium at the most."""
    for x, y, size, anchor, bold, said in TEXT.findall("".join(parts)):
        width = len(unescape(said)) * float(size) * (0.62 if bold else 0.55)
        left = float(x) - {"start": 0, "middle": width / 2, "end": width}[anchor]
        yield left, float(y) - 0.75 * float(size), left + width, float(y) + 0.2 * float(size)


def any_machine(seed):
    chance = random.Random(seed)
    states = [f"STATE_{number}" * chance.choice([1, 2]) for number in range(chance.randint(2, 8))]
    pairs = [(before, after) for before in states for after in states]
    counts = chance.random() < 0.5
    arrows = [
        Arrow(before, after, chance.choice(LABELS), chance.choice([0, 1, 12]) if counts else None)
        for before, after in chance.sample(pairs, chance.randint(1, min(len(pairs), 16)))
    ]
    return states, arrows


@pytest.mark.parametrize("seed", range(150))
def test_every_edge_of_any_machine_is_drawn_and_no_text_covers_another(seed):
    states, arrows = any_machine(seed)
    parts, height = draw_machine(states, arrows, ROLES["light"], states[0], "light")
    assert sum(part.startswith("<path") for part in parts) == len(arrows)
    boxes = list(texts(parts))
    for one, other in combinations(boxes, 2):
        apart = one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]
        assert apart, (one, other)
    assert all(
        left >= 0 and right <= WIDTH and top >= 0 and bottom <= height for left, top, right, bottom in boxes
    )


def test_an_edge_that_is_added_to_the_table_is_drawn(monkeypatch):
    before = state_machines.state_machine()
    cell = (ClassicGroupState.EMPTY, Heartbeat)
    rule = TRANSITIONS[cell]._replace(targets=frozenset({ClassicGroupState.PREPARING_REBALANCE}))
    monkeypatch.setattr(state_machines, "TRANSITIONS", MappingProxyType({**TRANSITIONS, cell: rule}))
    after = state_machines.state_machine()
    assert "Heartbeat" in after.svg and "Heartbeat" not in before.svg
    assert after.text != before.text
