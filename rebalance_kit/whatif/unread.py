"""When partitions reached nobody, from the members' own lines: who held them, and when the holder was not reading."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.model.trace import Trace
from rebalance_kit.whatif.lives import Life, callbacks_of
from rebalance_kit.whatif.night import Night

Span = tuple[int, int]
POLL_MS = 100
"""What is read between two gaps within one poll() ends no gap."""
LEAST_MS = 10
"""A shorter gap is the time between two lines of one shutdown, not a partition that waits."""


def gaps_in(trace: Trace, since_ms: int, until_ms: int) -> dict[str, list[int]]:
    """Of each partition of a run that was unread in a window, how long (ms); what one poll() read ends no gap."""
    spans: dict[str, list[Span]] = {}
    for gap in gaps(trace, since_ms):
        begin, end = max(gap.from_ms, since_ms), min(gap.to_ms, until_ms)
        if begin >= end:
            continue
        each = spans.setdefault(str(gap.partition), [])
        if each and begin - each[-1][1] < POLL_MS:
            each[-1] = each[-1][0], end
        else:
            each.append((begin, end))
    return _counted(spans)


def _counted(spans: Mapping[str, Sequence[Span]]) -> dict[str, list[int]]:
    lengths = {
        name: [end - begin for begin, end in each if end - begin >= LEAST_MS] for name, each in spans.items()
    }
    return {name: each for name, each in lengths.items() if each}


def gaps_of(night: Night, lives: Mapping[str, Sequence[Life]], since_ms: int) -> dict[str, list[int]]:
    """Of each partition that was held once, how long (ms) nobody read it, from ``since_ms`` to the night's end."""
    read: dict[str, list[Span]] = defaultdict(list)
    for name, each in lives.items():
        still = _still(night, name)
        for life in each:
            still += [(one.at_ms or 0, (one.at_ms or 0) + took) for one, took in callbacks_of(life) if took]
            for partition, span in _held(life, night.end_ms):
                read[partition] += _without(span, still)
    return _counted(
        {
            partition: [
                (max(begin, since_ms), min(end, night.end_ms))
                for begin, end in _between(sorted(spans), night.end_ms)
            ]
            for partition, spans in read.items()
        }
    )


def _still(night: Night, name: str) -> list[Span]:
    """When a member read nothing: dead, frozen, away from poll()."""
    spans: list[Span] = []
    since: int | None = None
    for deed in night.deeds:
        if deed.member != name:
            continue
        if deed.do == "stall":
            spans.append((deed.at_ms, deed.at_ms + int(str(deed.args["for_ms"]))))
        elif deed.do in {"crash", "freeze"}:
            since = deed.at_ms
        elif deed.do in {"start", "thaw"} and since is not None:
            spans.append((since, deed.at_ms))
            since = None
    return spans if since is None else [*spans, (since, night.end_ms)]


def _held(life: Life, end_ms: int) -> list[tuple[str, Span]]:
    """The stretches in which a process held each partition."""
    since: dict[str, int] = {}
    spans: list[tuple[str, Span]] = []
    for event in life.events:
        at_ms = event.at_ms or 0
        for partition in event.partitions or ():
            if event.event == "assigned":
                since.setdefault(partition, at_ms)
            elif event.event in {"revoked", "lost"} and partition in since:
                spans.append((partition, (since.pop(partition), at_ms)))
    until_ms = end_ms if life.closed_ms is None else life.closed_ms
    return spans + [(partition, (begin, max(begin, until_ms))) for partition, begin in since.items()]


def _without(span: Span, still: Sequence[Span]) -> list[Span]:
    """What of a stretch is left where its holder read."""
    left = [span]
    for begin, end in still:
        left = [
            piece
            for low, high in left
            for piece in ((low, min(high, begin)), (max(low, end), high))
            if piece[0] < piece[1]
        ]
    return left


def _between(spans: Sequence[Span], end_ms: int) -> list[Span]:
    found: list[Span] = []
    reached = spans[0][1] if spans else end_ms
    for begin, end in spans[1:]:
        if begin - reached >= LEAST_MS:
            found.append((reached, begin))
        reached = max(reached, end)
    return [*found, (reached, end_ms)] if reached < end_ms else found
