"""Branches of a lab: every way that was tried is kept, and one of them is looked at.

Acting in the past, or after an undo, makes a branch by itself, so that no future is ever thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.lab.state import LabState

MOST_BRANCHES = 50


@dataclass(frozen=True)
class Branch:
    """One way through the lab: its name, its state, and where it left which other branch."""

    name: str
    state: LabState
    parent: int | None = None
    from_ms: int = 0


@dataclass(frozen=True)
class History:
    """All branches in order of making; ``here`` is the one that is shown."""

    branches: tuple[Branch, ...]
    here: int = 0

    @property
    def state(self) -> LabState:
        """The state that is shown."""
        return self.branches[self.here].state

    def with_state(self, state: LabState) -> History:
        """The same tree, with another state in the branch that is shown."""
        changed = replace(self.branches[self.here], state=state)
        return replace(self, branches=(*self.branches[: self.here], changed, *self.branches[self.here + 1 :]))

    def forked(self, at_ms: int, name: str | None = None) -> History:
        """A new branch with what was done up to ``at_ms``; it is shown from now on.

        Raises ``ScenarioError`` when there are 50 branches already.
        """
        if len(self.branches) >= MOST_BRANCHES:
            raise ScenarioError(f"there are {MOST_BRANCHES} branches; expected fewer. Delete one first")
        named = name or f"from {at_ms / 1000:.1f} s"
        made = Branch(self._fresh(named), self.state.until(at_ms), self.here, at_ms)
        return History((*self.branches, made), len(self.branches))

    def _fresh(self, name: str) -> str:
        known = {branch.name for branch in self.branches}
        tries = (name, *(f"{name} ({number})" for number in range(2, MOST_BRANCHES + 2)))
        return next(candidate for candidate in tries if candidate not in known)

    def acted(self, do: str, member: str | None, at_ms: int, args: dict[str, Any] | None = None) -> History:
        """One more deed; in the past or after an undo it goes into a branch of its own."""
        state = self.state
        late = [step for step in state.done if step.at_ms > at_ms]
        if not late and not state.undone:
            return self.with_state(state.acted(do, member, at_ms, args))
        made = state.until(at_ms).acted(do, member, at_ms, args)
        return self.forked(at_ms, made.done[-1].words).with_state(made)

    def at_branch(self, number: int) -> History:
        """Show another branch."""
        self._known(number)
        return replace(self, here=number)

    def renamed(self, number: int, name: str) -> History:
        """Give a branch another name of 1 to 40 characters."""
        self._known(number)
        if not 1 <= len(name.strip()) <= 40:
            raise ScenarioError(f"the branch name {name[:60]!r} has {len(name)} characters; expected 1 to 40")
        changed = replace(self.branches[number], name=name.strip())
        return replace(self, branches=(*self.branches[:number], changed, *self.branches[number + 1 :]))

    def without(self, number: int) -> History:
        """Take a branch out; those that left it hang on its parent. The last one stays."""
        self._known(number)
        if len(self.branches) == 1:
            raise ScenarioError("this is the only branch; expected another one to go on with")
        gone = self.branches[number]

        def moved(branch: int | None) -> int | None:
            branch = gone.parent if branch == number else branch
            return branch if branch is None or branch < number else branch - 1

        remaining = tuple(
            replace(branch, parent=moved(branch.parent))
            for index, branch in enumerate(self.branches)
            if index != number
        )
        return History(remaining, moved(self.here) or 0)

    def _known(self, number: int) -> None:
        if not (type(number) is int and 0 <= number < len(self.branches)):
            raise ScenarioError(f"there is no branch {number!r}; expected 0 to {len(self.branches) - 1}")
