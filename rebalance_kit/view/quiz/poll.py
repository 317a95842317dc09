"""The two sides of a vote in a classroom: ``Poll`` on the projector, ``Vote`` at each learner's own screen."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rebalance_kit.quiz.sittings.poll import PollCount, session_room
from rebalance_kit.quiz.sittings.room import Room, as_picture
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.page import QuestionPage, script
from rebalance_kit.view.quiz.sheets import PollSheet, VoteSheet


class RoomAddress:
    """The address of a room's page, with its QR code in a notebook where the extra ``print`` is installed."""

    def __init__(self, address: str) -> None:
        self.address = address

    def __repr__(self) -> str:
        """The address in words."""
        return f"Vote at {self.address}"

    def _repr_html_(self) -> str:
        return f"<p style='font-size:1.6em'>Vote at <b>{self.address}</b></p>{as_picture(self.address) or ''}"


class Poll(PollSheet, QuestionPage):
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
        self.count = PollCount(item, seed, folder=folder, store=store, room=room)
        self._show({**self.count.page(), "error": ""})
        if Poll._room is not None and Poll._room.word == self.count.room:
            Poll._room.show(self.count, self._redraw)

    @classmethod
    def open_room(cls, host: str = "127.0.0.1", port: int = 0, *, store: Store | None = None) -> RoomAddress:
        """Serve a page for phones from this machine, and show its address and QR code: every poll begun afterwards is on it.

        ``host="0.0.0.0"`` lets the room's network in; by default this machine alone. A port that is taken raises ``EnvironmentProblem``.
        """
        cls.close_room()
        cls._room = Room(session_room(Store.given(store)), host, port)
        return RoomAddress(cls._room.address)

    @classmethod
    def begin_session(cls, *, store: Store | None = None) -> str:
        """Draw another word for the room; votes under the one before, as of a rehearsal, are forgotten. Returns the word."""
        cls.close_room()
        return session_room(Store.given(store), new=True)

    @classmethod
    def close_room(cls) -> None:
        """Serve the page for phones no longer."""
        if cls._room is not None:
            cls._room.close()
        cls._room = None


class Vote(VoteSheet, QuestionPage):
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
        self._ask(item, seed, room, folder, Store.given(store))
        self._show(self._page())
