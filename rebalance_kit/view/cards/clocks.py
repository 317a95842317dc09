"""Cards of the four clocks: what they are, and which one to set.

The four clocks of a member in one picture: who runs each, what winds it up again, what happens when it runs out.

Which clock to set: from a question about one's own application to a key, its default and its bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from rebalance_kit.glossary import show
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.cards.sheet import Table, table_card
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


CHOICES = (
    (
        "A process dies: how long may its partitions stay unread?",
        "session.timeout.ms",
        "That long and no longer. Too short, and a long GC pause looks like a death.",
    ),
    (
        "How often does a member say that it lives?",
        "heartbeat.interval.ms",
        "At most one third of the session timeout, so that two heartbeats may be lost.",
    ),
    (
        "How long may one batch take at worst?",
        "max.poll.interval.ms",
        "Longer than that, and longer than the slowest revoke callback: it is the rebalance timeout as well.",
    ),
    (
        "The batch cannot be that fast?",
        "max.poll.records",
        "Lower it before you raise the interval. Or hand the work to a thread, pause() the partitions and go on polling.",
    ),
    (
        "A deploy restarts processes: are they back before the session ends?",
        "group.instance.id",
        "If they are: one fixed id per process, and a restart costs no rebalance. If they are not: leave the members dynamic, so that close() gives their partitions away at once.",
    ),
    (
        "Many processes start together?",
        "group.initial.rebalance.delay.ms",
        "The broker waits this long for more members in an empty classic group.",
    ),
    (
        "KIP-848: who sets the session?",
        "group.consumer.session.timeout.ms",
        "The broker, or the group's own config consumer.session.timeout.ms; the client's key is refused.",
    ),
    (
        "KIP-848: how soon is a change noticed?",
        "group.consumer.heartbeat.interval.ms",
        "Each step of a hand-over waits for a heartbeat; shorter is faster and costs requests.",
    ),
)
HEADS = (("Ask", 0.27), ("Key", 0.29), ("Default", 0.1), ("Decide", 0.34))


def timeouts() -> Picture:
    """The chart: eight questions; for each the key that answers it, its default, and how to decide."""
    rows = tuple((ask, key, _printed_default(key), decide) for ask, key, decide in CHOICES)
    foot = f"Defaults of Kafka {PREFERRED}. Order under the classic protocol: heartbeat.interval.ms < session.timeout.ms < max.poll.interval.ms."
    return table_card(Table("Which clock to set", HEADS, rows, foot))


def _printed_default(name: str) -> str:
    """The key's default as people say it: ``45 s``, ``5 min``."""
    value = all_keys()[name].default(PREFERRED)
    if not name.endswith(".ms") or not isinstance(value, int):
        return show(value)
    return f"{value // 60_000} min" if value % 60_000 == 0 and value else f"{value / 1000:g} s"
