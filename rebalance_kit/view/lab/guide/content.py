"""What the page is given to guide through a run: the account of Why, and the beats in it."""

from __future__ import annotations

from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.guide.beats import Beat, beats, beats_from
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.lab.tabs.why import why_entries


def guide_of(state: LabState) -> dict[str, object]:
    """``entries`` of Why, and ``beats``: [ms, sentence, number of the entry whose rule is lit]."""
    as_written = not state.done and state.seed is None
    return _content(state.boards, beats(state.boards, state.scenario, as_written=as_written))


def guide_of_run(boards: Boards) -> dict[str, object]:
    """The same of a run of which no scenario is at hand: from where it is counted."""
    return _content(boards, beats_from(boards, boards.watched_from_ms))


def _content(boards: Boards, told: list[Beat]) -> dict[str, object]:
    return {"entries": why_entries(boards), "beats": [list(beat) for beat in told]}
