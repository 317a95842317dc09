"""The lab widget: members as lanes with their partitions, and everything that can be done to them.

The page plays a whole run by itself (``film``); the kernel is asked only when something is done.
Each method does what the button of the same name does, so a notebook can be checked without a screen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rebalance_kit.model.errors import RebalanceKitError, ScenarioError
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario import Scenario
from rebalance_kit.view.film import film_bytes
from rebalance_kit.view.lab_state import ASSIGNORS, PROTOCOL_WORDS, LabState, first_lesson
from rebalance_kit.view.palettes import THEMES
from rebalance_kit.view.state import BoardState
from rebalance_kit.view.still import still
from rebalance_kit.view.text import describe_board, describe_flow
from rebalance_kit.view.theme import stylesheet

STATIC = Path(__file__).parent / "static"


def _script() -> str:
    return "\n".join(part.read_text(encoding="utf-8") for part in sorted((STATIC / "lab").glob("*.js")))


def _style() -> str:
    return f"{stylesheet()}\n{(STATIC / 'lab.css').read_text(encoding='utf-8')}"


class Lab(anywidget.AnyWidget):
    """A run that can be watched and changed.

    ``scenario`` is a Scenario, the name of one, or None for the first lesson. ``protocol`` None keeps
    what the scenario says. ``at_ms`` is where it opens. ``theme``: auto, light, dark or projector.
    Raises ``ScenarioError`` for a scenario, protocol or member that does not exist.
    """

    _esm = _script()
    _css = _style()
    film = traitlets.Bytes().tag(sync=True)
    controls = traitlets.Dict().tag(sync=True)
    cursor_ms = traitlets.Int(0).tag(sync=True)
    theme = traitlets.Enum(("auto", *THEMES), "auto").tag(sync=True)
    protocol = traitlets.Unicode(allow_none=True)
    assignor = traitlets.Unicode(None, allow_none=True)

    def __init__(self, scenario: Scenario | str | None = None, protocol: str | None = "eager", *, at_ms: int | None = None,
                 assignor: str | None = None, theme: str = "auto", seed: int | None = None) -> None:  # fmt: skip
        base = _scenario(scenario)
        self._serial = 1
        self._state = LabState(base, protocol, assignor, lambda made: _simulate(made, seed))
        if protocol is not None:
            self._state = self._state.with_protocol(protocol, assignor)
        at = self._state.opening_ms() if at_ms is None else at_ms
        super().__init__(
            film=film_bytes(self._state.frames),
            cursor_ms=min(at, self._state.frames.end_ms),
            theme=theme,
            protocol=protocol,
            assignor=assignor,
        )
        self.controls = self._controls()
        self.observe(self._protocol_set, names=["protocol", "assignor"])
        self.on_msg(self._hear)

    # --- what can be done ----------------------------------------------------------------------
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

    def undo(self) -> None:
        """Take the last deed back."""
        self._take(self._state.undo())

    def redo(self) -> None:
        """Do again what was taken back."""
        self._take(self._state.redo())

    def at(self, at_ms: int) -> None:
        """Move the cursor (milliseconds from the start, held within the run)."""
        self.cursor_ms = max(0, min(int(at_ms), self._state.frames.end_ms))

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
    def board(self) -> BoardState:
        """The moment at the cursor as a value."""
        return self._state.frames.at(self.cursor_ms)

    @property
    def trace(self) -> Trace:
        """The run that is shown."""
        return self._state.frames.trace

    @property
    def scenario(self) -> Scenario:
        """The scenario with everything that was done."""
        return self._state.scenario

    # --- within ----------------------------------------------------------------------------------
    def _act(self, do: str, member: str | None, args: dict[str, Any] | None = None) -> None:
        self._take(self._state.acted(do, member, self.cursor_ms, args))

    def _take(self, state: LabState) -> None:
        """Show another state; when it cannot be simulated the old one stays."""
        if state is self._state:
            return
        film = film_bytes(state.frames)
        self._state = state
        self._serial += 1
        with self.hold_sync():
            self.film = film
            self.controls = self._controls()
            self.cursor_ms = min(self.cursor_ms, state.frames.end_ms)

    def _protocol_set(self, _change: Any) -> None:
        if (self.protocol, self.assignor) == (
            self._state.protocol,
            self._state.assignor,
        ) or self.protocol is None:
            return
        assignor = self.assignor if self.assignor in ASSIGNORS.get(self.protocol, {}) else None
        try:
            self._take(self._state.with_protocol(self.protocol, assignor))
        except RebalanceKitError:
            self.set_trait("protocol", self._state.protocol)
            raise
        finally:
            self.set_trait("assignor", self._state.assignor)

    def _controls(self) -> dict[str, Any]:
        state = self._state
        known = list(ASSIGNORS.get(state.protocol or "", {}))
        if not known:
            known = [state.frames.group.states[-1].assignor or "as configured"]
        return {
            "title": state.base.title or state.base.name,
            "protocols": [list(pair) for pair in PROTOCOL_WORDS.items()],
            "protocol": state.protocol or "",
            "assignors": known,
            "assignor": state.assignor or known[0],
            "undo": state.done[-1].words if state.done else "",
            "redo": state.undone[0].words if state.undone else "",
            "serial": self._serial,
        }

    def _hear(self, _widget: Any, message: dict[str, Any], _buffers: Any) -> None:
        """A click on the page: done, or refused in words; never a traceback in the output."""
        try:
            answer = self._answer(message)
        except RebalanceKitError as refusal:
            self.send({"type": "refused", "id": message.get("id"), "words": str(refusal)})
            return
        self.send({"type": "done", "id": message.get("id"), "serial": self._serial, **answer})

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        kind = message.get("type")
        if kind == "act":
            self.cursor_ms = max(0, min(int(message.get("at_ms", self.cursor_ms)), self._state.frames.end_ms))
            self._act(str(message.get("do")), message.get("member"))
            new = self._state.done[-1].member
            return {"play": True, "select": new.name if new else message.get("member")}
        if kind == "undo":
            self.undo()
        elif kind == "redo":
            self.redo()
        elif kind == "set" and message.get("name") == "protocol":
            self.protocol = str(message.get("value"))
        elif kind == "set" and message.get("name") == "assignor":
            self.assignor = str(message.get("value"))
        else:
            raise ScenarioError(f"the lab was asked for {kind!r}; expected act, undo, redo or set")
        return {"play": False}

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget where one can live; without a kernel its last state as picture and words."""
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle, {})
        if data is None:
            return None
        theme = "light" if self.theme == "auto" else self.theme
        return {**data, "text/plain": self.text, "image/svg+xml": still(self.board, theme)}, metadata

    def __repr__(self) -> str:
        return self.text


def _scenario(given: Scenario | str | None) -> Scenario:
    if given is None:
        return first_lesson()
    if isinstance(given, Scenario):
        return given
    from rebalance_kit.scenarios import load

    return load(given)


def _simulate(scenario: Scenario, seed: int | None) -> Trace:
    from rebalance_kit.simulation.simulate import simulate

    return simulate(scenario, seed)
