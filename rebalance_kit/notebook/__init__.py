"""What notebooks ask for in one word: runs, pictures, tables, guesses, and the way through the course.

Everything that is text is the same for the same runs, so that the outputs of a notebook can be compared strictly.
"""

from __future__ import annotations

from rebalance_kit.model.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        # run
        "quiet": "runs",
        "real_run": "runs",
        "refusal": "runs",
        "run": "runs",
        "stall": "runs",
        "three": "runs",
        "with_broker": "runs",
        "with_configs": "runs",
        "with_version": "runs",
        # look
        "chart": "pictures",
        "Drawn": "pictures",
        "describe": "pictures",
        "flow": "pictures",
        "one_clock": "pictures",
        "twin": "pictures",
        # read one run
        "callbacks": "events",
        "chosen_assignor": "events",
        "fired": "events",
        "first_callback": "events",
        "gaps": "events",
        "longest_without_records": "events",
        "passed_to": "events",
        "reasons": "events",
        "refused_commits": "events",
        "removals": "events",
        "states": "events",
        "votes": "events",
        "epochs": "events",
        "target_beside_current": "events",
        # operate
        "consumer_groups": "admin",
        "incident": "admin",
        "log_files": "admin",
        # compare
        "across": "runs",
        "costs": "runs",
        "draws": "runs",
        "fewest": "runs",
        "median": "runs",
        "more": "runs",
        "spread": "runs",
        # ask and answer
        "predict": "text",
        "reveal": "text",
        # logs
        "growing_log": "admin",
        "recordings": "admin",
        "seen_so_far": "admin",
        "written_logs": "admin",
        # words and tables
        "Table": "text",
        "WIDTH": "text",
        "columns": "text",
        "in_lines": "text",
        "explain": "course",
        # the course
        "case_map": "course",
        "course_map": "course",
        "doctor": "course",
        "next_notebook": "course",
        "recorded_run": "course",
    },
)
