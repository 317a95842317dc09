"""Sessions of clicks: what is told of costs is what the metrics say, a new lesson keeps nothing of the former, advice helps."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.requests import handled
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.lab.state import LabState, simulated
from rebalance_kit.view.words.moment import sentence

LARGE = "fifty-by-five-hundred"
LESSONS = [preset.name for preset in lessons() if preset.name != LARGE]
SESSIONS = 2_000 if os.environ.get("REBALANCE_KIT_LONG") == "1" else 8
EXACT_S = 0.051
"""Costs are told in tenths."""
ADVICE = re.compile(r"(Restart|Thaw) it first\.$")
DEEDS = ("crash", "leave", "restart", "freeze", "thaw", "add", "stall", "delete_topic", "add_partitions")
CHANGES = {
    "session.timeout.ms": ("12000", "30000"),
    "max.poll.interval.ms": ("5", "20000"),
    "auto.commit.interval.ms": ("1000", "5000"),
}


@st.composite
def clicks(draw):
    """A click as the page sends it; members, topics and moments are filled in when it is done."""
    kind = draw(st.sampled_from(["act"] * 6 + ["undo", "redo", "protocol", "settings", "preset", "fork"]))
    return kind, draw(st.integers(0, 10_000)), draw(st.sampled_from(DEEDS))


class Session:
    """A lab, its answers, and what is wrong with them."""

    def __init__(self, name: str, protocol: str) -> None:
        self.lab = LabSession(name, protocol if not load(name).chooses_protocol() else None)
        self.wrong: list[str] = []

    def ask(self, **message: Any) -> dict[str, Any]:
        answers: list[dict[str, Any]] = []
        handled(self.lab, {"id": 1, **message}, lambda reply, _buffers: answers.append(reply))
        return answers[-1]

    def click(self, kind: str, number: int, deed: str) -> None:
        lab = self.lab
        at_ms = number * lab.boards.end_ms // 10_000
        if kind == "act":
            self.act(deed, number, at_ms)
        elif kind in {"undo", "redo"}:
            self.ask(type=kind)
        elif kind == "fork":
            self.ask(type="fork", at_ms=at_ms)
        elif kind == "protocol" and lab.protocol:
            self.ask(type="set", name="protocol", value=THREE_PROTOCOLS[number % 3])
        elif kind == "settings":
            key = sorted(CHANGES)[number % len(CHANGES)]
            self.change({key: CHANGES[key][number % 2]}, at_ms)
        elif kind == "preset":
            self.open(LESSONS[number % len(LESSONS)])

    def message(self, deed: str, number: int, at_ms: int) -> dict[str, Any]:
        names, topics = list(self.lab.boards.names), [topic.name for topic in self.lab.scenario.topics]
        args: dict[str, Any] = {}
        if deed in {"delete_topic", "add_partitions"}:
            args["topic"] = topics[number % len(topics)]
        if deed == "add_partitions":
            args["partitions"] = 2 + max(topic.partitions for topic in self.lab.scenario.topics)
        if deed == "stall":
            args["for_ms"] = 8_000
        member = None if deed in {"add", "delete_topic", "add_partitions"} else names[number % len(names)]
        return {"do": deed, "member": member, "args": args, "at_ms": at_ms}

    def act(self, deed: str, number: int, at_ms: int) -> None:
        before, message = self.lab.history.state, self.message(deed, number, at_ms)
        foreseen = self.ask(type="preview", **message)
        reply = self.ask(type="act", **message)
        if reply["type"] == "refused":
            if told := ADVICE.search(reply["words"]):
                self.follow(told[1].lower(), message)
            return
        at_ms = min(at_ms, before.boards.end_ms)
        without = before.until(at_ms)
        for key in ("cost", "without", "deleted", "twice", "skipped"):
            if foreseen[key] != reply[key]:
                self.wrong.append(f"{message}: foreseen {foreseen[key]}, told {reply[key]}")
        self.costs(reply, without, at_ms, str(message))

    def costs(self, reply: dict[str, Any], without: LabState, at_ms: int, what: str) -> None:
        """What is told of a deed or a setting is what the metrics of both runs say, simulated anew from the scenario."""
        now = self.lab.history.state
        if reply["deleted"]:
            return
        end_ms = now.boards.end_ms
        other = simulated(without.lasting(end_ms).scenario, without.seed)
        traces = {"cost": simulated(now.scenario, now.seed), "without": other}
        for key, trace in traces.items():
            if trace.end_ms != end_ms and key == "without":
                continue  # a run that was already longer is counted as far as the new one goes
            measured = metrics(trace, at_ms).unread_partition_s
            if abs(measured - reply[key]) > EXACT_S:
                self.wrong.append(f"{what} at {at_ms}: {key} is told as {reply[key]}, measured {measured}")

    def follow(self, advice: str, message: dict[str, Any]) -> None:
        """What a refusal advises is done: then the deed is no longer refused for that."""
        helped = self.ask(type="act", do=advice, member=message["member"], args={}, at_ms=message["at_ms"])
        if helped["type"] == "refused":
            self.wrong.append(f"{message}: advised to {advice}, refused: {helped['words']}")

    def change(self, values: dict[str, str], at_ms: int) -> None:
        before = self.lab.history.state
        reply = self.ask(type="settings", values=values, at_ms=at_ms)
        if reply["type"] != "refused":
            self.costs(reply["dragged"], before, min(at_ms, before.boards.end_ms), str(values))

    def open(self, name: str) -> None:
        """Another lesson is what a fresh lab shows of it."""
        self.ask(type="preset", name=name)
        fresh = LabSession(name, None if load(name).chooses_protocol() else self.lab.protocol)
        for part in ("film", "cursor_ms", "text", "story"):
            if getattr(self.lab, part) != getattr(fresh, part):
                self.wrong.append(f"{part} of {name} is not that of a fresh lab")
        kept = {key: value for key, value in self.lab.controls.items() if key != "serial"}
        if kept != {key: value for key, value in fresh.controls.items() if key != "serial"}:
            self.wrong.append(f"the controls of {name} are not those of a fresh lab")

    def relived(self) -> None:
        """The link of the run opens the same run."""
        fresh = LabSession()
        fresh.play_link(self.lab.link)
        if fresh.film != self.lab.film:
            self.wrong.append("the link opens another run")

    def advised(self) -> None:
        """A member that the headline advises to add helps, as far as settings let any member work."""
        boards = self.lab.boards
        if any(
            (step.settings or {}).get("max.poll.interval.ms") == "5" for step in self.lab.history.state.done
        ):
            return  # a member that has 5 ms to call poll helps nobody
        for at_ms in boards.change_times:
            if "Add a member." not in " ".join(sentence(boards.at(at_ms))):
                continue
            state = self.lab.history.state.until(at_ms)
            added = replace(state.acted("add", None, at_ms), prepared=None).boards
            later = replace(state.lasting(added.end_ms), prepared=None).boards
            if sum(board.flowing for board in added.walk(times(added, at_ms))) <= sum(
                board.flowing for board in later.walk(times(added, at_ms))
            ):
                self.wrong.append(f"at {at_ms} a member was advised, and it helps nothing")
            return


def times(boards, at_ms):
    return [at for at in boards.change_times if at >= at_ms]


@settings(max_examples=SESSIONS, deadline=None)
@given(
    name=st.sampled_from(LESSONS),
    protocol=st.sampled_from(THREE_PROTOCOLS),
    drawn=st.lists(clicks(), min_size=2, max_size=6),
)
def test_a_session_of_clicks_is_told_as_it_is(name, protocol, drawn):
    session = Session(name, protocol)
    for click in drawn:
        session.click(*click)
        assert session.wrong == [], drawn
    session.relived()
    session.advised()
    assert session.wrong == [], drawn


@pytest.mark.parametrize("key", ["cost", "without"])
def test_a_cost_that_is_told_wrongly_is_found(key):
    session = Session("two-consumers-crash", "eager")
    before = session.lab.history.state
    reply = session.ask(type="act", do="crash", member="consumer-1", args={}, at_ms=20_000)
    session.costs(reply | {key: reply[key] + 1}, before, 20_000, "crash")
    assert len(session.wrong) == 1
