"""What the page's requests and the exports may ask of a lab and do to it: the lab's surface, without its widget."""

from __future__ import annotations

from typing import Any, Protocol

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.branches import History
from rebalance_kit.view.lab.costs import Comparing
from rebalance_kit.view.lab.predictions import Prediction, Question
from rebalance_kit.view.lab.state import LabState


class LabSurface(Protocol):
    """A lab as its requests see it (``widget.Lab`` is one)."""

    history: History
    asked: tuple[Question, ...]
    predictions: list[Prediction]
    comparing: tuple[object, Comparing] | None
    dragging: object
    film: Any
    controls: Any
    cursor_ms: Any
    theme: Any
    protocol: Any
    assignor: Any

    @property
    def text(self) -> str:
        """The moment at the cursor in words."""
        ...

    @property
    def story(self) -> str:
        """The whole run in words."""
        ...

    @property
    def link(self) -> str:
        """A token that opens this moment again."""
        ...

    @property
    def boards(self) -> Boards:
        """The run, ready to be asked for any moment."""
        ...

    @property
    def trace(self) -> Trace:
        """The run's trace."""
        ...

    @property
    def scenario(self) -> Scenario:
        """The scenario with everything that was done."""
        ...

    def at(self, at_ms: int) -> None:
        """Move the cursor."""
        ...

    def act_soon(self, do: str, member: str | None, args: dict[str, Any]) -> None:
        """Do an action and show its first second at once."""
        ...

    def ahead(self, do: str, member: str | None, at_ms: int, args: dict[str, Any]) -> LabState:
        """The state that an action would lead to."""
        ...

    def take(self, history: History) -> None:
        """Show another branch, or the branches changed."""
        ...

    def glance(self, history: History, before: LabState) -> None:
        """Show the first second after the cursor of another run than ``before``; ``finish`` makes the rest."""
        ...

    def finish(self) -> None:
        """Simulate the rest of a run of which the beginning is shown."""
        ...

    def undo(self) -> None:
        """Take the last step back."""
        ...

    def delete_branch(self, number: int) -> None:
        """Take a branch out."""
        ...

    def redo(self) -> None:
        """Take an undone step again."""
        ...

    def fork(self) -> None:
        """Begin a branch."""
        ...

    def set(self, /, **values: str) -> None:
        """Change settings."""
        ...

    def reseed(self, seed: int | None = None) -> None:
        """Simulate with another seed."""
        ...

    def load(self, scenario: Scenario | str) -> None:
        """Open another lesson."""
        ...

    def play_link(self, token: str) -> None:
        """Open what a link was copied from; raises ``RebalanceKitError`` and shows the same run when it cannot."""
        ...
