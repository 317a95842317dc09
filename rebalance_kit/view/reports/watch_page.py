"""The last rebalances of a watched folder: as a page, and in a notebook's cell.

The last rebalances of a watched folder: in words, as an HTML table, as a page that renews itself.

The page is a file, rewritten beside and renamed; nothing serves it and it asks no network.

A notebook cell that follows a folder of logs: the last rebalances, renewed while the cells below run.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets

from rebalance_kit.forensics.words import counted
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import policy
from rebalance_kit.pipeline.spark.session import spark_session
from rebalance_kit.pipeline.stream.query import Latest
from rebalance_kit.pipeline.stream.watch import Watch, require_folder
from rebalance_kit.view.board.group_view import moment
from rebalance_kit.view.style.showing import Mime
from rebalance_kit.view.style.theme import FONT, ROLES

HEAD = ("began", "group", "no.", "step", "took", "why", "state")
#: Seconds after which an open page reads itself again.
RENEWED_S = 5


def describe_watch(latest: Latest | None) -> str:
    """The same in words: how far the reading is, then the rebalances, newest first.

    >>> describe_watch(None)
    'Nothing has been read yet.'
    """
    if latest is None:
        return "Nothing has been read yet."
    lines = [_summary(latest)]
    lines += ["  ".join(cell for cell in _cells(row) if cell) for row in latest.rows]
    return "\n".join(lines)


def watch_html(latest: Latest | None) -> str:
    """The table as HTML, to stand in a page or a notebook."""
    if latest is None:
        return f"<p>{describe_watch(None)}</p>"
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(row)) + "</tr>" for row in latest.rows
    )
    return (
        f"<p>{escape(_summary(latest))}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def write_page(path: str | Path, latest: Latest | None, title: str, theme: str = "light") -> Path:
    """Write the page; a reader sees the old one or the new one. Returns its path."""
    target, role = Path(path), ROLES[theme]
    style = (
        f"body{{margin:0 auto;max-width:1100px;padding:24px;background:{role['surface']};color:{role['ink']};font:15px/1.5 {FONT}}}"
        f"table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}"
        f"th,td{{text-align:left;padding:4px 18px 4px 0;border-bottom:1px solid {role['hairline']}}}"
    )
    text = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy()}<meta http-equiv="refresh" content="{RENEWED_S}">'
        f'<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style></head>'
        f"<body><h1>{escape(title)}</h1>{watch_html(latest)}</body></html>\n"
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_atomically(target, text)


def _summary(latest: Latest) -> str:
    mark = f"settled before {latest.settled_before}" if latest.settled_before else "nothing settled yet"
    return f"{counted(latest.rebalances, 'rebalance')} in {counted(latest.lines, 'line')} of {counted(latest.files, 'file')}; {mark}."


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    began = moment(row["start_ms"]).strftime("%Y-%m-%d %H:%M:%S")
    took = "" if row["end_ms"] is None else f"{(row['end_ms'] - row['start_ms']) / 1000:.1f} s"
    after = "?" if row["after"] is None else row["after"]
    state = "settled" if row["settled"] else "going on" if row["end_ms"] is None else "fresh"
    return (
        began,
        str(row["group"]),
        str(row["number"]),
        f"{row['before']} -> {after}",
        took,
        str(row["cause"]),
        state,
    )


#: Seconds between two looks at the folder.
LOOK_S = 1.0


class Watching(ipywidgets.HTML):
    """The table of a watched folder's last rebalances; ``text()`` says the same in words.

    ``stop()`` ends the reading, ``wait_for(rebalances)`` returns when at least so many were seen. What
    went wrong stands in ``problem`` (None while all is well) and in the table's place.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        checkpoint: str | os.PathLike[str] | None = None,
        limit: int = 20,
        spark: Any = None,
    ) -> None:
        require_folder(folder)
        super().__init__(value=watch_html(None))
        self.latest: Latest | None = None
        self.problem: str | None = None
        self._news = threading.Condition()
        self._stop = threading.Event()
        watch = Watch(spark or spark_session(), folder, checkpoint)
        self._thread = threading.Thread(
            target=self._follow, args=(watch, limit), name="rebalance-kit-watch", daemon=True
        )
        self._thread.start()

    def text(self) -> str:
        """The table in words."""
        return self.problem or describe_watch(self.latest)

    def wait_for(self, rebalances: int, timeout_s: float = 120) -> str:
        """Wait until so many rebalances were seen and return the text; raises ``DataError`` when it takes too long."""
        with self._news:
            seen = self._news.wait_for(
                lambda: (
                    self.problem is not None
                    or (self.latest is not None and self.latest.rebalances >= rebalances)
                ),
                timeout_s,
            )
        if not seen or self.problem is not None:
            raise DataError(
                self.problem or f"{rebalances} rebalances were not seen within {timeout_s:g} s; {self.text()}"
            )
        return self.text()

    def stop(self) -> None:
        """End the reading; what was seen stays shown."""
        self._stop.set()
        self._thread.join()

    def _follow(self, watch: Watch, limit: int) -> None:
        try:
            with watch:
                while not self._stop.is_set():
                    if watch.step() or self.latest is None:
                        watch.settle()
                        self._show(watch.latest(limit))
                    self._stop.wait(LOOK_S)
        except Exception as problem:  # noqa: BLE001 - a thread's end must be seen in the cell
            with self._news:
                self.problem = f"the watch stopped: {problem}"
                self.value = f"<p>{watch_html(None) if self._stop.is_set() else self.problem}</p>"
                self._news.notify_all()

    def _show(self, latest: Latest) -> None:
        with self._news:
            self.latest, self.value = latest, watch_html(latest)
            self._news.notify_all()

    def _repr_mimebundle_(self, **kwargs: Any) -> Mime | None:
        data: Mime | None = super()._repr_mimebundle_(**kwargs)
        return None if data is None else {**data, "text/plain": self.text()}


def watching(
    folder: str | os.PathLike[str],
    checkpoint: str | os.PathLike[str] | None = None,
    *,
    limit: int = 20,
    spark: Any = None,
) -> Watching:
    """Follow ``folder`` in the background and show its last ``limit`` rebalances (see ``Watching``).

    Returns at once when a session is running already (``spark``, or the active one). Raises
    ``DataError`` when the folder is missing.
    """
    return Watching(folder, checkpoint, limit, spark)
