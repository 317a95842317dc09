"""What a value shows at a prompt and in a notebook: short, and never the rows."""

from __future__ import annotations

import json

import pytest

import rebalance_kit as rk

MOST_LETTERS = 2_000


@pytest.fixture(scope="module")
def trace():
    return rk.simulate("storm", protocol="eager")


@pytest.fixture(params=["trace", "scenario", "large scenario", "metrics", "comparison"])
def face(request, trace):
    """A value, and words that its face has."""
    return {
        "trace": lambda: (trace, ("storm-eager", "seed")),
        "scenario": lambda: (rk.scenario("crash"), ("crash", "orders")),
        "large scenario": lambda: (rk.scenario("fifty-by-five-hundred"), ("50", "500")),
        "metrics": lambda: (trace.metrics, ("partitions unread", "hand-overs")),
        "comparison": lambda: (rk.compare({"eager": trace}), ("partitions unread", "eager")),
    }[request.param]()


def test_a_face_is_short_and_says_what_it_is(face):
    value, words = face
    for text in (repr(value), value._repr_html_()):
        assert len(text) < MOST_LETTERS
        assert all(word in text for word in words)


def test_nothing_of_a_scenario_is_markup_in_its_face():
    told = rk.scenario(
        "scenario: crash\ntitle: <script>alert(1)</script>\ntopics: {orders: 1}\nmembers: [{name: a, topics: orders}]\n"
    )
    assert "<script" not in told._repr_html_() and "&lt;script" in told._repr_html_()


def test_a_name_a_path_and_a_text_are_run_like_the_scenario_itself(tmp_path):
    from rebalance_kit.scenarios import source

    path = tmp_path / "crash.yaml"
    path.write_text(source("crash"), "utf-8")
    crash = rk.simulate(rk.scenario("crash"), 7, "cooperative")
    assert crash == rk.simulate("crash", 7, "cooperative") == rk.simulate(path, 7, "cooperative")
    with pytest.raises(rk.RebalanceKitError, match="crash"):
        rk.simulate("crush")


def test_the_cost_of_a_trace_is_an_attribute(trace):
    assert trace.metrics == rk.metrics(trace) and trace.metrics is trace.metrics


def test_the_rows_are_an_arrow_table_and_a_data_frame(trace):
    table = trace.to_arrow()
    assert table.num_rows == len(trace.rows) and table.column_names == list(trace.to_pandas().columns)
    for told, line in zip(table.to_pylist()[:50], list(trace.jsonl())[1:], strict=False):
        assert {**told, "detail": json.loads(told["detail"])} == json.loads(line)


def test_a_trace_without_rows_has_a_table_without_rows():
    assert rk.Trace("nothing", "eager", 1, 0, ()).to_arrow().num_rows == 0
