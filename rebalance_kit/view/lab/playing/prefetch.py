"""A run kept ready at the cursor, so that a click on a large group is answered before all of it is simulated.

What happens before a deed does not depend on it. So the run up to the cursor is simulated and folded while
nobody waits; a click adds the deed, plays one second of what follows and shows that; the rest comes after.
"""

from __future__ import annotations

from rebalance_kit.simulation.scenario.scenario import Action
from rebalance_kit.simulation.simulate import Run
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.state_tracks import StateTracks
from rebalance_kit.view.lab.playing.playback import glance_bytes
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
        self._run = Run(state.scenario, state.seed)
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

    def glance(self, then: LabState, at_ms: int) -> tuple[Boards, bytes]:
        """The first second after the deed, and its film; the film says how far it knows the run."""
        end_ms = then.scenario.end_ms
        known_ms = min(at_ms + GLANCE_MS, end_ms)
        self._run.until(known_ms)
        settled = self.state.boards.settled_ms()
        boards = Boards(
            self._run.so_far(),
            tracks=self._tracks,
            settled_ms=settled if settled is not None and settled <= at_ms else None,
        )
        return boards, glance_bytes(boards, at_ms, end_ms)

    def first_second(self, at_ms: int) -> tuple[Boards, bytes]:
        """The run from its start up to a second after a moment, and its film: where something else holds from the start."""
        check_size(self.state.scenario)
        end_ms = self.state.scenario.end_ms
        known_ms = min(at_ms + GLANCE_MS, end_ms)
        self._run.until(known_ms)
        boards = Boards(self._run.so_far(), tracks=self._tracks)
        return boards, glance_bytes(boards, at_ms, end_ms)

    def finish(self) -> Boards:
        """The whole run; nothing can go on from this object afterwards."""
        return Boards(self._run.finish(), tracks=self._tracks)
