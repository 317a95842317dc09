"""Pictures of several runs on one clock: a strip of bars per protocol, and the callbacks of all members in lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from rebalance_kit.analysis.deliveries import Flow, flows
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.style.showing import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES, looks, member_order

_LEFT, _RIGHT, _HEAD, _ROW, _BETWEEN = 140, 20, 52, 9, 46
_TICKS_S, _MOST_TICKS = (1, 2, 5, 10, 20, 30, 60), 14


def one_clock(
    traces: Mapping[str, Trace],
    since_s: float,
    until_s: float,
    *,
    event: str = "",
    event_s: float | None = None,
) -> Picture:
    """Who reads which partition from ``since_s`` to ``until_s``, one strip for each label of ``traces``.

    A bar has its reader's colour; where a row is red nobody reads. ``event`` names what happens at ``event_s``.
    """
    role = ROLES["light"]
    rows = max(len(flows(trace)) for trace in traces.values())
    tall = rows * _ROW + _BETWEEN
    height = _HEAD + tall * len(traces) + 24
    parts = page(height, role)
    said = []
    for number, (label, trace) in enumerate(traces.items()):
        top = _HEAD + number * tall
        text = _fate(trace, round(since_s * 1000), round(until_s * 1000))
        said.append(f"{label}: {text}")
        parts += [
            words(14, top - 9, label, bold=True, size=16),
            words(WIDTH - _RIGHT, top - 9, text, size=14, anchor="end"),
        ]
        parts += _strip(trace, top, since_s, until_s, role)
    parts += _axis(height, since_s, until_s, role)
    if event_s is not None:
        parts += _event(event, event_s, since_s, until_s, height, role)
    text = "\n".join([f"{event} at {event_s:.1f} s."] * (event_s is not None) + said)
    return Picture(closed(parts, "The same event under each protocol, on one clock", text), text)


def _x(at_s: float, since_s: float, until_s: float) -> float:
    share = (at_s - since_s) / (until_s - since_s)
    return _LEFT + max(0.0, min(1.0, share)) * (WIDTH - _LEFT - _RIGHT)


def _strip(trace: Trace, top: float, since_s: float, until_s: float, role: Mapping[str, str]) -> list[str]:
    hues = {name: look.hue for name, look in looks(member_order(trace)).items()}
    stretches = flows(trace)
    left, right = _x(since_s, since_s, until_s), _x(until_s, since_s, until_s)
    parts = []
    named = ""
    for row, partition in enumerate(_by_first_reader(stretches, round(since_s * 1000))):
        y = top + row * _ROW
        reader = _first_reader(stretches[partition], round(since_s * 1000))
        if reader != named:
            parts.append(words(left - 10, y + 10, reader, size=13, anchor="end", colour=role["ink2"]))
            named = reader
        parts.append(_bar(left, right, y, role["alert"], 0.75))
        for flow in stretches[partition]:
            begin, end = (_x(at / 1000, since_s, until_s) for at in (flow.from_ms, flow.to_ms))
            if end > begin:
                parts.append(
                    _bar(begin, end, y, role["surface"]) + _bar(begin, end, y, hues[flow.member], 0.55)
                )
    return parts


def _by_first_reader(stretches: Mapping[TopicPartition, Sequence[Flow]], at_ms: int) -> list[TopicPartition]:
    return sorted(stretches, key=lambda partition: (_first_reader(stretches[partition], at_ms), partition))


def _first_reader(stretches: Sequence[Flow], at_ms: int) -> str:
    return next((flow.member for flow in stretches if flow.to_ms > at_ms), "")


def _bar(begin: float, end: float, y: float, colour: str, opacity: float = 1) -> str:
    return f'<rect x="{begin:.1f}" y="{y:g}" width="{end - begin:.1f}" height="{_ROW - 2}" fill="{colour}" fill-opacity="{opacity:g}"/>'


def _axis(height: float, since_s: float, until_s: float, role: Mapping[str, str]) -> list[str]:
    parts = []
    step = next((tick for tick in _TICKS_S if (until_s - since_s) / tick <= _MOST_TICKS), _TICKS_S[-1])
    for second in range((int(since_s) // step + 1) * step, int(until_s) + 1, step):
        x = _x(second, since_s, until_s)
        parts.append(
            f'<line x1="{x:.1f}" y1="{_HEAD}" x2="{x:.1f}" y2="{height - 30}" stroke="{role["hairline"]}" stroke-width="1"/>'
        )
        parts.append(words(x, height - 12, f"{second} s", size=13, anchor="middle", colour=role["ink2"]))
    return parts


def _event(
    event: str, at_s: float, since_s: float, until_s: float, height: float, role: Mapping[str, str]
) -> list[str]:
    x = _x(at_s, since_s, until_s)
    return [
        f'<line x1="{x:.1f}" y1="22" x2="{x:.1f}" y2="{height - 30}" stroke="{role["ink"]}" stroke-width="2" stroke-dasharray="5 4"/>',
        words(x + 6, 20, f"{event} ({at_s:.1f} s)", bold=True, size=14),
    ]


def _fate(trace: Trace, since_ms: int, until_ms: int) -> str:
    """How many partitions go unread in the window, and for how long together."""
    from rebalance_kit.analysis.deliveries import gaps

    inside = [gap.within(since_ms, until_ms) for gap in gaps(trace, since_ms)]
    lengths = [length for length in inside if length]
    touched = {gap.partition for gap in gaps(trace, since_ms) if gap.within(since_ms, until_ms)}
    if not lengths:
        return "every partition is read all the time"
    longest = max(lengths) / 1000
    return f"{len(touched)} of {len(flows(trace))} partitions go unread, the longest for {longest:.1f} s"


_CLOCK_LEFT, _CLOCK_RIGHT, _TOP, _LANE, _CLOCK_BETWEEN, _BAR = 120, 24, 76, 58, 40, 22
_SIDES = {"revoked": "end", "lost": "end", "assigned": "start"}


def callback_clock(runs: Mapping[str, Trace], since_s: float, until_s: float, *, event: str = "") -> Picture:
    """Each member's callbacks from ``since_s`` to ``until_s``, with the number of partitions that each names.

    ``runs`` holds traces by the name that is shown. A bar is as tall as the share of partitions that the member reads just then, so it
    vanishes where the member reads nothing. ``event`` is the title.
    """
    role = ROLES["light"]
    height = _TOP + sum(_CLOCK_BETWEEN + _LANE * len(member_order(trace)) for trace in runs.values())
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
        top += _CLOCK_BETWEEN
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
        words(_CLOCK_LEFT - 10, base - 4, member, size=13, anchor="end", colour=ROLES["light"]["ink2"]),
        f'<line x1="{_CLOCK_LEFT}" y1="{base}" x2="{WIDTH - _CLOCK_RIGHT}" y2="{base}" stroke="{ROLES["light"]["hairline"]}"/>',
    ]
    for begin, end, share in _shares(trace, member, since_s, until_s):
        x, tall = _clock_x(begin, since_s, until_s), _BAR * share
        parts.append(
            f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{_clock_x(end, since_s, until_s) - x:.1f}" height="{tall:.1f}" fill="{hue}" fill-opacity="0.55"/>'
        )
    for row in rows:
        x, side = _clock_x(row.at_ms / 1000, since_s, until_s), _SIDES[row.detail["callback"]]
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


def _clock_x(at_s: float, since_s: float, until_s: float) -> float:
    return _CLOCK_LEFT + (at_s - since_s) / (until_s - since_s) * (WIDTH - _CLOCK_LEFT - _CLOCK_RIGHT)


def _seconds(height: float, since_s: float, until_s: float) -> list[str]:
    return [
        words(_clock_x(at, since_s, until_s), height - 12, f"{at} s", size=13, anchor="middle")
        for at in range(int(since_s) + 1, int(until_s) + 1)
    ]
