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
    """One way through the lab: its name, its state, and where it left which other branch.

    ``deed`` is the name that it has after the deed with which it began, while that deed is done.
    """

    name: str
    state: LabState
    parent: int | None = None
    from_ms: int = 0
    deed: str = ""


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
        fresh = self._fresh(name or _plain_name(at_ms))
        made = Branch(fresh, self.state.until(at_ms), self.here, at_ms, fresh if name else "")
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

    def undone(self) -> History:
        """The last deed of the branch taken back; a branch that began with it is no longer named after it."""
        branch, state = self.branches[self.here], self.state.undo()
        if branch.deed and branch.name == branch.deed and not _has(state, branch):
            return self.with_state(state).called(self._fresh(_plain_name(branch.from_ms)))
        return self.with_state(state)

    def redone(self) -> History:
        """What was taken back last done again; a branch that began with it has its name again."""
        branch, state = self.branches[self.here], self.state.redo()
        if branch.name.startswith(_plain_name(branch.from_ms)) and branch.deed and _has(state, branch):
            return self.with_state(state).called(branch.deed)
        return self.with_state(state)

    def at_branch(self, number: int) -> History:
        """Show another branch."""
        self._known(number)
        return replace(self, here=number)

    def renamed(self, number: int, name: str) -> History:
        """Give a branch another name of 1 to 40 characters."""
        self._known(number)
        if not 1 <= len(name.strip()) <= 40:
            raise ScenarioError(f"the branch name {name[:60]!r} has {len(name)} characters; expected 1 to 40")
        return replace(self.at_branch(number).called(name.strip()), here=self.here)

    def called(self, name: str) -> History:
        """The branch that is shown under another name."""
        changed = replace(self.branches[self.here], name=name)
        return replace(self, branches=(*self.branches[: self.here], changed, *self.branches[self.here + 1 :]))

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

    def branch(self, number: int) -> Branch:
        """The branch of that number; raises ``ScenarioError`` where there is none."""
        self._known(number)
        return self.branches[number]

    def _known(self, number: int) -> None:
        if not (type(number) is int and 0 <= number < len(self.branches)):
            raise ScenarioError(f"there is no branch {number!r}; expected 0 to {len(self.branches) - 1}")


def _plain_name(at_ms: int) -> str:
    return f"from {at_ms / 1000:.1f} s"


def _has(state: LabState, branch: Branch) -> bool:
    """Whether the deed that the branch began with is done in it."""
    return any(branch.deed.startswith(step.words) for step in state.done if step.at_ms == branch.from_ms)


# --- choices that are no deeds and can be undone all the same: a protocol, an assignor, a branch that is deleted
@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, in words, and the histories before and after it."""

    words: str
    before: History
    after: History


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices so far, latest last, and those that were taken back, next one last."""

    done: tuple[Choice, ...] = ()
    undone: tuple[Choice, ...] = ()

    def made(self, words: str, before: History, after: History) -> Choices:
        """One more; what was taken back is forgotten."""
        return Choices((*self.done, Choice(words, before, after)))

    def back(self, history: History) -> tuple[History, Choices] | None:
        """The history before the latest choice, where nothing was done since; None otherwise."""
        if not self.done or not _same(self.done[-1].after, history):
            return None
        return self.done[-1].before, Choices(self.done[:-1], (*self.undone, self.done[-1]))

    def forward(self, history: History) -> tuple[History, Choices] | None:
        """The history after the choice that was taken back last, where nothing was done since; None otherwise."""
        if not self.undone or not _same(self.undone[-1].before, history):
            return None
        return self.undone[-1].after, Choices((*self.done, self.undone[-1]), self.undone[:-1])

    def undo_words(self, history: History) -> str:
        """What ``back`` takes back; empty when it is no choice."""
        return self.done[-1].words if self.back(history) else ""

    def redo_words(self, history: History) -> str:
        """What ``forward`` chooses again; empty when it is no choice."""
        return self.undone[-1].words if self.forward(history) else ""


def _same(one: History, other: History) -> bool:
    """Whether two histories show the same run and have the same branches."""
    ours = [
        (branch.name, branch.state.done, branch.state.protocol, branch.state.assignor, branch.state.seed)
        for branch in one.branches
    ]
    theirs = [
        (branch.name, branch.state.done, branch.state.protocol, branch.state.assignor, branch.state.seed)
        for branch in other.branches
    ]
    return one.here == other.here and ours == theirs
