"""What engineers on call found wrong, item by item, and the test that was red for it."""

from __future__ import annotations

import ast

import pytest

from tests.support.paths import ROOT

#: Denials and conclusions (A), costs and clocks (B), use as a person (C).
HELD_BY = {
    "A1": "forensics/test_no_false_statement.py::test_no_form_of_a_line_is_denied",
    "A2": "forensics/test_conclusions.py::test_an_end_without_a_beginning_is_a_rebalance_with_what_is_known_of_it",
    "A3": "forensics/test_conclusions.py::test_a_rebalance_takes_its_reason_from_the_members_own_line",
    "A4": "forensics/test_conclusions.py::test_a_time_that_stands_there_in_an_unknown_form_is_said_to_stand_there",
    "A5": "forensics/test_conclusions.py::test_the_same_line_twice_is_one_event_in_one_file_and_in_two",
    "A6": "forensics/test_conclusions.py::test_expiries_a_session_after_a_failover_are_one_story",
    "A7": "forensics/test_conclusions.py::test_clients_that_time_out_in_the_same_moment_were_frozen_together",
    "A8": "forensics/test_conclusions.py::test_a_task_that_failed_is_not_sold_as_a_normal_leave",
    "A9": "forensics/test_conclusions.py::test_generations_that_prove_many_rebalances_are_a_loop",
    "A10": "forensics/test_no_false_statement.py::test_a_second_member_of_one_client_id_does_not_join_again",
    "A11": "forensics/test_conclusions.py::test_shares_tell_who_must_have_come_or_gone_where_no_line_does",
    "B12": "forensics/test_answer.py::test_unread_time_of_a_member_that_died_in_a_rebalance_counts_from_what_its_own_log_proves",
    "B13": "forensics/test_costs.py::test_no_gap_is_charged_twice_and_who_delays_comes_before_what_began_it",
    "B14": "forensics/test_conclusions.py::test_clocks_are_compared_both_ways_and_the_offset_is_a_command",
    "B15": "forensics/test_exports.py::test_an_export_sorted_newest_first_is_read_in_reverse",
    "C16": "forensics/test_answer.py::test_json_holds_findings_that_name_no_group_and_says_how_grave_they_are",
    "C17": "forensics/test_answer.py::test_the_status_says_what_the_answer_says",
    "C18": "forensics/test_answer.py::test_a_moment_is_told_by_the_end_of_the_logs_by_a_clock_or_by_a_date",
    "C19": "forensics/test_exports.py::test_an_answer_in_one_line_of_json_is_read_as_its_messages",
    "C20": "forensics/test_several.py::test_same_tables",
    "C21": "forensics/test_live.py::test_news_is_told_as_json_lines",
    "C22": "forensics/test_answer.py::test_markdown_is_a_postmortem_with_its_picture_beside_it",
    "C23": "forensics/test_explained.py::test_a_code_a_line_and_a_key_of_connect_are_explained",
    "C24": "forensics/test_conclusions.py::test_a_limit_that_was_passed_stands_beside_what_was_measured",
    "C25": "forensics/terminal/test_pyz.py::test_one_file_says_what_the_kit_says_on_a_python_without_any_package",
}


@pytest.mark.parametrize("item", HELD_BY)
def test_each_item_has_its_test(item):
    file, name = HELD_BY[item].split("::")
    tree = ast.parse((ROOT / "tests" / file).read_text("utf-8"))
    assert name in {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
