"""A notebook cell that follows a folder of logs: the last rebalances, renewed while the cells below run."""

from __future__ import annotations

import os
import threading
from typing import Any

import ipywidgets

from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.spark.session import spark_session
from rebalance_kit.pipeline.stream.query import Latest
from rebalance_kit.pipeline.stream.watch import Watch, require_folder
from rebalance_kit.view.reports.watch_page import describe_watch, watch_html
from rebalance_kit.view.style.showing import Mime

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
