"""A live look in this process, and the command that asks for it.

A live look in this process: growing files, standard input and commands, told as their groups rebalance.

Every second the new lines of all sources become events, and the history of each group with news is folded again
from the events of the last hours.  A rebalance is told when it has ended and has been left alone for a while (what
explains it may be written later, and elsewhere), a finding when it is first found.

``rebalance-kit watch`` in this process: what the sources say is told as it happens.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from rebalance_kit.forensics.group_tables import PAST_MS
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import by_group
from rebalance_kit.forensics.progress import stop_signals
from rebalance_kit.forensics.sources import Pipe, sources
from rebalance_kit.forensics.tellers import News, Words
from rebalance_kit.model.errors import ConfigError, RebalanceKitError

if TYPE_CHECKING:
    import os
    import threading
    from collections.abc import Sequence
    from typing import TextIO

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.sources import Source
    from rebalance_kit.forensics.tables import Row
    from rebalance_kit.forensics.tellers import Teller


#: Events older than ``PAST_MS`` (by the clocks of the logs) are forgotten, and more than so many are not kept.
MOST_EVENTS = 200_000

#: A rebalance is told this long after its end, or this long after its beginning when it does not end.
SETTLES_MS, GIVEN_UP_MS = 5_000, 60_000


class Live:
    """Folds what the sources say; ``step`` reads what is new, ``news`` tells it."""

    def __init__(self, sources: Sequence[Source], reading: Reading | None = None) -> None:
        self._sources, self._reader = sources, FileReader(reading or Reading())
        self._files: dict[str, FileRead] = {}
        self._events: list[Event] = []
        self._told: dict[tuple[object, ...], int] = {}
        self.lines = self.parsed = self.rejected = 0
        self._now_ms = -1 << 62

    @property
    def ended(self) -> bool:
        """Whether no source will ever say more."""
        return all(source.ended for source in self._sources)

    @property
    def kept(self) -> int:
        """How many events and told things are remembered."""
        return len(self._events) + len(self._told)

    def step(self) -> int:
        """Read what is new; returns the number of lines."""
        before = self.lines
        for source in self._sources:
            for name, piece in source.pieces():
                one = self._files.setdefault(name, FileRead("", name))
                self._reader.feed(one, piece)
                if len(one.events) > MOST_EVENTS // 2:  # a file that is long already
                    self._take(one, whole=False)
                    self._forget()
        for one in self._files.values():
            self._take(one, whole=self.ended)
        self._forget()
        self.lines = sum(one.lines for one in self._files.values())
        return self.lines - before

    def _take(self, one: FileRead, *, whole: bool) -> None:
        """The events of a file's new lines; a line without an end waits for it (``whole``: none will come)."""
        rest, one.rest = one.rest, b""
        if whole:
            one.rest, rest = rest, b""
        self._reader.end(one)
        one.rest = rest
        self._events += one.events
        self.parsed += one.parsed
        self.rejected += len(one.rejected)
        self._now_ms = max([self._now_ms, *(event.at_ms for event in one.events if event.at_ms is not None)])
        one.events, one.rejected, one.parsed = [], [], 0

    def _forget(self) -> None:
        if len(self._events) <= MOST_EVENTS // 2:
            return
        since_ms = self._now_ms - PAST_MS
        # What has no time stands at the beginning of a process: its settings, its version.
        kept = [event for event in self._events if event.at_ms is None or event.at_ms >= since_ms]
        self._events = kept[-MOST_EVENTS // 2 :]
        self._told = {key: at_ms for key, at_ms in self._told.items() if at_ms >= since_ms}

    def news(self, *, final: bool = False) -> News:
        """Rebalances and findings not told before; ``final``: also what may not have ended."""
        news = News()
        for group, tables in by_group(self._events):
            for row in tables.rebalances:
                key = ("rebalance", group, row["file"], row["line"])
                if (final or self._settled(row)) and self._first(key, int(str(row["start_ms"]))):
                    news.rebalances.append({"group": group, **row})
            for row in tables.findings:
                if self._first(("finding", group, row["finding"], row["who"]), self._now_ms):
                    news.findings.append({"group": group, **row})
        return news

    def _settled(self, row: Row) -> bool:
        ended_ms = row["end_ms"]
        if ended_ms is None:
            return bool(row["start_ms"] + GIVEN_UP_MS <= self._now_ms)
        return bool(ended_ms + SETTLES_MS <= self._now_ms)

    def _first(self, key: tuple[object, ...], at_ms: int) -> bool:
        if key in self._told:
            return False
        self._told[key] = at_ms
        return True


#: Seconds between two looks at the sources; after so many lines the next look follows at once.
EVERY_S, _BEHIND = 1.0, 10_000


def run_live(
    paths: Sequence[str | os.PathLike[str]],
    commands: Sequence[str],
    out: TextIO,
    idle_s: float | None = None,
    reading: Reading | None = None,
    tellers: Sequence[Teller] = (),
) -> int:
    """Follow the sources until they end, ``idle_s`` seconds pass without a line, or Ctrl-C; then tell what is left.

    ``tellers`` are told (as it stands: ``out`` is, in words), and are ended with the watch.
    Returns 0, 130 after Ctrl-C, or 2 with a message when a source cannot be read.
    """
    try:
        if idle_s is not None and not 0 < idle_s <= 10**7:
            raise ConfigError(f"--idle {idle_s:g}; expected seconds, more than 0 and at most 10,000,000")
        found = sources(paths, commands)
        try:
            live = Live(found, reading)
            with stop_signals() as stop:
                _follow(live, stop, idle_s, tellers or (Words(out),))
        finally:
            for source in found:
                if isinstance(source, Pipe):
                    source.close()
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit watch: {problem}\n")
        return 2
    return 130 if stop.is_set() else 0


def _follow(live: Live, stop: threading.Event, idle_s: float | None, tellers: Sequence[Teller]) -> None:
    heard_s = time.monotonic()
    while not stop.is_set():
        ended = live.ended
        read = live.step()
        heard_s = time.monotonic() if read else heard_s
        if read:
            _tell(live.news(), tellers)
        if ended or (idle_s is not None and time.monotonic() - heard_s >= idle_s):
            break
        stop.wait(EVERY_S if read < _BEHIND else 0)
    live.step()
    _tell(live.news(final=True), tellers)
    for one in tellers:
        one.end(live)


def _tell(news: News, tellers: Sequence[Teller]) -> None:
    if news.rebalances or news.findings:
        for one in tellers:
            one.tell(news)
