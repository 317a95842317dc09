"""The answers of Kafka 4.3.1's own classes, and what happens to a file of cases that is not one."""

from __future__ import annotations

import gzip
import io
import json
from collections import Counter

import pytest

from rebalance_kit.assignors.vectors import run_assign, run_cases
from rebalance_kit.model.errors import DataError
from tests.support.paths import DATA

VECTORS = DATA / "assignor_vectors.json.gz"


def stored():
    return json.loads(gzip.decompress(VECTORS.read_bytes()))["vectors"]


def written(tmp_path, document):
    path = tmp_path / "cases.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def one_case(**changes):
    case = {
        "assignor": "client.range",
        "topics": {"orders": 2},
        "members": [{"member_id": "a", "topics": ["orders"]}],
        "expected": {"a": [["orders", 0], ["orders", 1]]},
    }
    return {key: value for key, value in (case | changes).items() if value is not ...}


def test_every_stored_answer_of_kafka_is_ours():
    results = list(run_cases(VECTORS))
    assert [result["index"] for result in results if not result["equal"]] == []
    assert len(results) == 1801


def test_corners_that_no_healthy_group_reaches_are_kafkas_too():
    results = list(run_cases(DATA / "assignor_corners.json.gz"))
    assert [result["index"] for result in results if not result["equal"]] == []
    assert Counter(result.get("raises") for result in results) == {
        None: 1484,
        "NullPointerException": 15,
        "IllegalStateException": 2,
        "PartitionAssignorException": 29,
        "ArrayIndexOutOfBoundsException": 30,
    }


def test_the_stored_answers_cover_every_assignor_racks_and_a_failure_of_kafka():
    kinds = Counter((case["assignor"], "replica_racks" in case, "raises" in case) for case in stored())
    assert kinds == {
        ("client.range", False, False): 200,
        ("client.roundrobin", False, False): 200,
        ("client.sticky", False, False): 200,
        ("client.cooperative-sticky", False, False): 200,
        ("client.cooperative-sticky", False, True): 1,
        ("client.range", True, False): 200,
        ("client.sticky", True, False): 200,
        ("client.cooperative-sticky", True, False): 200,
        ("server.range", False, False): 200,
        ("server.uniform", False, False): 200,
    }


def test_a_wrong_answer_in_the_file_is_called_different_and_ends_with_status_one(tmp_path):
    cases = [one_case(), one_case(expected={"a": [["orders", 1], ["orders", 0]]})]
    out, err = io.StringIO(), io.StringIO()
    assert run_assign(written(tmp_path, cases), as_json=False, explain=False, out=out, err=err) == 1
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [line["equal"] for line in lines] == [True, False]
    assert err.getvalue() == "2 cases, 2 compared with Kafka, 1 equal, 1 different\n"


def test_a_bare_list_without_answers_is_run_and_compared_with_nothing(tmp_path):
    out = io.StringIO()
    assert run_assign(written(tmp_path, [one_case(expected=...)]), as_json=True, explain=False, out=out) == 0
    assert json.loads(out.getvalue()) == {"index": 0, "assignment": {"a": [["orders", 0], ["orders", 1]]}}


def test_server_answers_may_stand_in_any_order_and_client_answers_may_not(tmp_path):
    backwards = {"a": [["orders", 1], ["orders", 0]]}
    server = one_case(assignor="server.range", topic_ids={"orders": [1, 2]}, expected=backwards)
    assert [
        case["equal"] for case in run_cases(written(tmp_path, [server, one_case(expected=backwards)]))
    ] == [True, False]


def test_a_failure_of_kafka_is_an_answer_like_any_other(tmp_path):
    failing = next(case for case in stored() if "raises" in case)
    cases = [failing, failing | {"raises": "IllegalStateException"}, {**failing, "raises": None}]
    results = list(run_cases(written(tmp_path, cases)))
    assert [result["raises"] for result in results] == ["NullPointerException"] * 3
    assert [result.get("equal") for result in results] == [True, False, None]


def test_an_answer_where_kafka_throws_is_different(tmp_path):
    assert [case["equal"] for case in run_cases(written(tmp_path, [one_case(expected=..., raises="X")]))] == [
        False
    ]


def test_an_explanation_stands_under_its_case_or_inside_the_line(tmp_path):
    path = written(tmp_path, [one_case()])
    text, line = io.StringIO(), io.StringIO()
    run_assign(path, as_json=False, explain=True, out=text, err=io.StringIO())
    run_assign(path, as_json=True, explain=True, out=line)
    under = text.getvalue().splitlines()[1]
    step = json.loads(line.getvalue())["steps"][0]
    assert under == f"    a: {step['rule']} [orders-0, orders-1]"
    assert step["partitions"] == [["orders", 0], ["orders", 1]]


MEMBER = {"member_id": "a", "topics": ["orders"]}

BAD = {
    "assignor": (
        one_case(assignor="client.rnage"),
        'case 0, assignor: got "client.rnage"',
        "did you mean 'client.range'?",
    ),
    "no assignor": (one_case(assignor=...), "case 0: got", "the key 'assignor'"),
    "count": (one_case(topics={"orders": -1}), "case 0, topics.orders: got -1", "a whole number from 0"),
    "count as text": (one_case(topics={"orders": "2"}), 'topics.orders: got "2"', "a whole number"),
    "true": (one_case(topics={"orders": True}), "topics.orders: got true", "a whole number"),
    "members": (one_case(members={}), "case 0, members: got {}", "a list"),
    "member": (one_case(members=["a"]), 'members[0]: got "a"', "an object"),
    "no topics": (one_case(members=[{"member_id": "a"}]), "members[0]: got", "the key 'topics'"),
    "twice": (
        one_case(members=[MEMBER, MEMBER]),
        'members[1].member_id: got "a"',
        "members[0] has this one already",
    ),
    "owned": (
        one_case(members=[MEMBER | {"owned": [["orders"]]}]),
        'members[0].owned[0]: got ["orders"]',
        "[topic, partition]",
    ),
    "generation": (
        one_case(members=[MEMBER | {"generation": "5"}]),
        'members[0].generation: got "5"',
        "a whole number from -1",
    ),
    "misspelt": (
        one_case(members=[MEMBER | {"generatoin": 5}]),
        'members[0]: got "generatoin"',
        "the key 'generation'",
    ),
    "id": (
        one_case(assignor="server.range", topic_ids={"orders": [1]}),
        "topic_ids.orders: got [1]",
        "[most, least]",
    ),
    "no id": (
        one_case(assignor="server.uniform"),
        "topic_ids.orders: got null",
        "a server assignor needs it",
    ),
    "racks": (
        one_case(replica_racks={"orders": [["r"]]}),
        'replica_racks.orders: got "racks of 1 partitions"',
        "2, as topics says",
    ),
    "rack": (
        one_case(replica_racks={"orders": [["r"], [7]]}),
        "replica_racks.orders[1][0]: got 7",
        "a rack as a string",
    ),
    "expected": (one_case(expected={}), "case 0, expected: got []", "'a' is missing"),
    "case": ([1], "case 0: got [1]", "an object"),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_malformed_case_is_refused_with_place_value_and_expectation(kind, tmp_path):
    raw, place, expectation = BAD[kind]
    path = written(tmp_path, [raw])
    out = io.StringIO()
    with pytest.raises(DataError) as refusal:
        run_assign(path, as_json=True, explain=False, out=out)
    assert str(path) in str(refusal.value)
    assert place in str(refusal.value)
    assert expectation in str(refusal.value)
    assert out.getvalue() == ""


def test_nothing_is_printed_when_a_later_case_is_malformed(tmp_path):
    out = io.StringIO()
    with pytest.raises(DataError, match="case 1, topics"):
        run_assign(written(tmp_path, [one_case(), one_case(topics=[])]), as_json=True, explain=False, out=out)
    assert out.getvalue() == ""


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"7", "a list of cases"),
        (b'{"cases": []}', 'an object with one under "vectors"'),
        (gzip.compress(b"[]" * 500, mtime=0)[:20], "cut short"),
        (
            gzip.compress(b"[]", mtime=0)[:8] + b"\x00damaged" * 4,
            "gzip file is damaged|is not JSON|cut short|cannot be read",
        ),
    ],
)
def test_a_file_that_holds_no_cases_is_refused_by_name(content, reason, tmp_path):
    path = tmp_path / "cases.json.gz"
    path.write_bytes(content)
    with pytest.raises(DataError, match=reason) as refusal:
        list(run_cases(path))
    assert "cases.json.gz" in str(refusal.value)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.json: cannot be read"):
        list(run_cases(tmp_path / "nowhere.json"))
