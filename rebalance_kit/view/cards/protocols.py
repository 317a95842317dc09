"""Cards: the protocols beside each other, and the glossary on one sheet.

The three protocols beside each other, and what each gives its callbacks; the figures are those of a run.

The glossary on one sheet, in two columns, as ``rebalance_kit/glossary.yaml`` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from textwrap import wrap

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.glossary import Entry, entries, show
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.trace import Trace
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.style.showing import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import HUES, ROLES

MARGIN, SIZE = 24, 14
LETTER = 0.52
"""Width of an average letter as a share of its size; a line is wrapped by it."""


@dataclass(frozen=True, slots=True)
class Table:
    """Heads with the share of the width that each column takes, and rows of as many cells; the first one is bold."""

    title: str
    heads: tuple[tuple[str, float], ...]
    rows: tuple[tuple[str, ...], ...]
    foot: str = ""


def lines_of(text: str, wide: float, size: float = SIZE) -> list[str]:
    """A text in lines that fit into a width."""
    return wrap(text, max(8, int(wide / (LETTER * size))), break_long_words=False) or [""]


def table_card(table: Table) -> Picture:
    """The table as a picture."""
    role, step = ROLES["light"], SIZE * 1.32
    whole = WIDTH - 2 * MARGIN
    widths = [share * whole for _, share in table.heads]
    lefts = [MARGIN + sum(widths[:column]) for column in range(len(widths))]
    parts = [words(MARGIN, 40, table.title, bold=True, size=20)]
    parts += [
        words(left + 8, 70, head, bold=True, size=15)
        for (head, _), left in zip(table.heads, lefts, strict=True)
    ]
    y = 80.0
    for row in table.rows:
        cells = [lines_of(cell, wide - 20) for cell, wide in zip(row, widths, strict=True)]
        tall = step * max(map(len, cells)) + 12
        parts.append(
            f'<line x1="{MARGIN}" y1="{y:g}" x2="{WIDTH - MARGIN}" y2="{y:g}" stroke="{role["hairline"]}"/>'
        )
        parts += [
            words(left + 8, y + step * (line + 1), text, size=SIZE, bold=column == 0)
            for column, (left, cell) in enumerate(zip(lefts, cells, strict=True))
            for line, text in enumerate(cell)
        ]
        y += tall
    for line in lines_of(table.foot, whole, 12) if table.foot else ():
        y += 17
        parts.append(words(MARGIN + 8, y, line, size=12, colour=role["ink2"]))
    text = _text(table)
    return Picture(closed([*page(int(y) + 20, role), *parts], table.title, text), text)


def _text(table: Table) -> str:
    lines = [table.title]
    for first, *others in table.rows:
        lines.append(f"{first}:")
        lines += [
            f"  {head}: {cell}" for (head, _), cell in zip(table.heads[1:], others, strict=True) if cell
        ]
    return "\n".join([*lines, table.foot] if table.foot else lines)


# Cards of the four clocks: what they are, and which one to set.
#
# The four clocks of a member in one picture: who runs each, what winds it up again, what happens when it runs out.
#
# Which clock to set: from a question about one's own application to a key, its default and its bounds.


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
CLOCK_HEADS = (("Ask", 0.27), ("Key", 0.29), ("Default", 0.1), ("Decide", 0.34))


def timeouts() -> Picture:
    """The chart: eight questions; for each the key that answers it, its default, and how to decide."""
    rows = tuple((ask, key, _printed_default(key), decide) for ask, key, decide in CHOICES)
    foot = f"Defaults of Kafka {PREFERRED}. Order under the classic protocol: heartbeat.interval.ms < session.timeout.ms < max.poll.interval.ms."
    return table_card(Table("Which clock to set", CLOCK_HEADS, rows, foot))


def _printed_default(name: str) -> str:
    """The key's default as people say it: ``45 s``, ``5 min``."""
    value = all_keys()[name].default(PREFERRED)
    if not name.endswith(".ms") or not isinstance(value, int):
        return show(value)
    return f"{value // 60_000} min" if value % 60_000 == 0 and value else f"{value / 1000:g} s"


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


_SMALL, _STEP, _COLUMNS = 10.0, 12.4, 3
_GUTTER = 18


def glossary_page() -> Picture:
    """Every term with its first sentence, in the order of the alphabet."""
    terms = sorted(entries().values(), key=lambda entry: entry.term.lower().lstrip("_"))
    wide = (WIDTH - 2 * MARGIN - (_COLUMNS - 1) * _GUTTER) / _COLUMNS
    blocks = [(entry.term, lines_of(first_sentence(entry), wide, _SMALL)) for entry in terms]
    tall = sum((len(lines) + 1.5) * _STEP for _, lines in blocks) / _COLUMNS + 5 * _STEP
    parts = [words(MARGIN, 36, "Words of consumer groups", bold=True, size=20)]
    column, y = 0, 60.0
    for term, lines in blocks:
        if y + len(lines) * _STEP > 60 + tall and column < _COLUMNS - 1:
            column, y = column + 1, 60.0
        x = MARGIN + column * (wide + _GUTTER)
        parts.append(words(x, y, term, bold=True, size=_SMALL + 0.5))
        parts += [words(x, y + _STEP * (line + 1), text, size=_SMALL) for line, text in enumerate(lines)]
        y += _STEP * (len(lines) + 1.5)
    text = "\n".join(f"{entry.term}: {first_sentence(entry)}" for entry in terms)
    shell = page(int(60 + tall + 2 * _STEP), ROLES["light"])
    return Picture(closed([*shell, *parts], "Words of consumer groups", text), text)


def first_sentence(entry: Entry) -> str:
    """The entry's text up to its first full stop that ends a sentence."""
    head, stop, _ = entry.text.partition(". ")
    return f"{head}." if stop else entry.text
