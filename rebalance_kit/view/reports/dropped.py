"""Logs dropped on a page of the site: the answer of ``rebalance-kit logs`` and its report, as two texts.

The files are in a folder of the browser's memory; nothing is sent anywhere. Nothing here knows the browser.
"""

from __future__ import annotations

import re
from html import escape
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.look import look
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.scenarios import scenario
from rebalance_kit.simulation.permalink import VERSION, Link, write_link
from rebalance_kit.view.reports.log_report import forensics_html

_COMMAND = re.compile(r'<code class="command">rebalance-kit lab ([\w.-]+)</code>')


class Dropped(NamedTuple):
    """What was read: the screen that the command prints, and the page; no page where nothing could be read."""

    screen: str
    page: str


def read_dropped(folder: str | Path) -> Dropped:
    """Read the logs below ``folder``; what cannot be read is said in ``screen``, as the command says it."""
    out = StringIO()
    try:
        result = look([folder])
        Answer().tell(result, out)
        return Dropped(out.getvalue(), _COMMAND.sub(_opened, forensics_html(result)))
    except RebalanceKitError as refusal:
        words = str(refusal).replace(str(folder), "what was dropped")
        return Dropped(f"{out.getvalue()}{words}\n", "")


def _opened(command: re.Match[str]) -> str:
    """In the place of a command: a link to the lab beside the page, at the moment or with the scenario that the command names."""
    named = command[1]
    token = named if named.startswith(f"{VERSION}.") else write_link(Link(scenario(named)))
    return (
        f'<a href="index.html?rebalance-lab={escape(token)}" target="_blank" rel="noopener">open the lab</a>'
    )
