"""Ctrl-C ends a look in good order: what is known so far is told."""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


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
