"""``rebalance-kit inspect``: what the looks found, in words, as JSON lines, as OpenMetrics, or as a history of rebalances."""

from __future__ import annotations

import json
import stat
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO

from rebalance_kit.live.inspection import look as looking
from rebalance_kit.live.inspection.look import (
    GRAVITIES,
    REBALANCING,
    Finding,
    Group,
    findings,
    groups_of,
    scenario_of,
)
from rebalance_kit.simulation.permalink import Link, LinkError, write_link

FAIL_ON = (*GRAVITIES, "never")
FORMS = ("words", "json", "openmetrics")


def inspect(
    bootstrap: str,
    command_config: Path | None,
    groups: Sequence[str],
    seconds: float,
    fail_on: str,
    *,
    form: str,
    watch: int,
    out: TextIO,
) -> int:
    """Print groups and findings; 1 when a finding is as grave as ``fail_on``, 3 when a group could not be seen.

    ``watch`` is how many further times to look, telling each change; -1 until it is interrupted.
    """
    if command_config is not None and command_config.exists():
        mode = command_config.stat().st_mode
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            sys.stderr.write(f"{command_config} can be read by others; expected chmod 600\n")
    configs = {} if command_config is None else looking.read_configs(command_config)
    wanted = tuple(groups) or ("*",)
    answer = looking.look(bootstrap, configs, wanted, seconds)
    seen = groups_of(answer)
    found = findings(seen)
    printed = {"json": lambda: _as_json(seen, found), "openmetrics": lambda: _metrics(seen, found)}
    for line in printed.get(form, lambda: _words(answer, seen, found))():
        print(_one(line), file=out)
    history = History()
    history.see(answer)
    try:
        while watch:
            watch -= 1
            for line in history.see(looking.look(bootstrap, configs, wanted, seconds)):
                print(_one(line), file=out, flush=True)
    except KeyboardInterrupt:
        print(_one(history.summary()), file=out)
    grave = {gravity for gravity in GRAVITIES[: FAIL_ON.index(fail_on) + 1] if fail_on != "never"}
    if any(one.gravity in grave for one in found):
        return 1
    return 3 if any("error" in group.now for group in seen) else 0


def _one(line: str) -> str:
    """One line: a name of Kafka may hold any character, also one that would begin a line of its own."""
    return " ".join(line.splitlines())


@dataclass(slots=True)
class History:
    """What changed from look to look, and how many rebalances of each group that shows."""

    last: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    rebalances: dict[str, int] = field(default_factory=dict)

    def see(self, answer: Mapping[str, Any]) -> list[str]:
        """Take both looks of an answer in; a line for each group that changed in one of them."""
        lines = []
        for shown in answer["looks"]:
            at = time.strftime("%H:%M:%S", time.gmtime(shown["at_ms"] / 1000))
            for name, now in sorted(shown["groups"].items()):
                before = self.last.get(name)
                self.last[name] = now
                told = [] if before is None else _changes(before, now)
                if told:
                    if _began(before or {}, now):
                        self.rebalances[name] = self.rebalances.get(name, 0) + 1
                    lines.append(f"{at} UTC  {name}: {'; '.join(told)}")
        return lines

    def summary(self) -> str:
        """How many rebalances were seen, by group."""
        counts = ", ".join(f"{name} {count}" for name, count in sorted(self.rebalances.items()))
        return f"rebalances seen: {counts or 'none'} (one that begins and ends between two looks, with the same owners, is not seen)"


def _owned(look: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {member["id"]: tuple(member["owned"]) for member in look.get("members", ())}


def _began(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """A rebalance that was not under way is, or is over already: somebody owns something else."""
    if before.get("state") in REBALANCING:
        return False
    return now.get("state") in REBALANCING or _owned(before) != _owned(now)


def _changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    told = []
    if before.get("state") != now.get("state"):
        told.append(f"{before.get('state', 'not described')} to {now.get('state', 'not described')}")
    clients = [
        {member["id"]: member["client"] for member in look.get("members", ())} for look in (before, now)
    ]
    for word, ours, others in (("came", clients[1], clients[0]), ("went", clients[0], clients[1])):
        names = sorted(name for who, name in ours.items() if who not in others)
        if names:
            told.append(f"{word}: {', '.join(names)}")
    owned = [_owned(before), _owned(now)]
    moved = sum(held != owned[0].get(who, ()) for who, held in owned[1].items())
    if moved:
        told.append(f"{moved} of {len(owned[1])} members own other partitions")
    return told


def _metrics(groups: Sequence[Group], found: Sequence[Finding]) -> Iterator[str]:
    """Gauges in OpenMetrics' text; one sample per group, lag per partition."""
    lags = [
        ({"group": group.name, "partition": tp}, lag) for group in groups for tp, lag in group.lag().items()
    ]
    states = [
        ({"group": group.name, "state": str(group.now["state"])}, 1)
        for group in groups
        if "state" in group.now
    ]
    counted = [
        (
            {"group": group.name, "gravity": gravity},
            sum(one.gravity == gravity for one in found if one.group == group.name),
        )
        for group in groups
        for gravity in GRAVITIES
    ]
    members = [({"group": group.name}, len(group.members)) for group in groups]
    for name, words, samples in (
        ("lag", "Records between the committed and the next offset", lags),
        ("members", "Members of the group", members),
        ("state", "1 for the state that the group is in", states),
        ("findings", "Findings of inspect", counted),
    ):
        yield f"# TYPE kafka_group_{name} gauge"
        yield f"# HELP kafka_group_{name} {words}."
        for labels, value in samples:
            told = ",".join(f'{key}="{_quoted(text)}"' for key, text in labels.items())
            yield f"kafka_group_{name}{{{told}}} {value}"
    yield "# EOF"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _as_json(groups: Sequence[Group], found: Sequence[Finding]) -> Iterator[str]:
    for group in groups:
        kept = {key: value for key, value in group.now.items() if key != "committed"}
        about = {"group": group.name, **kept, "lag": group.lag(), "lag_before": group.lag(before=True)}
        yield json.dumps({**about, "findings": [asdict(one) for one in found if one.group == group.name]})


def _words(answer: Mapping[str, Any], groups: Sequence[Group], found: Sequence[Finding]) -> Iterator[str]:
    brokers = answer["cluster"]["brokers"]
    yield f"{len(groups)} groups on {len(brokers)} broker{'' if len(brokers) == 1 else 's'} ({', '.join(brokers.values())})"
    yield ""
    yield f"  {'group':32} {'kind':28} {'state':22} {'members':>7} {'lag':>12} {'change':>9}"
    for group in groups:
        lag, before = sum(group.lag().values()), sum(group.lag(before=True).values())
        state = group.now.get("state", "not described")
        yield f"  {group.name[:32]:32} {group.shown()[:28]:28} {state[:22]:22} {len(group.members):7} {lag:12,} {lag - before:+9,}"
    for one in found:
        yield ""
        yield f"  {one.gravity.upper():8} {one.group}: {one.seen}"
        yield f"  {'':8} {one.do}"
    if not found:
        yield ""
        yield "  nothing was found to be wrong"
    link = _link(groups[0]) if len(groups) == 1 else None
    if link is not None:
        yield ""
        yield "  what a rolling restart of this group costs, in the simulator's lab (its members, topics and protocol; timeouts by default):"
        yield f"  rebalance-kit lab {link}"


def _link(group: Group) -> str | None:
    """A link to the group's shape, where it makes one."""
    made = scenario_of(group)
    try:
        return None if made is None else write_link(Link(made))
    except LinkError:
        return None
