"""The lab widget: members as lanes with their partitions, and everything that can be done to them.

The page plays a whole run by itself (``film``); the kernel is asked only when something is done.
Each method of ``LabSession`` does what the button of the same name does, so a notebook can be checked without a screen.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

import anywidget
import traitlets

from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.lab.guide import guide_of
from rebalance_kit.view.lab.page import script, style
from rebalance_kit.view.lab.requests import handled
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.lab.stored import deciding_ms, stored_film
from rebalance_kit.view.style.showing import Mime, Still, with_twins
from rebalance_kit.view.words.descriptions import describe_board


class Lab(LabSession, anywidget.AnyWidget):
    """A run that can be watched and changed.

    ``scenario`` is a Scenario, the name of one, or None for the first lesson. ``protocol`` None keeps
    what the scenario says; one that says nothing runs eager. ``at_ms`` is where it opens. ``theme``: auto, light, dark or projector.
    Raises ``ScenarioError`` for a scenario, protocol or member that does not exist.
    """

    _esm = script()
    _css = style()
    still = traitlets.Unicode().tag(sync=True)

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
        super().__init__(scenario, protocol, at_ms=at_ms, assignor=assignor, theme=theme, seed=seed)
        self._picture = Still(str(self.model_id))
        self.still = self._picture.mark
        self._acted = False
        self.on_msg(self._received)

    @classmethod
    def from_link(cls, token: str, **options: Any) -> Lab:
        """The lab that a link was copied from; a damaged one opens the first preset and says so on the page."""
        lab = cls(**options)
        lab.open_link(token)
        return lab

    def together(self) -> AbstractContextManager[None]:
        """Whatever is set within is one message to the page."""
        return self.hold_sync()

    def _received(self, _widget: object, message: object, _buffers: object) -> None:
        """Handle what a page sends; what is no object of JSON comes from no page of the kit."""
        if isinstance(message, dict):
            self.handle(message)

    def handle(self, message: Mapping[str, object]) -> None:
        """Do what a click on the page asks, or refuse it in words; never a traceback in the output."""
        if handled(self, message, self.send):
            self._acted = True
            self._picture.again(self._stored)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Mime, Mime] | None:
        """The widget where one can live; without a kernel its last state as picture and words."""
        bundle = super()._repr_mimebundle_(**kwargs)
        return with_twins(bundle, self._picture.bundle(*self._stored()))

    def _ipython_display_(self) -> None:
        """Its film, which a reopened notebook plays, and the widget, which hides it while it lives."""
        self._picture.show(self._stored, super()._repr_mimebundle_())

    def _stored(self) -> tuple[str, str, str]:
        """Picture, words and film for a notebook without its kernel.

        The film opens at the cursor. So does the picture once anything was done; before, it shows the moment that decides.
        """
        at_ms = None if self._acted else deciding_ms(self.boards)
        board = self.board if at_ms is None else self.boards.at(at_ms)
        controls = {**self.controls, "guide": guide_of(self.history.state), "link": self.link}
        film = stored_film(self.film, controls, self.cursor_ms, self.theme)
        return still(board, self.theme), describe_board(board), film

    def __repr__(self) -> str:
        return self.text
