"""The page about logs: all of it in words, nothing of the logs as HTML, bounded in size, no dead way into the lab."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape, unescape
from html.parser import HTMLParser

import pytest

from rebalance_kit import scenarios
from rebalance_kit.forensics.answer.verdict import bound, totals, verdict
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import by_cost
from rebalance_kit.recordings.folder import unpack
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.view.board.group_view import GroupView
from rebalance_kit.view.reports.log_cards import ALIKE, finding_card, lab_command
from rebalance_kit.view.reports.log_report import forensics_html
from rebalance_kit.view.reports.log_timeline import STEPS, merged, timeline_data, unread_steps

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"
BEGIN = 1_795_000_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return unpack(tmp_path_factory.mktemp("runs"), {"crash.eager.4.3.1"})[0]


@pytest.fixture(scope="module")
def page(run):
    return forensics_html(look([run]))


class Elements(HTMLParser):
    """The elements of a page, and the text outside scripts."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def hostile_logs(folder):
    member = f"{HOSTILE}-1"
    lines = [
        "[2026-11-21 02:15:12,000] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old "
        f"generation 0 (__consumer_offsets-0) (reason: Adding new member {member} with group instance id None) (k)",
        "[2026-11-21 02:15:15,000] INFO [GroupCoordinator 1]: Stabilized group g generation 1 (__consumer_offsets-0) with 1 members (k)",
        f"[2026-11-21 02:15:37,000] INFO [GroupCoordinator 1]: Member {member} in group g has failed, removing it from the group (k)",
        "[2026-11-21 02:15:37,100] INFO [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old "
        f"generation 1 (__consumer_offsets-0) (reason: removing member {member} on heartbeat expiration) (k)",
    ]
    (folder / "broker.log").write_text("\n".join(lines) + "\n", "utf-8")
    return look([folder])


def test_no_text_of_the_logs_becomes_an_element_or_ends_the_data(tmp_path):
    found = hostile_logs(tmp_path)
    html = forensics_html(found)
    elements = Elements(html)
    assert any(HOSTILE in row["sentence"] + str(row["evidence"]) for row in found.rows("findings"))
    assert HOSTILE in "".join(elements.text)
    assert "img" not in {tag for tag, _ in elements.tags}
    assert [attrs.get("type") for tag, attrs in elements.tags if tag == "script"] == [
        "application/json",
        None,
    ]


def test_the_policy_lets_the_page_s_own_script_run_and_no_other(page):
    own = page.rsplit("<script>", 1)[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    policy = next(attrs["content"] for tag, attrs in Elements(page).tags if "http-equiv" in attrs)
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy


def test_without_its_script_the_page_tells_every_finding_rebalance_and_line_of_proof(run, page):
    found, told = look([run]), "".join(Elements(page).text)
    for row in found.rows("findings"):
        assert row["do"] in told
        assert f"{row['file']}:{row['line']}" in told
    for row in found.rows("rebalances"):
        assert row["cause"] in told
    assert "has failed, removing it from the group" in told
    assert "unread meanwhile 36.4 partition-s" in told


def test_the_title_says_what_broke_and_the_head_says_it_in_full(run, page):
    broke = escape(verdict(look([run])).sentence)
    title = re.search(r"<title>(.*?)</title>", page)[1]
    assert f'<p class="verdict">{broke}</p>' in page
    assert title.endswith(" - what the logs tell")
    assert title.removesuffix(" - what the logs tell").removesuffix(" ...") in broke


def test_a_cost_of_which_only_a_bound_is_known_is_told_with_it(run, page):
    found = look([run])
    assert bound(totals(found.rows("gaps"), found.rows("findings"))) == "at most "
    assert "unread at most 36.5 partition-s" in page
    costly = next(row for row in found.rows("findings") if row["unread_ms"])
    told = finding_card("f1", 1, {**costly, "at_least": True}, (), None)
    assert "unread meanwhile at least 36.4 partition-s" in told


def test_a_recorded_run_opens_in_the_lab_at_the_moment_of_the_finding(run, page):
    commands = re.findall(r'<code class="command">rebalance-kit lab (rk1[^<]+)</code>', page)
    begin = json.loads((run / "run.json").read_text())["steps"][0]["t"]
    moments = {row["at_ms"] - begin for row in look([run]).rows("findings") if row["at_ms"] is not None}
    assert {read_link(unescape(link)).at_ms for link in commands} == moments


def test_logs_of_no_recorded_run_get_a_like_scenario_or_no_way_at_all(tmp_path):
    assert lab_command(str(tmp_path), "session_expired", BEGIN).command == "rebalance-kit lab crash"
    assert lab_command(str(tmp_path), "idle_members", BEGIN) is None


def test_every_scenario_that_is_offered_comes_with_the_kit():
    assert set(ALIKE.values()) <= set(scenarios.names())


def rebalance(number):
    start = BEGIN + number * 10_000
    return {
        "number": number,
        "trigger": "join",
        "culprit": f"c{number % 300}",
        "start_ms": start,
        "end_ms": start + 3_000 + number,
        "duration_ms": 3_000 + number,
        "before": number,
        "after": number + 1,
        "cause": "x" * 2_000,
    }


def test_the_data_of_a_long_history_of_a_large_group_stay_small():
    gaps = [
        {
            "partition": f"t-{place}",
            "from_ms": BEGIN + number * 10_000,
            "to_ms": BEGIN + number * 10_000 + 2_000 + place,
            "duration_ms": 2_000 + place,
            "owner_before": f"c{(number + place) % 300}",
            "owner_after": "c1",
        }
        for number in range(4_000)
        for place in range(5)
    ]
    view = GroupView({"rebalances": [rebalance(number) for number in range(20_000)]}, gaps, [], [])
    data = timeline_data(view, [])
    assert len(json.dumps(data)) < 1_200_000
    assert max(count for _, count in data["unread"]) == 5
    assert {row["number"] for row in data["rebalances"]} == set(range(18_500, 20_000))


def test_steps_of_too_many_gaps_keep_the_highest_count_of_each_stretch():
    spans = [(number * 10, number * 10 + 5) for number in range(STEPS)] + [(5_000, 5_004)]
    steps = unread_steps(spans, STEPS * 10)
    assert len(steps) <= STEPS
    assert max(count for _, count in steps) == 2
    assert steps[-1] == (STEPS * 10, 0)


def test_merged_spans_cover_all_that_the_single_ones_covered():
    spans = [(number * number, number * number + 3) for number in range(100)]
    joined = merged(spans, 7)
    assert len(joined) <= 7
    assert all(any(begin <= first and last <= end for begin, end in joined) for first, last in spans)


def test_a_finding_s_number_is_its_rank_by_cost_on_cards_and_timeline(run, page):
    record = look([run]).rows("groups")[0]
    data = json.loads(re.search(r'<script type="application/json">(.*?)</script>', page)[1])
    ranks = {f"g0-f{rank}": row for rank, row in enumerate(by_cost(record["findings"]), start=1)}
    assert [(mark["card"], mark["label"]) for mark in data["findings"]] == [
        (card, card.rpartition("f")[2]) for card, row in ranks.items() if row["at_ms"] is not None
    ]
