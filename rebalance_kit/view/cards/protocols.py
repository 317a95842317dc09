"""Cards: the protocols beside each other, and the glossary on one sheet.

The three protocols beside each other, and what each gives its callbacks; the figures are those of a run.

The glossary on one sheet, in two columns, as ``rebalance_kit/glossary.yaml`` has it.
"""

from __future__ import annotations

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.glossary import Entry, entries
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.cards.sheet import MARGIN, Table, lines_of, table_card
from rebalance_kit.view.figures.svg import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES

PROTOCOLS = (("eager", "eager"), ("cooperative", "cooperative"), ("KIP-848", "consumer"))
HEADS = (("", 0.19), ("eager", 0.27), ("cooperative", 0.27), ("KIP-848", 0.27))
_SCENARIO, _SEED = "join", 1

CALLBACKS = (
    (
        "onPartitionsRevoked",
        "all that it owns, before JoinGroup, even if that is nothing",
        "only what leaves, after SyncGroup; not called for nothing",
        "only what leaves, when a heartbeat says so; not called for nothing",
    ),
    (
        "onPartitionsAssigned",
        "all of the new assignment",
        "only what is new, even if that is nothing",
        "only what is new, even if that is nothing",
    ),
    ("onPartitionsLost", "all that it owned", "all that it owned", "all that it owned"),
    (
        "Commit",
        "in revoked, before returning; never in lost",
        "in revoked, before returning; never in lost",
        "in revoked, before returning; never in lost",
    ),
    (
        "librdkafka, on assign",
        "assign(partitions)",
        "incremental_assign(partitions)",
        "incremental_assign(partitions)",
    ),
    (
        "librdkafka, on revoke",
        "unassign()",
        "incremental_unassign(partitions)",
        "incremental_unassign(partitions)",
    ),
)
"""Sources: ConsumerCoordinator, AbstractMembershipManager; notebook 07 shows each in a run."""


RULES = (
    (
        "Who computes the assignment",
        "the leader, a consumer",
        "the leader, a consumer",
        "the coordinator, a broker",
    ),
    (
        "Who is told to act",
        "all members, by REBALANCE_IN_PROGRESS",
        "all members, by REBALANCE_IN_PROGRESS",
        "each member by itself, by its own heartbeat",
    ),
    (
        "What is revoked",
        "everything, before the new assignment is known",
        "what moves, once the new assignment is known",
        "what moves, once the target is known",
    ),
    (
        "Steps of one change",
        "JoinGroup, SyncGroup",
        "JoinGroup, SyncGroup; once more if something was revoked",
        "heartbeats: revoke, acknowledge, assign",
    ),
    ("What counts up", "generation", "generation", "group epoch, then member epochs"),
    (
        "Who sets session and heartbeat",
        "the client",
        "the client",
        "the broker: group.consumer.session.timeout.ms, group.consumer.heartbeat.interval.ms",
    ),
)
"""What differs, row by row; the key that chooses and the figures of a run are added when the page is drawn."""


def cheat_sheet() -> Picture:
    """The three protocols: how they are chosen, who computes, what is revoked and when, and one join as it ran."""
    since = all_keys()["group.protocol"].since
    rows = (
        (
            "Choose it with",
            "partition.assignment.strategy: range, roundrobin or sticky in the list",
            "partition.assignment.strategy: cooperative-sticky alone",
            f"group.protocol=consumer (key since {since})",
        ),
        *RULES,
        *_measured(),
    )
    foot = f"The last rows: one run of the scenario {_SCENARIO}, seed {_SEED}: a fourth consumer joins three that read twelve partitions. Eager leaves all twelve unread for a moment, the others leave three unread for longer; other runs differ."
    return table_card(Table("Three protocols on one page", HEADS, rows, foot))


def callback_table() -> Picture:
    """What each callback is given under each protocol, when to commit, and librdkafka's calls."""
    foot = "Lost means that others may own the partitions already: close what you hold, commit nothing. The default of onPartitionsLost calls onPartitionsRevoked."
    return table_card(Table("What each callback is given", HEADS, CALLBACKS, foot))


def _measured() -> tuple[tuple[str, ...], ...]:
    """A join under each protocol, in the engine's own figures."""
    traces = [simulate(scenarios.load(_SCENARIO), _SEED, name) for _, name in PROTOCOLS]
    measured = [metrics(trace) for trace in traces]
    return (
        ("A join: partitions revoked", *(str(_revoked(trace)) for trace in traces)),
        ("A join: longest gap", *(f"{cost.longest_gap_s:.1f} s" for cost in measured)),
        ("A join: unread partition-seconds", *(f"{cost.unread_partition_s:.1f}" for cost in measured)),
    )


def _revoked(trace: Trace) -> int:
    """Partitions that onPartitionsRevoked was given from the join on, all members together."""
    rows = trace.of("callback_begin")
    return sum(
        len(row.detail["partitions"])
        for row in rows
        if row.detail["callback"] == "revoked" and row.at_ms >= 30_000
    )


SIZE, STEP, COLUMNS = 10.0, 12.4, 3
_GUTTER = 18


def glossary_page() -> Picture:
    """Every term with its first sentence, in the order of the alphabet."""
    terms = sorted(entries().values(), key=lambda entry: entry.term.lower().lstrip("_"))
    wide = (WIDTH - 2 * MARGIN - (COLUMNS - 1) * _GUTTER) / COLUMNS
    blocks = [(entry.term, lines_of(first_sentence(entry), wide, SIZE)) for entry in terms]
    tall = sum((len(lines) + 1.5) * STEP for _, lines in blocks) / COLUMNS + 5 * STEP
    parts = [words(MARGIN, 36, "Words of consumer groups", bold=True, size=20)]
    column, y = 0, 60.0
    for term, lines in blocks:
        if y + len(lines) * STEP > 60 + tall and column < COLUMNS - 1:
            column, y = column + 1, 60.0
        x = MARGIN + column * (wide + _GUTTER)
        parts.append(words(x, y, term, bold=True, size=SIZE + 0.5))
        parts += [words(x, y + STEP * (line + 1), text, size=SIZE) for line, text in enumerate(lines)]
        y += STEP * (len(lines) + 1.5)
    text = "\n".join(f"{entry.term}: {first_sentence(entry)}" for entry in terms)
    shell = page(int(60 + tall + 2 * STEP), ROLES["light"])
    return Picture(closed([*shell, *parts], "Words of consumer groups", text), text)


def first_sentence(entry: Entry) -> str:
    """The entry's text up to its first full stop that ends a sentence."""
    head, stop, _ = entry.text.partition(". ")
    return f"{head}." if stop else entry.text
