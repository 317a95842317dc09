"""What cannot be done in reasonable time is refused before it starts."""

from __future__ import annotations

import json
import os
import re

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.scenario_space import Space
from rebalance_kit.analysis.search import broken_invariant, find
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import look
from rebalance_kit.simulation.scenario.checks import MOST_STEPS, most_steps
from rebalance_kit.simulation.simulate import simulate
from tests.support.bad_input.command import assert_refused, ended

PATTERNS = ("(a+)+$", "(a*)*", "(a+b)*c", "(?:a{1,9}){2,}", r"(\w+\s?)*$")
HARMLESS = ("orders.*", "(a|b)+", "(orders|payments)-[0-9]+", "[(+)]*")
SWEEPS = {
    "seeds": ("--seeds", "1000000000"),
    "beyond": ("--seeds", "1000000000000000000"),
    "product": ("--seeds", "900000", "--set", "session.timeout.ms=6000,10000"),
    "no seeds": ("--seeds", "0"),
}
SPECS = {
    "protocols": "protocols: 5",
    "seeds": "seeds: 1000000000000000000",
    "digits": "seeds: " + "9" * 5000,
    "text": "seeds: many",
    "deep": "set: " + "[" * 5000,
    "deeper": "set: " + "[" * 100_000,
    "date": "set: 2026-13-45",
    "alias": "set: &a [*a]",
}
LOG = (
    "[2026-11-21 02:15:18,894] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] Stabilized group "
    "orders-app generation 1 with 3 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)


def scenario(pattern):
    """A scenario whose member subscribes to a pattern, and a topic that many a pattern would try for ever on."""
    return f"topics: {{orders: 2, {'a' * 60}: 2}}\nmembers: [{{name: c1, pattern: '{pattern}'}}]\nend: 5s\n"


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_that_backtracks_is_refused(pattern, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(scenario(pattern), "utf-8")
    assert_refused(ended("run", path, "--one-run"), "s.yaml:2:", "can match a name in too many ways")


@pytest.mark.parametrize("pattern", HARMLESS)
def test_a_plain_pattern_is_taken(pattern, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(scenario(pattern), "utf-8")
    assert ended("run", path, "--one-run").status == 0


SIZES = {
    "partitions": ("{t: 20000}", "[{name: c1, topics: [t]}]", "60s"),
    "more partitions": ("{t: 200000}", "[{prefix: c, count: 200, topics: [t]}]", "60s"),
    "members": ("{t: 10}", "[{prefix: c, count: 10000, topics: [t]}]", "60s"),
    "a day": ("{t: 10}", "[{prefix: c, count: 100, topics: [t]}]", "24h"),
    "a week": ("{t: 10}", "[{prefix: c, count: 10, topics: [t]}]", "168h"),
}
"""Topics, members and end of scenarios that would be simulated for minutes."""


@pytest.mark.parametrize(("topics", "members", "end"), SIZES.values(), ids=SIZES)
def test_a_scenario_of_too_much_work_is_refused_with_the_bound(topics, members, end, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(f"topics: {topics}\nmembers: {members}\nend: {end}\n", "utf-8")
    assert_refused(ended("run", path), "s.yaml:3:", "expected at most 60", "REBALANCE_KIT_MOST_SECONDS")


def test_the_bound_of_work_is_raised_by_the_environment(tmp_path, monkeypatch):
    path = tmp_path / "s.yaml"
    path.write_text("topics: {t: 9000}\nmembers: [{name: c1, topics: [t]}]\nend: 100ms\n", "utf-8")
    monkeypatch.setenv("REBALANCE_KIT_MOST_SECONDS", "0.01")
    assert_refused(ended("run", path, "--one-run"), "expected at most 0")
    monkeypatch.setenv("REBALANCE_KIT_MOST_SECONDS", "1")
    assert ended("run", path, "--one-run").status == 0
    monkeypatch.setenv("REBALANCE_KIT_MOST_SECONDS", "many")
    assert_refused(ended("run", path, "--one-run"), "'many'; expected seconds of simulation")


def test_a_sticky_leader_with_old_metadata_is_no_finding_of_the_search():
    assert find(Space(), seed=1, budget=1, predicate=broken_invariant) is None
    assert broken_invariant(simulate(scenarios.load("defect-sticky-stale-leader"))) is None
    assert check(simulate(scenarios.load("defect-sticky-stale-leader")))


@pytest.mark.parametrize("words", SWEEPS.values(), ids=SWEEPS)
def test_a_sweep_beyond_the_bound_is_refused_before_spark_starts(words):
    assert_refused(ended("sweep", "--scenario", "crash", *words), "expected at")


@pytest.mark.parametrize("line", SPECS.values(), ids=SPECS)
def test_a_spec_that_cannot_be_is_refused_before_spark_starts(line, tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text(f"scenarios: [crash]\n{line}\n", "utf-8")
    assert_refused(ended("sweep", path), "expected")


@pytest.mark.parametrize("idle", ["nan", "-1", "0", "inf"])
def test_watch_refuses_a_time_that_never_ends(idle, tmp_path):
    assert_refused(ended("watch", tmp_path, "--idle", idle), "--idle", "expected seconds")


@pytest.mark.parametrize(
    "at",
    [
        "2026-02-30 02:15:18,894",
        "2026-13-01 02:15:18,894",
        "2026-11-00 02:15:18,894",
        "2026-11-21 25:00:18,894",
        "2026-11-21 09:61:18,894",
        "2026-11-21 09:00:60,894",
        "0000-01-01 00:00:00,000",
    ],
)
def test_a_line_of_no_moment_is_rejected_with_the_reason(at, tmp_path):
    path = tmp_path / "broker.log"
    path.write_text(LOG + LOG.replace("2026-11-21 02:15:18,894", at), "utf-8")
    result = look([path])
    assert [(row["line"], row["why"]) for row in result.rows("rejected")] == [
        (2, f"no such date or time: {at}")
    ]


ARABIC, FULL = ("".join(chr(zero + digit) for digit in range(10)) for zero in (0x660, 0xFF10))
TIMES = (
    LOG,
    '%7|1795229275.890|JOIN|c1#consumer-1| [thrd:main]: Group "g": join with 2 subscribed topic(s)\n',
    '{"@timestamp": "2026-11-21T02:15:18.894Z", "message": "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 7"}\n',
    "2026-11-21T02:15:18.894Z stdout F [Consumer clientId=c1, groupId=g] Successfully joined group with generation 7\n",
    "Nov 21, 2026 @ 02:15:18.894 [Consumer clientId=c1, groupId=g] Successfully joined group with generation 7\n",
)


@pytest.mark.parametrize("line", TIMES, ids=["kafka", "librdkafka", "JSON", "container", "Kibana"])
@pytest.mark.parametrize("digits", [ARABIC, FULL], ids=["Arabic", "full width"])
def test_a_time_in_the_digits_of_another_script_is_read(line, digits, tmp_path):
    times, end = (
        [],
        re.search(r"\d\d\.?,?\d{3}", line).end(),
    )  # of the time; numbers behind it are the message's
    for text in (line, re.sub(r"[0-9]", lambda found: digits[int(found[0])], line[:end]) + line[end:]):
        (tmp_path / "broker.log").write_text(text, "utf-8")
        (event,) = look([tmp_path / "broker.log"]).rows("events")
        times.append(event["at_ms"])
    assert times[0] == times[1]
    assert times[0] is not None


@pytest.mark.parametrize(
    "at", ["yesterday", "21.11.2026", "25:00", "٣٠ فبراير", "Feb 30, 2026 @ 02:15:18.894", "nan"]
)
def test_a_time_that_nobody_can_read_is_rejected_with_the_reason(at, tmp_path):
    said = "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 7"
    (tmp_path / "a.log").write_text(json.dumps({"@timestamp": at, "message": said}) + "\n", "utf-8")
    (row,) = look([tmp_path / "a.log"]).rows("rejected")
    assert row["why"].startswith("no ")
    assert row["why"].endswith(at)


@pytest.mark.parametrize("kind", ["pipe", "zero", "loop", "dangling"])
def test_what_is_no_file_in_a_folder_of_logs_is_passed_over(kind, tmp_path):
    (tmp_path / "broker.log").write_text(LOG, "utf-8")
    path = tmp_path / "x.log"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to({"zero": "/dev/zero", "loop": path, "dangling": tmp_path / "gone"}[kind])
    result = ended("logs", tmp_path, "--all")
    assert result.status == 0, result.error
    assert "1 parsed" in result.out


@pytest.mark.parametrize("step", [10**9, 1_000_000, 1_000_001, 65_536, 777_777])
@pytest.mark.parametrize("tail", ["", f"\n{LOG}"], ids=["at the end", "in between"])
def test_of_a_line_that_is_too_long_only_the_beginning_is_held(step, tail):
    data = f"{LOG}{'x' * 2_500_000}{tail}".encode()
    reader, told, most = FileReader(Reading()), FileRead("run", "broker.log"), 0
    for place in range(0, len(data), step):
        reader.feed(told, data[place : place + step])
        most = max(most, len(told.rest))
    reader.end(told)
    assert most <= 1_000_001
    assert [row[:2] for row in told.rejected] == [(2, "line of 2500000 bytes; at most 1000000 are read")]
    assert (told.lines, told.parsed) == ((3, 2) if tail else (2, 1))


@pytest.mark.parametrize(
    ("pattern", "letters", "taken"),
    [
        ("orders-.*", 249, True),
        (".*-.*-.*-.*", 20, True),
        ("^(orders|payments)(-v[0-9]+)?$", 60, True),
        ("(a|a)*$", 60, False),
        ("((a+))+$", 40, False),
        ("a*" * 12 + "$", 90, False),
        ("a?" * 40 + "a" * 40, 40, False),
        ("(?=a*)*b", 40, False),
    ],
)
def test_the_ways_of_a_pattern_are_bounded(pattern, letters, taken):
    assert (most_steps(pattern, letters) <= MOST_STEPS) == taken
