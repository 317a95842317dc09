"""What the page is given to guide through a run: the account of Why, and the beats in it."""

from __future__ import annotations

from rebalance_kit.view.lab.guide.beats import beats
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.lab.tabs.why import why_entries


def guide_of(state: LabState) -> dict[str, object]:
    """``entries`` of Why, and ``beats``: [ms, sentence, number of the entry whose rule is lit]."""
    as_written = not state.done and state.seed is None
    told = beats(state.boards, state.scenario, as_written=as_written)
    return {"entries": why_entries(state.boards), "beats": [list(beat) for beat in told]}
