"""Sliders over a night from logs: what it would have cost otherwise, while the slider moves.

The sliders ask ``whatif.command.Desk``, as the page without installation does; where an event loop runs (a notebook), draws go on between
two moves until there are enough.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from rebalance_kit.analysis.metrics import aligned
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.whatif.command import Desk

_MARKS = {"less": "▼", "more": "▲", "same": ""}


class WhatIf(ipywidgets.VBox):
    """A slider for each setting of the night in these logs, and what the night costs with them; ``text()`` says the same in words.

    ``set(session="20 s", static="no")`` moves sliders; ``lab()`` opens a draw. Raises ``DataError`` for logs that make no night.
    """

    def __init__(self, *paths: str | Path, group: str | None = None) -> None:
        self.desk = Desk(*paths)
        told = self._asked({"group": group})
        self._lines: list[str] = told["lines"]
        self._now = {each["key"]: each["now"] for each in told["controls"]}
        self._answer: dict[str, Any] = {}
        self._waiting: asyncio.TimerHandle | None = None
        self.sliders = {each["key"]: self._slider(each) for each in told["controls"]}
        self._table = ipywidgets.HTML()
        super().__init__([*self.sliders.values(), self._table])
        self._draw()

    def _slider(self, control: Mapping[str, Any]) -> ipywidgets.SelectionSlider:
        options = [(words, value) for value, words in control["values"]]
        if control["now"] is None:
            options.insert(0, ("not told", ""))
        made = ipywidgets.SelectionSlider(
            options=options,
            value=control["now"] or "",
            description=control["words"],
            style={"description_width": "130px"},
            layout={"width": "460px"},
        )
        made.observe(lambda _: self._draw(), "value")
        return made

    @property
    def wish(self) -> dict[str, str]:
        """The settings that stand otherwise than in the night."""
        return {
            key: str(slider.value)
            for key, slider in self.sliders.items()
            if slider.value not in {"", self._now[key]}
        }

    def set(self, **settings: str) -> None:
        """Move sliders to values by the words at their ends; raises ``DataError`` that names the sliders, or the values there are."""
        for key, words in settings.items():
            if key not in self.sliders:
                raise DataError(f"{key!r} is no slider; expected one of {', '.join(self.sliders)}")
            values = dict(self.sliders[key].options)
            if words not in values:
                raise DataError(f"{key} has no {words!r}; expected one of {', '.join(values)}")
            self.sliders[key].value = values[words]

    def text(self) -> str:
        """The costs in words, with all draws."""
        while self._answer.get("draws", 0) < self._answer.get("wanted", 1) and not self._answer.get(
            "refused"
        ):
            self._draw()
        if self._answer.get("refused"):
            return str(self._answer["refused"])
        rows = [["", "as it was", "as set here", "difference"]]
        rows += [
            [
                row["words"],
                row["base"],
                row.get("wished", "–"),
                f"{row.get('by', '–')} {_MARKS[row.get('verdict', 'same')]}".strip(),
            ]
            for row in self._answer["rows"]
        ]
        return f"{self._answer['sentence']}\n{aligned(rows)}"

    def lab(self, *, otherwise: bool = True) -> Lab:
        """One draw in the lab, as set here or as it was, at its first deed."""
        link = read_link(self._answer["links"][-1 if otherwise else 0])
        return Lab(link.scenario, at_ms=link.at_ms, seed=link.seed)

    def _asked(self, wish: Mapping[str, Any]) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self.desk.hear(json.dumps(wish)))
        if "group" in wish and told.get("refused"):
            raise DataError(told["refused"])
        return told

    def _draw(self) -> None:
        """Draw for a moment, show, and go on when nothing else has to be done."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None
        self._answer = self._asked({"set": self.wish})
        self._table.value = self._html()
        if self._answer.get("refused") or self._answer["draws"] >= self._answer["wanted"]:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._waiting = loop.call_later(0.02, self._draw)

    def _html(self) -> str:
        if refused := self._answer.get("refused"):
            return f"<p>{escape(refused)}</p>"
        head = f"<tr><th></th><th>as it was</th><th>as set here</th><th>difference ({self._answer['draws']} of {self._answer['wanted']} draws)</th></tr>"
        body = "".join(
            f"<tr><th scope='row' style='text-align:left'>{escape(row['words'])}</th><td>{escape(row['base'])}</td>"
            f"<td>{escape(row.get('wished', '–'))}</td><td>{escape(row.get('by', '–'))} {_MARKS[row.get('verdict', 'same')]}</td></tr>"
            for row in self._answer["rows"]
        )
        words = f"{self._answer['sentence']} A dead member is noticed after {self._answer['detection']}."
        style = "border-spacing:18px 2px;font-variant-numeric:tabular-nums"
        return f"<p>{escape(words)}</p><table style='{style}'>{head}{body}</table>"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        twin = {"text/plain": "Sliders over the settings of the night. text() says the costs in words."}
        return {**bundle, **twin} if isinstance(bundle, dict) else bundle
