"""200 draws of a crash under three protocols, with their metrics, beside SimPy sending heartbeats.

Targets: 200 draws x 3 protocols of 6 members x 12 partitions in at most 6 s of one core; the first 20 shown within 1 s
of the command's start. SimPy writes as many trace rows of plain heartbeats, in turns with the kit, so that a busy
machine slows both: it knows no group, no records and no metrics.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from statistics import median
from time import process_time

from event_loop import with_simpy
from shared.tables import publish

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import FIRST_DRAWS, draw
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.simulate import simulate

DRAWS, PART, SIMPY_MEMBERS = 200, 20, 30
WANTED_S, FIRST_S = 6.0, 1.0
PROTOCOLS = {name: name for name in THREE_PROTOCOLS}


def crash(members: int) -> Scenario:
    """The scenario crash with so many members."""
    shipped = scenarios.load("crash")
    spec = shipped.members[0]
    return replace(
        shipped, members=tuple(replace(spec, name=f"consumer-{number}") for number in range(1, members + 1))
    )


def seconds(scenario: Scenario) -> tuple[float, float, int]:
    """Processor seconds of all draws, and of SimPy writing as many rows; both from parts in turns, and the rows."""
    rows = sum(len(simulate(scenario, 1, protocol).rows) for protocol in THREE_PROTOCOLS) * DRAWS
    kit, peer = [], []
    for _ in range(DRAWS // PART):
        began = process_time()
        draw(scenario, PROTOCOLS, PART, seconds=600)
        middle = process_time()
        written = with_simpy(SIMPY_MEMBERS)
        kit.append((middle - began) * DRAWS / PART)
        peer.append((process_time() - middle) * rows / written)
    return median(kit), median(peer), rows


def start_s() -> float:
    """Processor seconds of a command that makes the first 20 draws and shows them."""
    code = (
        "import sys, time; from rebalance_kit.cli import main; "
        f"main(['run', 'crash', '--protocol', 'all', '--draws', '{FIRST_DRAWS}']); "
        "sys.stderr.write(str(time.process_time()))"
    )
    done = [
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stderr
        for _ in range(5)
    ]
    return median(map(float, done))


def main() -> int:
    """Print the table; 1 where a target is missed."""
    table, kept = [], True
    for members in (3, 6):
        kit, peer, rows = seconds(crash(members))
        kept = kept and kit <= WANTED_S
        table.append((f"{members} x 12", rows, f"{kit:.1f}", f"{peer:.1f}", f"{kit / peer:.1f}"))
    first = start_s()
    publish(
        "Draws",
        ("members x partitions", "trace rows", "kit, s", "SimPy, s", "kit : SimPy"),
        table,
        f"Processor time of {DRAWS} draws x 3 protocols with their metrics (wanted: at most {WANTED_S:.0f} s); SimPy writes as "
        f"many rows of plain heartbeats. `rebalance-kit run crash` from its start to {FIRST_DRAWS} draws shown: "
        f"{first:.2f} s (wanted: at most {FIRST_S:.0f} s).",
    )
    return 0 if kept and first <= FIRST_S else 1


if __name__ == "__main__":
    sys.exit(main())
