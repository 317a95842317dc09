"""What is said of a member is what it did: each verb of each narration has its rows, on the wire or of the process.

The narrations of a run are its strip, its board in words at every change, its story, its Gantt chart in words and its Why.
Each says with its own words that somebody joins, leaves, crashes, closes, is removed, is fenced, commits, revokes or loses;
``CLAIMS`` says which rows must be there for it. A verb that no claim knows fails too.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest

from rebalance_kit import scenarios
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.tabs.why import steps
from rebalance_kit.view.words.descriptions import describe_board, describe_flow, describe_gantt

LONG = os.environ.get("REBALANCE_KIT_LONG") == "1"
SEEDS = range(1, 22) if LONG else (1,)  # 21: two members of a lesson are given their ids before either joins
LARGE = "fifty-by-five-hundred"
NAMES = [name for name in scenarios.names() if name != LARGE]
ROUNDED_MS = 50
GOODBYE_KEYS = (("api", "LeaveGroup"), ("epoch", -1), ("epoch", -2))
GOODBYES = {"LeaveGroup": "for good", -1: "for good", -2: "for a while"}


class Rows:
    """The rows of a run by kind and by whom they are about, asked for by time."""

    def __init__(self, trace) -> None:
        self.trace = trace
        self.about = defaultdict(list)
        for row in trace.rows:
            for who in {row.actor, row.detail.get("name"), row.detail.get("to")} - {None}:
                self.about[row.kind, who].append(row)
        self.static = {
            row.actor
            for row in trace.of("process_started")
            if row.detail["configs"].get("group.instance.id") is not None
        }

    def last(self, at_ms, who, *kinds, **detail):
        """The last of these rows about somebody up to a time; None where there is none."""
        found = [
            row
            for kind in kinds
            for row in self._until(kind, who, at_ms)
            if all(row.detail.get(key) == value for key, value in detail.items())
        ]
        return max(found, key=lambda row: row.seq, default=None)

    def _until(self, kind, who, at_ms):
        rows = self.about[kind, who]
        return rows[: bisect_right(rows, at_ms, key=lambda row: row.at_ms)]

    def at(self, at_ms, who, kind, slack=0, **detail):
        """Whether such a row stands at this time."""
        row = self.last(at_ms + slack, who, kind, **detail)
        return row is not None and row.at_ms >= at_ms - slack

    def goodbyes(self, who, at_ms, slack=0):
        """How somebody says goodbye from this time on until the process ends."""
        ends = [row.at_ms for row in self.about["process_ended", who] if row.at_ms >= at_ms - slack]
        until = min(ends, default=self.trace.end_ms)
        sent = [row for row in self.about["request", who] if at_ms - slack <= row.at_ms <= until]
        keys = [
            row.detail["api"] if row.detail["api"] == "LeaveGroup" else row.detail.get("epoch")
            for row in sent
        ]
        return {GOODBYES[key] for key in keys if key in GOODBYES}

    def life(self, at_ms, who):
        """How the process is: ``alive``, ``frozen``, or how it ended."""
        row = self.last(at_ms, who, "process_started", "process_ended", "process_frozen", "process_thawed")
        assert row is not None, f"{who} never ran"
        return {"process_frozen": "frozen", "process_ended": row.detail.get("how")}.get(row.kind, "alive")

    def unanswered(self, at_ms, who, api):
        """Whether the member has sent this and has no answer yet."""
        sent = self.last(at_ms, who, "request", api=api)
        answer = self.last(at_ms, who, "response", api=api)
        if sent is None:
            return False
        answered = answer is not None and answer.detail["corr"] >= sent.detail["corr"]
        return not answered or answer.detail["arrives_ms"] >= at_ms

    def in_group(self, at_ms, who):
        """Whether the coordinator has taken the member in and not out again."""
        row = self.last(at_ms, who, "member_added", "member_removed", "member_replaced")
        return row is not None and row.kind != "member_removed"

    def within(self, at_ms, who, callback):
        """Whether this callback of the member has begun and not ended."""
        row = self.last(at_ms, who, "callback_begin", "callback_end")
        return row is not None and row.kind == "callback_begin" and row.detail["callback"] == callback


Claim = Callable[[Rows, int, str, int], bool]


def there(kind, **detail) -> Claim:
    """Such a row stands at the time told."""
    return lambda rows, at_ms, who, slack: rows.at(at_ms, who, kind, slack, **detail)


def any_of(*kinds) -> Claim:
    """A row of one of these kinds stands at the time told."""
    return lambda rows, at_ms, who, slack: any(rows.at(at_ms, who, kind, slack) for kind in kinds)


def said(*goodbye) -> Claim:
    """From the time told until its process ends the member says goodbye in this way, or not at all."""
    return lambda rows, at_ms, who, slack: rows.goodbyes(who, at_ms, slack) == set(goodbye)


def said_before(api, *epochs) -> Claim:
    """The member has sent a goodbye by then: LeaveGroup, or a heartbeat with such an epoch."""
    return lambda rows, at_ms, who, slack: (
        rows.last(at_ms + slack, who, "request", api=api) is not None
        if api == "LeaveGroup"
        else any(rows.last(at_ms + slack, who, "request", epoch=epoch) is not None for epoch in epochs)
    )


def said_goodbye(rows, at_ms, who, slack):
    """The member has sent LeaveGroup or a last heartbeat by then."""
    return any(rows.last(at_ms + slack, who, "request", **{key: value}) for key, value in GOODBYE_KEYS)


def is_now(*lives) -> Claim:
    return lambda rows, at_ms, who, slack: rows.life(at_ms, who) in lives


def waits_for(api) -> Claim:
    return lambda rows, at_ms, who, slack: rows.unanswered(at_ms, who, api)


def inside(callback) -> Claim:
    return lambda rows, at_ms, who, slack: rows.within(at_ms, who, callback)


def both(*claims: Claim) -> Claim:
    return lambda rows, at_ms, who, slack: all(claim(rows, at_ms, who, slack) for claim in claims)


def outside(rows, at_ms, who, slack):
    """The coordinator has taken the member out."""
    return not rows.in_group(at_ms, who) or replaced(rows, at_ms, who, slack)


def once_inside(rows, at_ms, who, slack):
    """The coordinator took the member in at some time."""
    return rows.last(at_ms, who, "member_added", "member_replaced") is not None


def replaced(rows, at_ms, who, slack):
    """Another process has taken the member's place, by the same group.instance.id."""
    return any(
        row.detail["old_name"] == who and row.at_ms <= at_ms for row in rows.trace.of("member_replaced")
    )


def sends_join(rows, at_ms, who, slack):
    """A JoinGroup follows, unless the process ends, freezes or the run is over before; or its session is over meanwhile."""
    later = [
        row
        for kind in (
            "request",
            "process_ended",
            "process_frozen",
            "generation_reset",
            "wrong_call",
            "join_prepared",
        )
        for row in rows.about[kind, who]
        if row.at_ms >= at_ms
    ]
    return any(row.kind != "request" or row.detail["api"] == "JoinGroup" for row in later) or (
        rows.trace.end_ms - at_ms < 60_000
    )


def left(rows, at_ms, who, slack):
    """The coordinator takes a member out that has said goodbye."""
    return said_goodbye(rows, at_ms, who, slack) and rows.at(at_ms, who, "member_removed", slack, how="leave")


def commits_first(rows, at_ms, who, slack):
    """The member has begun to join and commits: no JoinGroup of it since."""
    row = rows.last(at_ms, who, "join_prepared", "member_state")
    return row is not None and row.kind == "join_prepared"


def static(rows, at_ms, who, slack):
    return who in rows.static


ON = {"Assigned": "assigned", "Revoked": "revoked", "Lost": "lost"}
ENDS = r"(?=[.;,:]|$)"
BOARD: dict[str, Claim] = {
    r"WHO (?:crashed|died|is frozen) and is not in the group any more": both(
        is_now("crash", "died", "frozen"), outside, once_inside
    ),
    r"WHO (?:crashed|died|is frozen) and is not in the group": both(
        is_now("crash", "died", "frozen"), outside
    ),
    r"WHO crashed": is_now("crash"),
    r"WHO died of \w+": is_now("died"),
    r"WHO: crashed": is_now("crash"),
    r"WHO: died [\d.]+ s ago, \w+": is_now("died"),
    r"WHO: frozen, removed": both(is_now("frozen"), outside),
    r"WHO: removed": outside,
    r"WHO was removed from the group but still works": both(is_now("alive"), outside),
    r"WHO was replaced in the group by [\w-]+ but still works": both(is_now("alive"), replaced),
    r"WHO: leaves": both(is_now("alive"), said_goodbye),
    r"WHO leaves": both(is_now("alive"), said_goodbye),
    r"WHO has left \(its LeaveGroup is on its way\)": said_before("LeaveGroup"),
    r"WHO has left \(its last heartbeat is on its way\)": said_before("", -1, -2),
    r"WHO was closed and sent no LeaveGroup, because it is static": both(is_now("closed"), static),
    r"WHO left and is expected back": both(is_now("closed"), static, said_before("", -2)),
    r"WHO: left": is_now("closed"),
    r"WHO left": is_now("closed"),
    r"WHO sends? JoinGroup": waits_for("JoinGroup"),
    r"WHO, which sends? JoinGroup": waits_for("JoinGroup"),
    r"WHO: (?:sends|waits in) JoinGroup": waits_for("JoinGroup"),
    r"WHO(?:: |,? which | )commits? before (?:it joins|they join)": commits_first,
    r"WHO, which (?:was|were) given a member id to join with": lambda rows, at_ms, who, slack: (
        rows.last(at_ms, who, "member_pending") is not None
    ),
    r"WHO, which crashed": is_now("crash"),
    **{
        rf"WHO(?:: in| is in| are in|, which is in) onPartitions{name}": inside(callback)
        for name, callback in ON.items()
    },
    r"session of WHO ends": there("member_removed", how="session"),
}
TIMED: dict[str, Claim] = {
    r"WHO crashes": there("process_ended", how="crash"),
    r"WHO dies(?:: | of )\w+": there("process_ended", how="died"),
    r"WHO closes, without LeaveGroup": said(),
    r"WHO leaves for a while \(epoch -2\)": said("for a while"),
    r"WHO gives up its membership: it did not call poll": there("poll_timeout"),
    rf"WHO leaves{ENDS}": said("for good"),
    r"WHO left": left,
    r"WHO has left for a while": said_before("", -2),
    r"WHO is removed by an administrator": there("action", do="remove"),
    r"WHO was removed by an administrator": there("member_removed", how="admin"),
    r"WHO was removed: its session ended": there("member_removed", how="session"),
    r"WHO was removed: it did not give up its partitions in time": there(
        "member_removed", how="rebalance_timeout"
    ),
    r"WHO was removed: it did not send SyncGroup in time": there("member_removed", how="sync_timeout"),
    r"WHO was removed: .*": there("member_removed"),
    r"WHO is given an id and must join again with it": both(
        there("member_pending"), there("response", error="MEMBER_ID_REQUIRED")
    ),
    r"WHO will re-join: .*": there("rejoin_requested"),
    r"WHO gives up everything before it joins": both(there("join_prepared", revokes=True), sends_join),
    r"WHO joins and keeps what it has": both(there("join_prepared", revokes=False), sends_join),
    r"WHO gives up its generation: .*": there("generation_reset"),
    r"The coordinator refuses \w+ of WHO: \w+": there("response"),
    r"WHO takes the place of group.instance.id": there("member_replaced"),
    r"ANYBODY: a member (?:joins|joined)": any_of("member_added", "member_rejoined", "member_replaced"),
    r"ANYBODY: a member left": there("member_removed", how="leave"),
    r"ANYBODY: the member left": there("member_removed", how="leave"),
    r"ANYBODY: the consumer is being closed": there("member_removed", how="leave"),
    r"ANYBODY: a member was removed": there("member_removed"),
    **{
        rf"WHO runs onPartitions{name}": there("callback_begin", callback=callback)
        for name, callback in ON.items()
    },
}
ANYBODY = r"(?P<nobody>A rebalance begins|Group epoch \d+)"
NEUTRAL = re.compile(
    r"join phase|nobody can join, leave or commit|offsets? (?:was|were) not committed|the last commit was"
    r"|no committed offset|gives up its membership|joined \d+ of \d+|Everybody has joined generation \d+"
    r"|a member that does not read|Before that it commits, and for [\d.,]+ s the commit fails|does not join, because"
    r"|which (?:was|were) committed|at the last committed"
)
VERB = re.compile(
    r"\b(?:re-)?(?:join|leav|left|crash|clos|remov|fenc|FENC|commit|revok|onPartitionsRevoked|onPartitionsLost|lose|lost)\w*"
)


class Checker:
    """The claims of one run, with its members' names in their places."""

    def __init__(self, boards: Boards) -> None:
        self.rows = Rows(boards.trace)
        name = "(?:" + "|".join(sorted(map(re.escape, boards.names), key=len, reverse=True)) + ")"
        self.name = re.compile(rf"\b{name}(?![\w-])")
        who = rf"\b(?P<who>{name}(?:(?:, | and ){name})*)(?![\w-])"
        self.claims = {
            form: [
                (re.compile(pattern.replace("WHO", who).replace("ANYBODY", ANYBODY)), check)
                for pattern, check in claims.items()
            ]
            for form, claims in (("board", BOARD), ("timed", TIMED))
        }

    def wrong(self, form: str, at_ms: int, text: str, slack: int) -> list[str]:
        """What a text claims and no row says."""
        text = re.sub(r"\((?!its |epoch)[^()]*(?:\([^()]*\)[^()]*)*\)", "", text)
        found, told = [], [span.span() for span in NEUTRAL.finditer(text)]
        for pattern, check in self.claims[form]:
            for claim in pattern.finditer(text):
                if any(begin <= claim.start() and claim.end() <= end for begin, end in told):
                    continue
                told.append(claim.span())
                people = self.name.findall(claim["who"]) if "who" in pattern.groupindex else ["coordinator"]
                found += [f"{claim[0]}" for who in people if not check(self.rows, at_ms, who, slack)]
        for verb in VERB.finditer(text):
            if not any(begin <= verb.start() < end for begin, end in told):
                found.append(f"no claim knows of {text!r}")
        return found


def narrated(boards: Boards) -> Iterator[tuple[str, int, str, int]]:
    """Every text of a run: its form, when it speaks, what it says, and how exactly its time is told."""
    for mark in boards.marks:
        yield "timed", mark.at_ms, f"{mark.words}.", 0
    for step in steps(boards):
        for words in step.sentences:
            yield ("timed", step.at_ms, words, 60)
    for text in (describe_flow(boards), describe_gantt(boards)):
        for line in text.splitlines()[1:]:
            if told := re.match(r" *([\d.,]+) s (?!consumer-\d+ owns)(.*)", line):
                yield "timed", round(float(told[1].replace(",", "")) * 1000), told[2], ROUNDED_MS
    for board in boards.walk(boards.change_times):
        yield "board", board.at_ms, describe_board(board), 0


def runs() -> Iterator[tuple[str, str]]:
    """Each lesson under each protocol; in the ordinary suite under one, in turn."""
    for number, name in enumerate(NAMES):
        for place, protocol in enumerate(THREE_PROTOCOLS):
            if LONG or place == number % 3:
                yield name, protocol


@pytest.mark.parametrize(("name", "protocol"), list(runs()))
def test_each_verb_that_is_told_of_a_member_has_its_rows(name, protocol):
    scenario = scenarios.load(name)
    chosen = None if scenario.chooses_protocol() else protocol
    for seed in SEEDS:
        boards = Boards(simulate(scenario, seed, chosen))
        checker = Checker(boards)
        for form, at_ms, text, slack in narrated(boards):
            assert not checker.wrong(form, at_ms, text, slack), (seed, form, at_ms, text)
