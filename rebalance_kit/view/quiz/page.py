"""Base of the widgets of quiz, exam, poll and vote: a page of plain JSON, its text twin, and the lab below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from rebalance_kit.quiz.proof.replay import Replay
from rebalance_kit.view.style.showing import Mime, with_twins

STATIC = Path(__file__).with_name("static")


def script(name: str) -> str:
    """The script of a page (practice, exam, poll or vote), made of ``page/quiz`` by ``make page``."""
    return (STATIC / f"{name}.js").read_text(encoding="utf-8")


class QuestionPage(anywidget.AnyWidget):
    """A widget whose screen gets ``page`` alone, and in a notebook file leaves ``text()`` alone.

    ``lab`` is a run shown below the page, None until one is asked for.
    """

    _css = STATIC / "quiz.css"
    page = traitlets.Dict().tag(sync=True)
    lab = traitlets.Instance(ipywidgets.Widget, allow_none=True).tag(
        sync=True, **ipywidgets.widget_serialization
    )

    def _show(self, page: dict[str, Any]) -> None:
        """Begin with a page, and listen to it."""
        anywidget.AnyWidget.__init__(self, page=page)
        self.on_msg(self._received)

    def _received(self, _widget: object, message: object, _buffers: object) -> None:
        """Handle what a page sends; what is no object of JSON comes from no page of the kit."""
        if isinstance(message, dict):
            self.handle(message)

    def handle(self, message: Mapping[str, object]) -> None:
        """Do what a message of the page asks; what cannot be done is said on the page."""
        raise NotImplementedError

    def text(self) -> str:
        """The page in words."""
        raise NotImplementedError

    def open_run(self, replays: Sequence[Replay], number: object) -> None:
        """Show one of these runs in the lab, at its moment; a number that none has shows nothing."""
        from rebalance_kit.view.lab.widget import Lab

        if isinstance(number, int) and 0 <= number < len(replays):
            self.lab = Lab.from_link(replays[number].link)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Mime, Mime] | None:
        return with_twins(super()._repr_mimebundle_(**kwargs), {"text/plain": self.text()})
