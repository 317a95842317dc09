"""Pictures of a run in one word, and any picture in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rebalance_kit.analysis.metrics import study_from
from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook.runs import named
from rebalance_kit.notebook.text import Folded, Text, in_lines, reveal
from rebalance_kit.view.style.showing import PLOTLY_MIME, Figure, Picture, as_plotly
from rebalance_kit.view.words.descriptions import describe_flow

if TYPE_CHECKING:
    from rebalance_kit.forensics.tables import Tables


class Drawn:
    """A figure that shows itself as the last value of a cell; its text twin is ``describe(...)`` of what it draws."""

    def __init__(self, figure: Figure, svg: str = "") -> None:
        self.figure = figure
        self.svg = svg  # stands where no script may run

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        still = {"image/svg+xml": self.svg} if self.svg else {}
        return {PLOTLY_MIME: as_plotly(self.figure), **still, "text/plain": repr(self)}

    def __repr__(self) -> str:
        title = self.figure["layout"].get("title", {}).get("text", "a figure")
        words = " ".join(re.sub(r"<[^>]+>", " ", str(title)).split())
        return f"({words}: the next cell says the same in words)"


def flow(*runs: Trace) -> Drawn:
    """One to three runs as an animation under one clock: tiles are partitions, lanes are members.

    Where no script may run, the same animation stands in its place as an SVG that plays by itself (``flow_svg``).
    """
    from rebalance_kit.view.figures.flow import flow_figure
    from rebalance_kit.view.figures.flow_svg import flow_svg

    figure = flow_figure(runs)
    return Drawn(_titled(figure, runs[0]), flow_svg(runs))


def chart(trace: Trace, since_s: float | None = None, until_s: float | None = None) -> Drawn:
    """The run as a chart: one row per partition, time to the right; a stretch of it if one is given.

    Where no script may run, the chart stands as an SVG.
    """
    from rebalance_kit.view.board.boards import Boards
    from rebalance_kit.view.figures.gantt import gantt_figure, gantt_svg

    boards = Boards(trace)
    shown = (round((since_s or 0) * 1000), boards.end_ms if until_s is None else round(until_s * 1000))
    figure = _titled(gantt_figure(trace), trace)
    if since_s is not None or until_s is not None:
        figure["layout"]["xaxis"]["range"] = [
            since_s or 0.0,
            trace.end_ms / 1000 if until_s is None else until_s,
        ]
    return Drawn(figure, gantt_svg(boards, name=f"chart-{trace.run_id}", shown_ms=shown).svg)


def _titled(figure: Figure, trace: Trace) -> Figure:
    """The figure of one run with its protocol as prose calls it; that of several names none in its title."""
    title = figure["layout"]["title"]
    if title["text"].endswith(f" · {trace.label}"):
        title["text"] = title["text"].removesuffix(trace.label) + named(trace.label)
    return figure


def one_clock(runs: Mapping[str, Trace], *, event: str = "", after_s: float = 3.0) -> Picture:
    """The runs below each other on one clock, from a second before their first event until ``after_s`` after it."""
    from rebalance_kit.notebook.strips import one_clock as draw

    at_s = min(map(study_from, runs.values())) / 1000
    traces = {named(protocol): trace for protocol, trace in runs.items()}
    return draw(traces, at_s - 1, at_s + after_s, event=event, event_s=at_s)


def describe(shown: object, *which: str) -> Text:
    """What a picture, a run, a lab or a table of logs shows, in words.

    ``which`` chooses the picture of logs and the run: ``describe(found, "gaps", "join.eager.4.3.1")``.
    """
    if isinstance(shown, Trace):
        return in_lines(describe_flow(shown).replace(f", {shown.label},", f", {named(shown.label)},", 1))
    if isinstance(shown, Drawn):
        return in_lines(str(shown.figure["layout"]["meta"]["text"]))
    if isinstance(shown, Mapping) and "layout" in shown:
        return in_lines(str(shown["layout"]["meta"]["text"]))
    if which:
        return in_lines(_logs(shown, *which))  # type: ignore[arg-type]
    for attribute in ("story", "text"):
        if isinstance(text := getattr(shown, attribute, None), str):
            return in_lines(text)
    return in_lines(str(shown))


def twin(shown: object, *which: str) -> Folded:
    """``describe`` behind a click, for a picture whose words are many."""
    return reveal(describe(shown, *which), "The same in words")


def _logs(found: Tables, picture: str, of_run: str = "") -> str:
    from rebalance_kit.view.reports.forensics_show import describe_logs

    return describe_logs(found, picture, of_run)
