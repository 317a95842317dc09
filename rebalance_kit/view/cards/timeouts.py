"""Which clock to set: from a question about one's own application to a key, its default and its bounds."""

from __future__ import annotations

from rebalance_kit.glossary import show
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.cards.sheet import Table, table_card
from rebalance_kit.view.figures.svg import Picture

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
    rows = tuple((ask, key, _default(key), decide) for ask, key, decide in CHOICES)
    foot = f"Defaults of Kafka {PREFERRED}. Order under the classic protocol: heartbeat.interval.ms < session.timeout.ms < max.poll.interval.ms."
    return table_card(Table("Which clock to set", HEADS, rows, foot))


def _default(name: str) -> str:
    """The key's default as people say it: ``45 s``, ``5 min``."""
    value = all_keys()[name].default(PREFERRED)
    if not name.endswith(".ms") or not isinstance(value, int):
        return show(value)
    return f"{value // 60_000} min" if value % 60_000 == 0 and value else f"{value / 1000:g} s"
