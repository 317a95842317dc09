"""A run under way, followed as its files grow, and the lab that shows it."""

from __future__ import annotations

import gzip
import json

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.live.following import Following
from rebalance_kit.live.members import TRUTH
from rebalance_kit.model.errors import DataError, ScenarioError
from rebalance_kit.model.schema_text import problems
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.live_lab import LiveLab


class Growing:
    """A recorded run written anew, up to a moment."""

    def __init__(self, source, target):
        self.run, self.source, self.target = read_run(source), source, target

    def up_to(self, at_ms, *, half=False):
        """Everything until then; of the truth half a line more."""
        end = self.run.begin + at_ms
        truth = [row for row in self.run.truth if row["t"] <= end]
        lines = "".join(json.dumps(row) + "\n" for row in truth)
        (self.target / TRUTH).write_text(lines + ('{"by":"c1","t":17' if half else ""))
        steps = [step for step in self.run.steps if step["t"] <= end and step.get("line") != "stop"]
        head = {"scenario": "crash", "protocol": self.run.protocol, "kafka": self.run.kafka, "steps": steps}
        (self.target / "run.json").write_text(json.dumps(head))
        for file in self.source.glob("*.log.gz"):
            text = gzip.decompress(file.read_bytes()).decode()
            kept = [line for line in text.splitlines(keepends=True) if self._by(line, end)]
            (self.target / file.name.removesuffix(".gz")).write_text("".join(kept))

    def _by(self, line, end):
        from rebalance_kit.recordings.folder import parse_line

        found = parse_line(line.rstrip("\n"))
        return found is not None and found.t <= end


@pytest.fixture
def growing(recorded_folders, tmp_path):
    return Growing(recorded_folders["crash.cooperative.4.3.1"], tmp_path)


def _boards(following):
    return Boards(recorded_trace(following.run(), coordinator=True))


def _removed_ms(run):
    line = next(line for line in run.broker if "has failed, removing it" in line.text)
    return line.t - run.begin


def test_what_a_file_gains_is_read_and_half_a_line_waits(growing):
    growing.up_to(20_000, half=True)
    following = Following(growing.target)
    assert following.look() and not following.look()
    seen = len(following.run().truth)
    growing.up_to(30_000)
    following.look()
    assert len(following.run().truth) > seen and not following.over


def test_the_board_shows_a_removal_and_the_generations_with_the_line_of_the_log(growing):
    removed = _removed_ms(growing.run)
    growing.up_to(removed - 1)
    following = Following(growing.target)
    following.look()
    boards = _boards(following)
    assert boards.members["c3"].at(removed - 1).doing == "crashed"
    growing.up_to(removed)
    assert following.look()
    boards = _boards(following)
    assert boards.members["c3"].at(removed).doing == "gone"
    assert list(problems(boards.trace)) == []


def test_thinned_polls_tell_the_same_flows(growing):
    growing.up_to(60_000)
    following = Following(growing.target)
    following.look()
    thin = recorded_trace(following.run())
    whole = recorded_trace(growing.run)
    moments = [
        [
            (row.actor, row.topic, row.partition, row.kind)
            for row in one.of("fetch_resumed", "fetch_stopped")
            if row.at_ms < 59_000
        ]
        for one in (thin, whole)
    ]
    assert moments[0] == moments[1] and moments[0]


def test_the_lab_follows_a_folder_and_refuses_deeds_in_words(growing):
    growing.up_to(20_000)
    lab = LiveLab(growing.target)
    try:
        assert (
            "All 9 partitions flow" not in lab.text
            and ", live. " in lab.text
            and "recorded" not in lab.text
            and lab.film
            and lab.controls["live"]
            and not lab.controls["acts"]
        )
        sent = []
        lab.send = lambda message, buffers=None: sent.append(message)
        lab.handle({"type": "act", "do": "crash", "member": "c1", "id": 1})
        lab.handle({"type": "undo", "id": 2})
        lab.handle({"type": "alive", "id": 3})
        assert [one["type"] for one in sent] == ["refused", "refused", "done"]
        with pytest.raises(ScenarioError, match="somebody else makes"):
            lab.do("crash", "c1")
    finally:
        lab.stop()


def test_what_is_no_folder_and_a_run_without_a_member_are_refused(tmp_path):
    with pytest.raises(DataError, match="is no folder"):
        LiveLab(tmp_path / "none")
    with pytest.raises(DataError, match="nobody has been started yet"):
        LiveLab(tmp_path)
