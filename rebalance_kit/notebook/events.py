"""Tables of one run in words: its rebalances, states, callbacks and gaps; under KIP-848 its epochs, too."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rebalance_kit.analysis.metrics import study_from
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.notebook.runs import named, three
from rebalance_kit.notebook.text import Text, columns
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.view.words.phrases import partitions_in_words

CALLBACKS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}


def reasons(trace: Trace, since_s: float = 0.0) -> Text:
    """Every rebalance (or new group epoch) from ``since_s`` seconds on, with its reason.

    Of a classic group that is the reason of the broker's "Preparing to rebalance" line; of a group epoch, whose
    log line names none, it is said in our words.
    """
    rows = [("at", "group", "reason"), *_reasons(trace, since_s)]
    return columns(rows) if len(rows) > 1 else Text("no rebalance")


def _reasons(trace: Trace, since_s: float) -> list[tuple[str, str, str]]:
    rows = []
    for row in rows_since(trace, since_s, "group_state", "epoch_bump"):
        if row.kind == "epoch_bump":
            rows.append((clock(row), f"group epoch {row.generation}", row.detail["reason"]))
        elif row.detail["to"] == "PreparingRebalance":
            ours, mark, theirs = _short(row.detail["reason"], trace).partition(" client reason: ")
            rows.append((clock(row), "rebalance begins", ours))
            rows += [("", "", mark.lstrip() + theirs)] if mark else []
    return rows


def states(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> Text:
    """Every change of the group's state, with the generation (or group epoch) it had then."""
    word = "epoch" if trace.label.startswith("consumer") else "generation"
    rows = [("at", "from", "to", word)]
    rows += [
        (clock(row), row.detail["from"], row.detail["to"], str(row.generation))
        for row in rows_since(trace, since_s, "group_state", until_s=until_s)
    ]
    return columns(rows)


def fired(names: Iterable[str], protocols: Sequence[str] = THREE_PROTOCOLS) -> Text:
    """How many rebalances (or group epochs) each scenario of the kit causes under each protocol.

    Counted from the scenario's first action or late start on, as ``analysis.metrics`` does.
    """
    from rebalance_kit.analysis.metrics import metrics

    rows = [("scenario", *map(named, protocols))]
    for name in names:
        runs = three(name, protocols)
        rows.append((name, *(str(metrics(run).rebalances) for run in runs.values())))
    return columns(rows)


def callbacks(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> Text:
    """The rebalance callbacks of all members, with the partitions each was given."""
    word = "epoch" if trace.label.startswith("consumer") else "generation"
    rows = [("at", "member", "callback", word, "partitions")]
    rows += [
        (
            clock(row),
            row.actor,
            CALLBACKS[row.detail["callback"]],
            str(row.generation),
            partitions_in_words(row.detail["partitions"]),
        )
        for row in rows_since(trace, since_s, "callback_begin", until_s=until_s)
    ]
    return columns(rows)


def refused_commits(trace: Trace, since_s: float = 0.0) -> Text:
    """Every commit that the coordinator refused, with Kafka's name for the reason."""
    rows = [("at", "member", "commit refused", "partitions")]
    rows += [
        (clock(row), row.actor, row.detail["error"], partitions_in_words(list(row.detail["offsets"])))
        for row in rows_since(trace, since_s, "commit")
        if row.detail["error"] != "NONE"
    ]
    return columns(rows) if len(rows) > 1 else Text("no commit was refused")


def first_callback(trace: Trace, member: str, since_s: float = 0.0) -> str:
    """The first rebalance callback (assigned, revoked, lost) of a member from ``since_s`` on; none: ``"none"``."""
    called = (row for row in rows_since(trace, since_s, "callback_begin") if row.actor == member)
    return next((str(row.detail["callback"]) for row in called), "none")


def votes(trace: Trace) -> Text:
    """Which assignor the group chose from which generation on, and what had just been done to a member."""
    rows: list[tuple[str, ...]] = [("at", "from generation", "assignor", "last action before")]
    before = "start-up"
    for row in trace.of("action", "generation"):
        if row.kind == "action":
            before = f"{row.detail['member']}: {row.detail['do']}"
        elif row.detail["assignor"] != rows[-1][2]:
            rows.append((clock(row), str(row.generation), row.detail["assignor"], before))
    last = max(row.generation or 0 for row in trace.of("generation"))
    return Text(f"{columns(rows)}\n(to generation {last}, the last one)")


def chosen_assignor(trace: Trace) -> str:
    """The assignor of the last generation of a classic group."""
    *_, last = trace.of("generation")
    return str(last.detail["assignor"])


def removals(trace: Trace, since_s: float = 0.0) -> Text:
    """Which members the coordinator took out of the group, and why."""
    rows = [("at", "member", "how", "reason")]
    rows += [
        (clock(row), row.detail["name"], row.detail["how"].replace("_", " "), row.detail["reason"] or "-")
        for row in rows_since(trace, since_s, "member_removed")
    ]
    return columns(rows) if len(rows) > 1 else Text("no member was removed")


def passed_to(trace: Trace, callback: str, since_s: float = 0.0, member: str | None = None) -> int:
    """How many partitions a callback (assigned, revoked, lost) was given in all its calls, of one member or of all."""
    called = (
        row
        for row in rows_since(trace, since_s, "callback_begin")
        if row.detail["callback"] == callback and member in {None, row.actor}
    )
    return sum(len(row.detail["partitions"]) for row in called)


def gaps(trace: Trace, since_s: float | None = None) -> Text:
    """Which partitions nobody read, from when and for how long; ``since_s`` None: from the first event on."""
    from rebalance_kit.analysis.deliveries import gaps as find_gaps
    from rebalance_kit.analysis.metrics import study_from

    since = study_from(trace) if since_s is None else round(since_s * 1000)
    rows = [("partition", "from", "for", "read before by", "then by")]
    rows += [
        (
            str(gap.partition),
            seconds(max(gap.from_ms, since)),
            seconds(gap.within(since)),
            gap.before or "-",
            gap.after or "nobody",
        )
        for gap in find_gaps(trace, since)
    ]
    return columns(rows) if len(rows) > 1 else Text("every partition was read all the time")


def longest_without_records(trace: Trace, member: str, since_s: float = 0.0) -> float:
    """The longest stretch in seconds, from ``since_s`` on, in which no record of any partition reached ``member``."""
    from rebalance_kit.analysis.deliveries import flows

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


# --- words ----------------------------------------------------------------------------------------
def rows_since(trace: Trace, since_s: float, *kinds: str, until_s: float | None = None) -> list[TraceRow]:
    """The rows of these kinds in a stretch of a run."""
    last = trace.end_ms if until_s is None else until_s * 1000
    return [row for row in trace.of(*kinds) if since_s * 1000 <= row.at_ms <= last]


def clock(row: TraceRow) -> str:
    """When a row happened, in seconds to the millisecond."""
    return seconds(row.at_ms)


def seconds(ms: int) -> str:
    """A time to the millisecond, for what is told apart by milliseconds."""
    return f"{ms / 1000:7.3f} s"


def _short(reason: str, trace: Trace) -> str:
    """Kafka's reason with the members' names in place of their long ids."""
    named = {row.member_id: row.actor for row in trace.of("process_started", "request") if row.member_id}
    for member_id, name in named.items():
        reason = reason.replace(member_id, name)
    return reason


def epochs(trace: Trace, since_s: float = 0.0, until_s: float | None = None) -> Text:
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
            rows.append((clock(row), words, group, target, *at.values()))
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


def target_beside_current(trace: Trace, at: float | str) -> Text:
    """What each member of a KIP-848 group should own and what the broker lets it own, at a moment.

    ``at`` is a second, ``"target"`` (the first target from the moment on that is studied), ``"first revocation"``
    after it, or ``"end"``.
    """
    at_ms = _moment(trace, at) if isinstance(at, str) else round(at * 1000)
    rows = [row for row in trace.of("target", "member_reconciled", "member_removed") if row.at_ms <= at_ms]
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


def _moment(trace: Trace, name: str) -> int:
    since = study_from(trace)
    target = next((row.at_ms for row in trace.of("target") if row.at_ms >= since), since)
    if name == "target":
        return target
    if name == "end":
        return trace.end_ms
    revoking = (row for row in trace.of("member_reconciled") if row.detail["pending_revocation"])
    return next((row.at_ms for row in revoking if row.at_ms >= target), trace.end_ms)


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
