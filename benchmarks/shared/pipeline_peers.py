"""The same question put to plain Python and to DuckDB: text of logs in, number of rebalances and of storms out.

Both apply the kit's layouts and its whole grammar to every line, and then the same rules: a rebalance is a
"Preparing to rebalance" or a bump of the epoch, a storm a spell of them in seven waves or more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from datetime import datetime
from pathlib import Path

from rebalance_kit.forensics.grammar.table import (
    CLUES,
    CLUES_AT_START,
    IN_MESSAGES,
    IN_UNLAID,
    MESSAGES,
    NOISE,
    UNLAID,
    Finder,
    parse_message,
)
from rebalance_kit.forensics.history.storms import WAVES
from rebalance_kit.forensics.lines.layouts import LAYOUTS

GAP_MS, TOGETHER_MS, CAUSE_MS = 60_000, 5_000, 1_000
JOINS, LEAVES = ("joins", "static_rejoins"), ("left", "epoch_left")

_CLIENT = re.compile(
    r"(?s)^\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ?(.*)$"
)
_BROKER = re.compile(r"^\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? ")
_LAYOUTS = [
    (re.compile(one.whole), one.groups("message"), one.groups("at")) for one in LAYOUTS if one.pattern
]


def with_python(files: list[Path]) -> tuple[int, int]:
    """Rebalances and storms, one line after the other."""
    groups: dict[tuple[Path, str], list[tuple[int, str, str]]] = defaultdict(list)
    for path in files:
        with path.open(encoding="utf-8", newline="\n") as stream:
            for raw in stream:
                line = raw.rstrip("\n")
                told = line.startswith(CLUES_AT_START) or any(clue in line for clue in CLUES)
                if not told or NOISE[0] in line:
                    continue
                message, at, finder = _message(line)
                found = parse_message(message, finder) if message else None
                if found and found.get("side") == "broker" and found.get("group") and at:
                    at_ms = round(datetime.fromisoformat(at.replace(",", ".") + "+00:00").timestamp() * 1000)
                    groups[path.parent, found["group"]].append(
                        (at_ms, found["event"], found.get("reason", ""))
                    )
    rebalances = storms = 0
    for events in groups.values():
        begun = list(_begun(events))
        rebalances += len(begun)
        storms += _storms(begun)
    return rebalances, storms


def _message(line: str) -> tuple[str, str, Finder]:
    for pattern, groups, times in _LAYOUTS:
        fit = pattern.match(line)
        if fit:
            message = "".join(fit[group] or "" for group in groups)
            client = _CLIENT.match(message)
            return (
                (client[4] if client else _BROKER.sub("", message)),
                "".join(fit[one] for one in times),
                IN_MESSAGES,
            )
    return line, "", IN_UNLAID


def _begun(events):
    """Start and trigger of each rebalance (the triggers that make waves; all others are one)."""
    cause, left = (0, ""), ""
    for at_ms, event, reason in sorted(events, key=lambda one: one[0]):
        if event == "preparing":
            lower = reason.lower()
            joining, leaving = lower.startswith("adding new member"), "leavegroup" in lower
            yield at_ms, "join" if joining else left if leaving else "other"
        elif event == "bumped":
            yield at_ms, cause[1] if at_ms - cause[0] <= CAUSE_MS else "other"
            cause = (at_ms, "other")
        elif event in LEAVES:
            left = "other" if "poll timeout" in reason or "by an admin" in reason else "leave"
        if event in JOINS or event in LEAVES or event in {"session_expired", "fenced", "transition_expired"}:
            cause = (at_ms, "join" if event in JOINS else left if event in LEAVES else "other")


def _storms(begun) -> int:
    found, waves, before = 0, 0, None
    for at_ms, trigger in begun:
        if before and at_ms - before[0] > GAP_MS:
            found, waves = found + (waves >= WAVES), 0
        one = (
            before
            and before[1] == trigger
            and trigger in {"join", "leave"}
            and at_ms - before[0] <= TOGETHER_MS
        )
        waves, before = waves + (not one), (at_ms, trigger)
    return found + (waves >= WAVES)


def with_duckdb(files: list[Path], threads: int) -> tuple[int, int]:
    """The same as one query."""
    import duckdb

    return duckdb.connect(config={"threads": threads}).execute(_query(files)).fetchone()


def _q(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _query(files: list[Path]) -> str:
    clues = " or ".join(
        [f"starts_with(text, {_q(clue)})" for clue in CLUES_AT_START]
        + [f"contains(text, {_q(clue)})" for clue in CLUES]
    )
    written = [one for one in LAYOUTS if one.pattern]
    layout = "".join(
        f"when {' or '.join(f'text like {_q(_like(shape))}' for shape in one.begins)} then {_q(one.name)} "
        for one in written
    )
    part = lambda name: "".join(  # noqa: E731
        f"when layout = {_q(one.name)} then "
        + (
            " || ".join(f"regexp_extract(text, {_q(one.whole)}, {place})" for place in one.groups(name))
            or "''"
        )
        + " "
        for one in written
    )
    branches = {table: _branches(table) for table in (MESSAGES, UNLAID)}
    field = lambda name: f"regexp_extract(fields, '\\x01{name}\\x02([^\\x01]*)', 1)"  # noqa: E731
    return f"""
    with lines as (select text, filename from read_csv({[str(path) for path in files]}, columns={{'text': 'varchar'}}, delim='\x07',
                   quote='', escape='', header=false, auto_detect=false, null_padding=true, filename=true)),
    hot as (select text, filename, row_number() over () as num, case {layout} end as layout from lines
            where ({clues}) and not contains(text, {_q(NOISE[0])})),
    heads as (select layout, filename, num, case {part("message")} else text end as message, case {part("at")} end as stamp from hot),
    bare as (select layout, filename, num, stamp, regexp_replace(regexp_replace(message, '^\\[Group(?:Coordinator|MetadataManager) [^\\]]*\\]:? ', ''),
             '(?s)^\\[(?:Consumer|Worker) (?:instanceId=.*?, )?clientId=.*?, groupId=.*?\\] ?', '') as message from heads),
    fields as materialized (select filename, num, stamp, case when layout is not null then case {branches[MESSAGES]} end
                            else case {branches[UNLAID]} end end as fields from bare),
    told as (select regexp_replace(filename, '/[^/]*$', '') as path, {field("group")} as grp, {field("event")} as event, {field("reason")} as reason,
             epoch_ms(cast(replace(stamp, ',', '.') as timestamp)) as at_ms, num
             from fields where starts_with(fields, chr(1)) and contains(fields, chr(1) || 'side' || chr(2) || 'broker') and {field("group")} <> ''),
    kinds as (select *, event in ('joins', 'static_rejoins') as joins, event in ('left', 'epoch_left') as leaves,
              if(contains(reason, 'poll timeout') or contains(reason, 'by an admin'), 'other', 'leave') as leave from told),
    marked as (select *, last_value(if(leaves, leave, null) ignore nulls) over behind as gone,
               last_value(if(joins or leaves or event in ('session_expired', 'fenced', 'transition_expired', 'bumped'),
                          {{'since': at_ms, 'what': if(joins, 'join', if(leaves, leave, 'other'))}}, null) ignore nulls) over behind as cause
               from kinds window behind as (partition by path, grp order by at_ms, num rows between unbounded preceding and 1 preceding)),
    begun as (select path, grp, at_ms, num, case
              when event = 'preparing' and lower(reason) like 'adding new member%' then 'join'
              when event = 'preparing' and contains(lower(reason), 'leavegroup') then coalesce(gone, '')
              when event = 'bumped' and at_ms - cause.since <= {CAUSE_MS} then cause.what else 'other' end as trig
              from marked where event in ('preparing', 'bumped')),
    waves as (select *, at_ms - lag(at_ms) over turn as gap, lag(trig) over turn as earlier from begun
              window turn as (partition by path, grp order by at_ms, num)),
    spells as (select *, sum(if(gap > {GAP_MS}, 1, 0)) over (partition by path, grp order by at_ms, num) as spell from waves),
    storms as (select path, grp, spell from spells group by all
               having sum(if(earlier = trig and trig in ('join', 'leave') and gap <= {TOGETHER_MS}, 0, 1)) >= {WAVES})
    select (select count(*) from begun), (select count(*) from storms)
    """


def _like(shape: str) -> str:
    return shape.replace("%", "_").replace("#", "_").replace("?", "_") + "%"


def _branches(table) -> str:
    parts = []
    for template in table:
        start, pieces = template.literals
        tests = [f"starts_with(message, {_q(start)})"] if start else []
        tests += [f"contains(message, {_q(piece)})" for piece in pieces]
        pairs = {"event": template.event, "side": template.side, **dict(template.given)}
        pairs |= {name: f"\\{place}" for place, name in enumerate(template.fields, start=1)}
        replacement = "\x01" + "\x01".join(f"{name}\x02{value}" for name, value in pairs.items())
        parts.append(
            f"when {' and '.join(tests)} then regexp_replace(message, {_q(template.pattern)}, {_q(replacement)}) "
        )
    return "".join(parts)
