"""Every card as SVG and PDF, one page each (the PDF needs the extra ``print``), and the card of triage."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from types import MappingProxyType

from rebalance_kit.model.errors import require
from rebalance_kit.model.files import write_atomically
from rebalance_kit.view.cards.protocols import callback_table, cheat_sheet, clocks, glossary_page, timeouts
from rebalance_kit.view.style.showing import Picture, closed, page, words
from rebalance_kit.view.style.theme import HUES, ROLES


@dataclass(frozen=True, slots=True)
class Branch:
    """One way through the chart: what is looked at, what it shows, and what to do first."""

    look: str
    cause: str
    do: str


SYMPTOMS: tuple[tuple[str, tuple[Branch, ...]], ...] = (
    (
        "Lag grows on all partitions",
        (
            Branch(
                "Stable; committed offsets move",
                "too little capacity",
                "add members, up to the number of partitions",
            ),
            Branch(
                "Stable; committed offsets do not move",
                "the members hang, all of them",
                "read a client's log; do not add members",
            ),
            Branch(
                "PreparingRebalance that lasts",
                "eager waits for the slowest, or for a dead member's session",
                "find who has not joined again",
            ),
            Branch("state changes every few minutes", "a rebalance storm", "next symptom"),
            Branch("state is Empty, or no such group", "no member runs", "start them; read why they ended"),
        ),
    ),
    (
        "The group rebalances again and again",
        (
            Branch(
                "LeaveGroup, client reason: consumer poll timeout has expired",
                "a batch exceeds max.poll.interval.ms",
                "lower max.poll.records",
            ),
            Branch(
                "removing member … on heartbeat expiration",
                "processes die, freeze or lose the network",
                "look at pods, memory, GC pauses",
            ),
            Branch(
                "… the same, and its group.instance.id joins later",
                "a static member that is back too late",
                "session above restart time, or no instance id",
            ),
            Branch(
                "LeaveGroup, client reason: the consumer is being closed",
                "deploys, autoscaling, probes",
                "stop whatever keeps restarting them",
            ),
            Branch(
                "cached metadata … has changed",
                "topics or partitions change",
                "narrow the pattern; change topics in one go",
            ),
        ),
    ),
    (
        "Some partitions are stuck",
        (
            Branch("no CONSUMER-ID on them", "a hand-over", "find who has not revoked"),
            Branch(
                "Assigning or Reconciling that lasts",
                "a member has not given up what it should",
                "the member with the old CURRENT-EPOCH: its log",
            ),
            Branch(
                "new ones, missing from the table; classic",
                "no metadata refresh yet",
                "wait for metadata.max.age.ms",
            ),
            Branch(
                "new ones, missing from the table; KIP-848",
                "not subscribed: the broker saw them long ago",
                "check topics and pattern",
            ),
            Branch(
                "an owner whose process is gone",
                "its session is running out",
                "wait, or remove the static member",
            ),
            Branch(
                "owner there, one partition's lag grows",
                "a record that fails, or a hot key",
                "read the owner's own log",
            ),
            Branch(
                "owner there, none of its offsets moves",
                "a long batch, or a wrong librdkafka callback",
                "read the owner's own log",
            ),
        ),
    ),
    (
        "Records come twice",
        (
            Branch(
                "after a crash or kill", "work since the last commit", "commit more often; close() on SIGTERM"
            ),
            Branch(
                "CommitFailedException in a client",
                "a zombie after a poll timeout; KIP-848: or a new epoch",
                "smaller batches; idempotent writes",
            ),
            Branch(
                "after offsets expired", "auto.offset.reset is earliest", "check offsets.retention.minutes"
            ),
        ),
    ),
)
"""Sources: semantics of the coordinator's log lines, and the incidents in the item bank."""
LINE, GAP = 19, 12
AT_LOOK, AT_CAUSE, AT_DO = 190, 500, 745
CHARS = {"symptom": 14, "look": 36, "cause": 24, "do": 28}


def triage() -> Picture:
    """The chart: four symptoms; for each what to look at, the cause it shows, and what to do first."""
    role = ROLES["light"]
    parts: list[str] = []
    y = 58.0
    for (symptom, branches), hue in zip(SYMPTOMS, HUES["light"], strict=False):
        top = y
        for branch in branches:
            drawn, tall = _branch(branch, y, role)
            parts += drawn
            y += tall + GAP / 2
        parts += _symptom(symptom, hue, top, y - top - GAP / 2)
        y += GAP
    heads = (("You see", 14), ("Look at", AT_LOOK), ("It is", AT_CAUSE), ("Do first", AT_DO))
    top_line = [words(x, 40, head, size=16, bold=True) for head, x in heads]
    text = _text()
    return Picture(closed([*page(int(y) + 4, role), *top_line, *parts], "From symptom to cause", text), text)


def _branch(branch: Branch, y: float, role: Mapping[str, str]) -> tuple[list[str], int]:
    """The three boxes of a branch with their arrows, and how tall they are."""
    look, cause, do = (wrap(getattr(branch, name), CHARS[name]) for name in ("look", "cause", "do"))
    tall = LINE * max(map(len, (look, cause, do))) + 12
    parts = []
    for x, wide, lines in ((AT_LOOK, 290, look), (AT_CAUSE, 225, cause), (AT_DO, 240, do)):
        box = f'x="{x}" y="{y:g}" width="{wide}" height="{tall}" rx="6"'
        parts.append(f'<rect {box} fill="{role["sunk"]}" stroke="{role["hairline"]}"/>')
        parts += [
            words(x + 10, y + LINE * line, text, size=14, bold=x == AT_CAUSE)
            for line, text in enumerate(lines, start=1)
        ]
    middle = y + tall / 2
    for begin, end in ((164, AT_LOOK), (AT_LOOK + 290, AT_CAUSE), (AT_CAUSE + 225, AT_DO)):
        head = f"M{end - 2},{middle:g} l-7,-4 v8 z"  # no marker: the printed page knows none
        parts.append(f'<path d="M{begin},{middle:g} H{end - 6}" stroke="{role["ink"]}"/>')
        parts.append(f'<path d="{head}" fill="{role["ink"]}"/>')
    return parts, tall


def _symptom(symptom: str, hue: str, top: float, tall: float) -> list[str]:
    box = f'<rect x="14" y="{top:g}" width="150" height="{tall:g}" rx="8" fill="{hue}"/>'
    return [
        box,
        *(
            words(26, top + 26 + LINE * line, text, size=15, bold=True, colour="#FFFFFF")
            for line, text in enumerate(wrap(symptom, CHARS["symptom"]))
        ),
    ]


def _text() -> str:
    lines = []
    for symptom, branches in SYMPTOMS:
        lines.append(f"{symptom}:")
        lines += [f"  {branch.look} -> {branch.cause} -> {branch.do}" for branch in branches]
    return "\n".join(lines)


CARDS: Mapping[str, Callable[[], Picture]] = MappingProxyType(
    {
        "protocols": cheat_sheet,
        "callbacks": callback_table,
        "clocks": clocks,
        "timeouts": timeouts,
        "triage": triage,
        "glossary": glossary_page,
    }
)


def write_cards(folder: Path, *, with_pdf: bool = True) -> tuple[Path, ...]:
    """Write every card into a folder and return the files; raises ``EnvironmentProblem`` without the extra ``print``."""
    if with_pdf:
        require("svglib", "reportlab")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in CARDS.items():
        svg = draw().svg
        written.append(write_atomically(folder / f"{name}.svg", svg))
        if with_pdf:
            written.append(write_atomically(folder / f"{name}.pdf", as_pdf(svg, name)))
    return tuple(written)


def as_pdf(svg: str, title: str) -> bytes:
    """The picture on one A4 page, upright or across as its shape asks; the same picture gives the same bytes."""
    from reportlab.graphics import renderPDF
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.pdfgen.canvas import Canvas
    from svglib.svglib import svg2rlg

    plain = re.sub(r'font-family="[^"]*"', 'font-family="Helvetica"', svg)
    plain = re.sub(r' style="[^"]*"', "", plain, count=1)  # the size on a screen, which is not one on paper
    plain = re.sub(r'(viewBox="0 0 (\d+) (\d+)") width="100%"', r'\1 width="\2" height="\3"', plain, count=1)
    plain = plain.replace('font-weight="700"', 'font-weight="bold"')
    drawing = svg2rlg(io.BytesIO(plain.encode()))
    if drawing is None:
        raise AssertionError(f"{title}: no SVG that can be drawn")
    width, height = landscape(A4) if drawing.width > drawing.height else A4
    scale = min((width - 40) / drawing.width, (height - 40) / drawing.height)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(width, height), invariant=1)
    canvas.setTitle(f"rebalance kit: {title}")
    canvas.translate((width - scale * drawing.width) / 2, height - 20 - scale * drawing.height)
    canvas.scale(scale, scale)
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    return out.getvalue()
