"""The instructor's guide: a plan as cells, as the source of a notebook, and as the notebook itself.

Pages of plan B: which there are, and a switch of protocol on each, as links that need neither a kernel nor a script.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap

from rebalance_kit.classroom.gradebook import STYLE
from rebalance_kit.classroom.plan import Beat, Expectation, Plan, Scene
from rebalance_kit.model.html import policy

WIDTH = 116
UNCOMPARED = "nbval-ignore-output"
"""Tag of a cell whose output is a widget: it is run, and not compared."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: Markdown, or code whose output is compared unless it shows a widget."""

    text: str
    code: bool = False
    widget: bool = False


def cells(plan: Plan, pages: str = "") -> tuple[Cell, ...]:
    """The guide, cell after cell; ``pages`` is where the pages of plan B lie, seen from the notebook."""
    head = Cell(_head(plan, pages))
    schedule = Cell(
        f"from rebalance_kit.classroom.guide import schedule\nfrom rebalance_kit.classroom.plan import read_plan\n\n"
        f'print(schedule(read_plan("{plan.name}")))',
        code=True,
    )
    return (head, schedule, *(cell for beat in plan.beats for cell in _beat(beat)))


def schedule(plan: Plan) -> str:
    """The minutes on one screen: when each beat begins, what is shown, which belief is expected when.

    >>> from rebalance_kit.classroom.plan import Beat, Plan
    >>> print(schedule(Plan("p", "T", 5, "all", (), (), (), (Beat("Hello", 0, 5, ("Hi.",)),))))
    minute  min  beat
    0         5  Hello
    """
    lines = ["minute  min  beat"]
    for beat in plan.beats:
        shown = [f"vote {beat.poll}"] if beat.poll else []
        shown += [f"lab {beat.lab.scenario}, {beat.lab.protocol}"] if beat.lab else []
        shown += [f"table {scenario}" for scenario in beat.compare]
        shown += [f"learners' hands {beat.hands_on.minutes} min"] if beat.hands_on else []
        lines.append(
            f"{beat.starts:<6}  {beat.minutes:>3}  {beat.title}{': ' if shown else ''}{'; '.join(shown)}"
        )
        lines += [
            f"{expectation.minute:<6}       you will hear {expectation.belief}" for expectation in beat.expect
        ]
    return "\n".join(lines)


def _head(plan: Plan, pages: str) -> str:
    return _paragraphs(
        f"# I · Instructor: {plan.title}",
        f"**{plan.minutes} minutes.** {plan.audience}",
        "After it, the learners can",
        _list([f"{aim};" for aim in plan.aims[:-1]] + [f"{aim}." for aim in plan.aims[-1:]]),
        "Every run below is seeded: what you saw the evening before is what the room will see. "
        "A vote shows the room only how many have voted; the split comes with *Show the split*, the answer with *Show the answer*.",
        "## Before they come",
        _list(plan.before),
        "## Plan B",
        f"The pages that need no kernel: [{pages}]({pages})." if pages else "",
        _list(plan.plan_b),
        "## The minutes",
    )


def _beat(beat: Beat) -> Iterator[Cell]:
    yield Cell(
        _paragraphs(
            f"## {_clock(beat.starts)} to {_clock(beat.ends)} · {beat.title} ({beat.minutes} min)",
            "**Say**",
            _list(beat.say),
            *(("**Learners vote** by phone, or with the line that the screen shows.",) if beat.poll else ()),
            *_hands_on(beat),
            *((f"**Watch for** {beat.watch}",) if beat.watch else ()),
            *(
                ("**You will hear**", _list([_heard(expectation) for expectation in beat.expect]))
                if beat.expect
                else ()
            ),
            *((f"**Plan B.** {beat.plan_b}",) if beat.plan_b else ()),
        )
    )
    if beat.poll:
        yield Cell(
            f'from rebalance_kit import Poll\n\npoll = Poll("{beat.poll}")\npoll', code=True, widget=True
        )
    if beat.lab:
        yield Cell(f"from rebalance_kit import Lab\n\n{_lab(beat.lab)}", code=True, widget=True)
    for scenario in beat.compare:
        yield Cell(
            "from rebalance_kit.notebook import three\nfrom rebalance_kit.view import describe_comparison\n\n"
            f'print(describe_comparison(list(three("{scenario}").values())))',
            code=True,
        )


def _hands_on(beat: Beat) -> tuple[str, ...]:
    """What learners type, what they find out, and how their screen comes before the room."""
    if beat.hands_on is None or beat.lab is None:
        return ()
    return (
        f"**Learners have the lab for {beat.hands_on.minutes} minutes.** They type",
        f"```python\nfrom rebalance_kit import Lab\n{_lab(beat.lab)}\n```",
        beat.hands_on.task,
        'Whoever has something to show copies *Link* and pastes it into the chat; `Lab.from_link("rk1.…")` shows that very moment on the screen.',
    )


def _lab(scene: Scene) -> str:
    return f'Lab("{scene.scenario}", "{scene.protocol}", seed={scene.seed}, at_ms={scene.at_ms:_})'


def _heard(expectation: Expectation) -> str:
    return (
        f"minute {expectation.minute}: *{expectation.sentence}* (`{expectation.belief}`) {expectation.reply}"
    )


def _clock(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}"


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(
        part if part.startswith(("#", "- ", "```")) else _wrapped(part, "") for part in parts if part
    )


def _list(entries: Iterator[str] | tuple[str, ...] | list[str]) -> str:
    return "\n".join(_wrapped(f"- {entry}", "  ") for entry in entries)


def _wrapped(text: str, inner: str) -> str:
    return "\n".join(
        wrap(text, WIDTH, subsequent_indent=inner, break_on_hyphens=False, break_long_words=False)
    )


def source(plan: Plan) -> str:
    """The guide as a notebook's source in percent format, as ``notebooks/src`` keeps them."""
    parts = []
    for cell in cells(plan):
        if cell.code:
            tags = f' tags=["{UNCOMPARED}"]' if cell.widget else ""
            parts.append(f"# %%{tags}\n{cell.text}")
        else:
            lines = [f"# {line}" if line else "#" for line in cell.text.splitlines()]
            parts.append("# %% [markdown]\n" + "\n".join(lines))
    return "\n\n".join(parts) + "\n"


def notebook(plan: Plan, pages: str = "") -> str:
    """The guide as a notebook's JSON, its cells not yet run; the same plan gives the same bytes."""
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    converted = [_notebook_cell(cell, number) for number, cell in enumerate(cells(plan, pages))]
    made = {"cells": converted, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def _notebook_cell(cell: Cell, number: int) -> dict[str, object]:
    name = hashlib.sha256(f"{number}\n{cell.text}".encode()).hexdigest()[:10]
    made: dict[str, object] = {
        "id": name,
        "metadata": {"tags": [UNCOMPARED]} if cell.widget else {},
        "source": cell.text,
    }
    if not cell.code:
        return {"cell_type": "markdown", **made}
    return {"cell_type": "code", **made, "execution_count": None, "outputs": []}


PROTOCOLS = ("eager", "cooperative", "consumer")
_BODY = b"</head><body>"


def with_switch(page: bytes, protocol: str, pages: Mapping[str, str]) -> bytes:
    """The page of a run with links to the same run under the other protocols; ``pages`` are files by protocol."""
    links = " · ".join(
        f"<b>{escape(name)}</b>" if name == protocol else f'<a href="{escape(file)}">{escape(name)}</a>'
        for name, file in pages.items()
    )
    head, body, rest = page.partition(_BODY)
    switch = f'<nav aria-label="protocol">The same run under {links}</nav>'
    return head + body + switch.encode() + rest


def index(plan: Plan, files: Sequence[str]) -> str:
    """The page that leads to the animations, in the order of the beats; the protocol of the beat comes first."""
    rows = []
    for beat in plan.beats:
        if beat.lab is not None:
            protocol = f"-{beat.lab.protocol}-"
            own = [name for name in files if name.startswith(f"{beat.lab.scenario}-")]
            links = ", ".join(
                f'<a href="{escape(name)}">{escape(name.removesuffix("-animation.html"))}</a>'
                for name in sorted(own, key=lambda name, wanted=protocol: wanted not in name)  # type: ignore[misc]
            )
            task = f"<p>{escape(beat.hands_on.task)}</p>" if beat.hands_on else ""
            rows.append(f"<h2>{escape(beat.title)}</h2>{task}<p>{links}</p>")
    title = escape(plan.title)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{policy()}<meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><h1>{title}</h1>{''.join(rows)}</body></html>\n"
    )
