"""A lab without a screen: the run that is shown, what was done in it, and how it follows what is asked.

A widget of JupyterLab is one (``widget``), and so is the lab of a page that has Python beside it in a worker
(``worker``). Whoever shows a lab hears of its traits; requests of the page are answered in ``requests``.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext
from types import NoneType
from typing import Any

import traitlets

from rebalance_kit.model.errors import RebalanceKitError, require_kind
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.permalink import Link, LinkError, read_link, write_link
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import BoardState
from rebalance_kit.view.lab.branches import Branch, Choices, History
from rebalance_kit.view.lab.comparing import Comparing
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.page import controls_of
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.lab.playing.prefetch import Prefetch, is_large
from rebalance_kit.view.lab.predictions import Prediction, Question
from rebalance_kit.view.lab.settings import known_name
from rebalance_kit.view.lab.state import ASSIGNORS, EAGER, LabState, known_scenario, opened, own_protocol
from rebalance_kit.view.style.theme import THEMES
from rebalance_kit.view.words.descriptions import describe_board, describe_flow
from rebalance_kit.view.words.phrases import PROTOCOL_WORDS

READY_S = 0.15
"""How long the cursor rests before the run up to it is made ready."""


class LabSession(traitlets.HasTraits):
    """A run that can be watched and changed; the arguments are those of ``Lab``.

    Traits that a page shows: ``film`` (the run, docs/film.md), ``controls`` (what stands around it), ``cursor_ms``, ``theme``.
    Raises ``ScenarioError`` for a scenario, protocol or member that does not exist.
    """

    film = traitlets.Bytes().tag(sync=True)
    controls = traitlets.Dict().tag(sync=True)
    cursor_ms = traitlets.Int(0).tag(sync=True)
    theme = traitlets.Enum(("auto", *THEMES), "auto").tag(sync=True)
    protocol = traitlets.Unicode(allow_none=True)
    assignor = traitlets.Unicode(None, allow_none=True)

    def __init__(
        self,
        scenario: Scenario | str | None = None,
        protocol: str | None = None,
        *,
        at_ms: int | None = None,
        assignor: str | None = None,
        theme: str = "auto",
        seed: int | None = None,
    ) -> None:
        require_kind(at_ms, (int, NoneType), "at_ms", "whole milliseconds")
        base = known_scenario(scenario)
        protocol = protocol or own_protocol(base)
        state = opened(base, protocol, assignor, seed)
        self.serial = 1
        self.choices = Choices()
        self.comparing: tuple[object, Comparing] | None = None
        self.dragging: object = None
        self._notice = ""
        self._prefetch = Prefetch()
        self._waiting: asyncio.TimerHandle | None = None
        self._ahead: tuple[History, tuple[object, ...], History] | None = None
        self.history = History((Branch("main", state),))
        self.asked: tuple[Question, ...] = ()
        self.predictions: list[Prediction] = []
        at = state.opening_ms() if at_ms is None else at_ms
        super().__init__(
            film=film_bytes(state.boards),
            cursor_ms=max(0, min(at, state.boards.end_ms)),
            theme=theme,
            protocol=protocol,
            assignor=assignor,
        )
        self.controls = self._controls()
        self.observe(self._protocol_set, names=["protocol", "assignor"])
        self.observe(lambda _change: self._get_ready_soon(), names=["cursor_ms"])
        self._get_ready_soon()

    def together(self) -> AbstractContextManager[None]:
        """Whatever is set within is one change for the page."""
        return nullcontext()

    # --- what can be done -----------------------------------------------------------------------
    def crash(self, member: str) -> None:
        """Kill the member's process at the cursor."""
        self._act("crash", member)

    def leave(self, member: str) -> None:
        """Close the member's consumer at the cursor: it commits, gives up, and leaves the group."""
        self._act("leave", member)

    def restart(self, member: str) -> None:
        """Start a member that is gone, or close and start one that runs."""
        self._act("restart", member)

    def freeze(self, member: str) -> None:
        """Stop the member's process as a long GC pause does."""
        self._act("freeze", member)

    def thaw(self, member: str) -> None:
        """Let a frozen process go on."""
        self._act("thaw", member)

    def add(self) -> None:
        """Start one more member with the configuration of the first."""
        self._act("add", None)

    def do(self, action: str, member: str | None = None, **args: Any) -> None:
        """Any action of a scenario at the cursor, with its arguments."""
        self._act(action, member, args)

    def set(self, /, **values: str) -> None:
        """Other settings from the start of the run, by Kafka's names with ``_`` or ``.``; '' gives a default back.

        Raises ``ConfigError`` in Kafka's words; the run that is shown stays.
        """
        settings = {known_name(name): str(value) for name, value in values.items()}
        self.take(self.history.with_state(self.history.state.with_settings(settings)))

    def reseed(self, seed: int | None = None) -> None:
        """Run with other chances; None gives the scenario's own seed back."""
        self.take(self.history.with_state(self.history.state.with_seed(seed)))

    def undo(self) -> None:
        """Take the last deed back, or the protocol that was chosen, or the branch that was deleted after it."""
        self._walk(self.choices.back(self.history), self.history.undone())

    def redo(self) -> None:
        """Do again what was taken back."""
        self._walk(self.choices.forward(self.history), self.history.redone())

    def delete_branch(self, number: int) -> None:
        """Take a branch out; ``undo`` brings it back."""
        self._choose(f"{self.history.branch(number).name} is deleted", self.history.without(number))

    def _walk(self, choice: tuple[History, Choices] | None, history: History) -> None:
        """Show the history of a choice, or else the other one."""
        if choice is None:
            self.take(history)
        else:
            self._chosen(*choice)

    def _choose(self, words: str, history: History) -> None:
        if history != self.history:
            self._chosen(history, self.choices.made(words, self.history, history))

    def _chosen(self, history: History, choices: Choices) -> None:
        self.take(history)
        self.choices = choices
        self.controls = self._controls()

    def fork(self) -> None:
        """Begin a branch at the cursor: what was done later is left to the branch it was done in."""
        self.take(self.history.forked(self.cursor_ms))

    def load(self, scenario: Scenario | str) -> None:
        """Begin anew with another scenario; its protocol is kept where it names one."""
        base = known_scenario(scenario)
        self._begin(opened(base, own_protocol(base, self.protocol or EAGER), None, None), None)

    def open_link(self, token: str) -> None:
        """Rebuild what a link holds; a link that cannot be read opens the first preset and says why."""
        try:
            self.play_link(token)
        except RebalanceKitError as error:
            why = str(error) if isinstance(error, LinkError) else f"The link cannot be played: {error}"
            self._begin(
                opened(known_scenario(lessons()[0].name), "eager", None, None),
                None,
                f"{why[:1].upper()}{why[1:]}. Opened the first preset instead.",
            )

    def play_link(self, token: str) -> None:
        """Rebuild what a link holds; raises ``RebalanceKitError`` for one that cannot be read or played."""
        link = read_link(token)
        state = opened(link.scenario, link.protocol, link.assignor, link.seed)
        for deed in link.deeds:
            state = state.with_deed(deed)
        self._begin(state, link.at_ms)

    def at(self, at_ms: int) -> None:
        """Move the cursor (milliseconds from the start, held within the run)."""
        self.cursor_ms = max(0, min(int(at_ms), self.boards.end_ms))

    # --- what can be seen ----------------------------------------------------------------------
    @property
    def text(self) -> str:
        """The moment at the cursor in words."""
        return describe_board(self.board)

    @property
    def story(self) -> str:
        """The whole run in words."""
        return describe_flow(self.trace)

    @property
    def link(self) -> str:
        """A token that rebuilds this scenario, what was done in it, and the cursor (``Lab.from_link``)."""
        state = self.history.state
        return write_link(
            Link(
                state.base,
                self.cursor_ms,
                tuple(step.deed for step in state.done),
                state.protocol,
                state.assignor,
                state.seed,
            )
        )

    @property
    def board(self) -> BoardState:
        """The moment at the cursor as a value."""
        return self.boards.at(self.cursor_ms)

    @property
    def boards(self) -> Boards:
        """The run that is shown, ready to be asked for any moment."""
        return self.history.state.boards

    @property
    def trace(self) -> Trace:
        """The run that is shown."""
        return self.boards.trace

    @property
    def scenario(self) -> Scenario:
        """The scenario with everything that was done."""
        return self.history.state.scenario

    # --- within ----------------------------------------------------------------------------------
    def _act(self, do: str, member: str | None, args: dict[str, Any] | None = None) -> None:
        self.take(self._history_ahead(do, member, self.cursor_ms, args or {}))

    def ahead(self, do: str, member: str | None, at_ms: int, args: dict[str, Any]) -> LabState:
        """The state that a deed would lead to; nothing is changed."""
        return self._history_ahead(do, member, at_ms, args).state

    def _history_ahead(self, do: str, member: str | None, at_ms: int, args: dict[str, Any]) -> History:
        """The history after a deed, kept until another one is looked at: what was previewed costs nothing."""
        key = (do, member, at_ms, repr(sorted(args.items())))
        if self._ahead is None or self._ahead[0] is not self.history or self._ahead[1] != key:
            self._ahead = (self.history, key, self.history.acted(do, member, at_ms, args))
        return self._ahead[2]

    # --- a click on a large group: shown before it is simulated to the end -----------------------------
    def _get_ready_soon(self) -> None:
        """Simulate up to the cursor when nothing else has to be done; only where an event loop runs."""
        if not is_large(self.history.state):
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = loop.call_later(READY_S, self.get_ready)

    def get_ready(self) -> None:
        """Simulate and fold the run up to the cursor, so that the next click there is answered at once."""
        self._prefetch.get_ready(self.history.state, self.cursor_ms)

    def act_soon(self, do: str, member: str | None, args: dict[str, Any]) -> None:
        """Do what the page asks: like ``do``, but a large group is shown before its run is simulated to the end."""
        at_ms = self.cursor_ms
        if not self._prefetch.fits(self.history.state, at_ms):
            self._act(do, member, args)
            return
        history = self.history.acted(do, member, at_ms, args)
        shown = self._prefetch.act(history.state, at_ms)
        if shown is None:
            self.take(history)
        else:
            self._begin_to_show(history, *shown)

    def glance(self, history: History, before: LabState) -> None:
        """Show the first second after the cursor of another run than ``before``; ``finish`` makes the rest."""
        self._begin_to_show(history, *self._prefetch.step(before, history.state, self.cursor_ms))

    def _begin_to_show(self, history: History, boards: Boards, film: bytes) -> None:
        self._told_of(history.with_state(history.state.with_boards(boards)))
        self._show(film, self.cursor_ms)

    def finish(self) -> None:
        """Simulate the rest of what ``act_soon`` or ``glance`` has begun."""
        boards = self._prefetch.finish()
        if boards is not None:
            self.history = self.history.with_state(self.history.state.with_boards(boards))
            self._show(film_bytes(boards), self.cursor_ms)
            self._get_ready_soon()

    def take(self, history: History) -> None:
        """Show another history; when it cannot be simulated the old one stays."""
        same = history.state is self.history.state
        if same and history == self.history:
            return
        film = self.film if same else film_bytes(history.state.boards)
        if not same:
            self._prefetch.forget_rest()
        self._told_of(history)
        self._show(film, self.cursor_ms)
        self._get_ready_soon()

    def _told_of(self, history: History) -> None:
        forked = len(history.branches) > len(self.history.branches)
        name = self.history.branches[self.history.here].name
        self._notice = f"New branch “{history.branches[-1].name}”. {name} is kept." if forked else ""
        self.history = history

    def _begin(self, state: LabState, at_ms: int | None, notice: str = "") -> None:
        """Show another scenario from scratch."""
        at = state.opening_ms() if at_ms is None else at_ms
        film = film_bytes(state.boards)
        self.history, self._notice, self._ahead = History((Branch("main", state),)), notice, None
        self.choices = Choices()
        self._show(film, at)

    def _show(self, film: bytes, at_ms: int) -> None:
        self.serial += 1
        state = self.history.state
        with self.together():
            self.film = film
            self.controls = self._controls()
            self.cursor_ms = max(0, min(at_ms, state.boards.end_ms))
        self.set_trait("protocol", state.protocol)
        self.set_trait("assignor", state.assignor)

    def _protocol_set(self, _change: object) -> None:
        state = self.history.state
        if (self.protocol, self.assignor) == (state.protocol, state.assignor) or self.protocol is None:
            return
        assignor = self.assignor if self.assignor in ASSIGNORS.get(self.protocol, {}) else None
        try:
            words = (
                f"{PROTOCOL_WORDS.get(self.protocol, self.protocol)}{f' with {assignor}' if assignor else ''}"
            )
            self._choose(words, self.history.with_state(state.with_protocol(self.protocol, assignor)))
        except RebalanceKitError:
            self.set_trait("protocol", state.protocol)
            raise
        finally:
            self.set_trait("assignor", self.history.state.assignor)

    def _controls(self) -> dict[str, object]:
        return {**controls_of(self.history, self.choices), "notice": self._notice, "serial": self.serial}
