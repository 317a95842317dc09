"""Calling code that the learner wrote: it may raise, it may return anything, and it may never come back."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

CALL_TIMEOUT_S = 3.0
"""Real seconds that a call may take; a callback that waits for something waits in simulated time instead."""


class CallTimedOut(Exception):
    """The call did not come back."""


class _Stop(BaseException):
    """Ends a loop of the learner's in the thread that nobody waits for any more."""


def call_with_timeout(run: Callable[[], Any]) -> Any:
    """Return what ``run`` returns; raises ``CallTimedOut``, or what it raises.

    It runs in a thread of its own, which is ended when it takes too long. Where there are no threads (a
    Python inside a browser) it is simply called.
    """
    found: list[Any] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            found.append(run())
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            raised.append(error)

    worker = threading.Thread(target=work, daemon=True)
    try:
        worker.start()
    except RuntimeError:
        return run()
    worker.join(CALL_TIMEOUT_S)
    if worker.is_alive():
        _end(worker)
        raise CallTimedOut(f"did not return within {CALL_TIMEOUT_S:g} s")
    if raised:
        raise raised[0]
    return found[0]


def _end(worker: threading.Thread) -> None:
    if worker.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(worker.ident), ctypes.py_object(_Stop))
