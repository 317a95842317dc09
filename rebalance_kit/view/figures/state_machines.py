"""State machines as pictures: the classic group's, the consumer group's, and that of a KIP-848 member's client.

States and edges come from the engine's own tables, so a picture cannot say anything else than the engine does,
and an edge that is added to a table is drawn. With a trace, each edge is counted as the run took it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace, TraceRow, require_trace
from rebalance_kit.protocol.classic_group.group import PREDECESSORS, ClassicGroupState
from rebalance_kit.protocol.classic_group.table import TRANSITIONS
from rebalance_kit.protocol.consumer_client.member import EDGES, MemberState
from rebalance_kit.protocol.consumer_group.group import ConsumerGroupState
from rebalance_kit.protocol.consumer_group.table import RULES
from rebalance_kit.protocol.effects import Load, Timer, Unload
from rebalance_kit.protocol.machine import EventKind, name_of
from rebalance_kit.view.figures.machine_layout import Arrow, draw_machine
from rebalance_kit.view.figures.svg import Picture, closed, page
from rebalance_kit.view.style.palettes import ROLES

Step = tuple[str, str]
EVENT_WORDS: Mapping[str, str] = {"Appended": "the leader's SyncGroup is stored"}


# --- the classic group ------------------------------------------------------------------------
def edges() -> dict[tuple[ClassicGroupState, ClassicGroupState], tuple[str, ...]]:
    """Every single step of a classic group with the events that may cause it, from the engine's table.

    Moving a group to another broker is left out: it restores a state and takes no step.
    """
    causes: dict[tuple[ClassicGroupState, ClassicGroupState], set[str]] = {}
    for (state, event), rule in TRANSITIONS.items():
        if event not in {Load, Unload}:
            for target in rule.targets:
                if state in PREDECESSORS[target]:
                    causes.setdefault((state, target), set()).add(_event_words(event))
    order = list(ClassicGroupState)
    steps = sorted(causes, key=lambda step: (order.index(step[0]), order.index(step[1])))
    return {step: tuple(sorted(causes[step])) for step in steps}


def _event_words(event: EventKind) -> str:
    if isinstance(event, Timer):
        return "a timer ran out"
    return EVENT_WORDS.get(name_of(event), name_of(event))


def state_machine(trace: Trace | None = None, since_s: float = 0.0, at_s: float | None = None) -> Picture:
    """The states of a classic group; with a trace, how often it took each step from ``since_s`` on.

    With ``at_s`` only the steps until that moment count, and the group's state then is filled.
    """
    if trace is not None:
        require_trace(trace)
    rows = [] if trace is None else [row for row in trace.of("group_state") if row.protocol == "classic"]
    taken, now = _taken(rows, at_s, since_s)
    causes = {(before.value, after.value): words for (before, after), words in edges().items()}
    arrows = [
        Arrow(*step, ", ".join(words), None if trace is None else taken[step])
        for step, words in causes.items()
    ]
    lines = [f"{step[0]:<19} -> {step[1]:<19} on {', '.join(words)}" for step, words in causes.items()]
    living = [state.value for state in ClassicGroupState if state is not ClassicGroupState.DEAD]
    return _picture("States of a classic group", living, arrows, lines, now, "light")


# --- KIP-848 ----------------------------------------------------------------------------------
def group_states(trace: Trace, at_s: float | None = None, theme: str = "light") -> Picture:
    """The states of a consumer group and the steps that a run took, until ``at_s`` if given; its state then is filled.

    A consumer group's state is no machine of its own: it follows from the epochs (ConsumerGroup.maybeUpdateGroupState).
    """
    rows = [row for row in trace.of("group_state") if row.protocol == "consumer"]
    allowed = {(before.value, after.value) for rule in RULES.values() for before, after in rule.targets}
    states = [state.value for state in ConsumerGroupState]
    return _counted("States of a consumer group", states, allowed, rows, at_s, theme)


def member_states(
    trace: Trace | None = None, member: str | None = None, at_s: float | None = None, theme: str = "light"
) -> Picture:
    """The states of a consumer's client under KIP-848 (MemberState); with a trace, the steps that ``member`` took.

    With ``at_s`` only the steps until then count, and the state at that moment is filled. Raises
    ``ScenarioError`` for a member that the trace does not know.
    """
    rows: list[TraceRow] | None = None
    if trace is not None:
        known = sorted({row.actor for row in trace.of("member_state") if row.protocol == "consumer"})
        if member not in known:
            raise ScenarioError(
                f"member {member!r} takes no step of KIP-848 in this run; expected one of {', '.join(known) or 'none'}"
            )
        rows = [row for row in trace.of("member_state") if row.actor == member]
    allowed = {(before.value, after.value) for after, befores in EDGES.items() for before in befores}
    title = "States of a member's client" + (f": {member}" if member else "")
    return _counted(title, [state.value for state in MemberState], allowed, rows, at_s, theme)


def path_of(trace: Trace, member: str) -> tuple[str, ...]:
    """The states that a member's client went through, in order, each named once where it did not change.

    >>> from rebalance_kit.scenarios import load
    >>> from rebalance_kit.simulation.simulate import simulate
    >>> path_of(simulate(load("join"), protocol="consumer"), "consumer-1")[:3]
    ('UNSUBSCRIBED', 'JOINING', 'RECONCILING')
    """
    rows = [row for row in trace.of("member_state") if row.actor == member]
    every = [str(rows[0].detail["from"]), *(str(row.detail["to"]) for row in rows)] if rows else []
    return tuple(every[:1] + [after for before, after in pairwise(every) if after != before])


# --- the same for all -------------------------------------------------------------------------
def _taken(
    rows: Sequence[TraceRow], at_s: float | None, since_s: float = 0.0
) -> tuple[Counter[Step], str | None]:
    """How often each step was taken in that stretch, and the state at ``at_s``."""
    seen = [row for row in rows if at_s is None or row.at_ms <= at_s * 1000]
    steps = Counter(
        (str(row.detail["from"]), str(row.detail["to"])) for row in seen if row.at_ms >= since_s * 1000
    )
    return steps, str(seen[-1].detail["to"]) if seen and at_s is not None else None


def _counted(
    title: str,
    states: Sequence[str],
    allowed: set[Step],
    rows: Sequence[TraceRow] | None,
    at_s: float | None,
    theme: str,
) -> Picture:
    """A machine whose edges have no words of their own, with the steps of the rows counted."""
    taken, now = _taken(rows or (), at_s)
    steps = sorted(allowed, key=lambda step: (states.index(step[0]), states.index(step[1])))
    arrows = [Arrow(*step, taken=None if rows is None else taken[step]) for step in steps]
    lines = [f"{before:<16} -> {after:<16}" for before, after in steps]
    return _picture(title, states, arrows, lines, now, theme)


def _picture(
    title: str,
    states: Sequence[str],
    arrows: Sequence[Arrow],
    lines: Sequence[str],
    now: str | None,
    theme: str,
) -> Picture:
    """Draw the machine, and say the same in lines of text: ``now``, and each edge with its count."""
    counted = [
        line.rstrip() if arrow.taken is None else f"{line}  ×{arrow.taken}"
        for line, arrow in zip(lines, arrows, strict=True)
    ]
    text = "\n".join([*([f"now: {now}"] if now else []), *counted])
    parts, height = draw_machine(states, arrows, ROLES[theme], now, theme)
    return Picture(closed([*page(height, ROLES[theme], theme), *parts], title, text), text)
