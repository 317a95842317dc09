"""One attempt of a learner's code inside the process that runs it: loaded, limited in time, its outcome written down."""

from __future__ import annotations

import base64
import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from rebalance_kit.exercises.child.collecting import NoAnswer
from rebalance_kit.exercises.child.lock import REPLY, bound_by
from rebalance_kit.exercises.child.words import busy_at, no_answer_within, words_of


class TimeIsUp(BaseException):
    """Raised inside the learner's code when the limit is over; its text says where the code was."""


def attempted(work: Callable[[], Mapping[str, Any]], file: str, limit_s: float) -> Mapping[str, Any]:
    """What the work returns, or ``{"problem": words}`` for whatever it raises and for a time limit that is over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    alarm = _alarm if hasattr(signal, "setitimer") else _watch
    try:
        with alarm(file, limit_s):
            found = work()
    except TimeIsUp as where:
        found = {"problem": no_answer_within(limit_s, str(where))}
    except NoAnswer as words:
        found = {"problem": str(words)}
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises becomes words
        found = {"problem": words_of(error, file)}
    return found


@contextmanager
def _alarm(file: str, limit_s: float) -> Iterator[None]:
    """Let the system ring when the time is over, and each second from then on."""

    def ring(_signal: int, frame: FrameType | None) -> None:
        raise TimeIsUp(busy_at(frame, file))

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, limit_s, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def _watch(file: str, limit_s: float) -> Iterator[None]:
    """The same by a thread, for a system without such alarms; code that never comes back to Python is ended by the parent."""
    over, runs = threading.Event(), threading.get_ident()

    def ring() -> None:
        wait = limit_s
        while not over.wait(wait):
            words = busy_at(sys._current_frames().get(runs), file)  # noqa: SLF001 - Python offers no public name
            raised = type("TimeIsUp", (TimeIsUp,), {"__str__": lambda _, words=words: words})
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(runs), ctypes.py_object(raised))
            wait = 1.0

    threading.Thread(target=ring, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def function_of(order: Mapping[str, Any]) -> Callable[..., Any]:
    """Run the learner's file and take the function (or class) out of it, or take the function of a cell."""
    if order["pickled"] is not None:
        from rebalance_kit.pipeline.spark.shared_java import unpickled

        return unpickled(base64.b64decode(order["pickled"]))
    code: CodeType = compile(order["text"], order["file"], "exec")
    names: dict[str, Any] = {"__name__": "answer", "__file__": order["file"]}
    exec(code, names)  # noqa: S102 - the learner's own file, in a process of its own
    answer: object = names.get(order["function"])
    if not callable(answer):
        raise NoAnswer(f"the file has no function {order['function']}. Keep the name that the stub had.")
    return answer


def next_order() -> Mapping[str, Any]:
    """The next line of standard input, read as JSON; the process ends where there is none."""
    line = sys.stdin.readline()
    if not line:
        os._exit(0)
    order: Mapping[str, Any] = json.loads(line)
    return order


def reply(words: Mapping[str, Any]) -> None:
    """Write one line of JSON to whoever asked."""
    try:
        text = json.dumps(words)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"problem": f"your rows hold a value that is no number, text or time ({error})"})
    left = memoryview(text.encode() + b"\n")
    while left:
        left = left[os.write(REPLY, left) :]


def give(answered: Mapping[str, Any]) -> None:
    """Reply with the outcome, and end at once: neither the answer's ``atexit`` nor its threads see the end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the answer may have closed or replaced it
            continue
    reply(answered)
    os._exit(0)


def limit_resources(cpu_s: int, memory: int, file_size: int) -> None:
    """Bound CPU seconds, bytes of memory and bytes of a file, for good, as far as the system does that."""
    for name, bound in (
        ("RLIMIT_CPU", cpu_s),
        ("RLIMIT_AS", memory),
        ("RLIMIT_FSIZE", file_size),
        ("RLIMIT_CORE", 0),
    ):
        bound_by(name, bound)
    if hasattr(signal, "SIGXFSZ"):
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
