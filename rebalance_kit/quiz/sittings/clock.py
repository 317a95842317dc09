"""The clocks that an exam counts by: one that anybody may set, and the machine's own, which nobody can."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _steady() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(frozen=True, slots=True)
class ExamClock:
    """The wall clock, seconds since the machine started, and a name for that start."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = _steady
    boot: Callable[[], str] = _boot
