"""How long ``import rebalance_kit`` takes, net of the interpreter: at most 40 ms.

Fresh interpreters with and without the import take turns, so that a busy machine slows both; the
figure is the difference of the medians.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

TARGET_MS = 40
ROUNDS = 15


def start_ms(statement: str) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return (perf_counter() - began) * 1000


def main() -> int:
    start_ms("import rebalance_kit")  # compiles the byte code once
    pairs = [(start_ms("pass"), start_ms("import rebalance_kit")) for _ in range(ROUNDS)]
    bare, kit = (statistics.median(column) for column in zip(*pairs, strict=True))
    net = kit - bare
    verdict = "kept" if net <= TARGET_MS else "MISSED"
    print(
        f"interpreter {bare:.1f} ms, with the kit {kit:.1f} ms: net {net:.1f} ms (target {TARGET_MS} ms, {verdict})"
    )
    return 0 if net <= TARGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
