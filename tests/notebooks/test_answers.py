"""Sentences of the notebooks that no cell shows: the folded answers below labs, each tried in the lab's engine."""

from __future__ import annotations

from collections import defaultdict
from statistics import quantiles

import pytest

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook import longest_without_records, quiet, run, with_configs
from rebalance_kit.recordings.folder import MORE, RECORDED, read_run, run_names, unpack
from rebalance_kit.recordings.replay import percentiles
from rebalance_kit.scenarios import load, scenario
from rebalance_kit.view.lab.widget import Lab
from tests.support.paths import ROOT


def source(stem):
    (path,) = (ROOT / "notebooks" / "src").rglob(f"{stem}.py")
    return " ".join(path.read_text("utf-8").replace("\n#", " ").split())


def generations(trace: Trace, since_ms: int) -> int:
    return sum(row.at_ms >= since_ms for row in trace.of("generation"))


def test_01_a_newcomer_that_starts_with_a_leave_makes_a_second_rebalance():
    assert "1. Two. The survivors' heartbeats come 0.4 s after this leave" in source(
        "01-why-rebalances-happen"
    )
    lab = Lab("leave", "eager")
    left = next(row.at_ms for row in lab.trace.of("action"))
    ended = next(row.at_ms for row in lab.trace.of("generation") if row.at_ms > left)
    assert ended - left == pytest.approx(400, abs=50)
    lab.at(left + 500)
    lab.add()
    assert metrics(lab.trace).rebalances == 2


def test_01_a_leave_just_behind_the_heartbeats_and_a_newcomer_make_one_rebalance():
    assert "If the leave came just after their heartbeats, it would be one" in source(
        "01-why-rebalances-happen"
    )
    lab = Lab(quiet("leave"), "eager", at_ms=32_000)
    lab.leave("consumer-2")
    lab.at(32_500)
    lab.add()
    assert metrics(lab.trace).rebalances == 1


def test_01_a_second_crash_before_the_return_makes_the_healthy_member_wait_for_the_later_session():
    assert "reads nothing for 39 s, not 27 s" in source("01-why-rebalances-happen")
    waits = []
    for crashed in ((), ("consumer-1",)):
        lab = Lab("recovered-member", "eager")
        lab.at(max(row.at_ms for row in lab.trace.of("process_started")) - 3_000)
        for name in crashed:
            lab.crash(name)
        waits.append(max(gap.length_ms for gap in gaps(lab.trace, 30_000) if gap.before == "consumer-3"))
    assert waits == [pytest.approx(27_000, abs=500), pytest.approx(39_000, abs=500)]


def test_01_a_crash_and_a_return_after_the_session_each_stop_the_healthy_members_for_a_fraction_of_a_second():
    assert "and each would have stopped the healthy pods for a fraction of a second" in source(
        "01-why-rebalances-happen"
    )
    late = scenario("""
scenario: late-return
topics: {orders: 6}
end: 110s
configs: {auto.offset.reset: earliest}
members: {count: 3, prefix: consumer-, topics: [orders]}
actions: [{at: 30s, do: crash, member: consumer-2}, {at: 85s, do: start, member: consumer-2}]
""")
    stopped = [gap for gap in gaps(run(late, "eager"), 30_000) if gap.before == gap.after == "consumer-1"]
    assert {gap.from_ms > 85_000 for gap in stopped} == {True, False}
    assert max(gap.length_ms for gap in stopped) < 1_000


def test_02_a_restart_does_not_end_the_wait_for_a_dead_member():
    assert "1. No. The restarted process is a new member" in source("02-eager")
    without = run("crash-in-hand-over", "eager")
    lab = Lab("crash-in-hand-over", "eager", at_ms=36_000)
    lab.restart("consumer-2")
    ends = [
        next(row.at_ms for row in trace.of("generation") if row.at_ms > 36_000)
        for trace in (without, lab.trace)
    ]
    assert abs(ends[0] - ends[1]) < 1_000
    assert min(ends) > 34_300 + 40_000


@pytest.mark.parametrize(("distance_s", "expected"), [(1, 1), (2, 3)])
def test_03_two_restarts_take_one_generation_a_second_apart_and_three_two_seconds_apart(distance_s, expected):
    assert "One generation if the restarts are one second apart, three if they are two." in source(
        "03-cooperative"
    )
    lab = Lab(quiet("crash"), "cooperative", at_ms=26_000)
    lab.restart("consumer-1")
    lab.at(26_000 + 1000 * distance_s)
    lab.restart("consumer-2")
    assert generations(lab.trace, 26_000) == expected


def test_03_members_ask_when_the_task_says():
    text = source("03-cooperative")
    assert "`consumer-1` asks to join again after 2.4 s and `consumer-2` after 1.7 s." in text
    assert "`consumer-3` asks at its next heartbeat, 2.8 s after the first restart." in text
    lab = Lab(quiet("crash"), "cooperative", at_ms=26_000)
    lab.restart("consumer-1")
    lab.at(27_000)
    lab.restart("consumer-2")
    joins = [
        row for row in lab.trace.of("request") if row.at_ms > 26_000 and row.detail["api"] == "JoinGroup"
    ]
    asked = {row.actor: row.at_ms for row in joins}
    assert asked["consumer-1"] == pytest.approx(28_400, abs=50)
    assert asked["consumer-2"] == pytest.approx(27_000 + 1_700, abs=50)
    assert asked["consumer-3"] == pytest.approx(28_800, abs=50)


def test_a_frozen_member_delays_only_what_it_holds_and_everyone_under_eager():
    text = source("04-kip-848")
    assert "more than forty seconds without a single record" in text
    assert "It gets its other partition from `consumer-1` within seconds." in text
    third_joins = scenario("""
scenario: third-joins
title: A third consumer joins
topics: {orders: 6}
end: 110s
configs: {auto.offset.reset: earliest, group.protocol: consumer}
members:
  - {count: 2, prefix: consumer-, start: {about: 3s, within: 3s}, topics: [orders]}
  - {name: consumer-3, topics: [orders], start: {about: 33s, within: 3s}}
""")
    waits = {}
    for protocol in ("consumer", "eager"):
        lab = Lab(third_joins, protocol, at_ms=33_300)
        lab.freeze("consumer-2")
        waits[protocol] = {
            name: longest_without_records(lab.trace, name, 33.3) for name in ("consumer-1", "consumer-3")
        }
    assert waits["eager"]["consumer-1"] > 40
    assert waits["consumer"]["consumer-1"] == 0
    assert waits["consumer"]["consumer-3"] < 10


def test_05_a_session_of_ten_seconds_moves_detection_by_thirty_five_and_nothing_else():
    assert "35 s earlier" in source("05-three-protocols")
    long, short = (
        metrics(run(crash, "eager"))
        for crash in (load("crash"), with_configs("crash", {"session.timeout.ms": 10_000}))
    )
    assert long.detect_s - short.detect_s == pytest.approx(35, abs=0.5)
    assert (long.partitions_unread, long.partitions_moved) == (
        short.partitions_unread,
        short.partitions_moved,
    )
    assert long.group_gap_s == pytest.approx(short.group_gap_s, abs=0.2)


def test_eighteen_exercises_come_with_the_kit():
    assert "Eighteen exercises come with the kit." in source("11-gaps-storms-culprits")
    assert len(list((ROOT / "exercises" / "spark").glob("[0-9]*"))) == 18


def test_a_sweeps_freezes_last_one_to_sixty_seconds():
    from rebalance_kit.pipeline.sweep.grid import FREEZE_MS

    assert "for 1 to 60 seconds" in source("12-a-thousand-runs")
    assert FREEZE_MS == (1_000, 60_000)


def test_05_recorded_freezes_repeat_what_the_text_says(tmp_path):
    names = [f"freeze.{protocol}.4.3.1" for protocol in ("eager", "cooperative", "consumer")]
    again = []
    for folder in unpack(tmp_path, names):
        cells = {cell.measure: cell for cell in percentiles(read_run(folder), 1)}
        again.append(cells["delivered again"].recorded)
    assert again == [480, 460, 44]


WITH_NEWCOMERS = (
    "add-partitions",
    "admin-remove",
    "coordinator-restart",
    "crash",
    "crash-2x4",
    "duplicate-instance",
)
WITH_NEWCOMERS += ("freeze", "join", "leave", "nine-members", "poll-timeout", "static-restart")
MORE_NEWCOMERS = ("rolling-restart", "scale-out-in", "twelve-members")


def waits_of_newcomers(run):
    """For each newcomer that gets what others gave up: the longest time between their callbacks, in seconds."""
    stops = [step["t"] for step in run.steps if step.get("line", "").startswith("close")]
    shutdown = min((at for at in stops if max(stops) - at < 1_500), default=float("inf"))
    given_up, owns, waits = {}, defaultdict(set), []
    for row in run.truth:
        if row["t"] >= shutdown:
            break
        had, parts = set(owns[row["by"]]), set(row.get("partitions", ()))
        if row["kind"] in {"revoked", "lost"}:
            given_up |= dict.fromkeys(parts, row)
            owns[row["by"]] -= parts
        elif row["kind"] == "start":
            owns[row["by"]] = set()
        elif row["kind"] == "assigned":
            before = [given_up.pop(part) for part in parts if part in given_up]
            asked = [one for one in before if one["kind"] == "revoked" and one["by"] != row["by"]]
            owns[row["by"]] |= parts
            if asked and not had:
                waits.append(max(row["t"] - one["t"] for one in asked) / 1000)
    return waits


def test_05_all_recorded_newcomers_wait_as_long_as_the_text_says(tmp_path):
    found = {"cooperative": [], "consumer": []}
    for folder, scenarios in ((RECORDED, WITH_NEWCOMERS), (MORE, MORE_NEWCOMERS)):
        names = [name for name in run_names(folder) if name.split(".")[0] in scenarios]
        names = [name for name in names if name.split(".")[1] in found]
        for each in unpack(tmp_path, names, folder):
            run = read_run(each)
            found[run.protocol] += waits_of_newcomers(run)
    text = source("05-three-protocols")
    for protocol, waits in found.items():
        lower, middle, upper = quantiles(waits, n=4)
        name = {"consumer": "KIP-848"}.get(protocol, protocol)
        assert f"- {name}: {len(waits)} newcomers, {middle:.1f} s ({lower:.1f} to {upper:.1f})" in text
