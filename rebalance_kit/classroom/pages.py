"""Pages of plan B: which there are, and a switch of protocol on each, as links that need neither a kernel nor a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from rebalance_kit.classroom.gradebook import STYLE
from rebalance_kit.classroom.plan import Plan
from rebalance_kit.model.html import policy

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
