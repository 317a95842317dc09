"""The broker of ``rebalance-kit broker``: one per user, kept by a process of its own until it is stopped.

The keeper holds a lock on the file that says where the broker is, so a file that was left behind is known as such.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from rebalance_kit.live.broker import Broker
from rebalance_kit.live.jars import LiveError, Say, cache, class_path, locked

Running = Mapping[str, Any]
_STOP_S = 40.0


def _place() -> Path:
    return cache() / "broker.json"


def status() -> Running | None:
    """What runs: ``bootstrap``, ``kafka``, ``pid`` (of its keeper), ``folder``, ``log``, ``since``; None when nothing does."""
    try:
        with _place().open("r+", encoding="utf-8") as held:
            try:
                locked(held, wait=False)
            except BlockingIOError:
                if os.fstat(held.fileno()).st_uid != os.getuid():
                    return None  # in a cache that others write to: nobody stops a process that they name
                told = json.loads(held.read() or "{}")
                whole = isinstance(told, dict) and isinstance(told.get("pid"), int) and "bootstrap" in told
                return told if whole else None
    except (OSError, ValueError):
        return None
    return None


def start(
    version: str, configs: Mapping[str, str], port: int | None = None, say: Say | None = None, nodes: int = 1
) -> Running:
    """Start the broker, unless one runs; raises ``LiveError`` with what stopped it."""
    running = status()
    if running is not None:
        raise LiveError(
            f"a broker of Kafka {running['kafka']} runs at {running['bootstrap']} already; expected none: stop it with: rebalance-kit broker stop"
        )
    class_path(version, say)  # what has to be fetched is fetched where progress is seen
    spec = json.dumps({"version": version, "configs": dict(configs), "port": port, "nodes": nodes})
    keeper = subprocess.Popen(
        [sys.executable, "-P", "-m", "rebalance_kit.live.background", spec],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert keeper.stdout is not None
    said = json.loads(keeper.stdout.readline() or '{"error": "its keeper ended at once"}')
    keeper.stdout.close()
    if "error" in said:
        keeper.wait(30)
        raise LiveError(said["error"])
    keeper.returncode = 0  # it goes on without this process
    return dict(said)


def stop() -> bool:
    """Stop it and wait until nothing of it is left; False when none ran."""
    running = status()
    if running is None:
        return False
    with suppress(ProcessLookupError):
        os.kill(int(running["pid"]), signal.SIGTERM)
    until = time.monotonic() + _STOP_S
    while status() is not None or Path(str(running["folder"])).exists():
        if time.monotonic() > until:
            raise LiveError(
                f"the broker did not stop within {_STOP_S:g} s; end the process {running['pid']} by hand"
            )
        time.sleep(0.1)
    return True


def words(running: Running) -> str:
    """What runs, in words."""
    return (
        f"Kafka {running['kafka']} at {running['bootstrap']} (log: {running['log']})\n"
        "stop it with: rebalance-kit broker stop"
    )


def _tell(what: Mapping[str, Any]) -> None:
    """One line to whoever started the keeper."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def _keep(spec: Mapping[str, Any]) -> None:
    """Run a broker until SIGTERM, with the lock held."""
    _place().parent.mkdir(parents=True, exist_ok=True)
    with _place().open("a+", encoding="utf-8") as held:
        try:
            locked(held, wait=False)
        except BlockingIOError:
            _tell({"error": "another broker of the kit is starting; expected none"})
            return
        held.truncate(0)
        try:
            broker = Broker(str(spec["version"]), spec["configs"], spec["port"], nodes=spec["nodes"])
        except LiveError as error:
            _tell({"error": str(error)})
            return
        try:
            broker.start()
            told = {
                "bootstrap": broker.bootstrap,
                "kafka": broker.version,
                "pid": os.getpid(),
                "folder": str(broker.processes.folder),
                "log": str(broker.log),
                "since": int(time.time() * 1000),
            }
            held.write(json.dumps(told))
            held.flush()
            _tell(told)
            signal.sigwait({signal.SIGTERM, signal.SIGINT})
            broker.stop()
        except LiveError as error:
            _tell({"error": str(error)})
        finally:
            broker.close()
            held.truncate(0)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    _keep(json.loads(sys.argv[1]))
