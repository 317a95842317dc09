"""The reference of scenario files: it is the reader's, every example is read, and the editors' schema says what the reader says."""

from __future__ import annotations

import io
import json

import jsonschema
import pytest
import yaml

from rebalance_kit.cli import main
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.scenarios import names, source
from rebalance_kit.simulation.scenario.actions import ARGUMENTS, MEMBERLESS
from rebalance_kit.simulation.scenario.reference import SOURCE, latency_words, page, schema, written
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.scenario.yaml_nodes import ACTION, FILE, MEMBER, TOPIC
from tests.support.paths import ROOT

SCHEMA = schema()
EDITOR = jsonschema.Draft202012Validator(SCHEMA)


def passes(document):
    """Whether an editor finds no fault; like the editor, JSON has no keys that are numbers."""
    return EDITOR.is_valid(json.loads(json.dumps(document)))


JUNK = ([[1]], {"zz": {"y": 1}}, [{"zz": 1}])
"""Shapes that no value has."""
ARGUMENT = {
    "ms": "5s",
    "number": 2,
    "count": 3,
    "flag": True,
    "name": "orders",
    "names": ["orders"],
    "configs": {},
}


def file(**more):
    end = {} if "end_ms" in more else {"end": "60s"}
    return {"topics": {"orders": 3}, "members": [{"name": "consumer-1", "topics": ["orders"]}], **end, **more}


def action(do, **more):
    given = {
        name: argument.options[0] if argument.options else ARGUMENT[argument.kind]
        for name, argument in ARGUMENTS[do].items()
        if argument.required
    }
    member = {} if do in MEMBERLESS else {"member": "consumer-1"}
    return {"at": "5s", "do": do, **member, **{written(name): value for name, value in given.items()}, **more}


def accepted_by_reader(document):
    try:
        read_scenario(yaml.safe_dump(document, sort_keys=False))
    except RebalanceKitError:
        return False
    return True


def places():
    """Every key of a file, with a function that puts a value there."""
    for key in FILE:
        yield key, lambda value, key=key: file(**{key: value})
    for key in TOPIC:
        yield f"topic {key}", lambda value, key=key: file(topics={"orders": {"partitions": 3, key: value}})
    for key in MEMBER:
        yield (
            f"member {key}",
            lambda value, key=key: file(members=[{"name": "c", "topics": ["orders"], key: value}]),
        )
    for key in ACTION:
        yield f"action {key}", lambda value, key=key: file(actions=[{**action("crash"), key: value}])
    for do, arguments in ARGUMENTS.items():
        for name in arguments:
            key = written(name)
            yield f"{do} {key}", lambda value, do=do, key=key: file(actions=[action(do, **{key: value})])
    for name in latency_words():
        yield f"latency {name}", lambda value, name=name: file(latencies={name: value})


PLACES = dict(places())


@pytest.mark.golden
def test_the_pages_are_those_of_the_reader(request):
    told = {"docs/scenario.md": page(), SOURCE: json.dumps(SCHEMA, indent=1, ensure_ascii=False) + "\n"}
    for path, text in told.items():
        if request.config.getoption("--update-golden"):
            (ROOT / path).write_text(text, "utf-8")
        assert (ROOT / path).read_text("utf-8") == text, f"make golden writes {path}"


@pytest.mark.parametrize("name", names())
def test_an_editor_finds_no_fault_in_a_scenario_of_the_kit(name):
    assert passes(yaml.safe_load(source(name)))


@pytest.mark.parametrize(
    ("part", "keys"), [("file", FILE), ("topic", TOPIC), ("member", MEMBER), ("action", ACTION)]
)
def test_every_example_is_read_and_passes_in_an_editor(part, keys):
    for name, key in keys.items():
        value = yaml.safe_load(key.example)
        if name in {"prefix", "every", "instance_prefix"}:
            document = file(members={"count": 2, "topics": "orders", name: value})
        elif name == "count":
            document = file(members={"topics": "orders", name: value})
        elif name in {"pattern", "server_pattern"}:
            document = file(members=[{"name": "c", name: value}], protocol="consumer")
        elif name == "nodes":
            document = file(nodes=value)
        elif name == "actions":
            document = file(actions=value)
        else:
            document = PLACES[name if part == "file" else f"{part} {name}"](value)
        assert passes(document)
        read_scenario(yaml.safe_dump(document, sort_keys=False))


@pytest.mark.parametrize("do", ARGUMENTS)
def test_what_an_action_needs_is_enough_for_an_editor_and_less_is_not(do):
    whole = action(do)
    assert passes(file(actions=[whole]))
    for key in whole:
        less = file(actions=[{name: value for name, value in whole.items() if name != key}])
        assert not passes(less) and not accepted_by_reader(less), f"{do} without {key}"


def test_a_shape_that_the_reader_refuses_an_editor_refuses_and_the_other_way_round():
    for place, put in PLACES.items():
        if place == "lesson":
            continue  # read by the lab, not by the engine
        for value in JUNK:
            told, read = passes(put(value)), accepted_by_reader(put(value))
            assert told == read, f"{place}: {value!r} passes in {'an editor' if told else 'the reader'} alone"


@pytest.mark.parametrize(
    "document",
    [
        file(tpics={}),
        file(topics={"orders": {"partitions": 1, "rate": 2}}),
        file(members=[{"name": "c", "topics": "orders", "callbak_ms": 1}]),
        file(members=[{"topics": "orders"}]),
        file(members={"count": 2, "name": "c", "topics": "orders"}),
        file(members=[{"name": "c", "topics": "orders", "prefix": "p"}]),
        file(members=[{"name": "c", "topics": "orders", "start": {"about": "3s"}}]),
        file(members=[{"name": "c", "topics": "orders", "start": "soon"}]),
        file(actions=[{"at": "5s", "do": "crush", "member": "consumer-1"}]),
        file(actions=[{"at": "5s", "do": "crash"}]),
        file(actions=[{"at": "5s", "do": "broker_down", "member": "consumer-1"}]),
        file(actions=[action("stall", after="5s")]),
        file(latencies={"one_day": 3}),
        file(latencies={"one_way": [1, 2]}),
        file(protocol="eagre"),
        file(expect=["NO_ERROR_AT_ALL"]),
        {"topics": {"orders": 1}},
    ],
    ids=str,
)
def test_a_slip_is_seen_by_the_reader_and_in_an_editor(document):
    assert not accepted_by_reader(document) and not passes(document)


def test_times_with_and_without_their_unit_s_name_pass():
    for document in (
        file(end_ms=60_000),
        file(actions=[action("stall")]),
        file(actions=[{**action("crash"), "at": {"about": "30s", "within": "4s"}}]),
    ):
        assert passes(document)
        assert accepted_by_reader(document)


def test_every_latency_is_told_in_words():
    assert all(latency_words().values()), [name for name, words in latency_words().items() if not words]


def test_the_command_prints_the_schema():
    out = io.StringIO()
    assert main(["scenarios", "--schema"], out) == 0 and json.loads(out.getvalue()) == SCHEMA
