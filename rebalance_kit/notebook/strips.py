"""Several protocols on one clock: a strip of bars for each, so that the gaps can be compared at a glance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rebalance_kit.analysis.intervals import Flow, flows
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.figures.svg import WIDTH, Picture, closed, page, words
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
    from rebalance_kit.analysis.intervals import gaps

    inside = [gap.within(since_ms, until_ms) for gap in gaps(trace, since_ms)]
    lengths = [length for length in inside if length]
    touched = {gap.partition for gap in gaps(trace, since_ms) if gap.within(since_ms, until_ms)}
    if not lengths:
        return "every partition is read all the time"
    longest = max(lengths) / 1000
    return f"{len(touched)} of {len(flows(trace))} partitions go unread, the longest for {longest:.1f} s"
