"""librdkafka's log of a run: every line has a recorded form, and a repeated run says the same about its group in the same order."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from string import Formatter

import pytest

from rebalance_kit import scenarios
from rebalance_kit.logs.client_templates import LIBRDKAFKA
from rebalance_kit.logs.write import member_lines
from rebalance_kit.recordings.folder import RECORDED, _members, parse_line, read_run, run_names, unpack
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate

MASKS = tuple(
    (re.compile(pattern), text)
    for pattern, text in (
        (r"[\w.-]+-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID"),
        (r"(?<![\w+/=-])[\w+/-]{22}(?![\w+/-])", "ID"),
        (r'"orders[^"]*"|"\(null\)\(ID\)[^"]*"', '"PARTS"'),
        (r"127\.0\.0\.1:\d+", "BROKER"),
        (r"c\d#", "C#"),
        (r"initialized .*", "initialized"),
        (r"-?\d+(?:\.\d+)?", "N"),
    )
)
TELLING = (
    "JOINGROUP",
    "SYNCGROUP",
    "ASSIGNOR",
    "REBALANCE",
    "REJOIN",
    "COOPASSIGN",
    "CGRPJOINSTATE",
    "LEAVE",
    "MEMBERID",
    "UNSUBSCRIBE",
    "CGRPSTATE",
)
PLAN = re.compile(r"delegating|application \*assign|new assignment|treating assign")
STARTING_MS = 3_000
"""How a client looks for its coordinator and for metadata differs from start to start."""


def normal(level, facility, message):
    text = f"{level} {facility} {message}"
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text


@pytest.fixture(scope="module")
def recorded_forms():
    runs = {name for name in run_names() if name.startswith("rd-")}
    forms = set()
    for name, data in _members(RECORDED, runs):
        if name.endswith(".log") and not name.endswith("broker.log"):
            for text in data.decode("utf-8", "replace").splitlines():
                line = parse_line(text)
                if line is not None:
                    facility, _, message = line.text.partition(" ")
                    forms.add(normal(line.level, facility, message))
    return frozenset(forms)


def rendered(trace):
    return [(name, line) for name in trace.meta["members"] for line in member_lines(trace, name)]


def made(protocol, *actions, callback="default"):
    classic = {
        "session.timeout.ms": 10_000,
        "partition.assignment.strategy": "range" if protocol == "eager" else "cooperative-sticky",
    }
    configs = {"group.protocol": "consumer"} if protocol == "consumer" else classic
    members = [
        MemberSpec(
            f"c{place}", ("orders",), configs, start_ms=100 * place, client="librdkafka", callback=callback
        )
        for place in (1, 2, 3)
    ]
    return Scenario(
        "native",
        (TopicSpec("orders", 6),),
        (*members[:2], replace(members[2], start_ms=20_000)),
        actions,
        end_ms=70_000,
    )


@pytest.mark.parametrize("callback", ["default", "wrong"])
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_every_line_has_the_form_of_a_recorded_one(recorded_forms, protocol, callback):
    scenario = made(protocol, Action(40_000, "crash", "c1"), Action(60_000, "close", "c2"), callback=callback)
    lines = rendered(simulate(scenario))
    assert len(lines) > 100
    stray = {
        form
        for _, line in lines
        if (form := normal(line.level, line.logger.partition("|")[0], line.message)) not in recorded_forms
    }
    assert sorted(stray) == []


def told(lines, after_ms):
    """What the lines tell of the group, without what differs from start to start."""
    return [
        text
        for at_ms, facility, text in lines
        if at_ms > after_ms and (facility in TELLING or PLAN.search(text))
    ]


@pytest.mark.parametrize(
    ("run", "name"),
    [
        ("rd-leave.eager.4.3.1", "c1"),
        ("rd-leave.eager.4.3.1", "c3"),
        ("rd-leave.cooperative.4.3.1", "c2"),
        ("rd-leave.cooperative.4.3.1", "c3"),
        ("rd-wrong-callback.cooperative.4.3.1", "c1"),
        ("rd-leave.consumer.4.3.1", "c1"),
        ("rd-poll-timeout.eager.4.3.1", "c1"),
        ("rd-poll-timeout.cooperative.4.3.1", "c3"),
    ],
)
def test_a_repeated_run_tells_the_same_of_the_group_in_the_same_order(tmp_path, run, name):
    unpack(tmp_path, [run])
    record = read_run(tmp_path / run)
    theirs = []
    for line in record.members[name]:
        facility, _, message = line.text.partition(" ")
        if line.t < record.stop and known(message):
            theirs.append((line.t - record.begin, facility, normal(line.level, facility, message)))
    expected = told(theirs, STARTING_MS)
    assert len(expected) > 15
    scenario = repeat(record).scenario
    draws = (
        spoken(simulate(scenario, seed), name, record.stop - record.begin) for seed in range(1, 6)
    )  # races: one draw must agree
    assert expected in draws


def spoken(trace, name, until_ms):
    lines = [
        (line.at_ms, line.logger.partition("|")[0], line)
        for line in member_lines(trace, name)
        if line.at_ms < until_ms
    ]
    return told(
        [(at_ms, facility, normal(line.level, facility, line.message)) for at_ms, facility, line in lines],
        STARTING_MS,
    )


KNOWN = tuple(
    re.compile(
        "".join(
            re.escape(literal) + ("" if value is None else ".*?")
            for literal, value, _, _ in Formatter().parse(form.text)
        ),
        re.DOTALL,
    )
    for form in LIBRDKAFKA.values()
)


def known(message):
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:9092", re.sub(r"^\[thrd:\w+\]: ", "", message))
    return any(pattern.fullmatch(text) for pattern in KNOWN)


@pytest.mark.parametrize(("partitions", "size"), [(6, 46), (4, 38), (2, 30)])
def test_an_answer_to_sync_group_has_the_size_of_its_bytes(partitions, size):
    scenario = replace(
        made("eager"), members=made("eager").members[:1], topics=(TopicSpec("orders", partitions),)
    )
    answers = [
        line.message for line in member_lines(simulate(scenario), "c1") if line.logger.startswith("SYNCGROUP")
    ]
    assert answers == [f"[thrd:main]: SyncGroup response: Success ({size} bytes of MemberState data)"]


def test_a_wrong_call_leaves_the_join_state_waiting():
    lines = [line.message for line in member_lines(simulate(made("cooperative", callback="wrong")), "c1")]
    place = next(index for index, text in enumerate(lines) if "*assign() call failed" in text)
    later = [text for text in lines[place:] if "join-state" in text or "join state" in text]
    assert later
    assert not any("steady" in text for text in later)


def test_a_member_that_polls_too_late_says_so_and_loses_everything():
    scenario = made("eager", Action(30_000, "stall", "c1", {"for_ms": 30_000}))
    scenario = replace(
        scenario,
        members=tuple(
            replace(one, configs={**one.configs, "max.poll.interval.ms": 12_000}) for one in scenario.members
        ),
    )
    lines = list(member_lines(simulate(scenario), "c1"))
    first = next(line for line in lines if line.level == "4")
    assert first.logger == "MAXPOLL|c1#consumer-1"
    said = "[thrd:main]: Application maximum poll interval (12000ms) exceeded by "
    assert first.message.startswith(said)
    over_ms = int(first.message.removeprefix(said).split("ms")[0])
    assert first.at_ms == 30_000 + 12_000 + over_ms
    assert over_ms > 0
    assert any(line.logger.startswith("LOST|") for line in lines)


def test_lives_of_different_clients_each_speak_their_own_language():
    native = made("eager").members[0]
    java = {"client": "java", "configs": {"session.timeout.ms": 10_000}}
    scenario = replace(
        made("eager", Action(25_000, "close", "c1"), Action(30_000, "start", "c1", java)), members=(native,)
    )
    lines = list(member_lines(simulate(scenario), "c1"))
    assert Counter(line.level.isdigit() for line in lines if line.at_ms < 29_000) == {
        True: sum(line.at_ms < 29_000 for line in lines)
    }
    assert {line.level for line in lines if line.at_ms >= 30_000} == {"INFO"}


def test_scenarios_of_the_kit_have_no_native_member_without_a_log():
    for name in scenarios.names():
        scenario = scenarios.load(name)
        native = [
            spec.name
            for spec in scenario.members
            if spec.client == "librdkafka" and spec.start_ms is not None
        ]
        if native:
            trace = simulate(scenario)
            assert all(any(member_lines(trace, one)) for one in native), name
