"""Content of the lab's tabs, worked out when one is opened: values of a whole run that the page moves through.

Only the CLI is asked for anew at each moment, for its text is that of one moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.analysis.invariants import INVARIANTS, check
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.described import describe, describe_members, describe_offsets, describe_state
from rebalance_kit.logs.lines import render
from rebalance_kit.logs.write import member_lines, split_by_member
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.tabs.metrics import metric_rows
from rebalance_kit.view.lab.tabs.why import why_entries

MOST_LINES = 6_000
"""Log lines that travel to the page; of longer logs those from the start."""
COMMANDS = (
    ("--describe", describe_offsets),
    ("--describe --members --verbose", describe_members),
    ("--describe --state", describe_state),
)
LIBRDKAFKA_LEVELS = MappingProxyType(
    {
        "0": "FATAL",
        "1": "FATAL",
        "2": "FATAL",
        "3": "ERROR",
        "4": "WARN",
        "5": "INFO",
        "6": "INFO",
        "7": "DEBUG",
    }
)


def logs_tab(boards: Boards, _at_ms: int, _member: str | None) -> dict[str, object]:
    """Genuine lines of the broker and each client by time: [ms, source, level, text]; ``cut`` counts the rest."""
    trace = boards.trace
    sources = ["broker", *boards.names]
    lines = [(line.at_ms, 0, line) for line in broker_lines(trace)]
    for name, own in split_by_member(trace).items():
        if name in sources:
            source = sources.index(name)
            lines += [(line.at_ms, source, line) for line in member_lines(own, name)]
    lines.sort(key=lambda entry: entry[:2])
    shown = [
        [at_ms, source, LIBRDKAFKA_LEVELS.get(line.level, line.level), render(line)]
        for at_ms, source, line in lines[:MOST_LINES]
    ]
    return {"sources": sources, "lines": shown, "cut": max(0, len(lines) - MOST_LINES)}


def cli_tab(boards: Boards, at_ms: int, _member: str | None) -> dict[str, object]:
    """Output of ``kafka-consumer-groups.sh`` at the moment, with the command lines."""
    group = describe(boards.trace, min(at_ms, boards.end_ms), boards.group_name)
    start = f"kafka-consumer-groups.sh --bootstrap-server localhost:9092 --group {boards.group_name}"
    return {
        "at": at_ms,
        "blocks": [{"command": f"{start} {options}", "text": say(group)} for options, say in COMMANDS],
    }


def metrics_tab(boards: Boards, _at_ms: int, member: str | None) -> dict[str, object]:
    """Coordinator metrics and those of one member under their own names, as steps over time."""
    return {"member": member, "rows": metric_rows(boards, member if member in boards.names else None)}


def members_tab(boards: Boards, _at_ms: int, _member: str | None) -> dict[str, object]:
    """Client and configs of each start of a member, as far as they differ from the defaults."""
    starts: dict[str, list[object]] = {name: [] for name in boards.names}
    for row in boards.trace.of("process_started"):
        if row.actor in starts:
            configs = {
                key: _shown(value)
                for key, value in row.detail.get("configs", {}).items()
                if key != "group.id"
            }
            starts[row.actor].append([row.at_ms, row.detail.get("client", "java"), configs])
    return {"started": [starts[name] for name in boards.names]}


def _shown(value: object) -> str:
    return (
        ", ".join(str(item).rpartition(".")[2] for item in value)
        if isinstance(value, tuple | list)
        else str(value)
    )


def why_tab(boards: Boards, _at_ms: int, _member: str | None) -> dict[str, object]:
    """An account of each step: moment, sentence, the rule that caused it, its source."""
    return {"entries": why_entries(boards)}


def invariants_tab(boards: Boards, _at_ms: int, _member: str | None) -> dict[str, object]:
    """Every invariant with its statement and what breaks it: [ms, words]."""
    broken: dict[str, list[list[object]]] = {}
    for violation in check(boards.trace):
        broken.setdefault(violation.invariant, []).append([violation.at_ms, violation.seen])
    lights = [
        [invariant.name.replace("_", " "), invariant.statement, broken.get(invariant.name, [])[:20]]
        for invariant in INVARIANTS.values()
    ]
    return {"rows": len(boards.trace.rows), "lights": lights}


TABS: Mapping[str, Callable[[Boards, int, str | None], dict[str, object]]] = MappingProxyType(
    {
        "logs": logs_tab,
        "cli": cli_tab,
        "metrics": metrics_tab,
        "members": members_tab,
        "why": why_tab,
        "invariants": invariants_tab,
    }
)


def tab(boards: Boards, name: str, at_ms: int, member: str | None = None) -> dict[str, object]:
    """The content of a tab; raises ``ScenarioError`` naming those that the kernel fills."""
    if name not in TABS:
        raise ScenarioError(f"the lab has no tab {name!r} to fill; expected one of {', '.join(TABS)}")
    return TABS[name](boards, at_ms, member)
