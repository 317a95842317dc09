"""Run one answer: ``python -m rebalance_kit.exercises.child ORDER``; the order is a file of JSON (``runner.py``).

The process attaches to Spark, says so on a pipe, binds itself, lets the answer in, writes rows or words to a file,
and ends at once: neither the answer's ``atexit`` nor its threads see the end.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from rebalance_kit.exercises.child.collecting import NoAnswer, rows_of
from rebalance_kit.exercises.child.confinement import confine, limit_resources
from rebalance_kit.exercises.child.words import busy_at, no_answer_within, words_of
from rebalance_kit.pipeline.spark.shared_java import VIEWS, borrowed_session, unpickled


class TimeIsUp(BaseException):
    """Raised inside the learner's code when the limit is over; its text says where the code was."""


def main(order_file: Path) -> None:
    """Do what the order says."""
    order = json.loads(order_file.read_text("utf-8"))
    order_file.unlink()
    limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    spark = borrowed_session(order["tag"])
    inputs = [spark.table(f"{VIEWS}.{name}") for name in order["views"]]
    kind = type(spark.range(0)) if not inputs else type(inputs[0])
    out = Path(order["out"])
    os.write(order["ready"], b".")
    os.close(order["ready"])
    confine(order["secret"])
    answered = _answered(order, inputs, kind)
    _write(out, answered)
    os._exit(0)


def _answered(order: Mapping[str, Any], inputs: list[Any], kind: type) -> Mapping[str, Any]:
    """The rows, or the problem in words."""
    file, limit_s = order["file"], order["limit_s"]

    def ring(_signal: int, frame: FrameType | None) -> None:
        raise TimeIsUp(busy_at(frame, file))

    signal.signal(signal.SIGALRM, ring)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    signal.setitimer(signal.ITIMER_REAL, limit_s, 1.0)
    try:
        frame = _function(order)(*inputs)
        stream = Path(order["stream"]) if order["stream"] else None
        found: Mapping[str, Any] = {"rows": rows_of(frame, order["function"], order["columns"], kind, stream)}
    except TimeIsUp as where:
        found = {"problem": no_answer_within(limit_s, str(where))}
    except NoAnswer as words:
        found = {"problem": str(words)}
    except BaseException as error:  # noqa: BLE001 - whatever a learner's code raises becomes words
        found = {"problem": words_of(error, file)}
    signal.setitimer(signal.ITIMER_REAL, 0)
    return found


def _function(order: Mapping[str, Any]) -> Callable[..., Any]:
    """Run the learner's file and take the function out of it, or take the function of a cell."""
    if order["pickled"] is not None:
        return unpickled(base64.b64decode(order["pickled"]))
    code: CodeType = compile(order["text"], order["file"], "exec")
    names: dict[str, Any] = {"__name__": "answer", "__file__": order["file"]}
    exec(code, names)  # noqa: S102 - the learner's own file, in a process of its own
    answer: object = names.get(order["function"])
    if not callable(answer):
        raise NoAnswer(f"the file has no function {order['function']}. Keep the name that the stub had.")
    return answer


def _write(out: Path, answered: Mapping[str, Any]) -> None:
    try:
        text = json.dumps(answered)
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"problem": f"your rows hold a value that is no number, text or time ({error})"})
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - the answer may have closed or replaced it
            continue
    draft = out.with_name("draft")
    draft.write_text(text, "utf-8")
    os.replace(draft, out)


main(Path(sys.argv[1]))
