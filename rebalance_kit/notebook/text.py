"""What a notebook shows in words: text without quotes, tables that fold, answers behind a click, a learner's guess."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from textwrap import wrap
from typing import Any

from rebalance_kit.model.errors import DataError

WIDTH = 108
"""Signs in a line of output; JupyterLab breaks longer ones in the middle of a word on a screen of 1366 pixels."""


class Text(str):
    """Text that a notebook shows as it stands when it is the last value of a cell."""

    __slots__ = ()

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(str(self))


class Folded(Text):
    """Text behind a click: the page shows ``summary`` alone until the reader opens it."""

    summary = "Show the answer"
    opened = False
    inner = ""

    def _repr_html_(self) -> str:
        state = " open" if self.opened else ""
        inner = self.inner or f"<pre>{escape(self)}</pre>"
        return f"<details{state}><summary>{escape(self.summary)}</summary>{inner}</details>"


def reveal(text: object, summary: str = "Show the answer") -> Folded:
    """A text, a table or a picture behind a click, so that it does not answer the question above before the reader has."""
    folded = Folded(text)
    folded.summary = summary
    folded.inner = _html_of(text)
    return folded


def _html_of(shown: object) -> str:
    """A picture or a table as HTML; of a text nothing."""
    if isinstance(svg := getattr(shown, "svg", None), str):
        source = base64.b64encode(svg.encode("utf-8")).decode("ascii")
        words = escape(str(shown), quote=True)
        return f'<img alt="{words}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">'
    return shown._repr_html_() if isinstance(shown, Table) else ""


def columns(rows: Iterable[Sequence[str]]) -> Text:
    """Rows of words as aligned columns; the first row is the head.

    >>> print(columns([("a", "b"), ("long", "c")]))
    a     b
    long  c
    """
    cells = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return Text(
        "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in cells
        )
    )


def in_lines(text: str) -> Text:
    """Text with its long lines broken between words, the rest of each hanging below its beginning."""
    wrapped: list[str] = []
    for line in text.splitlines():
        inner = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped += wrap(
            line, WIDTH, subsequent_indent=inner, drop_whitespace=True, break_on_hyphens=False
        ) or [""]
    return Text("\n".join(wrapped))


class Table:
    """A table of which the first rows are shown and the others are folded away below them.

    ``rows`` begins with the head. ``str()`` has the first ``shown`` rows and says how many more there are;
    ``table.all`` has every row.
    """

    def __init__(self, rows: Sequence[Sequence[str]], shown: int = 4) -> None:
        self.rows = [list(row) for row in rows]
        self.shown = shown

    @property
    def all(self) -> Text:
        """Every row, as text."""
        return _aligned(self.rows)

    def __str__(self) -> str:
        folded = len(self.rows) - 1 - self.shown
        text = _aligned(self.rows[: self.shown + 1])
        return f"{text}\n({folded} more rows are folded)" if folded > 0 else str(text)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head, first, folded = self.rows[0], self.rows[1 : self.shown + 1], self.rows[self.shown + 1 :]
        html = _html_table(head, first)
        if folded:
            more = f"{len(folded)} more row{'s' if len(folded) > 1 else ''}"
            html += f"<details><summary>{more}</summary>{_html_table(head, folded)}</details>"
        return html


def _aligned(rows: Sequence[Sequence[str]]) -> Text:
    """Names to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return Text(
        "\n".join(
            "  ".join(
                cell.rjust(width) if column else cell.ljust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str], mark: str) -> str:
        aligned = (
            f'<{mark} style="text-align:{"right" if column else "left"}">{escape(cell)}</{mark}>'
            for column, cell in enumerate(cells)
        )
        return f"<tr>{''.join(aligned)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>{body}</tbody></table>"


Answer = float | str | bool
Options = Sequence[str] | Mapping[str, Sequence[str]]
Within = float | Mapping[str, float]


class Guess:
    """What a learner expects of a run; shown, it says what kind of answer each question takes.

    ``answers`` has a question for each answer (None: not answered). A number is right within ``within``, a word
    is one of ``options``; both may be given for each question by its name.
    """

    def __init__(
        self, answers: Mapping[str, Answer | None], within: Within = 0, options: Options = ()
    ) -> None:
        self.answers = dict(answers)
        self._within = within
        self._options = options

    def within(self, question: str) -> float:
        """How far a right number may be from the run's."""
        return self._within.get(question, 0) if isinstance(self._within, Mapping) else self._within

    def options(self, question: str) -> tuple[str, ...]:
        """The words that a question takes; none: it takes a number."""
        listed = self._options.get(question, ()) if isinstance(self._options, Mapping) else self._options
        return tuple(listed)

    def __repr__(self) -> str:
        width = max(map(len, self.answers))
        return "\n".join(f"{question:<{width}}  {self._takes(question)}" for question in self.answers)

    def _takes(self, question: str) -> str:
        if options := self.options(question):
            return f"choose from: {', '.join(options)}"
        within = self.within(question)
        return f"a number, right within {within:g}" if within else "a whole number"

    def beside(self, truth: Mapping[str, Answer]) -> Folded:
        """The guess beside what the run says; folded while nothing is guessed.

        Raises ``DataError`` when the questions are not those of the guess.
        """
        if set(truth) != set(self.answers):
            raise DataError(f"answers to {sorted(truth)}; expected answers to {sorted(self.answers)}")
        rows = [
            (question, _shown(self.answers[question]), _shown(seen), self._judged(question, seen))
            for question, seen in truth.items()
        ]
        told = Folded(columns([("", "your guess", "the run", ""), *rows]))
        told.opened = any(answer is not None for answer in self.answers.values())
        told.summary = "Your guess beside the run"
        return told

    def _judged(self, question: str, seen: Answer) -> str:
        answer, options = self.answers[question], self.options(question)
        if answer is None:
            return ""
        if options:
            if _plain(answer) not in map(_plain, options):
                return f"choose from: {', '.join(options)}"
            return "right" if _plain(answer) == _plain(seen) else "no: read on"
        if isinstance(answer, str):
            return "write a number"
        within = self.within(question)
        if abs(float(answer) - float(seen)) <= within + 1e-9:
            return f"right (within {within:g})" if within and answer != seen else "right"
        return "no: read on"


def predict(answers: Mapping[str, Answer | None], *, within: Within = 0, options: Options = ()) -> Guess:
    """Take down a guess: write an answer in place of each None before the next cell is run."""
    return Guess(answers, within, options)


def _plain(answer: Answer) -> str:
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return " ".join(str(answer).lower().split())


def _shown(answer: Answer | None) -> str:
    if answer is None:
        return "-"
    if isinstance(answer, bool):
        return _plain(answer)
    return f"{answer:.3g}" if isinstance(answer, float) else str(answer)
