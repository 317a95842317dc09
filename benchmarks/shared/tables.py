"""How benchmark results are printed: Markdown tables that ``make bench`` gathers."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "bench"


def machine() -> str:
    """Date, cores, memory, Python: what a figure is worth depends on them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    today = datetime.now(UTC).date().isoformat()
    return f"{today}, {os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}"


def publish(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], note: str = "") -> None:
    """Print one table as Markdown; ``make bench`` gathers what is printed."""
    lines = [
        f"## {title}",
        "",
        f"{machine()}. {note}".rstrip(),
        "",
        "| " + " | ".join(columns) + " |",
        "|" + "---|" * len(columns),
    ]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    text = "\n".join(lines) + "\n"
    print(text)
