"""How far a look is, and how Ctrl-C ends it in good order.

How far a look is: a bar from two seconds on, and what is known of each run as soon as it is read.

Ctrl-C ends a look in good order: what is known so far is told.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from rebalance_kit.forensics.tables import Row


#: A look shorter than this shows nothing; the bar is drawn anew at most so often.
SHOWN_AFTER_S, EVERY_S = 2.0, 0.2

_WIDTH = 30


class Progress:
    """Draws on a terminal (standard error), and nowhere else."""

    def __init__(
        self, expected: int, err: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._err = sys.stderr if err is None else err
        self._expected, self._clock = max(1, expected), clock
        self._begun_s = self._drawn_s = clock()
        self._terminal = self._err is not None and self._err.isatty()
        self._kept: list[str] = []
        self._drawn = False

    def on_lines(self, lines: int) -> None:
        """So many lines are read."""
        now_s = self._clock()
        if not self._terminal or now_s - self._begun_s < SHOWN_AFTER_S or now_s - self._drawn_s < EVERY_S:
            return
        self._drawn_s, self._drawn = now_s, True
        for said in self._kept:
            self._write(f"\r\x1b[K{said}\n")
        self._kept = []
        share = min(1.0, lines / self._expected)
        bar = "#" * round(share * _WIDTH)
        self._write(f"\r\x1b[K[{bar:.<{_WIDTH}}] {share:4.0%}  {lines:,} lines")

    def on_run(self, path: str, groups: list[Row]) -> None:
        """A run is done: told as soon as the bar is shown."""
        if not self._terminal:
            return
        for row in groups:
            rebalances, findings = row["rebalances"] or [], row["findings"] or []
            if rebalances or findings:
                kinds = ", ".join(dict.fromkeys(one["finding"] for one in findings))
                most = Counter(one["trigger"] for one in rebalances).most_common(1)
                why = f" ({most[0][0]} x {most[0][1]})" if most else ""
                many = counted(len(rebalances), "rebalance")
                said = f"{path}, {row['group']}: {many}{why}{'; ' * bool(kinds)}{kinds}"
                self._kept.append(said.translate(_PLAIN))

    def done(self) -> None:
        """Take the bar away."""
        if self._drawn:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        self._err.write(text)
        self._err.flush()


#: Names in logs may hold anything: control characters are no business of a terminal.
_PLAIN = dict.fromkeys((*range(32), *range(127, 160)), "?")


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets; a second signal interrupts at once."""
    event = threading.Event()

    def on_signal(number: int, frame: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    # Python lets only the main thread set handlers.
    numbers = (signal.SIGINT, signal.SIGTERM) if threading.current_thread() is threading.main_thread() else ()
    before = {number: signal.signal(number, on_signal) for number in numbers}
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
