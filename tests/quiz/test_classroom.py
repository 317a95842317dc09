"""A workshop's plan and the guide made of it: minutes that add up, runs and questions that exist."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys

import nbformat
import pytest

from rebalance_kit.classroom import handing_out
from rebalance_kit.classroom.guide import cells, notebook, schedule, source
from rebalance_kit.classroom.plan import plan_of, read_plan
from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.reading import parse_document
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.simulation.simulate import simulate
from tests.support.paths import ROOT

PLAN = """\
title: T
minutes: 5
for: All.
aims: [say hello]
before: []
plan_b: []
beats:
  - title: Hello
    minutes: 5
    say: [Hi.]
    poll: eager-crash-which-unread
    lab: {scenario: crash, protocol: eager, seed: 1, at_s: 31}
    expect:
      - {at: 2, belief: cooperative-is-default, reply: Range wins the vote.}
"""


@pytest.fixture(scope="module", params=("90min", "halfday", "day"))
def plan(bank, request):
    return read_plan(request.param, bank)


def test_the_minutes_add_up_and_leave_no_hole(plan):
    assert plan.minutes == plan.beats[-1].ends == {"90min": 90, "halfday": 215, "day": 375}[plan.name]
    assert all(one.ends == other.starts for one, other in zip(plan.beats, plan.beats[1:], strict=False))


def test_every_scene_runs_under_its_protocol_and_opens_before_its_event(plan):
    scenes = [beat.lab for beat in plan.beats if beat.lab is not None]
    assert len(scenes) >= 6
    for scene in scenes:
        from rebalance_kit.scenarios import load
        from rebalance_kit.simulation.scenario.expansion import drawn

        scenario = drawn(load(scene.scenario), scene.seed)
        assert simulate(scenario, scene.seed, scene.protocol).rows
        events = [action.at_ms for action in scenario.actions] + [
            spec.start_ms or 0 for spec in scenario.members
        ]
        assert any(scene.at_ms < at <= scene.at_ms + 2000 for at in events), scene


def test_what_is_expected_in_a_beat_with_a_vote_is_what_its_wrong_answers_say(plan, bank):
    shown = 0
    for beat in plan.beats:
        if beat.poll:
            named = {option.misconception for option in bank.item(beat.poll).options} - {None}
            assert not named or named & {one.belief for one in beat.expect}, beat.title
            shown += bool(named)
    assert shown >= 2  # an option may show no belief


def test_learners_have_the_lab_in_their_hands_for_at_least_25_of_90_minutes(bank):
    beats = [beat for beat in read_plan("90min", bank).beats if beat.hands_on]
    assert sum(beat.hands_on.minutes for beat in beats) >= 25
    assert all(beat.lab and beat.hands_on.task for beat in beats)


def test_every_line_that_a_learner_is_told_to_type_does_what_it_says_in_a_fresh_interpreter(
    plan, bank, tmp_path
):
    pytest.importorskip("anywidget", reason="anywidget is not installed: labs and votes are left out")
    text = "\n".join(cell.text for cell in cells(plan))
    typed = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    store = Store(tmp_path / "room.sqlite")
    typed += [PollCount(beat.poll, store=store, bank=bank).page()["call"] for beat in plan.beats if beat.poll]
    assert len(typed) >= 9
    env = {**os.environ, "REBALANCE_KIT_STORE": str(tmp_path / "mine.sqlite"), "HOME": str(tmp_path)}
    check = "import sys\nfor text in sys.argv[1:]:\n    exec(compile(text, 'typed', 'exec'), {})\nprint('typed', len(sys.argv) - 1)"
    done = subprocess.run(
        [sys.executable, "-c", check, *typed],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.stdout == f"typed {len(typed)}\n", done.stderr
    commands = re.findall(r"`rebalance-kit (workshop [a-z0-9]+ --check)`", text)
    for command in commands:
        out = io.StringIO()
        assert main(command.split(), out) == 0
        assert out.getvalue().splitlines()[-1].startswith("Ready: ")


def test_a_laptop_without_a_package_is_not_ready_and_says_which(bank, monkeypatch):
    monkeypatch.setattr(handing_out, "NEEDED", ("no_such_package",))
    out = io.StringIO()
    assert handing_out.check_laptop(read_plan("90min", bank), out) == 1
    assert "MISSING no_such_package" in out.getvalue() and "Not ready" in out.getvalue()


def test_beats_with_a_vote_or_a_run_say_what_to_do_without_network_or_kernels(plan):
    assert all(beat.plan_b for beat in plan.beats if beat.poll or beat.lab)


def test_every_minute_and_belief_stands_in_the_guide(plan):
    text = "\n".join(cell.text for cell in cells(plan))
    for beat in plan.beats:
        assert f"({beat.minutes} min)" in text
        for one in beat.expect:
            assert f"minute {one.minute}:" in text and f"`{one.belief}`" in text
    assert len(schedule(plan).splitlines()) == 1 + len(plan.beats) + sum(
        len(beat.expect) for beat in plan.beats
    )


def test_the_kits_notebook_is_the_guide_of_the_plan(bank):
    plan = read_plan("90min", bank)
    assert (ROOT / "notebooks" / "src" / "instructor" / "I-workshop-90min.py").read_text("utf-8") == source(
        plan
    )


def test_a_written_notebook_is_valid_and_has_the_same_cells(tmp_path, plan):
    made = nbformat.reads(notebook(plan), as_version=4)
    nbformat.validate(made)
    assert [cell.source for cell in made.cells] == [cell.text for cell in cells(plan)]
    assert notebook(plan) == notebook(plan)


def test_a_good_plan_is_read(bank):
    (beat,) = plan_of(parse_document(PLAN, "p.yaml"), "p", bank).beats
    assert (beat.ends, beat.lab.at_ms, beat.expect[0].minute) == (5, 31_000, 2)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("minutes: 5\nfor", "minutes: 6\nfor", "p.yaml:2: the beats take 5 minutes; expected 6"),
        (
            "eager-crash-which-unread",
            "no-such",
            "p.yaml:8: beat 1 cannot be held: no item has the id 'no-such'",
        ),
        (
            "eager-crash-which-unread",
            "eager-join-how-many-unread",
            "expected a question with one right option",
        ),
        ("scenario: crash", "scenario: crush", "no scenario of the kit is called 'crush'"),
        ("at_s: 31", "at_s: 3100", "expected a moment within the run of crash"),
        ("cooperative-is-default", "nobody-says-so", "belief 'nobody-says-so' is unknown"),
        ("at: 2", "at: 7", "expected after the beat's end"),
        ("    say: [Hi.]\n", "", "cannot be held: 'say'"),
        ("title: Hello", "titel: Hello", "titel received; expected compare"),
    ],
)
def test_a_plan_that_cannot_be_held_says_where_and_why(bank, old, new, expected):
    assert old in PLAN
    with pytest.raises(DataError) as refused:
        plan_of(parse_document(PLAN.replace(old, new, 1), "p.yaml"), "p", bank)
    assert expected in str(refused.value)


def test_the_command_writes_the_notebook_and_a_plan_b_that_needs_nothing(tmp_path):
    out = io.StringIO()
    target, folder = tmp_path / "guide.ipynb", tmp_path / "plan-b"
    assert main(["workshop", "90min", "--to", str(target), "--plan-b", str(folder)], out) == 0
    assert json.loads(target.read_text("utf-8"))["nbformat"] == 4
    animations = sorted(folder.glob("*-animation.html"))
    assert len(animations) == 15 and all(
        "http" + "s://" not in one.read_text("utf-8").replace("https://www.w3.org", "") for one in animations
    )
    paper, key = (
        (folder / name).read_text("utf-8") for name in ("questions.html", "questions-with-key.html")
    )
    assert "Both partitions" not in paper and "<h2>Key</h2>" in key and "<h2>Key</h2>" not in paper
    cells = json.loads(target.read_text("utf-8"))["cells"]
    assert "(plan-b/index.html)" in "".join(cells[0]["source"])
    pages = {target.name for target in folder.iterdir()}
    for page in [folder / "index.html", *animations]:
        linked = re.findall(r'<a href="([^"]+)">', page.read_text("utf-8").partition("<script")[0])
        assert len(linked) >= 2 and set(linked) <= pages
    assert main(["workshop", "90min", "--to", str(target)], out) == 2
    assert main(["workshop", "no-such"], out) == 2


def test_the_minutes_alone_are_printed(capsys):
    out = io.StringIO()
    assert main(["workshop", "90min", "--minutes"], out) == 0
    assert out.getvalue().startswith("minute  min  beat\n0         6  Four waiters")


def test_a_beat_of_another_plan_is_taken_by_its_title_and_a_wrong_one_is_named(bank):
    taken = PLAN.replace("  - title: Hello\n", "  - take: 90min/Stand down\n    title: Hello\n")
    with pytest.raises(DataError, match="'90min/Stand down' is no beat"):
        plan_of(parse_document(taken, "p.yaml"), "p", bank)
