"""Spark behind a wall: starts Java once, makes inputs as they are asked for, and has each answer run in a process of its own beside it.

One line of JSON per order comes in, ``{"read": folders}`` or an answer to run; one line per order goes out.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.child.attempt import next_order, reply
from rebalance_kit.exercises.child.inputs import Inputs
from rebalance_kit.exercises.child.lock import REPLY
from rebalance_kit.pipeline import quiet_session
from rebalance_kit.pipeline.spark.session import launch_java
from rebalance_kit.pipeline.spark.shared_java import gateway_variables, is_alive

_GRACE_S = 3.0


def main(cores: str, memory: str) -> None:
    """Start Java, say so, and do what the orders say until there is none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.set_inheritable(REPLY, False)
    here = Path.cwd()
    os.environ["JDK_JAVA_OPTIONS"] += f" -Djava.io.tmpdir={here}"
    os.environ["SPARK_LOCAL_DIRS"] = str(here)
    launch_java(memory, quick_start=True)
    inputs = Inputs(quiet_session(f"local[{cores}]", memory))
    inputs.table([[1]], "one int").count()
    reply({"ready": True})
    while True:
        order = next_order()
        if "read" in order:
            inputs.read(order["read"])
            reply({"read": True})
        else:
            _run(inputs, order)


def _run(inputs: Inputs, order: Mapping[str, Any]) -> None:
    """Lend an answer's process the Java, and say how it ended; the process replies by itself."""
    spark, tag = inputs.spark, f"exercise_{uuid.uuid4().hex}"
    views = [f"{tag}_{number}" for number in range(len(order["inputs"]))]
    for described, name in zip(order["inputs"], views, strict=True):
        inputs.made(described).createOrReplaceGlobalTempView(name)
    told = {**order, "inputs": [], "views": views, "tag": tag, "folder": str(Path.cwd() / tag)}
    Path(tag).mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "rebalance_kit.exercises.child"],
        env={**os.environ, **gateway_variables(spark)},
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        pass_fds=(REPLY,),
        start_new_session=True,
    )
    status = None
    try:
        if process.stdin is not None:
            process.stdin.write(json.dumps(told).encode() + b"\n")
            process.stdin.close()
        status = process.wait(order["limit_s"] + order["start_s"] + _GRACE_S)
    except (subprocess.TimeoutExpired, OSError):
        status = None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    alive = is_alive(spark)
    if alive:
        spark.sparkContext.cancelJobsWithTag(tag)
        for name in views:
            spark.catalog.dropGlobalTempView(name)
    shell = None if status is None else 128 - status if status < 0 else status
    reply({"ended": shell, "alive": alive})


if __name__ == "__main__":
    main(*sys.argv[1:])
