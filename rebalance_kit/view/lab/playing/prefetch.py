"""A run kept ready at the cursor, so that a click on a large group is answered before all of it is simulated.

What happens before a deed does not depend on it. So the run up to the cursor is simulated and folded while
nobody waits; a click adds the deed, plays one second of what follows and shows that; the rest comes after.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.other_sessions import retold, watched_agenda
from rebalance_kit.simulation.scenario.scenario import Action, Scenario
from rebalance_kit.simulation.simulate import Run
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.track import StateTracks
from rebalance_kit.view.lab.playing.playback import Deflated, glance_bytes
from rebalance_kit.view.lab.state import LabState, check_size

GLANCE_MS = 1_000
"""How much of what follows is shown at first."""
LARGE = 64
"""From so many partitions on it is worth it; below, everything is simulated in less than a blink."""
PLAIN = frozenset(
    {
        "crash",
        "close",
        "freeze",
        "thaw",
        "stall",
        "slow_down",
        "slow_callback",
        "cut_network",
        "heal_network",
        "drop_next",
        "delay_next",
        "enforce_rebalance",
        "remove",
        "start",
        "broker_down",
        "broker_up",
        "coordinator_failover",
    }
)
"""Deeds that bring no new member and no new topic."""


def is_large(state: LabState) -> bool:
    """Whether a click on this scenario would have to wait for the whole run."""
    return sum(topic.partitions for topic in state.scenario.topics) > LARGE


class Ahead:
    """The run of a state up to a moment, simulated and folded."""

    def __init__(self, state: LabState) -> None:
        self.state = state
        self._agenda = watched_agenda()
        self._run = Run(state.scenario, state.seed, agenda=self._agenda)
        self._run.until(0)
        self._tracks = StateTracks(self._run.so_far())

    def fits(self, state: LabState, at_ms: int) -> bool:
        """Whether a deed at that moment can go on from here."""
        return state is self.state and at_ms > self._run.now_ms

    def up_to(self, at_ms: int) -> None:
        """Let time pass up to the millisecond before a moment."""
        if at_ms - 1 > self._run.now_ms:
            self._run.until(at_ms - 1)
            self._tracks.feed(self._run.so_far())

    def act(self, then: LabState, action: Action) -> bool:
        """Do the deed that leads to ``then``; False where the whole run has to be simulated anew."""
        if action.do not in PLAIN:
            return False
        self.up_to(action.at_ms)
        return self._run.act(then.scenario, action)

    def second_after(self, at_ms: int, settled_ms: int | None = None) -> Boards:
        """The run up to a second after a moment; the group may be known to have settled before."""
        self._run.until(min(at_ms + GLANCE_MS, self._run.planned.end_ms))
        return Boards(self._run.so_far(), tracks=self._tracks, settled_ms=settled_ms)

    def retold(self, so_far: Trace, scenario: Scenario) -> Trace | None:
        """The run until now as that of another scenario, where only sessions are others and none has ended otherwise."""
        return retold(self._run, self._agenda, so_far, scenario)

    def finish(self) -> Boards:
        """The whole run; nothing can go on from this object afterwards."""
        return Boards(self._run.finish(), tracks=self._tracks)


class Start:
    """The run before a drag, up to a second after the cursor: what a step shows that changes nothing until then."""

    def __init__(self, ahead: Ahead, at_ms: int) -> None:
        self._ahead, self.state, self.at_ms = ahead, ahead.state, at_ms
        self._boards = ahead.second_after(at_ms)
        self._film = Deflated(self._boards, at_ms)

    def shown(self, state: LabState) -> tuple[Boards, bytes] | None:
        """The first second of a step, and its film; None where it has to be simulated."""
        trace = self._ahead.retold(self._boards.trace, state.scenario)
        if trace is None:
            return None
        boards = self._boards.retold(trace)
        return boards, self._film.film(boards, state.scenario.end_ms)


class Prefetch:
    """What is simulated before it is asked for, and the rest of a run whose beginning is shown already."""

    def __init__(self) -> None:
        self._ahead: Ahead | None = None
        self._start: Start | None = None
        self._rest: Callable[[], Boards] | None = None

    def get_ready(self, state: LabState, at_ms: int) -> None:
        """Simulate and fold the run up to the cursor."""
        self._ready(state, at_ms).up_to(at_ms)

    def _ready(self, state: LabState, at_ms: int) -> Ahead:
        if self._ahead is None or not self._ahead.fits(state, at_ms):
            self._ahead = Ahead(state)
        return self._ahead

    def fits(self, state: LabState, at_ms: int) -> bool:
        """Whether a deed at that moment can go on from what is ready."""
        return self._ahead is not None and self._ahead.fits(state, at_ms)

    def act(self, then: LabState, at_ms: int) -> tuple[Boards, bytes] | None:
        """The first second after the deed that led to ``then``, and its film; None where the whole run is simulated anew."""
        ahead = self._ahead
        if ahead is None or not ahead.act(then, then.done[-1].actions[0]):
            return None
        self._ahead, self._start, self._rest = None, None, ahead.finish
        settled_ms = ahead.state.boards.settled_ms()
        boards = ahead.second_after(
            at_ms, settled_ms if settled_ms is not None and settled_ms <= at_ms else None
        )
        return boards, glance_bytes(boards, at_ms, then.scenario.end_ms)

    def step(self, before: LabState, then: LabState, at_ms: int) -> tuple[Boards, bytes]:
        """The first second after a moment, and its film, with other settings from the start than ``before``."""
        check_size(then.scenario)
        start = self._start
        if start is None or start.state is not before or start.at_ms != at_ms:
            start = self._start = Start(self._ready(before, at_ms), at_ms)
            self._ahead = None
        shown = start.shown(then)
        if shown is not None:
            self._rest = lambda: Boards(then.simulate(then.scenario, then.seed))
            return shown
        ahead = Ahead(then)
        self._rest = ahead.finish
        boards = ahead.second_after(at_ms)
        return boards, glance_bytes(boards, at_ms, then.scenario.end_ms)

    def forget_rest(self) -> None:
        """Another run is shown: nothing of the last one is waited for."""
        self._rest = None

    def finish(self) -> Boards | None:
        """The whole of the run whose beginning is shown; None where all of it is there."""
        rest, self._rest = self._rest, None
        return None if rest is None else rest()
