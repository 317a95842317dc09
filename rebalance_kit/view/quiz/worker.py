"""Practice, review, exam, poll and vote behind a worker of the browser: what the site's page of questions talks to.

Messages are those of the widgets: pages one way, requests the other. What the store writes is handed to the browser too, line
by line under a key, which keeps it and gives it back at the next visit; other tabs are told of it. Nothing here knows Pyodide.
"""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.blueprint import exams
from rebalance_kit.quiz.sittings.daily import (
    Wanted,
    practise_today,
    practise_wanted,
    progress_lines,
    today_lines,
)
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.practice import A_DAY, Practice, practise_due
from rebalance_kit.quiz.sittings.progress import progress
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.sheets import ExamSheet, PollSheet, PracticeSheet, Sheet, VoteSheet

Post = Callable[[str], None]
Keep = Callable[[str, str], None]
"""Takes a key and a line to keep under it; an empty line forgets the key."""
LEAST = 8
"""Questions that a tag has at least to be offered as a topic."""


class BrowserStore(Store):
    """A store whose every line the browser keeps, too; ``lines`` are those of the visits before."""

    def __init__(self, path: Path, keep: Keep, lines: Iterable[str] = ()) -> None:
        super().__init__(path)
        self._told = keep
        path.parent.mkdir(parents=True, exist_ok=True)
        beside, _ = self._beside()
        beside.write_text("".join(f"{line}\n" for line in lines), "utf-8")

    def _write(self, *lines: dict[str, Any]) -> None:
        super()._write(*lines)
        for line in lines:
            self._hand_on(line)

    def _hand_on(self, line: Mapping[str, Any]) -> None:
        if line["do"] == "attempt":
            self._told(f"attempt {line['id']}", json.dumps(line))
            return
        kind, name = line["kind"], line["name"]
        if line["do"] == "set aside":
            self._told(_key(kind, name), "")
            kind = f"{kind} set aside"
        held = line["held"] if "held" in line else self.kept(kind).get(name, {})
        self._told(_key(kind, name), json.dumps({"do": "keep", "kind": kind, "name": name, "held": held}))

    def hear(self, line: str) -> None:
        """Take in a line that another tab has kept."""
        super()._write(json.loads(line))


def _key(kind: str, name: str) -> str:
    return f"kept {kind} {name}"


class _Posted(Sheet):
    """A sheet whose page is behind ``post``: ``{"state": {"page": …}}``, and ``{"state": {"run": TOKEN}}`` for the lab below."""

    def __init__(self, post: Post) -> None:
        self._post = post

    def put(self, page: dict[str, Any]) -> None:
        self._post(json.dumps({"state": {"page": page}}))

    def show_run(self, link: str | None) -> None:
        self._post(json.dumps({"state": {"run": link or ""}}))


class _Practice(PracticeSheet, _Posted):
    def __init__(self, post: Post, practice: Practice) -> None:
        super().__init__(post)
        self._practice, self._asks_confidence = practice, True
        self._redraw()


class _Exam(ExamSheet, _Posted):
    def __init__(self, post: Post, sitting: ExamSitting) -> None:
        super().__init__(post)
        self._sitting = sitting
        self._redraw()


class _Poll(PollSheet, _Posted):
    def __init__(self, post: Post, count: PollCount, home: str) -> None:
        super().__init__(post)
        self.count = count
        self._home = home
        self._redraw()

    def put(self, page: dict[str, Any]) -> None:
        """Show the poll; learners open an address of the site where a notebook names a call."""
        asked = urlencode({"vote": self.count.item.head.id, "seed": self.count.seed, "room": self.count.room})
        super().put({**page, "call": f"{self._home}quiz.html?{asked}"})


class _Vote(VoteSheet, _Posted):
    def __init__(self, post: Post, item: str, seed: int, room: str, store: Store) -> None:
        super().__init__(post)
        self._ask(item, seed, room, None, store)
        self.put(self._page())


class Desk:
    """Everything that the page of questions asks for.

    ``kept`` are the lines of earlier visits, ``keep`` takes new ones, ``home`` is the address of the site.
    """

    def __init__(self, post: Post, keep: Keep, kept: Iterable[str], path: str, home: str = "") -> None:
        self._post, self._home = post, home
        self.store = BrowserStore(Path(path), keep, kept)
        self._sheet: Sheet | None = None

    def topics(self) -> str:
        """What can be chosen, as JSON: topics with the number of their questions, and the exams."""
        counts: dict[str, int] = {}
        for item in read_bank().items:
            for tag in item.head.tags:
                counts[tag] = counts.get(tag, 0) + 1
        named = sorted((tag, many) for tag, many in counts.items() if many >= LEAST)
        return json.dumps({"topics": named, "exams": list(exams()), "today": self._today()})

    def _today(self) -> str:
        return "\n".join(today_lines(self.store, next(iter(exams())), time.time()))

    def hear(self, text: str) -> None:
        """Open what the page asks for, pass on what its sheet is asked, or hear what another tab has kept.

        What cannot be opened is said: ``{"said": …}``.
        """
        heard = json.loads(text)
        try:
            if "kept" in heard:
                self.store.hear(str(heard["kept"]))
            elif "message" in heard and self._sheet is not None:
                self._sheet.handle(heard["message"])
            elif "open" in heard:
                self._sheet = None  # a sheet that cannot be made leaves none
                self._sheet = self._opened(heard["open"])
        except DataError as error:
            self._post(json.dumps({"said": str(error)}))

    def _opened(self, wanted: Mapping[str, Any]) -> Sheet:
        what, name = str(wanted.get("what")), str(wanted.get("name", ""))
        count = _whole(wanted.get("count"))
        seed = _whole(wanted.get("seed")) or 1
        if what == "exam":
            sitting = ExamSitting.begin(
                name, seed, questions=count, store=self.store, again=bool(wanted.get("again"))
            )
            return _Exam(self._post, sitting)
        if what == "poll":
            return _Poll(
                self._post, PollCount(name, seed, store=self.store, room=wanted.get("room")), self._home
            )
        if what == "vote":
            return _Vote(self._post, name, seed, str(wanted.get("room", "")), self.store)
        return _Practice(self._post, self._practice(what, name, count))

    def _practice(self, what: str, name: str, count: int | None) -> Practice:
        now = time.time()
        if what == "review":
            return practise_due(self.store, now, count or A_DAY)
        if what == "today":
            return practise_today(self.store, name, now)
        if what != "practice":
            raise DataError(f"{what!r} is asked for; expected practice, review, today, exam, poll or vote")
        return practise_wanted(Wanted(topic=name or None), self.store, count)

    def report(self) -> str:
        """The learner's progress in words."""
        lines = [progress(self.store.attempts(), read_bank()).text()]
        for exam in exams():
            lines += ["", *progress_lines(self.store, exam, time.time())]
        return "\n".join(lines)

    def export(self) -> str:
        """Every answer as ``rebalance-kit answers export`` writes it."""
        out = io.StringIO()
        self.store.export(out)
        return out.getvalue()

    def bring(self, text: str) -> str:
        """Take in such a file; what came of it, in words."""
        try:
            fresh, known = self.store.bring(text.splitlines())
        except DataError as error:
            return str(error)
        return f"{fresh} answers taken in; {known} were here before."


def _whole(value: object) -> int | None:
    """A number of the page's address, or None where none is given; raises ``DataError``."""
    if value in (None, ""):
        return None
    text = str(value)
    if not (text.isascii() and text.isdecimal() and len(text) < 9):
        raise DataError(f"the number {text[:20]!r} received, expected a whole number")
    return int(text)
