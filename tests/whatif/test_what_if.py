"""From logs to a night, from a night to a scenario, and what is answered and refused."""

from __future__ import annotations

import gzip
import io
import json
import re
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import pytest

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.recordings.folder import unpack
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view import WhatIf
from rebalance_kit.whatif.alternatives import alternatives
from rebalance_kit.whatif.command import WANTED, Asked, Desk, run_what_if, runs_of
from rebalance_kit.whatif.lives import Ground
from rebalance_kit.whatif.read import nights
from rebalance_kit.whatif.scenario import commented, scenario_of, scenarios_of
from rebalance_kit.whatif.text import answer_lines, ask, target_of
from rebalance_kit.whatif.understanding import (
    Understanding,
    back_test,
    cost_in,
    cost_of,
    costs_of,
    first_deed,
    placed,
    under,
)

CRASH, STALL, STATIC = "crash.eager.4.3.1", "poll-timeout.eager.4.3.1", "static-restart.consumer.4.3.1"
FENCED, DELETED = "duplicate-instance.eager.4.3.1", "regex.consumer.4.3.1"
SLOW, RESTART = "slow-callback.consumer.4.3.1", "coordinator-restart.eager.4.3.1"
FIFTEEN = "static-restart.eager.4.3.1"
BLOCK = re.compile(rb"(?m)^.*(?:ConsumerConfig|KafkaConfig) values: *\n(?:[ \t].*\n)*")


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Logs alone of recorded runs."""
    place = tmp_path_factory.mktemp("recorded")
    wanted = (CRASH, STALL, STATIC, FENCED, DELETED, SLOW, RESTART, FIFTEEN)
    return {folder.name: sorted(folder.glob("*.log.gz")) for folder in unpack(place, wanted)}


@pytest.fixture(scope="module")
def bare(recorded, tmp_path_factory):
    """The same logs without any block of settings."""
    found = {}
    for name, paths in recorded.items():
        place = tmp_path_factory.mktemp("bare")
        for path in paths:
            (place / path.name.removesuffix(".gz")).write_bytes(
                BLOCK.sub(b"", gzip.decompress(path.read_bytes()))
            )
        found[name] = place
    return found


@pytest.fixture(scope="module")
def crash(recorded):
    return nights(recorded[CRASH])[0]


def test_a_crash_is_reckoned_back_from_the_session_that_ended_it(crash):
    deed = next(deed for deed in crash.deeds if deed.do == "crash")
    assert (deed.member, str(deed.ground).split(":")[0]) == ("c3", "broker.log.gz")
    # It was killed 18.1 s after the first start, which lies up to 3 s before the first line.
    assert 15_500 <= deed.at_ms - crash.begin_ms <= 18_500
    assert 0 < deed.within_ms <= 1_500
    assert [deed.do for deed in crash.deeds if deed.member == "c3"] == ["start", "crash", "start"]


def test_settings_come_from_the_printed_blocks_with_their_lines(crash):
    scenario = scenario_of(crash)
    assert all(spec.configs["session.timeout.ms"] == 10_000 for spec in scenario.members)
    assert scenario.broker["group.consumer.session.timeout.ms"] == 10_000
    value, place = crash.members["c1"].configs["session.timeout.ms"]
    assert (value, place.line) == ("10000", 93)


def test_a_time_without_poll_is_reckoned_back_from_the_poll_timeout(recorded):
    night = nights(recorded[STALL])[0]
    stall = next(deed for deed in night.deeds if deed.do == "stall")
    assert stall.member == "c2"
    assert 19_000 <= stall.args["for_ms"] <= 21_000  # recorded: 20 s, of which the log tells the end of 12 s


def test_a_static_member_of_kip_848_that_returns_is_no_new_member(recorded):
    night = nights(recorded[STATIC])[0]
    assert night.protocol == "consumer"
    assert {member.instance for member in night.members.values()} == {"pod-1", "pod-2", "pod-3"}
    assert [deed.do for deed in night.deeds if deed.member == "c2"] == ["start", "close", "start"]


def test_a_shutdown_is_one_although_kafka_had_ended_a_member_before(recorded):
    night = nights(recorded[FENCED])[0]  # c2 was fenced by the second holder of its instance id
    assert [deed.do for deed in night.deeds] == ["start"] * 3
    assert night.observed.partitions_unread == 0


def test_a_commit_for_a_deleted_topic_that_is_retried_is_no_time_without_poll(recorded):
    assert not any(deed.do == "stall" for deed in nights(recorded[DELETED])[0].deeds)


def test_a_callback_became_slow_between_the_last_quick_one_and_the_first_slow_one(recorded):
    night = nights(recorded[SLOW])[0]
    slow = [deed for deed in night.deeds if deed.do == "slow_callback"]
    assert [(deed.member, deed.args["callback_ms"]) for deed in slow] == [("c1", 6_010)]
    newcomer = next(deed for deed in night.deeds if deed.do == "start" and deed.member == "c3")
    assert 8_000 < slow[0].at_ms - night.begin_ms < newcomer.at_ms - night.begin_ms


def test_while_the_only_broker_is_down_nothing_is_read(recorded):
    night = nights(recorded[RESTART])[0]
    down, up = (
        next(deed.at_ms for deed in night.deeds if deed.do == do) for do in ("broker_down", "broker_up")
    )
    assert night.observed.partitions_unread == 6
    assert night.observed.longest_gap_s == pytest.approx((up - down) / 1000)
    cost = cost_of(scenario_of(night), 1)
    assert (cost.partitions_unread, cost.rebalances) == (6, 0)
    assert cost.longest_gap_s == pytest.approx((up - down) / 1000, abs=0.5)


def test_the_yaml_reads_back_to_the_same_scenario_and_names_the_lines(crash, tmp_path):
    scenario = scenario_of(crash)
    text = commented(crash, scenario)
    assert "# 17.3 s (give or take 1.5 s): crash c3: broker.log.gz:1475" in text
    path = tmp_path / "night.yaml"
    path.write_text(text, "utf-8")
    assert read_scenario(path) == scenario


def test_a_night_is_understood_before_it_is_answered(crash):
    told = back_test(crash, scenario_of(crash), 10)
    assert told.enough
    assert [one.words for one in told.compared if not one.agrees] == []


def test_without_a_members_log_the_report_says_whose(recorded):
    night = nights([path for path in recorded[CRASH] if "c3" not in path.name])[0]
    assert any("the log of c3" in sentence for sentence in night.missing)
    assert any(deed.do == "crash" and deed.member == "c3" for deed in night.deeds)


def test_a_night_that_is_not_repeated_gets_no_counterfactual(crash):
    crash.observed.rounds += 20
    try:
        told = back_test(crash, scenario_of(crash), 3)
    finally:
        crash.observed.rounds -= 20
    assert not told.enough
    assert "not understood well enough" in told.sentence


def test_alternatives_share_their_draws_and_name_keys_and_price(crash):
    scenario = scenario_of(crash)
    base = [cost_of(scenario, seed) for seed in range(1, 21)]
    answer = ask(scenario, base, target=target_of("longest gap < 9 s"), seconds=0.0)
    shorter = next(one for one in answer.answered if one.alternative.name == "session 6 s")
    gap = next(one for one in shorter.differences if one.words == "longest gap, s")
    assert gap.verdict == "less"
    assert gap.interval[1] < 0
    assert "session.timeout.ms=6000" in shorter.alternative.keys
    assert answer.cheapest is shorter
    kip = next(one for one in answer.answered if one.alternative.name == "KIP-848")
    assert "remove session.timeout.ms" in kip.alternative.keys


def test_what_the_engine_refuses_is_no_alternative(crash):
    assert {one.kind for one in alternatives(scenario_of(crash))} == {"protocol", "membership", "clock"}


def test_the_command_answers_on_the_screen_as_json_and_for_a_postmortem(recorded, tmp_path):
    logs = [str(path) for path in recorded[CRASH]]
    out = io.StringIO()
    asked = Asked(draws=4, seconds=1.0, scenario=tmp_path / "n.yaml", markdown=tmp_path / "n.md")
    assert run_what_if(logs, asked, out) == 0
    assert "The night is understood" in out.getvalue()
    assert "| as it was |" in (tmp_path / "n.md").read_text("utf-8")
    edited = io.StringIO()
    assert run_what_if([str(tmp_path / "n.yaml")], Asked(draws=2, seconds=0.1, as_json=True), edited) == 0
    assert json.loads(edited.getvalue())["alternatives"]


def test_what_cannot_be_read_says_what_was_expected(tmp_path, recorded):
    with pytest.raises(
        DataError, match=r"group 'nobody' is in none of these logs; expected one of orders-app"
    ):
        nights(recorded[CRASH], "nobody")
    with pytest.raises(DataError, match="expected one of unread partition-seconds"):
        target_of("happiness > 3")
    (tmp_path / "app.log").write_text("2026-11-21 02:15:11,745 INFO nothing of Kafka here\n", "utf-8")
    with pytest.raises(DataError, match=r"no line of Kafka.s group protocols"):
        nights([tmp_path / "app.log"])


def test_logs_of_two_clusters_are_refused_and_both_are_named(recorded, tmp_path):
    name = next(path for path in recorded[CRASH] if "c1" in path.name)
    told = gzip.decompress(name.read_bytes())
    for file, cluster in (("east.log", b"east-1"), ("west.log", b"west-2")):
        (tmp_path / file).write_bytes(re.sub(rb"Cluster ID: \S+", b"Cluster ID: " + cluster, told))
    with pytest.raises(DataError, match=r"'orders-app' name 2 clusters: east-1 in .*east.log, west-2 in"):
        nights([tmp_path])
    assert nights([tmp_path / "east.log"])


def test_a_broker_that_starts_again_replays_its_topics_and_adds_no_partition(recorded, tmp_path):
    """The second start of a broker prints every record of its metadata once more."""
    path = next(path for path in recorded[CRASH] if path.name.startswith("broker"))
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    replayed = [line.replace("02:15:10", "02:15:50") for line in lines if "PartitionRecord for new" in line]
    place = tmp_path / "again"
    place.mkdir()
    (place / "broker.log").write_text("\n".join([*lines, *replayed]) + "\n", "utf-8")
    others = [other for other in recorded[CRASH] if other != path]
    night = nights([place / "broker.log", *others])[0]
    assert night.topics["orders"][0] == 9
    assert not any(deed.do in {"add_partitions", "create_topic"} for deed in night.deeds)


def test_the_coordinator_alone_leaves_the_session_open_and_the_report_names_it(recorded):
    night = nights([path for path in recorded[CRASH] if path.name.startswith("broker")])[0]
    at_ms = {deed.do: deed.at_ms for deed in reversed(night.deeds) if deed.member == "c3"}
    assert night.begin_ms <= at_ms["start"] < at_ms["crash"]
    assert any("no line names session.timeout.ms" in sentence for sentence in night.missing)
    tried = {each.members["c3"].configs["session.timeout.ms"][0] for each in (night, *night.also)}
    assert "10000" in tried  # what it was
    assert "45000" not in tried  # it joined 26 s before its session ended
    assert "but for a clock that no line names" in back_test(night, scenarios_of(night), 6).sentence


def test_logs_of_another_client_are_said_to_be_so_and_nothing_is_promised(tmp_path):
    line = "2019-07-16 06:22:0{} - kafka.coordinator - INFO - {}\n"
    said = [
        "Discovered coordinator 1 for group g",
        "(Re-)joining group g",
        "Joined group 'g' (generation 2) with member_id k-1",
    ]
    (tmp_path / "worker.log").write_text(
        "".join(line.format(n, words) for n, words in enumerate(said)), "utf-8"
    )
    night = nights([tmp_path / "worker.log"])[0]
    assert any("taken for a Java client" in sentence for sentence in night.outside)
    assert any("no line names a version" in sentence for sentence in night.assumed)
    out = io.StringIO()
    assert run_what_if([str(tmp_path / "worker.log")], Asked(draws=2), out) == 3
    assert "these lines do not tell what the group reads" in out.getvalue()


def test_a_night_that_cost_nothing_is_said_to_have_cost_nothing(crash):
    scenario = replace(scenario_of(crash), actions=())
    base = [cost_of(scenario, seed) for seed in (1, 2)]
    quiet = [
        replace(one, partitions_unread=0, unread_partition_s=0.0, longest_gap_s=0.0, delivered_again=0)
        for one in base
    ]
    told = "\n".join(answer_lines(scenario, ask(scenario, quiet, seconds=0.0, others=[])))
    assert "nothing that another setting could have saved" in told


def test_workers_draw_the_same_costs_in_the_same_order(crash):
    scenario = under(scenario_of(crash), "consumer")
    alone = list(costs_of(scenario, 12))
    with ProcessPoolExecutor(1) as pool:
        assert list(costs_of(scenario, 12, pool)) == alone
        first = costs_of(scenario, 40, pool)
        assert next(first) == alone[0]
        first.close()  # what was not asked for any more is given back
        assert list(costs_of(scenario, 3, pool)) == alone[:3]


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_the_cost_of_a_draw_is_what_its_metrics_say(crash, protocol):
    moved = placed(under(scenario_of(crash), protocol), 1)
    trace, since_ms = simulate(moved, 1), first_deed(moved)
    cost, told = cost_in(trace, since_ms, moved.end_ms), metrics(trace, since_ms)
    assert (cost.rebalances, cost.delivered_again) == (told.rebalances, told.records_redelivered)
    assert cost.delivered_again > 0


def test_the_page_has_the_night_and_the_two_best_alternatives_in_one_draw(crash, tmp_path):
    scenario = scenario_of(crash)
    answer = ask(scenario, [cost_of(scenario, seed) for seed in (1, 2, 3)], seconds=0.0)
    runs = runs_of(scenario, answer)
    assert runs[0].label == "as it was"
    assert len({run.seed for run in runs}) == 1
    least = min(answer.answered, key=lambda one: one.differences[0].median)
    assert runs[1].label == least.alternative.name
    (tmp_path / "night.yaml").write_text(commented(crash, scenario), "utf-8")
    page = tmp_path / "night.html"
    words = ["what-if", str(tmp_path / "night.yaml"), "--draws", "2", "--seconds", "0.1", "--page", str(page)]
    assert main(words, io.StringIO()) == 0
    assert "as it was" in page.read_text("utf-8").lower()


CLIENT = "[2024-05-01 10:{}] INFO [Consumer clientId=sink-0, groupId=g] {} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
COORDINATOR = "[2024-05-01 10:{}] INFO [GroupCoordinator 1]: {} (kafka.coordinator.group.GroupCoordinator)\n"


def told_by(folder, layout, *said):
    """The night of a file with these lines, each (minute and second, words)."""
    path = folder / "some.log"
    path.write_text("".join(layout.format(*each) for each in said), "utf-8")
    return nights([path])[0]


def test_a_poll_timeout_that_only_the_leave_tells_is_a_time_without_poll(tmp_path):
    left = "Member sink-0-5f7b2a30-1111-4222-8333-944445555666 sending LeaveGroup request to coordinator b:9092 (id: 1 rack: null) due to consumer poll timeout has expired."
    night = told_by(
        tmp_path,
        CLIENT,
        ("13:00,000", left),
        ("21:00,000", "Giving away all assigned partitions as lost since generation has been reset,indicating that consumer is no longer part of the group"),
        ("21:00,001", "Lost previously assigned partitions orders-0"),
        ("21:00,002", "(Re-)joining group"),
        ("21:03,000", "Adding newly assigned partitions: orders-0"),
    )  # fmt: skip
    assert [(deed.do, deed.args) for deed in night.deeds] == [("stall", {"for_ms": 780_000})]
    # It held orders-0 before its log begins, and read nothing from the begin of the stall to its next assignment.
    assert (night.observed.partitions_unread, night.observed.longest_gap_s) == (1, 783.0)


def test_an_outage_of_the_coordinator_that_only_a_client_tells_allows_no_counterfactual(tmp_path):
    night = told_by(
        tmp_path,
        CLIENT,
        ("13:00,000", "Adding newly assigned partitions: orders-0"),
        ("14:00,000", "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: false. Rediscovery will be attempted."),
    )  # fmt: skip
    told = back_test(night, scenario_of(night), 2)
    assert not told.enough
    assert "how long the coordinator was away" in told.sentence


def test_a_session_that_ends_under_an_id_which_never_joined_is_that_of_an_earlier_process(tmp_path):
    ids = [
        f"sink-0-{number}f7b2a30-1111-4222-8333-944445555666" for number in (1, 2)
    ]  # the first one died unseen
    night = told_by(
        tmp_path,
        COORDINATOR,
        ("13:00,000", f"Dynamic member with unknown member id joins group g in Stable state. Created a new member id {ids[1]} and request the member to rejoin with this id."),
        ("13:40,000", f"Member {ids[0]} in group g has failed, removing it from the group"),
    )  # fmt: skip
    assert [deed.do for deed in night.deeds] == ["crash", "start"]
    assert night.members["sink-0"].before


def test_a_group_whose_lines_are_of_kip_848_is_drawn_as_one_without_its_settings(tmp_path):
    layout = CLIENT.replace("ConsumerCoordinator", "ConsumerMembershipManager")
    night = told_by(
        tmp_path,
        layout,
        ("13:00,000", "Member tKQVSQuHR9aBocp13XT9nw with epoch 1 transitioned from STABLE to RECONCILING."),
        ("13:00,010", "Revoke previously assigned partitions [orders-1]"),
    )
    assert night.protocol == "consumer"
    assert [spec.configs.get("group.protocol") for spec in scenario_of(night).members] == ["consumer"]


def test_a_person_at_a_terminal_sees_a_first_answer_of_few_draws(crash, tmp_path):
    (tmp_path / "night.yaml").write_text(commented(crash, scenario_of(crash)), "utf-8")
    said, out = io.StringIO(), io.StringIO()
    run_what_if([str(tmp_path / "night.yaml")], Asked(draws=11, seconds=0.001), out, said)
    assert "first answer, 10 draws:" in said.getvalue()
    assert "11 draws, the same for all" in out.getvalue()


# --- clocks of which no line tells -----------------------------------------------------------------------


def crashes(night):
    return [deed for deed in night.deeds if deed.do == "crash"]


def test_a_session_that_no_line_names_is_none_that_the_lines_rule_out(bare):
    """It was 15 s. The default of 45 s would have it die before lines that it wrote."""
    night = nights([bare[FIFTEEN]])[0]
    tried = {each.members["c1"].configs["session.timeout.ms"][0] for each in (night, *night.also)}
    assert "15000" in tried
    assert "45000" not in tried
    assert any("no line names session.timeout.ms" in sentence for sentence in night.missing)
    # Killed 33.6 s after its start; each moment that is drawn lies after its last line and before its session ended.
    drawn = [deed.at_ms - each.begin_ms for each in (night, *night.also) for deed in crashes(each)]
    assert min(drawn) < 33_600 < max(drawn)


def test_draws_go_round_the_clocks_that_fit_and_their_durations_are_not_counted_as_understood(bare):
    night = nights([bare[FIFTEEN]])[0]
    each = scenarios_of(night)
    assert len(each) == 1 + len(night.also)
    told = back_test(night, each, 12)
    assert [one.agrees for one in told.compared if one.words == "longest gap, s"] == [None]
    assert "but for a clock that no line names" in told.sentence
    gaps = [cost.longest_gap_s for cost in told.costs]
    assert max(gaps) - min(gaps) > 10


def test_a_wrong_clock_is_not_understood(bare):
    """The session it had is forced to 45 s: the same deeds then end it at another time than the logs say."""
    night = nights([bare[FIFTEEN]])[0]
    right = next(
        each
        for each in (night, *night.also)
        if each.members["c1"].configs["session.timeout.ms"][0] == "15000"
    )
    for member in right.members.values():
        member.configs["session.timeout.ms"] = "45000", Ground(why="wrong")
    told = back_test(right, scenario_of(right), 8)
    assert not told.enough
    assert any(word in told.sentence for word in ("sessions ended", "rebalances began", "rebalances"))


def test_the_session_of_a_closed_static_member_is_the_time_until_it_ended(tmp_path):
    """close() of a static member leaves its place; the broker says when its session was over."""
    layout = CLIENT.replace("sink-0", "c1")
    (tmp_path / "c1.log").write_text(
        "".join(
            layout.format(*each)
            for each in (
                ("13:00,000", "Successfully joined group with generation Generation{generationId=1, memberId='pod-1-5f7b2a30-1111-4222-8333-944445555666', protocol='range'}"),
                ("13:00,010", "Adding newly assigned partitions: [orders-0]"),
                ("13:20,000", "Revoke previously assigned partitions [orders-0]"),
                ("13:20,004", "Resetting generation and member id due to: consumer pro-actively leaving the group"),
            )
        )
        + "[2024-05-01 10:13:20,090] INFO App info kafka.consumer for c1 unregistered (org.apache.kafka.common.utils.AppInfoParser)\n",
        "utf-8",
    )  # fmt: skip
    (tmp_path / "broker.log").write_text(
        COORDINATOR.format("13:49,000", "Member pod-1-5f7b2a30-1111-4222-8333-944445555666 in group g has failed, removing it from the group"),
        "utf-8",
    )  # fmt: skip
    night = nights([tmp_path])[0]
    value, ground = night.members["c1"].configs["session.timeout.ms"]
    assert (value, night.also) == ("30000", ())
    assert "no other fits" in ground.why


METADATA = (
    "Loaded member MemberMetadata(memberId=sink-0-5f7b2a30-1111-4222-8333-944445555666, groupInstanceId=None, clientId=sink-0, "
    "clientHost=/10.0.0.1, sessionTimeoutMs=17000, rebalanceTimeoutMs=90000, supportedProtocols=List(range)) in group g with generation 4."
)


def test_a_broker_that_prints_a_member_names_both_its_clocks(tmp_path):
    failed = (
        "Member sink-0-5f7b2a30-1111-4222-8333-944445555666 in group g has failed, removing it from the group"
    )
    (tmp_path / "broker.log").write_text(
        COORDINATOR.format("13:00,000", METADATA) + COORDINATOR.format("15:00,000", failed), "utf-8"
    )
    layout = CLIENT.format("13:30,000", "Adding newly assigned partitions: orders-0")
    member = CLIENT.format(
        "13:29,000",
        "Successfully joined group with generation Generation{generationId=4, memberId='sink-0-5f7b2a30-1111-4222-8333-944445555666', protocol='range'}",
    )
    (tmp_path / "sink-0.log").write_text(member + layout, "utf-8")
    configs = nights([tmp_path])[0].members["sink-0"].configs
    assert (configs["session.timeout.ms"][0], configs["max.poll.interval.ms"][0]) == ("17000", "90000")
    assert configs["session.timeout.ms"][1].file.endswith("broker.log")


def test_what_was_set_for_a_kip_848_group_holds(tmp_path):
    (tmp_path / "broker.log").write_text(
        "[2024-05-01 10:12:00,000] INFO [DynamicConfigPublisher broker id=1] Updating group g with new configuration : "
        "consumer.session.timeout.ms -> 50000,consumer.heartbeat.interval.ms -> 6000 (kafka.server.metadata.DynamicConfigPublisher)\n",
        "utf-8",
    )
    layout = CLIENT.replace("ConsumerCoordinator", "ConsumerMembershipManager")
    (tmp_path / "c.log").write_text(
        layout.format("13:00,000", "Member tKQVSQuHR9aBocp13XT9nw with epoch 1 transitioned from STABLE to RECONCILING."),
        "utf-8",
    )  # fmt: skip
    night = nights([tmp_path])[0]
    assert night.broker["group.consumer.session.timeout.ms"][0] == "50000"
    assert night.broker["group.consumer.heartbeat.interval.ms"][0] == "6000"


def test_a_session_of_an_earlier_process_that_ends_while_the_new_one_runs_is_a_crash(tmp_path):
    """A pod that was killed is back in 4 s under the same client.id; its old member id expires later."""
    ids = [f"sink-0-{number}f7b2a30-1111-4222-8333-944445555666" for number in (1, 2)]
    joined = "Successfully joined group with generation Generation{{generationId={}, memberId='{}', protocol='range'}}"
    started = "[2024-05-01 10:{}] INFO Kafka version: 3.9.1 (org.apache.kafka.common.utils.AppInfoParser)\n"
    (tmp_path / "c.log").write_text(
        started.format("13:00,000")
        + CLIENT.format("13:03,000", joined.format(1, ids[0]))
        + CLIENT.format("13:03,010", "Adding newly assigned partitions: orders-0")
        + started.format("13:34,000")
        + CLIENT.format("14:20,500", joined.format(2, ids[1]))
        + CLIENT.format("14:20,600", "Adding newly assigned partitions: orders-0"),
        "utf-8",
    )
    (tmp_path / "broker.log").write_text(
        COORDINATOR.format("13:03,000", f"Dynamic member with unknown member id joins group g in Empty state. Created a new member id {ids[0]} and request the member to rejoin with this id.")
        + COORDINATOR.format("14:20,000", f"Member {ids[0]} in group g has failed, removing it from the group"),
        "utf-8",
    )  # fmt: skip
    night = nights([tmp_path])[0]
    assert [deed.do for deed in night.deeds] == ["start", "crash", "start"]
    crash = crashes(night)[0]
    # 50 s at least would leave no time to die in; 45 s before 14:20 is after 13:34, so that a longer session held.
    assert crash.at_ms - night.begin_ms <= 34_000


def test_a_poll_limit_that_no_line_names_is_at_most_the_time_since_the_last_line_of_the_application(bare):
    night = nights([bare[STALL]])[0]
    tried = {each.members["c2"].configs["max.poll.interval.ms"][0] for each in (night, *night.also)}
    assert "300000" not in tried
    assert "10000" in tried  # it was 12 s


def test_a_search_draws_pairs_and_triples_and_answers_alike_wherever_it_is_drawn(crash):
    scenario = scenario_of(crash)
    base = [cost_of(scenario, seed) for seed in range(1, 5)]
    target, drawn = target_of("unread partition-seconds < 6"), []

    def elsewhere(nights, draws):
        drawn.extend(nights)
        return [list(costs_of(night, draws)) for night in nights]

    here = ask(scenario, base, target=target, seconds=0.0)
    there = ask(scenario, base, target=target, seconds=0.0, sweep=elsewhere)
    assert len(drawn) > 8
    assert [(one.alternative.name, one.costs) for one in here.answered] == [
        (one.alternative.name, one.costs) for one in there.answered
    ]


# --- sliders -----------------------------------------------------------------------------------------------


def heard(desk, **asked):
    return json.loads(desk.hear(json.dumps(asked)))


def test_a_desk_tells_the_night_and_what_can_be_set(recorded):
    told = heard(Desk(*recorded[CRASH]), group=None)
    now = {each["key"]: each["now"] for each in told["controls"]}
    assert now == {
        "protocol": "eager",
        "static": "no",
        "session": "10000",
        "heartbeat": "3000",
        "poll": "60000",
    }
    assert all(each["now"] in dict(each["values"]) for each in told["controls"])
    assert "3 members" in told["lines"][0]


def test_each_answer_of_a_desk_goes_on_where_the_last_one_stopped(recorded):
    desk = Desk(*recorded[CRASH])
    first, second = heard(desk, set={"session": "6000"}), heard(desk, set={"session": "6000"})
    assert 2 <= first["draws"] < second["draws"] <= WANTED
    assert first["understood"]
    gap = next(row for row in second["rows"] if row["words"].startswith("longest gap"))
    assert float(gap["by"]) < -2
    assert second["detection"] == "3 to 6 s"
    links = [read_link(link) for link in second["links"]]
    assert links[1].scenario.members[0].configs["session.timeout.ms"] == 6_000
    assert links[0].at_ms > 0


def test_a_desk_draws_what_the_command_draws(recorded):
    desk = Desk(*recorded[CRASH])
    heard(desk, set={"protocol": "consumer"})
    night = nights(recorded[CRASH])[0]
    ((_, base), (wish, costs)) = desk._kept.items()
    assert wish == (("protocol", "consumer"),)
    assert base == [cost_of(scenario_of(night), seed) for seed in range(1, len(base) + 1)]
    assert costs == [
        cost_of(under(scenario_of(night), "consumer"), seed) for seed in range(1, len(costs) + 1)
    ]


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"session": "1"}, "Heartbeat must be set lower than the session timeout"),
        ({"happiness": "3"}, "expected one of protocol, static, session"),
        ({"protocol": "<b>"}, "expected one of protocol"),
        ({"session": "9" * 40}, "9999999999"),
    ],
)
def test_a_wish_that_cannot_be_drawn_is_refused_in_words(recorded, wish, words):
    assert words in heard(Desk(*recorded[CRASH]), set=wish)["refused"]


def test_what_is_no_wish_is_refused(recorded):
    desk = Desk(*recorded[CRASH])
    assert "refused" in json.loads(desk.hear("[]"))
    assert "refused" in json.loads(desk.hear("no JSON"))
    assert "nobody" in heard(desk, group="nobody")["refused"]
    assert "expected" in heard(Desk("/nowhere"), group=None)["refused"]


def test_a_night_that_is_not_understood_gets_no_counterfactual_from_a_desk(recorded):
    desk = Desk(*recorded[CRASH])
    desk.choose()
    desk.night.observed.rounds += 20
    told = heard(desk, set={"session": "6000"})
    assert not told["understood"]
    assert all("wished" not in row for row in told["rows"])
    assert len(told["links"]) == 1


def test_sliders_of_a_notebook_ask_the_same_desk(recorded):
    sliders = WhatIf(*recorded[CRASH])
    assert sliders.sliders["session"].label == "10 s"
    sliders.set(session="6 s")
    told = sliders.text()
    desk = Desk(*recorded[CRASH])
    while (answer := heard(desk, set={"session": "6000"}))["draws"] < WANTED:
        pass
    assert answer["rows"][1]["wished"] in told
    assert "▼" in told
    assert sliders.lab().cursor_ms > 0
    with pytest.raises(DataError, match="session has no '7 s'; expected one of 6 s, 10 s"):
        sliders.set(session="7 s")
    with pytest.raises(DataError, match="expected one of protocol, static"):
        sliders.set(speed="7 s")
    with pytest.raises(DataError, match="no such file or folder"):
        WhatIf("/nowhere")


# --- excerpts ----------------------------------------------------------------------------------------------


def test_an_old_broker_tells_who_joins_by_the_reason_of_a_rebalance(tmp_path):
    who = "sink-0-5f7b2a30-1111-4222-8333-944445555666"
    night = told_by(
        tmp_path,
        COORDINATOR,
        ("13:00,000", f"Preparing to rebalance group g in state PreparingRebalance with old generation 3 (__consumer_offsets-1) (reason: Adding new member {who} with group instanceid None)"),
        ("13:40,000", f"Member {who} in group g has failed, removing it from the group"),
    )  # fmt: skip
    assert [(deed.do, deed.member) for deed in night.deeds] == [("start", "sink-0"), ("crash", "sink-0")]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ([("13:00,000", "Member x-1 in group g has failed, removing it from the group")], "its 1 line tell that x-1 left or expired, but of no member"),
        ([], "no line of Kafka's group protocols"),
    ],
)  # fmt: skip
def test_an_excerpt_without_a_life_says_what_it_tells_and_what_is_missing(tmp_path, said, words):
    with pytest.raises(DataError, match=words):
        told_by(tmp_path, COORDINATOR, ("12:00,000", "an unknown line"), *said)


def test_lines_without_a_time_are_said_to_have_none(tmp_path):
    (tmp_path / "a.log").write_text(
        "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 866\n", "utf-8"
    )
    with pytest.raises(DataError, match="group g: none of its 1 line has a time that can be read"):
        nights([tmp_path])


def test_lines_without_a_topic_are_not_drawn_and_the_topic_is_asked_for(tmp_path):
    night = told_by(
        tmp_path, CLIENT, ("13:00,000", "(Re-)joining group"), ("13:30,000", "(Re-)joining group")
    )
    told = back_test_or_refusal(night)
    assert "these lines do not tell what the group reads" in told
    assert "Subscribed to topic(s)" in told


def test_a_moment_in_which_nothing_happens_is_no_night_that_is_understood(tmp_path):
    night = told_by(
        tmp_path,
        CLIENT,
        ("13:00,000", "Adding newly assigned partitions: orders-0"),
        (
            "13:00,400",
            "Setting offset for partition orders-0 to the committed offset FetchPosition{offset=4}",
        ),
    )
    told = back_test_or_refusal(night)
    assert "these cover 0." in told
    assert "nothing happens to the group" in told


def test_lines_of_many_days_are_cut_by_a_person(tmp_path):
    night = told_by(
        tmp_path,
        CLIENT.replace("2024-05-01 10:", "2024-"),
        ("05-01 10:13:00,000", "Adding newly assigned partitions: orders-0"),
        ("07-01 10:13:00,000", "Revoke previously assigned partitions orders-0"),
    )
    assert "these lines cover 61 days" in back_test_or_refusal(night)


def back_test_or_refusal(night):
    told = back_test(night, scenario_of(night), 2) if not night.unknown else None
    if told is not None:
        return told.sentence
    return Understanding((), (), 0.0, tuple(night.missing), night.unknown).sentence


# --- bad input ---------------------------------------------------------------------------------------------


def test_half_of_a_group_is_said_to_be_half_and_its_unread_time_is_not_told(recorded):
    half = [path for path in recorded[CRASH] if "c2" not in path.name and "c3" not in path.name]
    night = nights(half)[0]
    assert any("the logs of c2, c3: only the coordinator tells of them" in one for one in night.missing)
    assert not night.gaps_known
    told = back_test(night, scenario_of(night), 3)
    assert "longest gap, s" not in [one.words for one in told.compared]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("[Consumer clientId=app-StreamThread-1-consumer, groupId=g] (Re-)joining group (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)", "Streams"),
        ("[Worker clientId=connect-1, groupId=g] Joined group at generation 4 with protocol version 2 and got assignment: Assignment{error=0, leader='connect-1-x', leaderUrl='http://a:8083/', offset=5, connectorIds=[a], taskIds=[a-0], revokedConnectorIds=[], revokedTaskIds=[], delay=0} with rebalance delay: 0 (org.apache.kafka.connect.runtime.distributed.DistributedHerder)", "Connect workers"),
        ("[ShareConsumer clientId=c, groupId=g] Member x with epoch 3 transitioned from STABLE to RECONCILING. (org.apache.kafka.clients.consumer.internals.ShareMembershipManager)", "share consumers"),
    ],
)  # fmt: skip
def test_groups_of_another_kind_are_named_with_the_nearest_that_is_simulated(tmp_path, line, kind):
    joined = CLIENT.format("13:00,000", "Adding newly assigned partitions: orders-0")
    (tmp_path / "a.log").write_text(joined + f"[2024-05-01 10:13:30,000] INFO {line}\n", "utf-8")
    (night,) = nights([tmp_path])
    assert any(f"is a group of {kind}" in one and "nearest" in one for one in night.outside)


def test_contradictory_times_are_said_and_not_understood(recorded, tmp_path):
    """c3's host is 40 s ahead: it writes after the coordinator has removed it."""
    for path in recorded[CRASH]:
        text = gzip.decompress(path.read_bytes()).decode()
        if path.name.startswith("c3"):
            text = re.sub(
                r"02:15:([0-5]\d),",
                lambda one: f"02:{15 + (int(one[1]) + 40) // 60}:{(int(one[1]) + 40) % 60:02},",
                text,
            )
        (tmp_path / path.name.removesuffix(".gz")).write_text(text, "utf-8")
    night = nights([tmp_path])[0]
    told = back_test(night, scenario_of(night), 6)
    assert not told.enough
    assert "rebalances" in told.sentence


def test_ten_thousand_rebalances_in_an_hour_are_answered_or_refused_in_time(tmp_path):
    lines = []
    for number in range(10_000):
        minute, ms = divmod(number * 360, 60_000)
        at = f"{minute:02}:{ms // 1000:02},{ms % 1000:03}"
        lines.append(
            COORDINATOR.format(
                at,
                f"Preparing to rebalance group g in state PreparingRebalance with old generation {number} (reason: Adding new member sink-{number % 7}-5f7b2a30-1111-4222-8333-{number:012x})",
            )
        )
    (tmp_path / "broker.log").write_text("".join(lines), "utf-8")
    out = io.StringIO()
    assert run_what_if([str(tmp_path)], Asked(draws=2, seconds=1.0), out) == 3
    assert "what the group reads" in out.getvalue()


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda text: re.sub(r"\bat: \d+", "at: -5000", text, count=1), "at"),
        (lambda text: text.replace("do: crash", "do: explode"), "explode"),
        (lambda text: text.replace("partitions: 9", "partitions: 0"), "partitions"),
        (lambda text: text + "\nmembers: 3\n", "members"),
    ],
)  # fmt: skip
def test_a_scenario_that_was_edited_into_nonsense_is_refused_with_the_word(crash, tmp_path, edit, words):
    path = tmp_path / "night.yaml"
    path.write_text(edit(commented(crash, scenario_of(crash))), "utf-8")
    with pytest.raises(RebalanceKitError, match=words):
        run_what_if([str(path)], Asked(draws=2), io.StringIO())
