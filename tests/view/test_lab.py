"""The lab without a screen: every button as a method, and what the page is sent."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib

import pytest

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.model.errors import ScenarioError

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.cli.lab import _checked
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.stored import deciding_ms
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.words.descriptions import describe_board


@pytest.fixture
def lab():
    return Lab()


def owners(lab):
    return {one.name: one.state.owner for one in lab.board.partitions}


def film(lab):
    return json.loads(zlib.decompress(lab.film))


def heard(lab, **message):
    answers = []
    lab.send = lambda content, buffers=None: answers.append(content)
    lab.handle(message)
    return answers[0]


def test_the_lab_opens_at_rest_on_two_consumers_with_four_partitions(lab):
    assert lab.board.flowing == 4
    assert sorted(owners(lab).values()) == ["consumer-1", "consumer-1", "consumer-2", "consumer-2"]


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_crashing_consumer_1_moves_its_partitions_to_consumer_2(protocol):
    lab = Lab(protocol=protocol)
    orphans = [name for name, owner in owners(lab).items() if owner == "consumer-1"]
    lab.crash("consumer-1")
    assert lab.board.member("consumer-1").state.doing == "crashed"
    assert [one.name for one in lab.board.partitions if not one.state.flows] == orphans
    lab.at(lab.trace.end_ms)
    assert set(owners(lab).values()) == {"consumer-2"}
    assert lab.board.flowing == 4


def test_what_is_done_happens_at_the_cursor(lab):
    lab.at(20_000)
    lab.crash("consumer-2")
    crash = next(row for row in lab.trace.of("action"))
    assert (crash.at_ms, crash.detail["do"]) == (20_000, "crash")


def test_a_member_that_leaves_hands_over_at_once_and_one_that_restarts_comes_back(lab):
    lab.leave("consumer-1")
    lab.at(lab.trace.end_ms)
    assert lab.board.member("consumer-1").state.doing == "left"
    assert set(owners(lab).values()) == {"consumer-2"}
    lab.restart("consumer-1")
    lab.at(lab.trace.end_ms)
    assert sorted(set(owners(lab).values())) == ["consumer-1", "consumer-2"]


def test_an_added_member_gets_a_share_and_a_name_of_its_own(lab):
    lab.add()
    lab.at(lab.trace.end_ms)
    assert "consumer-3" in owners(lab).values()


def test_switching_the_protocol_keeps_what_was_done_and_where_one_looks(lab):
    lab.crash("consumer-1")
    at_ms = lab.cursor_ms
    lab.protocol = "consumer"
    assert lab.trace.label == "consumer"
    assert lab.cursor_ms == at_ms
    assert lab.board.member("consumer-1").state.doing == "crashed"


def test_the_assignor_can_be_chosen_among_those_of_the_protocol(lab):
    lab.assignor = "sticky"
    assert lab.board.group.assignor == "sticky"
    lab.protocol = "consumer"
    assert lab.assignor is None
    assert lab.controls["assignors"] == ["uniform", "range"]


def test_undo_and_redo_walk_the_same_runs(lab):
    before = film(lab)
    lab.crash("consumer-1")
    crashed = film(lab)
    lab.undo()
    assert film(lab) == before
    lab.redo()
    assert film(lab) == crashed
    assert lab.controls["undo"] == "consumer-1 crashes"


def test_undo_with_nothing_done_changes_nothing(lab):
    before = lab.film
    lab.undo()
    lab.redo()
    assert lab.film == before


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (
            lambda lab: lab.crash("consumer-9"),
            "no member is named 'consumer-9'; expected one of consumer-1, consumer-2",
        ),
        (lambda lab: lab.thaw("consumer-1"), "consumer-1 is not frozen"),
        (
            lambda lab: setattr(lab, "protocol", "sticky-ish"),
            "protocol 'sticky-ish' is unknown; expected one of eager, cooperative, consumer",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_words_and_the_old_run_stays(lab, act, words):
    before = lab.film
    with pytest.raises(ScenarioError, match=words):
        act(lab)
    assert lab.film == before
    assert lab.protocol == "eager"


def test_a_crashed_member_cannot_crash_again_but_can_be_started(lab):
    lab.crash("consumer-1")
    with pytest.raises(ScenarioError, match=r"consumer-1 has crashed\. Restart it first\."):
        lab.leave("consumer-1")
    lab.restart("consumer-1")
    assert [row.detail["do"] for row in lab.trace.of("action")] == ["crash", "start"]


def test_a_click_is_answered_with_done_and_a_refused_one_with_its_words(lab):
    done = heard(lab, type="act", do="crash", member="consumer-1", at_ms=11_000, id=1)
    stopped = sum(gap.within(11_000) for gap in gaps(lab.trace, 11_000)) / 1000
    assert done == {
        "type": "done",
        "id": 1,
        "serial": 2,
        "play": True,
        "select": "consumer-1",
        "cost": round(stopped, 1),
        "without": 0.0,
        "deleted": [],
        "twice": metrics(lab.trace).records_redelivered,
        "skipped": 0,
        "nothing": "",
    }
    assert stopped > 80
    assert lab.cursor_ms == 11_000
    refused = heard(lab, type="act", do="crash", member="consumer-1", at_ms=12_000, id=2)
    assert refused == {"type": "refused", "id": 2, "words": "consumer-1 has crashed. Restart it first."}


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"type": "eval"},
        {"type": "act"},
        {"type": "act", "do": "explode", "member": "consumer-1"},
        {"type": "set", "name": "film", "value": "x"},
    ],
)
def test_a_message_that_means_nothing_is_refused_and_changes_nothing(lab, message):
    before = lab.film
    assert heard(lab, **message)["type"] == "refused"
    assert lab.film == before


def test_without_a_kernel_the_last_state_is_there_as_picture_and_words(lab):
    bundle = lab._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/plain"] == lab.text
    assert data["image/svg+xml"].startswith("<svg")
    assert "orders-0" in data["image/svg+xml"]
    assert 'src="data:image/svg+xml;base64,' in data["text/html"]
    assert "Run this cell" in data["text/html"]
    assert "All 4 partitions flow." in lab.text


MOST_STORED = {"two-consumers-crash": 250_000, "fifty-by-five-hundred": 600_000}


@pytest.mark.parametrize("name", list(MOST_STORED))
def test_the_stored_output_holds_the_film_and_its_picture_shows_the_moment_that_decides(name):
    lab = Lab(name)
    data = lab._repr_mimebundle_()[0]
    assert len(data["text/html"]) < MOST_STORED[name]
    board = lab.boards.at(deciding_ms(lab.boards))
    assert board.flowing < len(board.partitions)
    assert data["text/plain"] == describe_board(board)
    run = re.search(r"inflate\(\"([^\"]+)\"\)\]", data["text/html"])[1]
    stored = json.loads(zlib.decompress(base64.b64decode(run)))
    assert base64.b64decode(stored["film"]) == lab.film
    assert (stored["cursor_ms"], stored["controls"]["alone"]) == (lab.cursor_ms, True)
    assert Lab.from_link(stored["controls"]["link"]).film == lab.film


def test_once_something_was_done_the_picture_is_that_of_the_cursor():
    lab = Lab("two-consumers-crash")
    heard(lab, type="act", do="crash", member="consumer-2", args={}, at_ms=30_000)
    assert lab._repr_mimebundle_()[0]["text/plain"] == lab.text


def test_the_film_has_every_track_from_the_start_and_names_only_known_states(lab):
    held = film(lab)
    assert held["partitions"] == ["orders-0", "orders-1", "orders-2", "orders-3"]
    for tracks, table in (("memberTracks", "memberStates"), ("partitionTracks", "partitionStates")):
        for flat in held[tracks]:
            assert flat[0] == 0
            assert max(flat[1::2]) < len(held[table])
            assert min(flat[::2]) >= 0


def test_fifty_by_five_hundred_travels_in_thirty_kilobytes(make_group):
    lab = Lab(make_group(50, 500), protocol="eager")
    lab.crash("consumer-17")
    assert len(lab.film) <= 30_000


def test_importing_the_room_loads_neither_plotly_nor_widgets():
    code = "import sys, rebalance_kit.view.words.descriptions, rebalance_kit.view.figures.flow, rebalance_kit.view.lab.run_report, rebalance_kit.view.lab.playing.playback; print(sorted({'plotly', 'ipywidgets', 'anywidget', 'IPython', 'traitlets'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "name", [preset.name for preset in lessons() if preset.name != "fifty-by-five-hundred"]
)
def test_a_name_the_command_line_and_the_menu_open_the_same_run(name, lab):
    opened = Lab(name)
    lab.load(name)
    assert (opened.trace.rows, opened.protocol) == (lab.trace.rows, lab.protocol)
    code = _checked(name)
    assert code.startswith("Lab.from_link(")
    linked = Lab.from_link(code.removeprefix("Lab.from_link('").removesuffix("')"))
    assert linked.trace.rows == opened.trace.rows
    scenario = load(name)
    assert opened.trace.rows == simulate(scenario, protocol=opened.protocol).rows
    assert (opened.protocol is None) == scenario.chooses_protocol()
