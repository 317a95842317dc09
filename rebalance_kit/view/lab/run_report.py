"""One self-contained HTML report of one or more runs: each plays in a lab without a kernel, with its Gantt, and all of it in words.

The page asks no network and needs no package beyond the kit. The file is written beside and renamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from rebalance_kit.analysis.draws import Draws, draws_sentences, draws_table
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace, require_traces
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.comparison import comparison_html, draws_html
from rebalance_kit.view.figures.gantt import gantt_svg
from rebalance_kit.view.lab.guide import guide_of_run
from rebalance_kit.view.lab.page import player, script_element, script_text, style
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.reports.sweep_report import page_html, twin_html
from rebalance_kit.view.words.descriptions import describe_comparison, describe_flow


class Drawn(NamedTuple):
    """What a comparison says beyond its one run each: notes on the columns, and the draws with their head."""

    notes: Sequence[str] = ()
    head: str = ""
    draws: Draws | None = None


def report_html(
    traces: Sequence[Trace], title: str | None = None, theme: str = "light", drawn: Drawn | None = None
) -> str:
    """The report as one HTML text, with the draws where some were made; raises ``DataError`` without traces."""
    require_traces(traces)
    first = traces[0]
    name = title or str(first.meta.get("title") or first.meta.get("scenario") or first.run_id)
    parts = [f"<h1>{escape(name)}</h1>", f"<p>{escape(_provenance(traces))}</p>"]
    if len(traces) > 1:
        parts += ["<h2>Comparison</h2>", comparison_html(traces), twin_html(describe_comparison(traces))]
    parts += _drawn(drawn or Drawn())
    for number, trace in enumerate(traces):
        boards = Boards(trace)
        chart = gantt_svg(boards, theme, f"bars-{number}")
        parts += [
            f"<h2>{escape(trace.label.capitalize())}</h2>",
            _playing(boards, f"run-{number}", theme),
            twin_html(describe_flow(boards), opened=True),
            f'<figure id="gantt-{number}">{chart.svg}</figure>',
            twin_html(chart.text),
        ]
    return page_html(name, theme, "\n".join(parts), style(), script_element(), [script_text()])


def write_report(
    path: str | Path,
    traces: Sequence[Trace],
    title: str | None = None,
    theme: str = "light",
    drawn: Drawn | None = None,
) -> Path:
    """Write the report; the file appears only when it is complete. Returns its path."""
    return write_atomically(path, report_html(traces, title, theme, drawn))


def _drawn(drawn: Drawn) -> list[str]:
    """Notes on the columns, and the draws as a table with its twin."""
    parts = [f"<p>{escape(note)}</p>" for note in drawn.notes]
    if drawn.draws is not None:
        said = "".join(f"<p>{escape(sentence)}</p>" for sentence in draws_sentences(drawn.draws))
        parts += ["<h2>Draws</h2>", f"<p>{escape(drawn.head)}</p>", draws_html(drawn.draws), said]
        parts.append(twin_html(draws_table(drawn.draws)))
    return parts


def _playing(boards: Boards, name: str, theme: str) -> str:
    """The run in a lab that plays it, opened where the run begins to be counted."""
    trace = boards.trace
    controls = {
        "title": f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}",
        "preset": name,
        "guided": True,
        "lesson": "",
        "try": "",
        "protocols": [],
        "guide": guide_of_run(boards),
    }
    return player(name, film_bytes(boards), controls, boards.watched_from_ms, theme)


def _provenance(traces: Sequence[Trace]) -> str:
    first = traces[0]
    version = first.meta.get("kafka_version")
    kafka = f", Kafka {version}" if version else ""
    return f"{first.source.capitalize()}{kafka}, seed {first.seed}, {first.end_ms / 1000:.1f} s: {', '.join(trace.label for trace in traces)}."
