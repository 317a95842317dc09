"""Pictures of a run: theme, board states, plotly figures, the lab widget and their text twins.

Importing this room loads neither plotly nor widgets; a name that needs them loads them when asked for.
"""

from __future__ import annotations

from rebalance_kit.model.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Exam": "quiz.page",
        "Exercise": "exercises",
        "Lab": "lab.widget",
        "LiveLab": "live_lab",
        "WhatIf": "what_if",
        "Poll": "quiz.poll",
        "Quiz": "quiz.page",
        "Review": "quiz.page",
        "Today": "quiz.page",
        "Vote": "quiz.poll",
        "board": "board.boards",
        "comparison_figure": "figures.comparison",
        "comparison_html": "figures.comparison",
        "describe_board": "words.descriptions",
        "describe_comparison": "words.descriptions",
        "describe_flow": "words.descriptions",
        "describe_gantt": "words.descriptions",
        "describe_lag": "figures.comparison",
        "detection_figure": "figures.comparison",
        "clocks": "cards.protocols",
        "triage": "cards.printing",
        "deal": "figures.dealing",
        "flow_figure": "figures.flow",
        "gantt_figure": "figures.gantt",
        "group_states": "figures.state_machines",
        "lag_figure": "figures.comparison",
        "member_states": "figures.state_machines",
        "messages": "figures.message_diagram",
        "gap_figure": "figures.comparison",
        "show": "style.showing",
        "state_machine": "figures.state_machines",
        "watching": "reports.watch_page",
        "write_report": "lab.run_report",
    },
)
