"""Exams in two windows, exercises killed half-way, links that cannot be played, names that look like HTML."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rebalance_kit.exercises import case_runs
from rebalance_kit.exercises.case_runs import place_logs, simulated
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.store import OwnedElsewhere, Store
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.view.style.theme import embedded
from tests.support.bad_input.command import assert_refused, ended
from tests.support.bad_input.interrupts import COMMANDS, ROOT

RUNS = (simulated("one", "crash", "eager"), simulated("two", "leave", "eager"))
CRASH = read_scenario("scenario: s\ntopics: {t: 2}\nmembers: [{name: c1, topics: [t]}]\nend: 5s\n")
LINKS = {
    "protocol": Link(CRASH, protocol="raft"),
    "assignor": Link(CRASH, protocol="eager", assignor="nothing"),
    "member": Link(CRASH, deeds=({"do": "crash", "at": 1000, "member": "nobody"},)),
    "no deed": Link(CRASH, deeds=({"x": 1},)),
}


def windows(tmp_path):
    """Two windows on one exam, the second opened last."""
    first, second = Store(tmp_path / "a.sqlite"), Store(tmp_path / "a.sqlite")
    return tuple(ExamSitting.begin("CCDAK", questions=2, store=store).start() for store in (first, second))


@pytest.mark.parametrize("step", ["answer", "flag", "go", "finish"])
def test_an_exam_has_one_window_at_a_time(step, tmp_path):
    first, second = windows(tmp_path)
    second.flag()
    arguments = {"answer": ("a",), "go": (1,)}.get(step, ())
    with pytest.raises(OwnedElsewhere, match="opened in another window"):
        getattr(first, step)(*arguments)
    (state,) = Store(tmp_path / "a.sqlite").kept("exam").values()
    assert state["flags"] == [0]
    assert not state["ended"]


@pytest.mark.parametrize("step", ["answer", "flag", "go", "finish"])
def test_a_handed_in_exam_stays_handed_in(step, tmp_path):
    first, second = windows(tmp_path)
    second.finish()
    arguments = {"answer": ("a",), "go": (1,)}.get(step, ())
    with pytest.raises(DataError, match="handed in elsewhere"):
        getattr(first, step)(*arguments)
    (state,) = Store(tmp_path / "a.sqlite").kept("exam").values()
    assert state["ended"]


@pytest.mark.parametrize("minutes", [float("nan"), -5, 0, float("inf"), 1e9])
def test_an_exam_of_no_time_is_refused(minutes, tmp_path):
    with pytest.raises(DataError, match="minutes received, expected"):
        ExamSitting.begin("CCDAK", questions=2, minutes=minutes, store=Store(tmp_path / "a.sqlite"))


@pytest.mark.parametrize("at", range(2))
def test_logs_of_an_exercise_are_whole_or_not_there(at, tmp_path, monkeypatch):
    write, count = case_runs.write_logs, iter(range(9))

    def killed(trace, folder):
        write(trace, folder)
        if next(count) == at:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(case_runs, "write_logs", killed)
        with pytest.raises(KeyboardInterrupt):
            place_logs(RUNS, tmp_path / "data")
    assert list((tmp_path / "data").iterdir()) == []
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    (tmp_path / "data" / f".draft-{ended.pid}" / "one").mkdir(parents=True)  # what SIGKILL leaves
    place_logs(RUNS, tmp_path / "data")
    place_logs(RUNS, tmp_path / "whole")
    names = [
        sorted(str(file.relative_to(tmp_path / top)) for file in (tmp_path / top).rglob("*"))
        for top in ("data", "whole")
    ]
    assert names[0] == names[1] != []


@pytest.mark.parametrize("way", ["--text", "--html"])
@pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)
def test_a_link_that_cannot_be_played_is_refused(link, way, tmp_path):
    page = tmp_path / "page.html"
    assert_refused(ended("lab", write_link(link), way, *([page] if way == "--html" else [])))
    assert not page.exists()


@pytest.mark.parametrize(
    "name", ["<!--<script>", "</script>", "</SCRIPT >", "a&b", "\u2028", "<img src=x onerror=1>", "]]>"]
)
def test_no_name_ends_the_script_that_holds_it(name):
    text = embedded({"name": name})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"name": name}


@pytest.mark.parametrize("text", ["{", "5", '[{"a": 1}]', "[" * 50_000, "null", '"x"'])
def test_damaged_beliefs_of_an_answer_are_none(text, tmp_path):
    store = Store(tmp_path / "a.sqlite")
    with store._connection() as connection:
        connection.execute(
            "INSERT INTO attempt VALUES ('i', 1.0, 'quiz', 'x', 1, 'a', 1, 1.0, NULL, ?, NULL)", (text,)
        )
    assert [attempt.beliefs for attempt in store.attempts()] == [()]


def row_of(name, moments):
    """What the driver says of a command that is killed so many times."""
    words = ("--moments", str(moments), "--signals", "SIGKILL", "--", name)
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.bad_input.interrupts", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


QUICK = ("lab --notebook", "items export anki", "answers import", "make-logs --truth", "watch --from")


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
@pytest.mark.parametrize("name", QUICK)
def test_what_is_killed_leaves_nothing_and_begins_again(name):
    status, told = row_of(name, 2)
    assert status == 0, told


FETCHING = frozenset({"broker start", "broker start, first fetch", "record"})
"""Commands that need Kafka's jars, or get them from a network."""


@pytest.mark.long
@pytest.mark.timeout(0)
@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.live) if one in FETCHING else one for one in COMMANDS]
)
def test_at_many_moments_too(name):
    status, told = row_of(name, 10)
    assert status == 0, told
