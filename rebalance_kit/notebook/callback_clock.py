"""The callbacks of all members over time, one block per protocol, on one clock."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rebalance_kit.analysis.intervals import flows
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.figures.svg import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES, looks, member_order

_LEFT, _RIGHT, _TOP, _LANE, _BETWEEN, _BAR = 120, 24, 76, 58, 40, 22
_SIDES = {"revoked": "end", "lost": "end", "assigned": "start"}


def callback_clock(runs: Mapping[str, Trace], since_s: float, until_s: float, *, event: str = "") -> Picture:
    """Each member's callbacks from ``since_s`` to ``until_s``, with the number of partitions that each names.

    ``runs`` holds traces by the name that is shown. A bar is as tall as the share of partitions that the member reads just then, so it
    vanishes where the member reads nothing. ``event`` is the title.
    """
    role = ROLES["light"]
    height = _TOP + sum(_BETWEEN + _LANE * len(member_order(trace)) for trace in runs.values())
    parts = [*page(height, role), words(14, 30, event, bold=True, size=17)]
    said = [event]
    top = _TOP
    for label, trace in runs.items():
        parts.append(words(14, top - 8, label, bold=True, size=16))
        said.append(f"{label}:")
        for member in member_order(trace):
            rows = _called(trace, member, since_s, until_s)
            parts += _lane(trace, member, top, since_s, until_s, rows)
            said.append(f"  {member}: {', '.join(map(_words_of, rows)) or 'no callback'}")
            top += _LANE
        top += _BETWEEN
    parts += _seconds(height, since_s, until_s)
    text = "\n".join(said)
    return Picture(closed(parts, event, text), text)


def _called(trace: Trace, member: str, since_s: float, until_s: float) -> list[TraceRow]:
    return [
        row
        for row in trace.of("callback_begin")
        if row.actor == member and since_s * 1000 <= row.at_ms <= until_s * 1000
    ]


def _words_of(row: TraceRow) -> str:
    return f"{row.detail['callback']} {len(row.detail['partitions'])} at {row.at_ms / 1000:.1f} s"


def _lane(
    trace: Trace, member: str, top: float, since_s: float, until_s: float, rows: list[TraceRow]
) -> list[str]:
    hue = looks(member_order(trace))[member].hue
    base = top + _LANE - 18
    parts = [
        words(_LEFT - 10, base - 4, member, size=13, anchor="end", colour=ROLES["light"]["ink2"]),
        f'<line x1="{_LEFT}" y1="{base}" x2="{WIDTH - _RIGHT}" y2="{base}" stroke="{ROLES["light"]["hairline"]}"/>',
    ]
    for begin, end, share in _shares(trace, member, since_s, until_s):
        x, tall = _x(begin, since_s, until_s), _BAR * share
        parts.append(
            f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{_x(end, since_s, until_s) - x:.1f}" height="{tall:.1f}" fill="{hue}" fill-opacity="0.55"/>'
        )
    for row in rows:
        x, side = _x(row.at_ms / 1000, since_s, until_s), _SIDES[row.detail["callback"]]
        parts.append(
            f'<line x1="{x:.1f}" y1="{base - _BAR - 14}" x2="{x:.1f}" y2="{base + 4}" stroke="{ROLES["light"]["ink"]}" stroke-width="1.5"/>'
        )
        named = f"{row.detail['callback']} {len(row.detail['partitions'])}"
        parts.append(words(x + (-4 if side == "end" else 4), base - _BAR - 5, named, size=12, anchor=side))
    return parts


def _shares(trace: Trace, member: str, since_s: float, until_s: float) -> list[tuple[float, float, float]]:
    """From, to (seconds), and the share of all partitions that the member reads in between; none of it: left out."""
    stretches = flows(trace)
    own = [flow for each in stretches.values() for flow in each if flow.member == member]
    moments = {since_s, until_s} | {at / 1000 for flow in own for at in (flow.from_ms, flow.to_ms)}
    inside = sorted(at for at in moments if since_s <= at <= until_s)
    found = []
    for begin, end in pairwise(inside):
        count = sum(flow.from_ms <= begin * 1000 < flow.to_ms for flow in own)
        if count:
            found.append((begin, end, 2.5 * count / len(stretches)))
    return found


def _x(at_s: float, since_s: float, until_s: float) -> float:
    return _LEFT + (at_s - since_s) / (until_s - since_s) * (WIDTH - _LEFT - _RIGHT)


def _seconds(height: float, since_s: float, until_s: float) -> list[str]:
    return [
        words(_x(at, since_s, until_s), height - 12, f"{at} s", size=13, anchor="middle")
        for at in range(int(since_s) + 1, int(until_s) + 1)
    ]
