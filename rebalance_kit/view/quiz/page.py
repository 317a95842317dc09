"""Base of the widgets of quiz, exam, poll and vote: a page of plain JSON, its text twin, and the lab below it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from rebalance_kit.quiz.proof.replay import Replay
from rebalance_kit.view.style.showing import Mime, with_twins
from rebalance_kit.view.style.theme import bundled

STATIC = Path(__file__).with_name("static")
_TWIN_WIDTH = 108
"""Signs in a line of a notebook's output; JupyterLab breaks longer ones in the middle of a word."""


def script(name: str) -> str:
    """The script of a page (practice, exam, poll or vote), made of ``page/quiz`` by ``scripts/bundle.py``."""
    return bundled(STATIC / f"{name}.js")


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
        return with_twins(super()._repr_mimebundle_(**kwargs), {"text/plain": in_page_lines(self.text())})


def in_page_lines(text: str) -> str:
    """Text with its long lines (of a log, say) broken between words, the rest of each hanging below its beginning.

    >>> print(in_page_lines("  1) " + "word " * 22))
      1) word word word word word word word word word word word word word word word word word word word word
           word word
    """
    lines: list[str] = []
    for line in text.splitlines():
        if len(line) <= _TWIN_WIDTH:
            lines.append(line)
            continue
        inner = " " * (len(line) - len(line.lstrip()) + 9)
        lines += textwrap.wrap(line, _TWIN_WIDTH, subsequent_indent=inner, break_on_hyphens=False)
    return "\n".join(lines)
