"""Fuzzers, one per parser: damaged variants of good inputs, and what may come of them.

    python -m tests.support.bad_input.fuzzing scenario link --seconds 600 --most 1000000

An input is taken, or refused with an error of the kit. A finding is anything else: another error, what takes longer than
``SLOW_S``, memory beyond ``MOST_MEMORY``, or what reads differently once it is written (``Lost``). It is printed with
the seed that makes it again.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from rebalance_kit.model.errors import RebalanceKitError
from tests.support.bad_input.parsers import FUZZERS, Fuzzer

SLOW_S = 5
"""Seconds of processor time; other work on the machine does not count."""
_STUCK_S = 60
"""Seconds on the clock: nothing may wait so long."""
MOST_MEMORY = 500_000
"""Kilobytes that one input may add to the process at its greatest."""
_GUARD = 8 << 30
"""Address space of a process that fuzzes, so that a finding harms nobody else."""


class TooSlow(BaseException):
    """An input that takes longer than ``SLOW_S``; no parser may catch it."""


def damaged(fuzzer: Fuzzer, seed: int) -> Any:
    """The damaged input of a seed."""
    dice = random.Random(seed)
    return fuzzer.damage(dice.choice(fuzzer.good()), dice)


def finding(fuzzer: Fuzzer, given: Any) -> str | None:
    """What is wrong with how an input is taken: an error that is not the kit's, too long a time, too much memory, a loss."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"more than {SLOW_S} s")

    bells = (signal.SIGPROF, signal.ITIMER_PROF, SLOW_S), (signal.SIGALRM, signal.ITIMER_REAL, _STUCK_S)
    before = [signal.signal(number, ring) for number, _, _ in bells]
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _, timer, seconds in bells:
        signal.setitimer(timer, seconds)
    try:
        fuzzer.read(given)
    except RebalanceKitError as error:
        return "an error of several lines" if "\n" in str(error).strip() and len(str(error)) > 4000 else None
    except (Exception, TooSlow) as error:  # noqa: BLE001 - that is what is looked for
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else "?"
        return f"{type(error).__name__} at {place}: {str(error)[:200]}"
    finally:
        for (number, timer, _), handler in zip(bells, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held
    return f"memory: {added // 1000} MB" if added > MOST_MEMORY else None


def findings(name: str, seeds: Iterator[int], until: float) -> tuple[int, dict[str, tuple[int, int]]]:
    """How many were tried, and each kind of finding with its first seed and how often it came."""
    tried, found = 0, dict[str, tuple[int, int]]()
    for seed in seeds:
        if time.monotonic() > until:
            break
        tried += 1
        problem = finding(FUZZERS[name], damaged(FUZZERS[name], seed))
        if problem is not None:
            kind = problem.split(": ")[0]
            first, count = found.get(kind, (seed, 0))
            found[kind] = (first, count + 1)
            if count < 3:
                print(f"  {name}, seed {seed}: {problem!a}", flush=True)
    return tried, found


def main() -> int:
    """Fuzz the parsers named for so long each; print a row of a table each."""
    parser = argparse.ArgumentParser(description="Fuzz parsers.")
    parser.add_argument("names", nargs="*", help=", ".join(FUZZERS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--most", type=int, default=10**6, help="inputs per parser")
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (_GUARD, _GUARD))
    worst = 0
    for name in given.names or FUZZERS:
        with contextlib.suppress(Exception):  # what is read once and kept: the bank, the scenarios
            FUZZERS[name].read(FUZZERS[name].good()[0])
        begun = time.monotonic()
        tried, found = findings(name, iter(range(given.seed, given.seed + given.most)), begun + given.seconds)
        print(f"| {name} | {tried:,} | {(time.monotonic() - begun) / 60:.1f} | {len(found)} |", flush=True)
        worst += len(found)
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
