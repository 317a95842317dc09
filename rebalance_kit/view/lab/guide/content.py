"""What the page is given to guide through a run: the account of Why, and the beats in it."""

from __future__ import annotations

from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.guide.beats import beats
from rebalance_kit.view.lab.tabs.why import why_entries


def guide_of(boards: Boards, scenario: Scenario) -> dict[str, object]:
    """``entries`` of Why, and ``beats``: [ms, sentence, number of the entry whose rule is lit]."""
    return {"entries": why_entries(boards), "beats": [list(beat) for beat in beats(boards, scenario)]}
