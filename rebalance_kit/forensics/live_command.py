"""``rebalance-kit watch`` in this process: what the sources say is told as it happens."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from rebalance_kit.forensics.live import Live, News
from rebalance_kit.forensics.report import clock
from rebalance_kit.forensics.sources import Pipe, sources
from rebalance_kit.forensics.stopping import stop_signals
from rebalance_kit.model.errors import ConfigError, RebalanceKitError

if TYPE_CHECKING:
    import os
    import threading
    from collections.abc import Sequence
    from typing import TextIO

    from rebalance_kit.forensics.lines.layouts import Reading

#: Seconds between two looks at the sources.
EVERY_S = 1.0


def run_live(
    paths: Sequence[str | os.PathLike[str]],
    commands: Sequence[str],
    out: TextIO,
    idle_s: float | None = None,
    reading: Reading | None = None,
) -> int:
    """Follow the sources until they end, ``idle_s`` seconds pass without a line, or Ctrl-C; then tell what is left.

    Returns 0, 130 after Ctrl-C, or 2 with a message when a source cannot be read.
    """
    try:
        if idle_s is not None and not 0 < idle_s <= 10**7:
            raise ConfigError(f"--idle {idle_s:g}; expected seconds, more than 0 and at most 10,000,000")
        found = sources(paths, commands)
        try:
            live = Live(found, reading)
            with stop_signals() as stop:
                _follow(live, stop, idle_s, out)
        finally:
            for source in found:
                if isinstance(source, Pipe):
                    source.close()
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit watch: {problem}\n")
        return 2
    return 130 if stop.is_set() else 0


def _follow(live: Live, stop: threading.Event, idle_s: float | None, out: TextIO) -> None:
    heard_s = time.monotonic()
    while not stop.is_set():
        ended = live.ended
        read = live.step()
        heard_s = time.monotonic() if read else heard_s
        if read:
            _tell(live.news(), out)
        if ended or (idle_s is not None and time.monotonic() - heard_s >= idle_s):
            break
        stop.wait(EVERY_S)
    live.step()
    _tell(live.news(final=True), out)
    ignored = live.lines - live.parsed - live.rejected
    print(
        f"Lines: {live.parsed} parsed + {ignored} ignored + {live.rejected} rejected = {live.lines}",
        file=out,
        flush=True,
    )


def _tell(news: News, out: TextIO) -> None:
    for row in news.rebalances:
        lasted = "no end yet" if row["duration_ms"] is None else f"{row['duration_ms'] / 1000:.1f} s"
        where = f"({row['file']}:{row['line']})"
        print(f"{clock(row['start_ms'])}  {row['group']}: {row['cause']} ({lasted}) {where}", file=out)
    for row in news.findings:
        at = clock(row["at_ms"]) if row["at_ms"] is not None else " " * 21
        print(f"{at}  {row['group'] or 'no group named'}: * {row['sentence']}", file=out)
        print(f"{'':21}    do: {row['do']} ({row['file']}:{row['line']})", file=out)
    out.flush()
