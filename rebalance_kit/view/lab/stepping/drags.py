"""A number that is being dragged: every step is shown, and all steps together are one deed to undo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rebalance_kit.view.lab.branches import History
from rebalance_kit.view.lab.costs import cost
from rebalance_kit.view.lab.playing.prefetch import is_large
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.lab.state import LabState


@dataclass(frozen=True)
class Drag:
    """The steps so far of one drag: what was there before, and what they have led to."""

    number: int
    before: History
    latest: LabState


def step(lab: LabSession, number: int, values: Mapping[str, str]) -> dict[str, object]:
    """Run with the value of one step; of a large group the first second after the cursor is shown.

    Raises as ``LabState.with_settings`` does; the run of the step before stays then.
    """
    drag = _of(lab, number)
    history = drag.before.with_state(drag.before.state.with_settings(values))
    large = is_large(history.state)
    if large:
        lab.glance(history, drag.before.state)
    else:
        lab.take(history)
    lab.dragging = Drag(number, drag.before, lab.history.state)
    if large:
        return {"stepping": True}
    return {"dragged": cost(drag.before.state, lab.history.state, lab.cursor_ms)}


def keep(lab: LabSession, number: int, values: Mapping[str, str]) -> dict[str, object]:
    """End a drag at a value; the whole run is there afterwards."""
    drag = _of(lab, number)
    state = drag.before.state.with_settings(values)
    if drag.latest.done != state.done:
        lab.take(drag.before.with_state(state))
    lab.finish()
    lab.dragging = None
    return {"dragged": cost(drag.before.state, lab.history.state, lab.cursor_ms)}


def give_back(lab: LabSession, number: int) -> None:
    """End a drag and show what was there before it."""
    drag = _of(lab, number)
    lab.take(drag.before)
    lab.dragging = None


def _of(lab: LabSession, number: int) -> Drag:
    """The drag under way; a new one where something else was done meanwhile."""
    drag = lab.dragging
    if isinstance(drag, Drag) and drag.number == number and drag.latest is lab.history.state:
        return drag
    return Drag(number, lab.history, lab.history.state)
