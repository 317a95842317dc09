"""The pictures of a group's logs in a notebook: the figure in the colours of a theme, and its text twin."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from rebalance_kit.view.board.group_view import GroupView, describe_gaps, describe_lives, describe_timeline
from rebalance_kit.view.figures.forensics_figures import gap_map, lives, palette, timeline
from rebalance_kit.view.style.showing import Figure, show

if TYPE_CHECKING:
    from rebalance_kit.forensics.tables import Tables

_PICTURES: dict[str, tuple[Callable[[GroupView], Figure], Callable[[GroupView], str]]] = {
    "timeline": (timeline, describe_timeline),
    "gaps": (gap_map, describe_gaps),
    "lives": (lives, describe_lives),
}


def show_logs(result: Tables, picture: str = "timeline", run: str = "", theme: str = "light") -> None:
    """Display ``timeline``, ``gaps`` or ``lives`` of each group whose run's path ends with ``run``."""
    for view in _views(result, run):
        show(painted(_PICTURES[picture][0](view), theme), "")


def describe_logs(result: Tables, picture: str = "timeline", run: str = "") -> str:
    """The same pictures in words."""
    return "\n\n".join(_PICTURES[picture][1](view) for view in _views(result, run))


def painted(figure: Figure, theme: str) -> Figure:
    """A figure with the placeholders of its colours (``@ink@``) filled in."""
    colours = palette(theme)
    text = re.sub(r"@([\w-]+)@", lambda match: colours.get(match[1], match[0]), json.dumps(figure))
    repainted: Figure = json.loads(text)
    return repainted


def _views(result: Tables, run: str) -> list[GroupView]:
    from rebalance_kit.view.reports.log_report import group_views

    return [view for view in group_views(result) if str(view.record["path"]).endswith(run)]
