"""The quiz widget: shows a practice and passes answers on. It holds no key and no rule of grading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.grade import Answer, Verdict
from rebalance_kit.quiz.practice import Practice, pick_questions

_STATIC = Path(__file__).with_name("static")


class Quiz(anywidget.AnyWidget):
    """Questions of a tag (the first ``count``), one after another, with feedback on every option as soon as one is answered.

    ``Quiz("eager")`` in a notebook shows it; ``quiz.answer("a")`` does from code what a click does and
    returns the verdict. The page gets ``page`` alone: a question without its key, then the verdict.
    ``repr`` and ``text()`` are the same in words. Raises ``DataError`` for an unknown tag or id.
    """

    _esm = _STATIC / "quiz.js"
    _css = _STATIC / "quiz.css"
    page = traitlets.Dict().tag(sync=True)

    def __init__(self, tag: str | None = None, *, ids: Sequence[str] = (), seed: int = 1, count: int | None = None) -> None:
        self._practice = Practice(tag or "practice", pick_questions(tag, ids, seed, count=count))
        super().__init__(page=self._practice.page())
        self.on_msg(self._hear)

    def answer(self, given: Answer) -> Verdict:
        """Answer the question shown (the next one if that is answered already)."""
        verdict = self._practice.answer(given)
        self._redraw()
        return verdict

    def forward(self) -> None:
        """Show the next question, if there is one."""
        self._practice.forward()
        self._redraw()

    def text(self) -> str:
        """The quiz in words; no key stands in it before its question is answered."""
        return self._practice.text()

    def _redraw(self, error: str = "") -> None:
        self.page = {**self._practice.page(), "error": error}

    def _hear(self, _: Any, message: Mapping[str, Any], buffers: Any) -> None:
        del buffers
        if message.get("do") == "next":
            self.forward()
        elif message.get("do") == "answer" and self._practice.place not in self._practice.verdicts:
            try:
                self.answer(message.get("given", ""))
            except DataError as error:
                self._redraw(str(error))

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, *metadata = bundle if isinstance(bundle, tuple) else (bundle,)
        if data is None:
            return bundle
        found = {**data, "text/plain": self.text()}
        return (found, *metadata) if metadata else found
