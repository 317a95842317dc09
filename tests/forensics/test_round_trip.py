"""Logs of random runs, read by one Spark job, tell what the traces hold: rebalances, members' lives, partitions' rests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.support.pipeline import round_trip


@pytest.fixture(scope="module")
def runs(looked_at, table):
    """Of every run: its knowable trace, and the rows of the gold tables."""
    traces = looked_at.traces
    tables = {name: {run: [] for run in traces} for name in ("rebalances", "members", "gaps", "rejected")}
    for name, rows in tables.items():
        for row in table(name, "random"):
            if row["run"] in rows:
                rows[row["run"]].append(row)
    return {
        run: (round_trip.knowable(trace), {name: rows[run] for name, rows in tables.items()})
        for run, trace in traces.items()
    }


def test_no_line_that_the_kit_writes_is_rejected(runs):
    assert {run: tables["rejected"][:2] for run, (_, tables) in runs.items() if tables["rejected"]} == {}


def test_rebalances_read_from_logs_are_those_of_the_trace(runs):
    wrong, excused = {}, Counter()
    for run, (trace, tables) in runs.items():
        place = round_trip.same_place(trace)
        true = sorted(round_trip.true_rebalances(trace))
        seen = sorted(round_trip.told(tables["rebalances"], round_trip.REBALANCE), key=lambda row: row[:2])
        if len(true) != len(seen):
            wrong[run] = (len(true), len(seen))
            continue
        for one, other in zip(
            map(round_trip.as_logs_end_it, true, [*true[1:], None], seen), seen, strict=True
        ):
            if _placed(one, place) == _placed(other, place):
                continue
            reason = next(
                (
                    rule.__name__
                    for rule in (round_trip.looks_joined, round_trip.overtaken)
                    if rule(trace, one, other)
                ),
                None,
            )
            if reason is None or _but_for_the_cause(one) != _but_for_the_cause(other):
                wrong.setdefault(run, []).append((one, other))
            else:
                excused[reason] += 1
    assert wrong == {}
    assert sum(excused.values()) <= 4, f"what no log can tell became frequent: {excused}"


def _placed(row, place):
    return tuple(place(value) if at == round_trip.CULPRIT else value for at, value in enumerate(row))


def _but_for_the_cause(row):
    return tuple(value for at, value in enumerate(row) if at not in {round_trip.TRIGGER, round_trip.CULPRIT})


def test_members_lives_read_from_logs_are_those_of_the_trace(runs):
    wrong = {}
    for run, (trace, tables) in runs.items():
        place = round_trip.same_place(trace)
        true = {(*row[:2], place(row[2]), *row[3:]) for row in round_trip.true_lives(trace)}
        seen = {
            (*row[:2], place(row[2]), *row[3:]) for row in round_trip.told(tables["members"], round_trip.LIFE)
        }
        if true != seen:
            wrong[run] = (true - seen, seen - true)
    assert wrong == {}


def _but_for_a_session_begun_anew(row):
    """Without the beginning of an expired owner's gap: logs know better where a join phase began its session anew."""
    return row if row[-1] != "expired" else (*row[:2], 0, *row[3:])


def test_rests_of_partitions_read_from_logs_are_those_of_the_trace(runs):
    wrong = {}
    for run, (trace, tables) in runs.items():
        true, seen = (
            sorted(map(_but_for_a_session_begun_anew, round_trip.true_rests(trace))),
            sorted(map(_but_for_a_session_begun_anew, round_trip.told(tables["gaps"], round_trip.REST))),
        )
        if true != seen:
            wrong[run] = (true[:5], seen[:5])
    assert wrong == {}


def test_a_record_counts_what_the_trace_counts(looked_at):
    lines, traces = looked_at.groups, looked_at.traces
    told = {}
    for line in lines:
        run = Path(line["path"]).name
        if run in traces:
            line["expired_members"] = sorted(set(line["expired_members"]))
            told[run, line["group"]] = line
    true = {key: round_trip.counts(traces[key[0]], key[1]) for key in told}
    assert {key: {name: told[key][name] for name in true[key]} for key in told} == true
    assert len(told) > len(traces)


def test_the_runs_show_every_kind_of_rebalance_that_is_compared(runs):
    traces = [trace for trace, _ in runs.values()]
    triggers = Counter(
        row[round_trip.TRIGGER] for trace in traces for row in round_trip.true_rebalances(trace)
    )
    wanted = {
        "join",
        "leave",
        "poll_timeout",
        "admin_removal",
        "session_expired",
        "follow_up",
        "metadata_changed",
        "subscription_changed",
        "enforced",
    }
    assert wanted <= set(triggers)
    assert {action.do for number in round_trip.RUNS for action in round_trip.scenario(number).actions} == set(
        round_trip.KINDS
    )
    assert {row[2] for trace in traces for row in round_trip.true_rebalances(trace)} == {
        "classic",
        "consumer",
    }
    assert len({row.detail["group"] for trace in traces for row in trace.of("process_started")}) == 2
