"""The two sides of a vote in a classroom: ``Poll`` on the projector, ``Vote`` at each learner's own screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings import poll
from rebalance_kit.quiz.sittings.grade import Answer
from rebalance_kit.quiz.sittings.page import public, question_lines
from rebalance_kit.quiz.sittings.room import Room, as_picture
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.page import QuestionPage, script


class RoomAddress:
    """The address of a room's page, with its QR code in a notebook where the extra ``print`` is installed."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __repr__(self) -> str:
        """The address in words."""
        return f"Vote at {self.address}"

    def _repr_html_(self) -> str:
        return f"<p style='font-size:1.6em'>Vote at <b>{self.address}</b></p>{as_picture(self.address) or ''}"


class Poll(QuestionPage):
    """A question for the room: ``Poll("eager-crash-which-unread")``. Learners run the ``Vote(...)`` that it shows.

    Votes come in as codes pasted into its field (``poll.take``), as files in ``folder`` (looked at every few
    seconds), or as raised hands (``hands(a=4, b=11)``). The screen shows their number only, until
    ``show()`` shows the split and ``reveal()`` the answer. ``end_round()``, ``revote()`` and ``restart()`` are the
    other buttons. ``room`` is the word in that ``Vote(...)``, drawn unless it is given: votes without it are refused. Raises ``DataError`` for an item without one right option.
    """

    _esm = script("poll")
    _room: ClassVar[Room | None] = None

    def __init__(
        self,
        item: str,
        seed: int = 1,
        *,
        folder: str | Path | None = None,
        room: str | None = None,
        store: Store | None = None,
    ) -> None:
        self.count = poll.PollCount(item, seed, folder=folder, store=store, room=room)
        self._show({**self.count.page(), "error": ""})
        if Poll._room is not None and Poll._room.word == self.count.room:
            Poll._room.show(self.count, self._redraw)

    @classmethod
    def open_room(cls, host: str = "127.0.0.1", port: int = 0, *, store: Store | None = None) -> RoomAddress:
        """Serve a page for phones from this machine, and show its address and QR code: every poll begun afterwards is on it.

        ``host="0.0.0.0"`` lets the room's network in; by default this machine alone. A port that is taken raises ``EnvironmentProblem``.
        """
        cls.close_room()
        cls._room = Room(poll.session_room(Store.given(store)), host, port)
        return RoomAddress(cls._room.address)

    @classmethod
    def begin_session(cls, *, store: Store | None = None) -> str:
        """Draw another word for the room; votes under the one before, as of a rehearsal, are forgotten. Returns the word."""
        cls.close_room()
        return poll.session_room(Store.given(store), new=True)

    @classmethod
    def close_room(cls) -> None:
        """Serve the page for phones no longer."""
        if cls._room is not None:
            cls._room.close()
        cls._room = None

    def take(self, text: str) -> int:
        """Count the codes in a pasted text; how many were taken."""
        taken = self.count.take(text)
        self._redraw()
        return taken

    def collect(self) -> int:
        """Count the votes in the shared folder; how many there are."""
        votes = self.count.collect()
        self._redraw()
        return votes

    def hands(self, **counts: int) -> None:
        """Count raised hands where no codes can be sent: ``poll.hands(a=4, b=11)``."""
        self.count.hands(**counts)
        self._redraw()

    def end_round(self) -> None:
        """End the vote that is open."""
        self._do("end_round")

    def revote(self) -> None:
        """Open the second vote, with the split hidden."""
        self._do("revote")

    def show(self) -> None:
        """Show the split."""
        self._do("show")

    def reveal(self) -> None:
        """Show the split, the answer and the reasons; the poll is over."""
        self._do("reveal")

    def restart(self) -> None:
        """Forget all votes and begin anew."""
        self._do("restart")

    def open_lab(self, number: int = 0) -> None:
        """Show a run that decides the question in the lab; only once it is revealed."""
        self.open_run(self.count.replays(), number)

    def text(self) -> str:
        """The screen in words."""
        return self.count.text()

    def _do(self, step: str) -> None:
        getattr(self.count, step)()
        self._redraw()

    def _redraw(self, error: str = "") -> None:
        self.page = {**self.count.page(), "error": error}

    def handle(self, message: Mapping[str, object]) -> None:
        """Take votes or the next step, as the page asks."""
        request = message.get("do")
        try:
            if isinstance(request, str) and request in STEPS:
                STEPS[request](self)
            elif request == "take":
                self.take(str(message.get("text", "")))
            elif request == "lab":
                self.open_run(self.count.replays(), message.get("run", 0))
        except DataError as error:
            self._redraw(str(error))


STEPS: Mapping[str, Callable[[Poll], object]] = MappingProxyType(
    {
        "end_round": Poll.end_round,
        "revote": Poll.revote,
        "show": Poll.show,
        "reveal": Poll.reveal,
        "restart": Poll.restart,
        "collect": Poll.collect,
    }
)


class Vote(QuestionPage):
    """A learner's own vote, as the screen shows it: ``Vote("eager-crash-which-unread", room="k2m4p")``. Choose, and send the code that appears to the instructor (or let ``folder`` carry it).

    ``vote.vote("b")`` votes from code, ``vote.vote("c", again=True)`` after the discussion. Nothing of right or wrong
    is known here; the answer comes with the instructor's poll.
    """

    _esm = script("vote")

    def __init__(
        self,
        item: str,
        seed: int = 1,
        *,
        room: str,
        folder: str | Path | None = None,
        store: Store | None = None,
    ) -> None:
        self._room = poll.known_room(room)
        self._asked = poll.asked_in_poll(read_bank().item(item), seed)
        self._folder = folder
        self._voter = poll.voter_of(Store.given(store))
        self._show(self._page())

    def _page(self, **changes: Any) -> dict[str, Any]:
        empty = {"given": "", "again": False, "code": "", "kept": "", "error": ""}
        return {"question": public(self._asked), **empty, **changes}

    def vote(self, answer: Answer, *, again: bool = False) -> str:
        """Vote, and return the code; raises ``DataError`` for no option."""
        ballot = poll.cast(self._asked, answer, self._voter, again=again)
        file = "" if self._folder is None else str(poll.write_file(ballot, self._room, self._folder))
        self.page = self._page(
            given=ballot.answer, again=again, code=poll.write_code(ballot, self._room), kept=file
        )
        return poll.write_code(ballot, self._room)

    def text(self) -> str:
        """The question in words, and the code once there is one."""
        lines = question_lines(self._asked, 1)
        return "\n".join([*lines, f"Your code: {self.page['code']}"] if self.page["code"] else lines)

    def handle(self, message: Mapping[str, object]) -> None:
        """Cast the vote that the page sends."""
        again = bool(message.get("again"))
        try:
            if message.get("do") == "vote":
                self.vote(str(message.get("given", "")), again=again)
        except DataError as error:
            self.page = self._page(again=again, error=str(error))
