"""``rebalance-kit what-if`` on one incident of 10 members and 60 partitions, from the command to the answer.

Targets: 6 alternatives x 200 draws in at most 30 s on two cores, the first answer within 2 s of the command's start.
Beside it, in the same run: the same number of bare draws of the same size in one process, without metrics told apart.
"""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from shared.processor import Processor
from shared.tables import publish

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import draw

KIT = [sys.executable, "-m", "rebalance_kit.cli"]
MEMBERS, PARTITIONS, DRAWS, ALTERNATIVES = 10, 60, 200, 6
WANTED_S, FIRST_S, LIMIT_S = 30.0, 2.0, 600


def incident(folder: Path) -> Path:
    """Logs of the scenario crash with ten members and sixty partitions, as the kit's log maker writes them."""
    shipped = (
        (Path(scenarios.__file__).parent / "crash.yaml").read_text(encoding="utf-8").split("\nlesson:")[0]
    )
    text = shipped.replace("{orders: 12}", f"{{orders: {PARTITIONS}}}").replace(
        "count: 3,", f"count: {MEMBERS},"
    )
    scenario = folder / "ten.yaml"
    scenario.write_text(text, encoding="utf-8")
    logs = folder / "logs"
    subprocess.run(
        [*KIT, "make-logs", str(scenario), "--out", str(logs)], check=True, stdout=subprocess.DEVNULL
    )
    return logs


def asked(logs: Path) -> tuple[float, float, float, int]:
    """Seconds to the first answer (which a person at a terminal sees), to the end, processor seconds of all processes, alternatives."""
    ours, theirs = pty.openpty()
    with Processor() as processor:
        began = time.perf_counter()
        command = [*KIT, "what-if", str(logs), "--draws", str(DRAWS), "--seconds", str(LIMIT_S), "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as child:
            os.close(theirs)
            assert child.stdout is not None
            with ThreadPoolExecutor(1) as reader:
                answer = reader.submit(child.stdout.read)
                first = _seen(ours, b"first answer") - began
                _seen(ours, None)
                text = answer.result()
        whole = time.perf_counter() - began
    os.close(ours)
    if child.returncode:
        raise SystemExit(f"what-if ended with {child.returncode}")
    return first, whole, processor.seconds, len(json.loads(text)["alternatives"])


def _seen(terminal: int, text: bytes | None) -> float:
    """When a terminal has shown a text, or (None) when nobody writes to it any more."""
    shown = b""
    while text is None or text not in shown:
        try:
            shown += os.read(terminal, 65536)
        except OSError:
            break
    return time.perf_counter()


def peer_s() -> float:
    """Processor seconds of as many bare draws of that size in one process, from a tenth of them."""
    shipped = scenarios.load("crash")
    spec = shipped.members[0]
    members = tuple(replace(spec, name=f"consumer-{number}") for number in range(1, MEMBERS + 1))
    topics = tuple(replace(topic, partitions=PARTITIONS) for topic in shipped.topics)
    part = DRAWS * ALTERNATIVES // 10
    began = time.process_time()
    draw(replace(shipped, members=members, topics=topics), {"eager": "eager"}, part, seconds=LIMIT_S)
    return (time.process_time() - began) * 10


def main() -> int:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        first, whole, processor, alternatives = asked(incident(Path(scratch)))
    peer = peer_s()
    publish(
        "What-if: one incident of 10 members and 60 partitions",
        ["what", "measured", "wanted"],
        [
            ["first answer, s", f"{first:.1f}", f"≤ {FIRST_S:.0f}"],
            [
                f"{alternatives} alternatives x {DRAWS} draws, whole, s",
                f"{whole:.1f}",
                f"≤ {WANTED_S:.0f} for {ALTERNATIVES}",
            ],
            ["processor time of all processes, s", f"{processor:.1f}", ""],
            [f"{DRAWS * ALTERNATIVES} bare draws in one process, processor s", f"{peer:.1f}", ""],
        ],
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
