"""The four clocks of a member in one picture: who runs each, what winds it up again, what happens when it runs out."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from rebalance_kit.view.figures.svg import Picture, closed, page, words
from rebalance_kit.view.style.theme import HUES, ROLES

ROW, TOP, LEFT, WIDEST = 92, 64, 24, 340


@dataclass(frozen=True, slots=True)
class Clock:
    """One clock: its config key, its default, and its rule."""

    key: str
    default_ms: int
    runs_in: str
    wound_by: str
    runs_out: str


CLOCKS = (
    Clock(
        "heartbeat.interval.ms",
        3_000,
        "the client's background thread",
        "each heartbeat that is sent",
        "the next heartbeat is sent; its answer may say: join again",
    ),
    Clock(
        "session.timeout.ms",
        45_000,
        "the coordinator, per member",
        "each heartbeat that arrives (and a commit)",
        "the member is removed: its partitions go to others",
    ),
    Clock(
        "max.poll.interval.ms",
        300_000,
        "the client's background thread",
        "each call of poll()",
        "the client itself leaves the group",
    ),
    Clock(
        "rebalance timeout (= max.poll.interval.ms)",
        300_000,
        "the coordinator, per rebalance",
        "the beginning of a join phase",
        "dynamic members that have not joined again are removed",
    ),
)
"""Defaults of the Java client; ``ConsumerConfig``. Under KIP-848 the first two are the broker's (5 s and 45 s)."""


def clocks() -> Picture:
    """The four clocks with their defaults, drawn on a logarithmic scale; the text twin has a line per clock."""
    role = ROLES["light"]
    parts = page(TOP + ROW * len(CLOCKS) + 12, role)
    parts.append(
        words(
            LEFT,
            36,
            "Four clocks (classic protocol, defaults; bars on a logarithmic scale)",
            bold=True,
            size=17,
        )
    )
    for place, (clock, hue) in enumerate(zip(CLOCKS, HUES["light"], strict=False)):
        y = TOP + ROW * place
        wide = WIDEST * log(clock.default_ms / 1000) / log(300)
        parts.append(words(LEFT, y + 18, clock.key, bold=True, size=15))
        parts.append(f'<rect x="{LEFT}" y="{y + 28}" width="{wide:.0f}" height="30" rx="6" fill="{hue}"/>')
        parts.append(words(LEFT + wide + 10, y + 49, _default(clock), size=15))
        for line, (head, said) in enumerate(_told(clock)):
            parts.append(words(470, y + 18 + 21 * line, head, colour=role["ink2"], size=14))
            parts.append(words(570, y + 18 + 21 * line, said, size=14))
    text = "\n".join(
        f"{clock.key}, {_default(clock)}: " + "; ".join(f"{head} {said}" for head, said in _told(clock))
        for clock in CLOCKS
    )
    return Picture(closed(parts, "Four clocks of a member", text), text)


def _told(clock: Clock) -> tuple[tuple[str, str], ...]:
    return (("runs in", clock.runs_in), ("restarted by", clock.wound_by), ("runs out:", clock.runs_out))


def _default(clock: Clock) -> str:
    return (
        f"{clock.default_ms // 60_000} min" if clock.default_ms >= 60_000 else f"{clock.default_ms // 1000} s"
    )
