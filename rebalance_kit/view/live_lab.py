"""The lab on a live group: the board of the simulator, drawn from what a real broker and real members write down.

``LiveLab(group)`` follows a ``live.Group``, and its buttons do the deeds for real: *Crash* is a SIGKILL. ``LiveLab(folder)`` follows any run that
is being recorded, and only shows it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rebalance_kit.live import Group
from rebalance_kit.live.following import Following
from rebalance_kit.model.errors import DataError, RebalanceKitError, ScenarioError
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.page import script, style
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.style.showing import Mime
from rebalance_kit.view.style.theme import THEMES
from rebalance_kit.view.words.descriptions import describe_board
from rebalance_kit.view.words.phrases import plainly

LOOK_S = 0.05
"""Between two looks at the files."""
BEAT_S = 0.5
"""At least so often a film comes, since what is unread is unread for longer."""
SHARE = 3
"""So many times as long as a film takes of a core passes before the next, at least."""
SIGNALS = {"crash": "kill", "freeze": "freeze", "thaw": "thaw"}
GONE = "has ended. Restart it first."


class LiveLab(anywidget.AnyWidget):
    """A group on a real broker, on the lab's board; it follows until ``stop()``, or until the group ends.

    ``source`` is a ``live.Group``, whose members the buttons crash, close, freeze, restart and add, or the folder of a run, under way or over.
    ``theme``: auto, light, dark or projector. Raises ``DataError`` for a folder that is none, and while nobody has been started.
    """

    _esm = script()
    _css = style()
    film = traitlets.Bytes().tag(sync=True)
    controls = traitlets.Dict().tag(sync=True)
    cursor_ms = traitlets.Int(0).tag(sync=True)
    theme = traitlets.Enum(("auto", *THEMES), "auto").tag(sync=True)
    still = traitlets.Unicode("").tag(sync=True)

    def __init__(self, source: Group | str | Path, *, theme: str = "auto") -> None:
        self.group = source if isinstance(source, Group) else None
        if isinstance(source, Group):
            self._following = Following(source.folder, source.broker.log)
        else:
            self._following = Following(source)
        self._serial, self._notice = 0, ""
        self.problem: str | None = None
        self._stop = threading.Event()
        self._following.look()
        run = self._following.run()
        if run is None or not run.members:
            raise DataError(
                f"{self._following.folder}: nobody has been started yet; expected a group with a member to look at"
            )
        super().__init__(theme=theme)
        self._show()
        self.on_msg(self._received)
        self._thread = threading.Thread(target=self._follow, name="rebalance-kit-live-lab", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Follow no further; the board stays as it is."""
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def text(self) -> str:
        """The moment that is shown, in words."""
        if self.problem is not None:
            return self.problem
        return describe_board(self.boards.at(self.boards.end_ms))

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Mime, Mime] | None:
        bundle = super()._repr_mimebundle_(**kwargs)
        return None if bundle is None else ({**bundle[0], "text/plain": self.text}, bundle[1])

    # --- following ------------------------------------------------------------------------------
    def _follow(self) -> None:
        due = 0.0
        news = False
        try:
            while not self._stop.wait(LOOK_S):
                news |= self._following.look()
                now = time.monotonic()
                if now < due or not (news or now - due > BEAT_S):
                    continue
                spent = time.thread_time()
                self._show()
                took = time.thread_time() - spent  # not what others took of the machine meanwhile
                due, news = now + took * (1 + SHARE), False
                if self._following.over:
                    break
        except Exception as error:  # noqa: BLE001 - the end of a thread must be seen in the cell
            self.problem = f"The lab follows no further: {error}"
            self.controls = {**self.controls, "notice": self.problem, "serial": self._serial}

    def _show(self) -> None:
        run = self._following.run()
        assert run is not None
        how = "recorded" if self._following.over and self.group is None else "live"
        trace = replace(recorded_trace(run, coordinator=True), label=f"{run.protocol}, {how}")
        self.boards = boards = Boards(trace)
        self._serial += 1
        with self.hold_sync():
            self.film = film_bytes(boards, level=1)
            self.controls = self._controls(f"{run.scenario}, {how} on Kafka {run.kafka}")

    def _controls(self, title: str) -> dict[str, object]:
        """What the page shows around a live run: nothing that changes the past."""
        over = self._following.over
        return {
            "title": title,
            "story": "",
            "preset": "live",
            "alone": True,
            "live": not over,
            "acts": self.group is not None and not over,
            "guided": False,
            "lesson": "",
            "try": "",
            "watch": "",
            "protocols": [],
            "protocol": "",
            "undo": "",
            "redo": "",
            "done": [],
            "notice": self._notice,
            "serial": self._serial,
        }

    # --- deeds ----------------------------------------------------------------------------------
    def do(self, deed: str, member: str | None = None) -> None:
        """Crash, leave, freeze, thaw or restart a member, or ``add`` one, for real; raises ``RebalanceKitError`` for what cannot be done.

        A start returns when the process has made its consumer.
        """
        group = self.group
        if group is None:
            raise ScenarioError(
                "this lab follows a run that somebody else makes; expected LiveLab(group) to act in"
            )
        if deed == "add":
            numbers = {
                int(name.rpartition("c")[2]) for name in group.lives if name.rpartition("c")[2].isdigit()
            }
            group.start(f"c{max(numbers, default=0) + 1}")
            return
        life = group.lives.get(str(member))
        if life is None:
            raise ScenarioError(
                f"{member!r} is no member; expected one of {', '.join(group.lives) or 'none yet'}"
            )
        name = life.start.member
        if deed == "restart":
            if life.lives:
                group.tell(name, "close")
                group.until(lambda: not life.lives, f"the end of {name}")
            group.start(name, life.start.client)
        elif not life.lives:
            raise ScenarioError(f"{name} {GONE}")
        elif deed == "leave":
            group.tell(name, "close")
        elif deed in SIGNALS:
            group.signal(name, SIGNALS[deed])
        else:
            raise ScenarioError(
                f"{deed!r} cannot be done to a live group here; expected crash, leave, freeze, thaw, restart or add"
            )

    def _received(self, _widget: object, message: object, _buffers: object) -> None:
        if isinstance(message, dict):
            self.handle(message)

    def handle(self, message: Mapping[str, object]) -> None:
        """Do what a click on the page asks, or refuse it in words; a start goes on beside the kernel."""
        kind, number = message.get("type"), message.get("id")
        if kind == "act":
            deed, member = str(message.get("do")), message.get("member")
            if deed in {"restart", "add"}:
                args = (deed, member, number)
                threading.Thread(
                    target=self._answer, args=args, name="rebalance-kit-start", daemon=True
                ).start()
            else:
                self._answer(deed, member, number)
        elif kind == "alive":
            self.send({"type": "done", "id": number, "serial": self._serial})
        else:
            words = "A live group has no past to change: that can be done in the simulator's lab."
            self.send({"type": "refused", "id": number, "words": words})

    def _answer(self, deed: str, member: object, number: object) -> None:
        try:
            self.do(deed, None if member is None else str(member))
        except RebalanceKitError as error:
            self.send({"type": "refused", "id": number, "words": plainly(str(error))})
        else:
            self.send({"type": "done", "id": number, "serial": self._serial, "live": True})
