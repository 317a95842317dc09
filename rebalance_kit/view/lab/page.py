"""What the page is given: script, style and what stands around the run; also as a page of its own without a kernel."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from rebalance_kit.model.html import policy
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.lab.branches import Choices, History
from rebalance_kit.view.lab.lessons import lesson_of, lessons
from rebalance_kit.view.lab.settings import fields
from rebalance_kit.view.lab.state import ASSIGNORS, topics_of
from rebalance_kit.view.lab.stepping.group_size import sizes
from rebalance_kit.view.style.theme import bundled, embedded, stylesheet
from rebalance_kit.view.words.phrases import PROTOCOL_SAYS, PROTOCOL_WORDS, own_protocols

MOST = 2_147_483_647
"""Kafka's largest INT."""


def numbers(scenario: Scenario) -> dict[str, list[float]]:
    """Each setting that all members share and that is a number: its value, the least and the most it may be."""
    found: dict[str, list[float]] = {
        name: [value, 1, most] for name, (value, most) in sizes(scenario).items()
    }
    for row in (row for group in fields(scenario) for row in group["fields"]):
        name, text = str(row["name"]), str(row["value"])
        if name not in found and text.replace(".", "", 1).isdecimal() and name != "kafka_version":
            value = float(text)
            found[name] = [int(value) if value.is_integer() else value, 0, MOST]
    return found


STATIC = Path(__file__).parent / "static"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8">{policy}<meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}
body {{ margin: 16px; }}</style></head><body>
{player}
<noscript><pre>{text}</pre></noscript>
{script}</body></html>
"""
PLAYER = """<div id="{name}"></div>
<script type="application/json" data-rebalance-run="{name}">{data}</script>"""
"""The script finds each run in the page, and plays it without a kernel (page/lab/kernel/alone.js)."""


@lru_cache(maxsize=1)
def script() -> str:
    """The lab's modules as one, made of ``page/lab`` by ``scripts/bundle.py``."""
    return bundled(STATIC / "lab.js")


@lru_cache(maxsize=1)
def style() -> str:
    """The lab's style sheet with the colours of all themes."""
    parts = [STATIC / "lab.css", STATIC / "panels.css", STATIC / "guide.css", STATIC / "sizes.css"]
    return "\n".join([stylesheet(), *(part.read_text(encoding="utf-8") for part in parts)])


def script_text() -> str:
    """The lab's script as it stands between its tags."""
    source = script().replace("</script", "<\\/script")
    return f"\n{source}\n"


def script_element() -> str:
    """The lab's script for a page of its own, after everything that it plays."""
    return f'<script type="module">{script_text()}</script>'


def player(name: str, film: bytes, controls: Mapping[str, object], at_ms: int, theme: str) -> str:
    """The place of a lab that plays a run by itself, and the run; ``name`` is its id in the page."""
    data = {
        "film": base64.b64encode(film).decode("ascii"),
        "controls": {**controls, "alone": True},
        "cursor_ms": at_ms,
        "theme": theme,
    }
    return PLAYER.format(name=name, data=embedded(data))


def page(film: bytes, controls: dict[str, Any], at_ms: int, theme: str, text: str) -> str:
    """A self-contained HTML page that plays a run; it asks no network and no kernel."""
    return PAGE.format(
        policy=policy(script_text()),
        title=escape(str(controls["title"])),
        style=style(),
        text=escape(text),
        player=player("rebalance-lab", film, controls, at_ms, theme),
        script=script_element(),
    )


def controls_of(history: History, choices: Choices) -> dict[str, object]:
    """What the page shows around the run: lesson, protocols, branches, what can be undone."""
    state = history.state
    known = list(ASSIGNORS.get(state.protocol or "", {}))
    if not known:
        known = [state.boards.group.states[-1].assignor or "as configured"]
    lesson = lesson_of(state.base.name)
    return {
        "title": state.base.title or state.base.name,
        "story": state.base.story,
        "preset": state.base.name,
        "guided": bool(lesson or state.scenario.actions),
        "lesson": f"Lesson {lessons().index(lesson) + 1} of {len(lessons())}" if lesson else "",
        "try": lesson.try_ if lesson else "",
        "watch": lesson.watch if lesson else "",
        "protocols": [[name, words, PROTOCOL_SAYS[name]] for name, words in PROTOCOL_WORDS.items()],
        "protocol": state.protocol or "",
        "own": own_protocols(state.boards) if state.protocol is None else [],
        "assignors": known,
        "assignor": state.assignor or known[0],
        "undo": choices.undo_words(history) or (state.done[-1].words if state.done else ""),
        "redo": choices.redo_words(history) or (state.undone[0].words if state.undone else ""),
        "done": [[step.at_ms, step.words] for step in state.done],
        "branches": [
            [
                branch.name,
                -1 if branch.parent is None else branch.parent,
                branch.from_ms,
                len(branch.state.done),
            ]
            for branch in history.branches
        ],
        "here": history.here,
        "seed": state.boards.trace.seed,
        "topics": topics_of(state.scenario),
        "numbers": numbers(state.scenario),
    }
