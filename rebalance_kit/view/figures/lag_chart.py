"""Lag over time: how many records wait, of all partitions together or partition by partition."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.style.showing import Figure, base_layout
from rebalance_kit.view.style.theme import ROLES

_DASHES = ("solid", "dash", "dot", "dashdot")
STEP_MS = 500


def lag_rows(trace: Trace, partition: str | None = None) -> list[tuple[float, int]]:
    """Lag every half second as (seconds, records), as the lab's board has it: of ``partition`` (such as ``orders-0``), or of all."""
    boards = Boards(trace)
    chosen = [name for name in boards.partitions if partition in (None, name)]
    return [
        (at / 1000, sum(_lag(boards, name, at) for name in chosen))
        for at in range(0, boards.end_ms + 1, STEP_MS)
    ]


def _lag(boards: Boards, partition: str, at_ms: int) -> int:
    stands = boards.position(partition, at_ms)
    return 0 if stands is None else max(0, stands.log_end - stands.position)


def lag_figure(traces: Sequence[Trace], partition: str | None = None, theme: str = "light") -> Figure:
    """Records that wait, as one line per run; the lines differ by pattern, since hues belong to members."""
    role = ROLES[theme]
    layout = base_layout(
        theme, f"Lag of {partition or 'all partitions'}, records", describe_lag(traces, partition), 340
    )
    layout |= {
        "xaxis": {"title": {"text": "seconds"}, "gridcolor": role["hairline"], "zeroline": False},
        "yaxis": {"gridcolor": role["hairline"], "rangemode": "tozero", "zeroline": False},
        "legend": {"orientation": "h", "y": 1.08, "x": 0, "yanchor": "bottom"},
        "margin": {"l": 80, "r": 20, "t": 90, "b": 60},
        "hovermode": "x unified",
    }
    lines = []
    for number, trace in enumerate(traces):
        rows = lag_rows(trace, partition)
        lines.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": trace.label,
                "x": [at for at, _ in rows],
                "y": [lag for _, lag in rows],
                "line": {"color": role["ink"], "width": 2.5, "dash": _DASHES[number % len(_DASHES)]},
            }
        )
    return {"data": lines, "layout": layout}


def describe_lag(traces: Sequence[Trace], partition: str | None = None) -> str:
    """The chart in words: for each run where lag stood at its greatest, and when it was back."""
    lines = []
    for trace in traces:
        rows = lag_rows(trace, partition)
        if not rows or not any(lag for _, lag in rows):
            lines.append(f"{trace.label}: no record waits.")
            continue
        peak_s, peak = max(rows, key=lambda row: row[1])
        usual = sorted(lag for _, lag in rows)[len(rows) // 2]
        back = next((at for at, lag in rows if at > peak_s and lag <= 2 * usual), None)
        ended = (
            "not back to its usual size by the end"
            if back is None
            else f"back to its usual size at {back:.0f} s"
        )
        lines.append(f"{trace.label}: greatest lag {peak:,} records at {peak_s:.0f} s; {ended}.")
    return "\n".join(lines)
