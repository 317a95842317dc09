"""The parts of the page about logs that are words: cards of findings, rebalances, what became of every line."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.view.board.group_view import GroupView, clock, took

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rebalance_kit.forensics.tables import Tables
    from rebalance_kit.recordings.folder import RecordedRun
    from rebalance_kit.simulation.scenario.scenario import Scenario

    Row = Mapping[str, Any]


# The log lines around a finding, for its card.


#: Of more events than these the page shows the lines of proof alone: they would have to be collected from Spark.
_EVENTS = 200_000

#: So many lines are shown around a finding, and so many letters of lines on the whole page.
_NEAR, _ROOM = 8, 500_000


class NearbyLine(NamedTuple):
    """A line near a finding; ``proves``: it is the finding's own."""

    file: str
    line: int
    text: str
    proves: bool


class LinesAround:
    """The understood lines of some logs by group, to be asked for the neighbours of findings."""

    def __init__(self, result: Tables) -> None:
        self._room = _ROOM
        self._of: dict[tuple[str, str | None], list[tuple[int, str, int, str]]] = defaultdict(list)
        if sum(row["parsed"] for row in result.rows("lines")) > _EVENTS:
            return
        seen: set[tuple[str, str, int]] = set()
        for event in result.rows("events"):
            place = event["path"], event["file"], event["line"]
            if event["at_ms"] is not None and place not in seen:
                seen.add(place)
                row = event["at_ms"], event["file"], event["line"], event["text"]
                self._of[event["path"], event["group"]].append(row)
        for rows in self._of.values():
            rows.sort()

    def near(self, path: str, group: str | None, finding: Mapping[str, Any]) -> list[NearbyLine]:
        """The lines nearest in time to a finding, its own among them; none where they are not at hand."""
        at_ms = finding["at_ms"]
        rows = self._of.get((path, group), [])
        if at_ms is None or not rows or self._room <= 0:
            return []
        place = bisect_left(rows, (at_ms, finding["file"], finding["line"], ""))
        first = max(0, min(place - _NEAR // 2, len(rows) - _NEAR))
        told = [
            NearbyLine(file, line, text, (file, line) == (finding["file"], finding["line"]))
            for _, file, line, text in rows[first : first + _NEAR]
        ]
        self._room -= sum(len(row.text) for row in told)
        return told


# How a moment of some logs is opened in the lab: the recorded run itself where it can be repeated, else a like scenario.


#: A scenario of the kit that shows the trouble of a finding.
ALIKE: Mapping[str, str] = MappingProxyType(
    {
        "assignment_lost": "freeze",
        "coordinator_lost": "coordinator-failover",
        "coordinator_moved": "coordinator-failover",
        "died_without_goodbye": "crash",
        "duplicate_instance_id": "duplicate-instance",
        "group_downgraded": "migration",
        "group_upgraded": "migration",
        "instance_id_fenced": "duplicate-instance",
        "instance_id_refused": "duplicate-instance",
        "instances_take_turns": "duplicate-instance",
        "member_frozen": "freeze",
        "member_fenced": "freeze",
        "poll_overrun": "poll-timeout",
        "poll_timeout_exceeded": "poll-timeout",
        "protocol_refused": "bounce-gone-wrong",
        "rebalance_storm": "storm",
        "rolling_restart": "rolling-restart",
        "session_expired": "crash",
        "rebalance_held_up": "slow-callback",
        "skewed_assignment": "skewed-range",
        "slow_callback": "slow-callback",
        "static_return": "static-restart-in-time",
        "topic_changed": "partitions-added",
        "wrong_callback": "wrong-librdkafka-callback",
        "zombie_commit": "freeze",
    }
)


@dataclass(frozen=True, slots=True)
class LabCommand:
    """A command for a terminal, and what it opens; ``whole``: this very run, at the moment asked for."""

    command: str
    whole: bool


def lab_command(path: str, finding: str, at_ms: int | None, *, repeat: bool = True) -> LabCommand | None:
    """The command for a finding of the run at ``path``; None where neither run nor a like scenario is known."""
    from rebalance_kit.simulation.permalink import Link, LinkError, write_link

    repeated = _repeated(path) if repeat and at_ms is not None else None
    if repeated is not None and at_ms is not None:
        scenario, begin_ms = repeated
        try:
            link = write_link(Link(scenario, max(0, min(at_ms - begin_ms, scenario.end_ms))))
            return LabCommand(f"rebalance-kit lab {link}", whole=True)
        except LinkError:
            pass  # too long for a link: a like scenario is offered
    alike = ALIKE.get(finding)
    return None if alike is None else LabCommand(f"rebalance-kit lab {alike}", whole=False)


@cache
def _repeated(path: str) -> tuple[Scenario, int] | None:
    """The scenario that repeats a recorded run and when it begins; None for logs that are no recorded run."""
    from rebalance_kit.recordings.folder import read_run
    from rebalance_kit.recordings.repeat import repeat

    if not (Path(path) / "run.json").is_file():
        return None
    try:
        run: RecordedRun = read_run(path)
        return repeat(run).scenario, run.begin
    except (RebalanceKitError, LookupError, ValueError):
        return None  # a run that cannot be repeated


#: At most so many letters of a line are shown.
_LETTERS = 600

#: At most so many rebalances are told in words, the longest.
_REBALANCES = 400


def finding_card(
    card: str, number: int, row: Row, lines: Sequence[NearbyLine], lab: LabCommand | None
) -> str:
    """A finding: what, what it cost, what to do, the lines that prove it, and the way into the lab."""
    at = f' data-at="{row["at_ms"]}"' if row["at_ms"] is not None else ""
    cost = row["unread_ms"]
    least = "at least " if row["at_least"] else ""
    meta = (
        [f'<span class="cost">unread meanwhile {least}{cost / 1000:,.1f} partition-s</span>'] if cost else []
    )
    meta += [f"{clock(row['at_ms'])} UTC"] if row["at_ms"] is not None else []
    meta.append(escape(f"{row['file']}:{row['line']}"))
    parts = [
        f'<p class="what"><span class="rank">{number}</span>{escape(capital(row["sentence"]))}.</p>',
        f'<p class="meta">{" · ".join(meta)}</p>',
        f'<p class="do">{escape(row["do"])} <span class="source">{escape(row["source"])}</span></p>',
        _evidence(row, lines),
    ]
    if lab is not None:
        parts.append(_lab(lab))
    return f'<li class="card" id="{card}"{at}>{"".join(parts)}</li>'


def _evidence(row: Row, lines: Sequence[NearbyLine]) -> str:
    """The line that proves it, and those around it where they are known."""
    own = next((line.text for line in lines if line.proves), row["evidence"] or "")
    proof = f"<pre>{escape(_short(own))}</pre>"
    if len(lines) < 2:
        return proof
    told = "\n".join(
        f"{'<mark>' if line.proves else ''}<b>{escape(line.file)}:{line.line}</b> {escape(_short(line.text))}"
        f"{'</mark>' if line.proves else ''}"
        for line in lines
    )
    return (
        f'{proof}<details class="around"><summary>{len(lines)} lines around it</summary>'
        f"<pre>{told}</pre></details>"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LETTERS else f"{text[:_LETTERS]} …"


def _lab(lab: LabCommand) -> str:
    words = "Open this moment in the lab:" if lab.whole else "See this kind of trouble in the lab:"
    return f'<div class="lab"><span>{words}</span><code class="command">{escape(lab.command)}</code></div>'


def capital(sentence: str) -> str:
    """A sentence's first letter as a capital, unless it is a name that begins it (``c1 closed ...``)."""
    first = sentence.split(" ", 1)[0]
    return (
        sentence[:1].upper() + sentence[1:]
        if (first.isalpha() and len(first) > 2) or first == "a"
        else sentence
    )


def rebalances_in_words(view: GroupView) -> str:
    """A table of the rebalances."""
    rows = view.record["rebalances"]
    if not rows:
        return ""
    shown = sorted(rows, key=lambda row: -(row["duration_ms"] or 0))[:_REBALANCES]
    shown.sort(key=lambda row: row["number"])
    body = "".join(
        f'<tr><th scope="row">{row["number"]}</th><td>{clock(row["start_ms"])}</td>'
        f"<td>{took(row)}</td><td>{row['before']} → {'?' if row['after'] is None else row['after']}</td>"
        f'<td class="words">{escape(row["cause"])}</td><td class="words">{escape(row["file"])}:{row["line"]}</td></tr>'
        for row in shown
    )
    head = "<tr><th>no.</th><th>began, UTC</th><th>took</th><th>step</th><th>why</th><th>line</th></tr>"
    which = f"the {len(shown)} longest of {len(rows)}" if len(shown) < len(rows) else str(len(rows))
    return (
        f"<details><summary>Rebalances in words ({which})</summary>"
        f'<div class="wide"><table><thead>{head}</thead><tbody>{body}</tbody></table></div></details>'
    )


def books(counts: Sequence[Row], rejected: Sequence[Row]) -> str:
    """What became of every line, file by file, and the first rejected lines."""
    rows = "".join(
        f'<tr><th scope="row">{escape(_place(row))}</th><td>{row["parsed"]:,}</td><td>{row["ignored"]:,}</td>'
        f'<td>{row["rejected"]:,}</td><td>{row["lines"]:,}</td><td class="words">{escape(row["note"] or "")}</td></tr>'
        for row in counts
    )
    head = "<tr><th>file</th><th>parsed</th><th>ignored</th><th>rejected</th><th>lines</th><th></th></tr>"
    shown = "".join(
        f"<li>{escape(row['file'])}:{row['line']}: {escape(row['why'])}<pre>{escape((row['text'] or '')[:200])}</pre></li>"
        for row in rejected
    )
    tail = f"<h3>Rejected lines</h3><ul>{shown}</ul>" if shown else ""
    return (
        "<details class='group'><summary><h2>The books: what became of every line</h2></summary>"
        f"<div class='wide'><table><thead>{head}</thead><tbody>{rows}</tbody></table></div>{tail}</details>"
    )


def _place(row: Row) -> str:
    """A file with the name of its run's folder, unless it was named by its whole path."""
    return str(row["file"]) if row["path"] in row["file"] else f"{Path(row['path']).name}/{row['file']}"
