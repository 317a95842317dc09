"""What each story of the kit tells is what its run shows."""

from dataclasses import replace
from functools import cache

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.ownership import owned_at
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Action
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.lab.lessons import lesson_of

CLASSIC = ("eager", "cooperative")
INCREMENTAL = ("cooperative", "consumer")
three = pytest.mark.parametrize("protocol", THREE_PROTOCOLS)


@cache
def run(name, protocol=None):
    return simulate(scenarios.load(name), protocol=protocol)


def agreed(trace, since=0):
    """Times of new generations or epochs."""
    return [row.at_ms for row in trace.of("generation", "epoch_bump") if row.at_ms > since]


def calls(trace, callback, since=0, actor=None):
    """(time, actor, partitions) of a callback's calls."""
    return [
        (row.at_ms, row.actor, row.detail["partitions"])
        for row in trace.of("callback_begin")
        if row.detail["callback"] == callback and row.at_ms > since and actor in {None, row.actor}
    ]


def begins(trace):
    """When the story's event happens: its first action, or the start of the member that comes late."""
    acted = [row.at_ms for row in trace.of("action")]
    return acted[0] if acted else max(row.at_ms for row in trace.of("process_started"))


def given_up(trace, since, until=10**9):
    """Partitions that their owners were called to give up."""
    return {one for at, _, partitions in calls(trace, "revoked", since) if at < until for one in partitions}


def removed(trace, name):
    return [row.at_ms for row in trace.of("member_removed") if row.detail["name"] == name]


def orders(*numbers):
    return [f"orders-{number}" for number in numbers]


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_has_a_title_and_a_story_of_two_to_five_sentences(name):
    scenario = scenarios.load(name)
    assert scenario.name == name and scenario.title
    assert 2 <= scenario.story.count(". ") + 1 <= 5 and scenario.story.endswith(".")


@pytest.mark.parametrize("name", scenarios.names())
def test_every_scenario_runs_to_its_end_in_every_protocol_and_nobody_dies_untold(name):
    lesson = lesson_of(name)
    for protocol in (None,) if scenarios.load(name).chooses_protocol() else THREE_PROTOCOLS:
        trace = run(name, protocol)
        assert trace.rows[-1].kind == "run_end"
        died = {row.actor for row in trace.of("died")}
        told = set(lesson.dies[protocol or "eager"])
        assert died == told, (
            f"scenarios/{name}.yaml, lesson.dies, tells of {told} under {protocol}, the run of {died}"
        )


def test_an_unknown_scenario_is_refused_with_the_nearest_ones():
    with pytest.raises(ScenarioError, match=r"'two-consumer-crash'.*two-consumers-crash"):
        scenarios.load("two-consumer-crash")


@three
def test_two_consumers_crash(protocol):
    trace = run("two-consumers-crash", protocol)
    assert owned_at(trace, begins(trace) - 1) == {"consumer-1": orders(0, 1), "consumer-2": orders(2, 3)}
    (expired,) = removed(trace, "consumer-1")
    assert begins(trace) + 40_000 <= expired <= begins(trace) + 46_000
    assert given_up(trace, begins(trace)) == (set(orders(2, 3)) if protocol == "eager" else set())
    assert owned_at(trace, 119_000)["consumer-2"] == orders(0, 1, 2, 3)


@three
def test_a_to_b_move(protocol):
    trace = run("a-to-b-move", protocol)
    before, after = owned_at(trace, begins(trace) - 1), owned_at(trace, 74_000)
    assert before == {"A": orders(0, 1), "B": orders(2, 3)}
    moved = set(after["B"]) - set(before["B"])
    assert {"audits-0", "audits-1"} <= set(after["A"])
    if protocol == "eager":
        assert not moved and given_up(trace, begins(trace)) == set(orders(0, 1, 2, 3))
    else:
        assert len(moved) == 1 and given_up(trace, begins(trace)) == moved <= set(orders(0, 1))
    if protocol == "cooperative":
        assert len(agreed(trace, begins(trace))) == 2


@three
def test_fifty_by_five_hundred(protocol):
    trace = run("fifty-by-five-hundred", protocol)
    before = owned_at(trace, begins(trace) - 1)
    assert len(before) == 50 and {len(partitions) for partitions in before.values()} == {10}
    stopped = given_up(trace, begins(trace))
    if protocol == "eager":
        assert len(stopped) == 500 and all(
            len([1 for _, who, _ in calls(trace, "revoked", begins(trace), name)]) == 2
            for name in before
            if name != "consumer-17"
        )
    else:
        assert len(stopped) <= 30


@three
def test_restaurant(protocol):
    trace = run("restaurant", protocol)
    before = owned_at(trace, begins(trace) - 1)
    assert {name: len(tables) for name, tables in before.items()} == {
        "ana": 4,
        "ben": 4,
        "chloe": 4,
        "dan": 4,
    }
    others = {table for name in ("ana", "ben", "chloe") for table in before[name]}
    assert given_up(trace, begins(trace)) & others == (others if protocol == "eager" else set())
    assert sum(len(tables) for name, tables in owned_at(trace, 59_000).items() if name != "dan") == 16


@three
def test_join(protocol):
    trace = run("join", protocol)
    assert len(owned_at(trace, 59_000)["consumer-4"]) == 3
    assert len(given_up(trace, begins(trace))) == (12 if protocol == "eager" else 3)


@three
def test_leave(protocol):
    trace = run("leave", protocol)
    (gone,) = removed(trace, "consumer-2")
    assert begins(trace) < gone < begins(trace) + 1_000
    assert "commit" in {
        row.kind for row in trace.rows if row.actor == "consumer-2" and begins(trace) <= row.at_ms <= gone
    }
    assert any(
        owned_at(trace, gone + 50).get(name) != owned_at(trace, 59_000)[name]
        for name in ("consumer-1", "consumer-3")
    )


def test_crash_costs_all_three_protocols_about_the_same():
    gaps = []
    for protocol in THREE_PROTOCOLS:
        trace = run("crash", protocol)
        (expired,) = removed(trace, "consumer-2")
        assert begins(trace) + 40_000 <= expired <= begins(trace) + 46_000
        orphaned = set(owned_at(trace, begins(trace) - 1)["consumer-2"])
        regained = [
            at for at, _, partitions in calls(trace, "assigned", begins(trace)) if orphaned & set(partitions)
        ]
        gaps.append(max(regained) - begins(trace))
        assert sum(row.detail["redelivered"] for row in trace.of("account")) > 0
    assert max(gaps) - min(gaps) < 0.2 * max(gaps)


@three
def test_poll_timeout(protocol):
    trace = run("poll-timeout", protocol)
    (late,) = [row.at_ms for row in trace.of("poll_timeout")]
    assert begins(trace) + 11_900 <= late <= begins(trace) + 17_500
    (lost,) = calls(trace, "lost")
    assert lost[1] == "consumer-2" and lost[0] >= begins(trace) + 20_000
    assert len(owned_at(trace, 79_000)["consumer-2"]) == 2


@three
def test_partitions_added(protocol):
    trace = run("partitions-added", protocol)
    noticed = next(
        at
        for at, _, partitions in calls(trace, "assigned", begins(trace))
        if set(partitions) & set(orders(4, 5))
    )
    assert noticed < (begins(trace) + 6_500 if protocol == "consumer" else begins(trace) + 15_000)
    assert sorted(one for partitions in owned_at(trace, 69_000).values() for one in partitions) == orders(
        0, 1, 2, 3, 4, 5
    )


@three
def test_subscription_change(protocol):
    trace = run("subscription-change", protocol)
    assert agreed(trace, begins(trace))
    assert {one for one in owned_at(trace, 59_000)["consumer-2"] if one.startswith("payments")} == {
        f"payments-{n}" for n in range(4)
    }


@three
def test_recovered_member(protocol):
    trace = run("recovered-member", protocol)
    (expired,) = removed(trace, "consumer-2")
    assert begins(trace) + 40_000 <= expired <= begins(trace) + 46_000
    back = calls(trace, "assigned", begins(trace) + 15_000, "consumer-2")
    if protocol == "consumer":
        assert any(partitions for at, _, partitions in back if at < expired)
    else:
        assert all(at > expired for at, _, _ in back)
    stood = [
        at
        for at, _, partitions in calls(trace, "revoked", begins(trace) + 15_000, "consumer-1")
        if partitions
    ]
    if protocol == "eager":
        assert expired - stood[0] > 25_000
    if protocol == "cooperative":
        assert not stood


@pytest.mark.parametrize(
    "name", ["broker-restart", "coordinator-failover", "static-restart-in-time", "rolling-restart-static"]
)
@three
def test_nothing_is_agreed_anew_where_the_story_says_so(name, protocol):
    trace = run(name, protocol)
    assert agreed(trace, begins(trace) - 1_000) == []
    assert owned_at(trace, trace.end_ms) == owned_at(trace, begins(trace) - 1)


@three
def test_static_restart_too_late(protocol):
    trace = run("static-restart-too-late", protocol)
    (expired,) = removed(trace, "consumer-2")
    assert begins(trace) + 40_000 <= expired <= begins(trace) + 46_500
    assert any(expired <= at < begins(trace) + 69_000 for at in agreed(trace)) and any(
        at > begins(trace) + 70_000 for at in agreed(trace)
    )


@three
def test_duplicate_instance(protocol):
    (row,) = run("duplicate-instance", protocol).of("died")
    assert row.detail["error"] == (
        "UNRELEASED_INSTANCE_ID" if protocol == "consumer" else "FENCED_INSTANCE_ID"
    )


@three
def test_rolling_restart(protocol):
    trace = run("rolling-restart", protocol)
    assert len(agreed(trace, begins(trace))) >= 6


@three
def test_slow_callback(protocol):
    trace = run("slow-callback", protocol)
    newcomer = max(
        at for at, _, partitions in calls(trace, "assigned", begins(trace), "consumer-3") if partitions
    ) - begins(trace)
    fast = [at for at, _, partitions in calls(trace, "revoked", begins(trace), "consumer-1") if partitions]
    assert newcomer > 6_000
    if protocol == "eager":
        again = min(at for at, _, partitions in calls(trace, "assigned", fast[0], "consumer-1") if partitions)
        assert again - fast[0] > 5_000
    else:
        assert owned_at(trace, trace.end_ms)["consumer-1"] == sorted(
            set(owned_at(trace, begins(trace) - 1)["consumer-1"]) - given_up(trace, begins(trace))
        )


@three
def test_storm(protocol):
    trace = run("storm", protocol)
    stops = [at for at, _, partitions in calls(trace, "revoked", begins(trace), "consumer-3") if partitions]
    waits = [
        min((at for at, _, p in calls(trace, "assigned", stop, "consumer-3") if p), default=trace.end_ms)
        - stop
        for stop in stops
    ]
    if protocol == "eager":
        assert len(stops) >= 4 and max(waits) > 2_000
    else:
        assert all(
            row.detail["partitions"]
            for row in trace.of("owned")
            if row.actor == "consumer-3" and row.at_ms > begins(trace)
        )


@pytest.mark.parametrize("name", ["freeze", "network-cut"])
@three
def test_a_member_cut_off_learns_afterwards_that_it_has_lost_its_partitions(name, protocol):
    trace = run(name, protocol)
    (expired,) = removed(trace, "consumer-2")
    assert begins(trace) + 40_000 <= expired <= begins(trace) + 46_500
    (lost,) = calls(trace, "lost")
    assert lost[1] == "consumer-2" and lost[0] >= list(trace.of("action"))[1].at_ms


@three
def test_slow_consumer(protocol):
    thrown_out = [
        row for row in run("slow-consumer", protocol).of("poll_timeout") if row.actor == "consumer-2"
    ]
    assert len(thrown_out) >= 2


@three
def test_scale_out(protocol):
    trace = run("scale-out", protocol)
    assert sorted(len(partitions) for partitions in owned_at(trace, trace.end_ms).values()) == [2] * 6
    if protocol == "consumer":
        assert len([row for row in trace.of("target") if row.at_ms > begins(trace)]) < 4
    else:
        assert len(agreed(trace, begins(trace))) <= (1 if protocol == "eager" else 3)


def test_bounce_gone_wrong():
    trace = run("bounce-gone-wrong")
    (row,) = trace.of("died")
    assert row.detail["error"] == "INCONSISTENT_GROUP_PROTOCOL"
    assert {name for name, partitions in owned_at(trace, trace.end_ms).items() if partitions} == {
        "consumer-1",
        "consumer-3",
    }


def test_two_bounces():
    assignors = [
        row.detail["assignor"] for row in run("two-bounces").of("generation") if row.detail["members"]
    ]
    assert assignors[0] == "range" and assignors[-1] == "cooperative-sticky"
    flip = assignors.index("cooperative-sticky")
    assert set(assignors[flip:]) == {"cooperative-sticky"}


@three
def test_crash_in_hand_over(protocol):
    trace = run("crash-in-hand-over", protocol)
    (begun,) = [at for at, who, partitions in calls(trace, "revoked", 30_000, "consumer-2") if partitions]
    assert begun < 34_300 < begun + 3_000
    (expired,) = removed(trace, "consumer-2")
    newcomer = min(at for at, _, partitions in calls(trace, "assigned", 30_000, "consumer-3") if partitions)
    assert newcomer < expired - 25_000 if protocol == "consumer" else newcomer > expired


def test_migration():
    trace = run("migration")
    assert [row.detail["to"] for row in trace.of("group_converted")] == ["consumer"]
    assert all(len(partitions) == 2 for partitions in owned_at(trace, trace.end_ms).values())


def test_migration_undone():
    """The last KIP-848 member closes, and the group is classic again."""
    story = scenarios.load("migration")
    trace = simulate(
        replace(
            story,
            actions=(
                Action(
                    30_000,
                    "restart",
                    "consumer-1",
                    {"configs": {"group.protocol": "consumer"}, "after_ms": 2_000},
                ),
                Action(60_000, "close", "consumer-1"),
            ),
        )
    )
    assert [row.detail["to"] for row in trace.of("group_converted")] == ["consumer", "classic"]
    assert sorted(map(len, owned_at(trace, trace.end_ms).values())) == [3, 3]


@three
def test_skewed_range(protocol):
    trace = run("skewed-range", protocol)
    assert sorted(len(one) for one in owned_at(trace, 89_000).values()) == (
        [6, 6, 12] if protocol == "eager" else [8, 8, 8]
    )


@three
def test_regex_surprise(protocol):
    trace = run("regex-surprise", protocol)
    assert {one for partitions in owned_at(trace, 79_000).values() for one in partitions} >= {
        "orders-retry-0",
        "orders-retry-1",
    }
    assert begins(trace) < min(agreed(trace, begins(trace) - 1_000)) < begins(trace) + 11_000


def test_wrong_librdkafka_callback():
    trace = run("wrong-librdkafka-callback")
    assert not [row for row in trace.of("fetch_resumed") if row.actor == "consumer-3"]
    assert removed(trace, "consumer-3") == []
    last = list(trace.of("group_state"))[-1]
    assert last.detail["to"] == "PreparingRebalance" and last.at_ms < 40_000, "recorded on 4.3.1, too"
