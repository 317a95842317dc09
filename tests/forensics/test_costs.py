"""What a finding cost: the gaps around its moment, each once, and nothing where no gap can be known."""

from __future__ import annotations

import io

from rebalance_kit.forensics.findings.cost import with_costs
from rebalance_kit.forensics.history.rebalance import Rebalance
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import print_report


def rebalance(start_ms, end_ms, culprit="c1", trigger="poll_timeout"):
    row = Rebalance.__new__(Rebalance)
    row.start_ms, row.end_ms, row.culprit, row.trigger = start_ms, end_ms, culprit, trigger
    return row


def gap(from_ms, to_ms):
    return {"from_ms": from_ms, "to_ms": to_ms}


def finding(at_ms, who="c1", code="poll_timeout_exceeded"):
    return {"finding": code, "who": who, "at_ms": at_ms}


def cost(found, rebalances=(), storms=(), gaps=()):
    return with_costs([found], rebalances, storms, gaps)[0]["unread_ms"]


def test_a_gap_that_touches_the_rebalance_of_a_finding_counts_whole_and_others_do_not():
    gaps = [gap(900, 1_200), gap(1_900, 2_500), gap(2_600, 2_700), gap(0, 500)]
    assert cost(finding(1_000), [rebalance(1_050, 2_000)], gaps=gaps) == 300 + 600


def test_every_rebalance_that_the_same_member_caused_the_same_way_counts_and_each_gap_once():
    rows = [rebalance(1_000, 2_000), rebalance(3_000, 4_000), rebalance(5_000, 6_000, "c2")]
    assert cost(finding(1_000), rows, gaps=[gap(1_500, 3_500), gap(3_600, 3_700), gap(5_500, 5_600)]) == 2_100


def test_another_members_finding_in_the_same_rebalance_costs_that_rebalance_alone():
    rows = [rebalance(1_000, 2_000), rebalance(3_000, 4_000)]
    assert cost(finding(1_500, "c2"), rows, gaps=[gap(1_500, 1_600), gap(3_600, 3_700)]) == 100


def test_a_storm_costs_all_gaps_from_its_begin_to_its_end():
    storm = {"from_ms": 1_000, "to_ms": 9_000}
    gaps = [gap(1_500, 1_600), gap(8_600, 8_700), gap(9_500, 9_900)]
    assert cost(finding(1_000, None, "rebalance_storm"), [rebalance(1_000, 1_100)], [storm], gaps) == 200


def test_without_gaps_in_the_logs_or_without_a_moment_no_cost_is_claimed():
    assert cost(finding(1_000), [rebalance(1_000, 2_000)]) is None
    assert cost(finding(None), [rebalance(1_000, 2_000)], gaps=[gap(1_000, 1_100)]) is None


def test_the_report_tells_findings_before_rebalances_and_the_costliest_first(runs_folder):
    out = io.StringIO()
    print_report(look([runs_folder / "crash.eager.4.3.1"]), out)
    told = out.getvalue()
    places = [told.index(words) for words in ("heard no heartbeat", "runs the eager", "Rebalances:")]
    assert places == sorted(places)
    assert "unread meanwhile 36.4 partition-s" in told
