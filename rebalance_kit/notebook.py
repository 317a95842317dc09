"""What the notebooks ask for in one line: three runs at once, tables of a trace in words, a guess beside the truth.

Everything returned as text is the same for the same trace, so that a notebook's output can be compared strictly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from textwrap import wrap

from rebalance_kit import scenarios
from rebalance_kit.glossary import lookup
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.words.descriptions import describe_flow
from rebalance_kit.view.words.phrases import partitions_in_words

WIDTH = 108
"""Signs in a line of output; JupyterLab breaks longer ones in the middle of a word on a screen of 1366 pixels."""
CALLBACKS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}


def three(
    scenario: Scenario | str, protocols: Sequence[str] = THREE_PROTOCOLS, seed: int | None = None
) -> dict[str, Trace]:
    """Run a scenario (or one by its name or file) once under each protocol; runs by protocol."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return {protocol: simulate(wanted, seed, protocol) for protocol in protocols}


def with_configs(scenario: Scenario, configs: Mapping[str, object]) -> Scenario:
    """The scenario with these Kafka configs given to every member."""
    members = tuple(replace(spec, configs={**spec.configs, **configs}) for spec in scenario.members)
    return replace(scenario, members=members)


def beside(guess: Mapping[str, object], truth: Mapping[str, object]) -> str:
    """A learner's guess beside what the run says, one line per question; a guess of None is not judged."""
    rows = [
        (
            name,
            "-" if guess.get(name) is None else str(guess[name]),
            str(seen),
            _judged(guess.get(name), seen),
        )
        for name, seen in truth.items()
    ]
    return columns([("", "your guess", "the run", ""), *rows])


def _judged(guess: object, seen: object) -> str:
    if guess is None:
        return ""
    return "right" if guess == seen else "not so: why?"


def columns(rows: Iterable[Sequence[str]]) -> str:
    """Rows of words as aligned columns; the first row is the head.

    >>> print(columns([("a", "b"), ("long", "c")]))
    a     b
    long  c
    """
    cells = [list(row) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def story(trace: Trace) -> str:
    """The run in words (``view.describe_flow``), in lines that a notebook need not break."""
    return in_lines(describe_flow(trace))


def explain(term: str) -> str:
    """What the glossary says of a term or a config key, in lines that a notebook need not break."""
    return in_lines(str(lookup(term)))


def in_lines(text: str) -> str:
    """Text with its long lines broken between words, the rest of each hanging below its beginning."""
    wrapped: list[str] = []
    for line in text.splitlines():
        inner = " " * (len(line) - len(line.lstrip()) + 2)
        wrapped += wrap(
            line, WIDTH, subsequent_indent=inner, drop_whitespace=True, break_on_hyphens=False
        ) or [""]
    return "\n".join(wrapped)


# --- what happened in one run -------------------------------------------------------------------
def reasons(trace: Trace, since_s: float = 0.0) -> str:
    """Every rebalance (or new group epoch) from ``since_s`` seconds on, with its reason.

    Of a classic group that is the reason of the broker's "Preparing to rebalance" line; of a group epoch, whose
    log line names none, it is said in our words.
    """
    rows = [("at", "group", "reason"), *_reasons(trace, since_s)]
    return columns(rows) if len(rows) > 1 else "no rebalance"


def _reasons(trace: Trace, since_s: float) -> list[tuple[str, str, str]]:
    rows = []
    for row in _since(trace, since_s, "group_state", "epoch_bump"):
        if row.kind == "epoch_bump":
            rows.append((_clock(row), f"group epoch {row.generation}", row.detail["reason"]))
        elif row.detail["to"] == "PreparingRebalance":
            ours, mark, theirs = _short(row.detail["reason"], trace).partition(" client reason: ")
            rows.append((_clock(row), "rebalance begins", ours))
            rows += [("", "", mark.lstrip() + theirs)] if mark else []
    return rows


def states(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> str:
    """Every change of the group's state, with the generation (or group epoch) it had then."""
    word = "epoch" if trace.label.startswith("consumer") else "generation"
    rows = [("at", "from", "to", word)]
    rows += [
        (_clock(row), row.detail["from"], row.detail["to"], str(row.generation))
        for row in _since(trace, since_s, "group_state", until_s=until_s)
    ]
    return columns(rows)


def fired(names: Iterable[str], protocols: Sequence[str] = THREE_PROTOCOLS) -> str:
    """How many rebalances (or group epochs) each scenario of the kit causes under each protocol.

    Counted from the scenario's first action or late start on, as ``analysis.metrics`` does.
    """
    from rebalance_kit.analysis.metrics import metrics

    rows = [("scenario", *protocols)]
    for name in names:
        runs = three(name, protocols)
        rows.append((name, *(str(metrics(run).rebalances) for run in runs.values())))
    return columns(rows)


def callbacks(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> str:
    """The rebalance callbacks of all members, with the partitions each was given."""
    word = "epoch" if trace.label.startswith("consumer") else "generation"
    rows = [("at", "member", "callback", word, "partitions")]
    rows += [
        (
            _clock(row),
            row.actor,
            CALLBACKS[row.detail["callback"]],
            str(row.generation),
            partitions_in_words(row.detail["partitions"]),
        )
        for row in _since(trace, since_s, "callback_begin", until_s=until_s)
    ]
    return columns(rows)


def passed_to(trace: Trace, callback: str, since_s: float = 0.0) -> int:
    """How many partitions a callback (assigned, revoked, lost) was given, all members and calls together."""
    called = (row for row in _since(trace, since_s, "callback_begin") if row.detail["callback"] == callback)
    return sum(len(row.detail["partitions"]) for row in called)


def gaps(trace: Trace, since_s: float | None = None) -> str:
    """Which partitions nobody read, from when and for how long; ``since_s`` None: from the first event on."""
    from rebalance_kit.analysis.intervals import gaps as find_gaps
    from rebalance_kit.analysis.metrics import study_from

    since = study_from(trace) if since_s is None else round(since_s * 1000)
    rows = [("partition", "from", "for", "read before by", "then by")]
    rows += [
        (
            str(gap.partition),
            _seconds(max(gap.from_ms, since)),
            _seconds(gap.within(since)),
            gap.before or "-",
            gap.after or "nobody",
        )
        for gap in find_gaps(trace, since)
    ]
    return columns(rows) if len(rows) > 1 else "every partition was read all the time"


def longest_silence(trace: Trace, member: str, since_s: float = 0.0) -> float:
    """The longest stretch in seconds, from ``since_s`` on, in which no record of any partition reached ``member``."""
    from rebalance_kit.analysis.intervals import flows

    heard = sorted(
        (flow.from_ms, flow.to_ms)
        for stretches in flows(trace).values()
        for flow in stretches
        if flow.member == member
    )
    reached, longest = round(since_s * 1000), 0
    for begin, end in [*heard, (trace.end_ms, trace.end_ms)]:
        longest = max(longest, begin - reached)
        reached = max(reached, end)
    return longest / 1000


# --- KIP-848 ------------------------------------------------------------------------------------
def epochs(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> str:
    """The three kinds of epoch over time: of the group, of the target assignment, of each member."""
    names = [str(name) for name in trace.meta["members"]]
    at: dict[str, str] = dict.fromkeys(names, "-")
    group = target = "-"
    rows = [("at", "what happens", "group", "target", *names)]
    for row in trace.of("epoch_bump", "target", "member_reconciled", "member_removed"):
        words = ""
        if row.kind == "epoch_bump":
            group, words = (
                str(row.generation),
                f"epoch bumped: {row.detail['trigger']} of {row.detail['culprit']}",
            )
        elif row.kind == "target":
            target, words = str(row.generation), f"target computed by {row.detail['assignor']}"
        else:
            words = _member_step(row, at)
        if row.at_ms >= since_s * 1000 and (until_s is None or row.at_ms <= until_s * 1000):
            rows.append((_clock(row), words, group, target, *at.values()))
    return columns(rows)


def _member_step(row: TraceRow, at: dict[str, str]) -> str:
    name, detail = row.detail["name"], row.detail
    if row.kind == "member_removed":
        at[name] = "-"
        return f"{name} is removed ({detail['how']})"
    at[name] = str(detail["epoch"])
    partitions = partitions_in_words(detail["assigned"])
    if detail["state"] == "UNREVOKED_PARTITIONS":
        return f"{name} has to give up {partitions_in_words(detail['pending_revocation'])}"
    if detail["state"] == "UNRELEASED_PARTITIONS":
        return f"{name} may have {partitions}, waits for more"
    return f"{name} has {partitions}"


def target_beside_current(trace: Trace, at_s: float) -> str:
    """What each member of a KIP-848 group should own and what the broker lets it own, at a moment."""
    rows = [
        row for row in trace.of("target", "member_reconciled", "member_removed") if row.at_ms <= at_s * 1000
    ]
    goal: Mapping[str, Sequence[str]] = {}
    current: dict[str, TraceRow] = {}
    for row in rows:
        if row.kind == "target":
            goal = row.detail["assignment"]
        elif row.kind == "member_removed":
            current.pop(row.detail["name"], None)
        else:
            current[row.detail["name"]] = row
    head = ("member", "target assignment", "current assignment", "still to be revoked", "state")
    return columns(
        [head, *(_goal_line(name, goal.get(name, ()), row) for name, row in sorted(current.items()))]
    )


def _goal_line(name: str, goal: Sequence[str], row: TraceRow) -> tuple[str, ...]:
    detail = row.detail
    revoking = partitions_in_words(detail["pending_revocation"])
    return (
        name,
        partitions_in_words(goal),
        partitions_in_words(detail["assigned"]),
        revoking,
        detail["state"],
    )


# --- many runs ----------------------------------------------------------------------------------
def spread(
    scenario: Scenario | str,
    measure: Callable[[Trace], float],
    seeds: Iterable[int] = range(1, 21),
    protocols: Sequence[str] = THREE_PROTOCOLS,
) -> str:
    """Least, median and greatest value of a measure over many seeds, under each protocol."""
    rows: list[tuple[str, ...]] = [("", "least", "median", "greatest")]
    drawn = list(seeds)
    for protocol in protocols:
        values = [measure(three(scenario, (protocol,), seed)[protocol]) for seed in drawn]
        form = "g" if all(isinstance(value, int) for value in values) else ".2f"
        rows.append(
            (protocol, *(format(value, form) for value in (min(values), median(values), max(values))))
        )
    return columns(rows)


# --- words ----------------------------------------------------------------------------------------
def _since(trace: Trace, since_s: float, *kinds: str, until_s: float | None = None) -> list[TraceRow]:
    last = trace.end_ms if until_s is None else until_s * 1000
    return [row for row in trace.of(*kinds) if since_s * 1000 <= row.at_ms <= last]


def _clock(row: TraceRow) -> str:
    return _seconds(row.at_ms)


def _seconds(ms: int) -> str:
    """To the millisecond, for what is told apart by milliseconds."""
    return f"{ms / 1000:7.3f} s"


def _short(reason: str, trace: Trace) -> str:
    """Kafka's reason with the members' names in place of their long ids."""
    named = {row.member_id: row.actor for row in trace.of("process_started", "request") if row.member_id}
    for member_id, name in named.items():
        reason = reason.replace(member_id, name)
    return reason
