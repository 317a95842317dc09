"""What a finding cost: each gap is charged to one cause, and nothing is claimed where no gap can be known."""

from __future__ import annotations

import io

from rebalance_kit.forensics.findings.cost import NOBODY, REBALANCE, with_costs
from rebalance_kit.forensics.history.rebalance import Rebalance
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import print_report
from tests.support.pipeline.kafka_lines import GROUP, broker, client, joined, member


def rebalance(start_ms, end_ms, culprit="c1", trigger="poll_timeout", members=None):
    return Rebalance(
        "classic", trigger, start_ms, "a.log", 1, culprit=culprit, end_ms=end_ms, members=members
    )


def gap(from_ms, to_ms, known_by="revoked", owner="c9"):
    lasted = to_ms - from_ms
    return {
        "from_ms": from_ms, "to_ms": to_ms, "duration_ms": lasted, "known_by": known_by, "owner_before": owner,
        "at_least": False,
    }  # fmt: skip


def finding(at_ms, who="c1", code="poll_timeout_exceeded", last_ms=None):
    return {
        "finding": code,
        "who": who,
        "at_ms": at_ms,
        "last_ms": at_ms if last_ms is None else last_ms,
        "times": 1,
    }


def costs(found, rebalances=(), gaps=()):
    told, charged = with_costs(found, rebalances, gaps)
    return [row["unread_ms"] for row in told], [row["cause"] for row in charged]


def test_a_gap_is_charged_to_what_began_its_rebalance_and_others_are_not():
    gaps = [gap(900, 1_200), gap(1_900, 2_500), gap(9_600, 9_700)]
    told, causes = costs([finding(1_000)], [rebalance(1_050, 2_000)], gaps)
    assert told == [300 + 600]
    assert causes == ["poll_timeout_exceeded c1"] * 2 + [REBALANCE]


def test_every_rebalance_that_the_same_member_caused_the_same_way_counts():
    rows = [rebalance(1_000, 2_000), rebalance(13_000, 14_000), rebalance(25_000, 26_000, "c2")]
    gaps = [gap(1_500, 1_900), gap(13_600, 13_700), gap(25_500, 25_600)]
    assert costs([finding(1_000)], rows, gaps)[0] == [500]


def test_no_gap_is_charged_twice_and_who_delays_comes_before_what_began_it():
    rows = [rebalance(1_000, 9_000)]
    found = [finding(1_000), finding(2_000, "c2", "slow_callback"), finding(3_000, "c3", "sync_race")]
    assert costs(found, rows, [gap(1_500, 8_000)])[0] == [0, 6_500, 0]


def test_a_member_that_expired_is_charged_with_its_own_partitions_though_another_delays():
    found = [finding(5_000, "c2", "session_expired"), finding(5_500, "c1", "slow_callback")]
    gaps = [gap(2_000, 8_000, "expired", "c2"), gap(5_100, 8_000)]
    told, _ = costs(found, [rebalance(5_000, 8_000, "c2", "session_expired")], gaps)
    assert told == [6_000, 2_900]


def test_a_group_without_members_costs_nobody_anything():
    rows = [rebalance(1_000, 1_100, "c1", "leave", members=0), rebalance(90_000, 93_000, "c1", "join")]
    found = [finding(1_000, None, "rolling_restart")]
    assert costs(found, rows, [gap(900, 93_000)]) == ([0], [NOBODY])


def test_a_storm_is_charged_with_what_nothing_else_explains():
    storm = finding(1_000, None, "rebalance_storm", 9_000)
    assert costs([storm], [rebalance(1_000, 1_100, "c1", "rejoin")], [gap(1_050, 1_600)])[0] == [550]


def test_without_gaps_in_the_logs_or_without_a_moment_no_cost_is_claimed():
    assert costs([finding(1_000)], [rebalance(1_000, 2_000)])[0] == [None]
    assert costs([finding(None)], [rebalance(1_000, 2_000)], [gap(1_000, 1_100)])[0] == [None]


def test_the_report_tells_findings_before_rebalances_and_the_costliest_first(runs_folder):
    out = io.StringIO()
    print_report(look([runs_folder / "crash.eager.4.3.1"]), out)
    told = out.getvalue()
    places = [told.index(words) for words in ("ended and was started again", "runs the eager", "Rebalances:")]
    assert places == sorted(places)
    assert "unread meanwhile 36.4 partition-s" in told


def lost(session):
    """A member that owned orders-0 is lost, and another one gets it; ``session``: what the first one's log says of its session."""
    joins = joined(0, "c1", 3) + adding_of(0.1, "c1") + session
    expires = broker(30, f"Member {member('c1')} in group {GROUP} has failed, removing it from the group")
    return {"c1.log": joins, "broker.log": expires, "c2.log": joined(31, "c2", 4) + adding_of(31.1, "c2")}


def adding_of(seconds, name):
    return client(seconds, name, "Adding newly assigned partitions: orders-0")


def test_a_gap_of_an_expiry_is_at_least_so_long_where_no_log_tells_the_session(tmp_path):
    block = "\tclient.id = c1\n\tsession.timeout.ms = 10000\n"
    for session, least, ms in (("", True, 1_100), (block, False, 11_100)):
        for name, text in lost(session).items():
            (tmp_path / name).write_text(text)
        (row,) = look([tmp_path]).rows("gaps")
        assert (row["known_by"], row["at_least"], row["duration_ms"]) == ("expired", least, ms)
