"""Comparison of runs: the table, and what is said of it."""

from __future__ import annotations

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import ABSENT, MEASURES, cells, compare, sentences, table
from rebalance_kit.model.trace import COLUMNS
from rebalance_kit.simulation.simulate import simulate
from tests.support.analysis.made_traces import flows, state, trace


def told(label, *stretches, rows=(), end=60_000):
    generations = [
        (at, "coordinator", "generation", None, {"generation": number})
        for number, at in enumerate((10_000, 13_000), start=1)
        if label == "cooperative"
    ]
    action = [(9_000, "admin", "action", None, {"do": "start", "member": "c"})]
    made = sorted(
        [*flows(*stretches), *generations, *action, *rows, state(1, "Stable")], key=lambda row: row[0]
    )
    return trace(*made, label=label, end=end)


EAGER = told(
    "eager",
    ("t-0", "a", 0, 10_000),
    ("t-1", "a", 0, 10_000),
    ("t-0", "a", 10_250, None),
    ("t-1", "b", 10_250, None),
)
COOPERATIVE = told("cooperative", ("t-0", "a", 0, None), ("t-1", "a", 0, 10_000), ("t-1", "b", 13_000, None))
CONSUMER = told("consumer", ("t-0", "a", 0, None), ("t-1", "a", 0, 10_000), ("t-1", "b", 11_500, None))
THREE = {"eager": EAGER, "cooperative": COOPERATIVE, "consumer": CONSUMER}


def rows(compared):
    return {row[0]: row[1:] for row in cells(compared.labels, list(compared.metrics.values()))}


def test_every_number_of_the_table_stands_under_its_label():
    compared = compare(THREE)
    told = rows(compared)
    assert told[""] == list(compared.labels) == ["eager", "cooperative", "consumer"]
    assert told["partitions unread"] == ["2", "1", "1"]
    assert told["longest gap of a partition, s"] == ["0.25", "3.00", "1.50"]
    assert told["unread partition-seconds"] == ["0.5", "3.0", "1.5"]
    assert told["longest gap of the whole group, s"] == ["0.25", "0.00", "0.00"]
    assert told["elsewhere at the end"] == ["1", "1", "1"] and told["generations"] == ["0", "2", "0"]
    assert told["fault detected after, s"] == [ABSENT] * 3


def test_the_table_has_a_line_a_measure_and_columns_that_line_up():
    lines = table(compare(THREE)).splitlines()
    assert len(lines) == 1 + len(MEASURES) and len({len(line) for line in lines}) == 1
    (gap,) = (line for line in lines if line.startswith("longest gap of a partition, s"))
    assert gap.split()[-3:] == ["0.25", "3.00", "1.50"]


def test_thousands_are_set_off():
    many = [(60_000, "run", "account", "t-0", {"lost": 1_234_567})]
    assert rows(compare({"eager": told("eager", ("t-0", "a", 0, None), rows=many)}))["records lost"] == [
        "1,234,567"
    ]


def test_the_sentences_say_what_the_numbers_say():
    said = sentences(compare(THREE))
    assert said[:3] == (
        "eager: all 2 partitions were unread for a time; for 0.25 s none of them was read. The longest gap of one partition was 0.2 s.",
        "cooperative: 1 of 2 partitions were unread for a time, the other 1 were read throughout. The longest gap of one partition was 3.0 s.",
        "consumer: 1 of 2 partitions were unread for a time, the other 1 were read throughout. The longest gap of one partition was 1.5 s.",
    )
    assert said[3].startswith("cooperative took 2 generations") and "follow-up rebalance" in said[3]
    assert len(said) == 4


def test_one_run_never_says_which_protocol_is_better():
    words = " ".join(sentences(compare(THREE)))
    assert not any(word in words for word in ("shortest", "best", "least", "better"))


def test_a_run_without_a_gap_is_said_to_have_none():
    calm = told("consumer", ("t-0", "a", 0, None))
    assert sentences(compare({"consumer": calm})) == ("consumer: every partition was read all the time.",)


def test_a_run_in_which_nobody_ever_read_is_not_said_to_have_been_read():
    never = told("eager")
    assert "eager: no partition was read at any time." in sentences(compare({"eager": never}))


def test_detection_is_told_only_when_every_run_has_it():
    crash = [
        (9_500, "a", "action", None, {"do": "crash", "member": "a"}),
        (18_000, "coordinator", "member_removed", None, {"name": "a", "how": "session"}),
    ]
    crashed = told("eager", ("t-0", "a", 0, 9_500), ("t-0", "b", 20_000, None), rows=crash)
    (said,) = (one for one in sentences(compare({"eager": crashed})) if one.startswith("Until"))
    assert "eager 8.5 s" in said
    assert "max.poll.interval.ms" in said, "a member that does not poll is not noticed by its session"
    assert not any(
        one.startswith("Until") for one in sentences(compare({"eager": crashed, "consumer": CONSUMER}))
    )


def test_moves_without_need_are_named_by_label():
    def shuffled(label):
        before = [(f"t-{number}", "a" if number < 2 else "b", 0, 10_000) for number in range(4)]
        return told(
            label,
            *before,
            *[(f"t-{number}", "b" if number < 2 else "a", 10_000, None) for number in range(4)],
        )

    said = sentences(compare({"eager": shuffled("eager"), "consumer": CONSUMER}))
    assert "Partitions with another reader at the end that need not have had one: eager 4." in said


def test_all_runs_are_studied_from_the_earliest_moment_of_theirs():
    late = told("eager", ("t-0", "a", 9_800, None))
    assert {one.since_ms for one in compare({"eager": late, "consumer": CONSUMER}).metrics.values()} == {
        9_000
    }


def test_at_a_prompt_a_run_a_scenario_and_a_comparison_show_themselves_in_little():
    scenario = scenarios.load("crash")
    trace = simulate(scenario, 1, "eager")
    compared = compare({"<eager>": trace})
    assert repr(trace) == f"<Trace crash-eager-1: eager, simulated, seed 1, 110 s, {len(trace.rows)} rows>"
    assert repr(scenario).startswith("<Scenario crash: 3 members, orders (12), 1 action, 110 s")
    assert repr(compared) == table(compared)
    page = compared._repr_html_()
    assert "<th>&lt;eager&gt;</th>" in page and page.count("<tr>") == len(MEASURES) + 1


def test_a_run_as_a_table_of_pandas_has_a_row_an_event():
    pandas = pytest.importorskip("pandas")
    trace = simulate(scenarios.load("crash"), 1, "eager")
    table_of_rows = trace.to_pandas()
    assert isinstance(table_of_rows, pandas.DataFrame) and len(table_of_rows) == len(trace.rows)
    assert list(table_of_rows.columns) == list(COLUMNS) and set(table_of_rows["run_id"]) == {trace.run_id}


def test_a_comparison_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        compare({})


def test_a_rebalance_that_began_before_the_counting_is_said():
    scenario = scenarios.load("crash-in-hand-over")
    said = sentences(compare({name: simulate(scenario, 1, name) for name in ("eager", "consumer")}))
    (told,) = [sentence for sentence in said if "had begun before" in sentence]
    assert "eager at second 3" in told and told.startswith("Counts begin at second ")


def test_nothing_is_said_of_a_group_that_was_stable_as_the_counting_began():
    said = sentences(compare({"eager": simulate(scenarios.load("crash"), 1, "eager")}))
    assert not any("had begun before" in sentence for sentence in said)
