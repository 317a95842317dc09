"""Write the logs of a trace as files: ``broker.log`` and one a member, like the folders of recorded runs."""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.lines import EPOCH, LogLine, render
from rebalance_kit.logs.member_log import member_lines, split_by_member
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace

MEMBER_LAYOUTS = ("kafka", "spring")
"""How a Java member's log may be printed."""


def write_logs(
    trace: Trace,
    folder: str | Path,
    *,
    layout: str = "kafka",
    version: str | None = None,
    begins: datetime = EPOCH,
    packed: bool = False,
) -> tuple[Path, ...]:
    """Write every log of a trace into ``folder`` and return the files; each is written beside and renamed.

    ``layout`` (kafka or spring) is that of the Java members; a broker always prints Kafka's own, librdkafka its own. Raises
    ``DataError`` for a layout that does not exist, and for a member whose name is no file name.
    """
    if layout not in MEMBER_LAYOUTS:
        raise DataError(f"layout {layout!r} is unknown; expected one of {', '.join(MEMBER_LAYOUTS)}")
    file_names(trace)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = [_write(place / "broker.log", broker_lines(trace, version), "kafka", begins, packed=packed)]
    written += [
        _write(place / f"{name}.log", member_lines(own, name, version), layout, begins, packed=packed)
        for name, own in split_by_member(trace).items()
    ]
    return tuple(written)


def file_names(trace: Trace) -> tuple[str, ...]:
    """Names of a run's logs; raises ``DataError`` for a member whose name is no file name."""
    names = [str(name) for name in trace.meta.get("members", ())]
    for name in names:
        if name in {"broker", "", ".", ".."} or Path(name).name != name:
            raise DataError(
                f"member {name!r} gives no file name of its own; expected a plain name other than broker"
            )
    return ("broker.log", *(f"{name}.log" for name in names))


def _write(target: Path, lines: Iterable[LogLine], layout: str, begins: datetime, *, packed: bool) -> Path:
    text = "".join(render(line, begins, layout) + "\n" for line in lines).encode()
    final = target.with_name(target.name + ".gz") if packed else target
    return write_atomically(final, gzip.compress(text, mtime=0) if packed else text)
