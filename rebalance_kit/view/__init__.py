"""What a run looks like: theme, board states, plotly figures, the lab widget and their text twins.

Importing this room loads neither plotly nor widgets; a name that needs them loads them when asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Lab": "lab",
    "Quiz": "quiz",
    "Review": "quiz",
    "Exam": "quiz_exam",
    "Poll": "quiz_poll",
    "Vote": "quiz_poll",
    "Exercise": "exercise",
    "board": "frames",
    "flow_figure": "flow",
    "gantt_figure": "gantt",
    "comparison_figure": "comparison",
    "comparison_html": "comparison",
    "describe_board": "text",
    "describe_flow": "text",
    "describe_gantt": "text",
    "describe_comparison": "text",
    "show": "showing",
    "detection_figure": "sweep",
    "pause_figure": "sweep",
    "lag_figure": "lag_chart",
    "describe_lag": "lag_chart",
    "group_states": "state_pictures",
    "member_states": "state_pictures",
    "messages": "diagram",
    "state_machine": "diagram",
    "watching": "watch_cell",
    "write_report": "report",
}
__all__ = [
    "Exercise",
    "Lab",
    "board",
    "comparison_figure",
    "comparison_html",
    "describe_board",
    "describe_comparison",
    "describe_flow",
    "describe_gantt",
    "describe_lag",
    "detection_figure",
    "flow_figure",
    "gantt_figure",
    "group_states",
    "lag_figure",
    "member_states",
    "messages",
    "pause_figure",
    "show",
    "state_machine",
    "watching",
    "write_report",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return __all__
