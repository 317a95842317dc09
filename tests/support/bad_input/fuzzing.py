"""Fuzzers, one per parser: damaged variants of good inputs, and what may come of them.

    python -m tests.support.bad_input.fuzzing scenario link --seconds 300

An input is taken, or refused with an error of the kit. Anything else, and anything that takes longer than ``SLOW_S``, is a
finding; it is printed with the seed that makes it again.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import signal
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

from rebalance_kit.model.errors import RebalanceKitError

SLOW_S = 10
ODD = (
    "", "0", "-1", "1e400", "nan", ".inf", "9" * 40, "²", "\0", "\x1b[31m", "é", "\ud800", "日本", "true", "null", "~", "[]", "{}",
    "[[[[[[", "{a: {a: {a: ", "&a [*a]", "!!python/object/apply:os.system [id]", "<script>", "%s", "../..", "/abs", "a" * 300,
    "2026-02-30", "25:00", "0001-01-01", "9999-12-31", "-0", "1_000", "0x10", "'", '"', "\\", "\n", "\t", ":", ",", "(", ")", "|", "(a+)+$",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1.5, float("inf"), float("nan"), "", "x", "\ud800", "a" * 5000, [], [[]], {}, {"a": {}}, [None], ["take"],
    {"self": "x"}, b"bytes", (1, 2), {1: 2}, "consumer-1", "crash", 5000, [0, 1], {"a": ["b"]},
)  # fmt: skip


class TooSlow(Exception):
    """An input that takes longer than ``SLOW_S``."""


@dataclass(frozen=True)
class Fuzzer:
    """Good inputs, what damages one, and what reads it."""

    good: Callable[[], tuple[Any, ...]]
    damage: Callable[[Any, random.Random], Any]
    read: Callable[[Any], object]
    share: int = 1
    """One of so many of a profile's examples: some parsers are slow."""


def damaged_text(text: str, dice: random.Random) -> str:
    """Up to four cuts, doublings, swaps, odd words and flipped letters."""
    for _ in range(dice.randint(1, 4)):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + dice.choice((0, 1, 1, 3, 10, 80)))
        piece = text[start:end]
        chosen = dice.randrange(6)
        if chosen == 0:
            piece = ""
        elif chosen == 1:
            piece *= dice.choice((2, 3, 50))
        elif chosen == 2:
            piece = dice.choice(ODD)
        elif chosen == 3:
            piece = chr(dice.choice((0, 9, 10, 27, 34, 39, 58, 91, 123, 0x7F, 0xA0, 0x202E, 0xFFFD, 0x1F600)))
        elif chosen == 4 and text:
            place = dice.randrange(len(text))
            piece = text[place : place + dice.choice((1, 10, 200))]
        else:
            lines = text.splitlines(keepends=True)
            dice.shuffle(lines)
            text, piece = "".join(lines) if dice.random() < 0.1 else text, text[start:end]
        text = text[:start] + piece + text[end:]
    return text


def damaged_value(value: Any, dice: random.Random, depth: int = 0) -> Any:
    """A value of JSON with one place changed, or several."""
    if dice.random() < 0.25 or depth > 5 or not isinstance(value, dict | list) or not value:
        return (
            dice.choice(VALUES)
            if not isinstance(value, str) or dice.random() < 0.5
            else damaged_text(value, dice)
        )
    if isinstance(value, list):
        place = dice.randrange(len(value))
        changed = [*value]
        changed[place] = damaged_value(value[place], dice, depth + 1)
        return changed
    key = dice.choice(sorted(value, key=str))
    chosen = dice.random()
    if chosen < 0.1:
        return {name: one for name, one in value.items() if name != key}
    if chosen < 0.2:
        return {**value, damaged_text(str(key), dice): value[key]}
    return {**value, key: damaged_value(value[key], dice, depth + 1)}


@cache
def _scenarios() -> tuple[str, ...]:
    from rebalance_kit import scenarios
    from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

    return tuple(write_scenario(scenarios.load(name)) for name in scenarios.names())


def _read_scenario(text: str) -> None:
    from rebalance_kit.simulation.scenario.checks import check_work
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario
    from rebalance_kit.simulation.simulate import simulate

    scenario = read_scenario(text, "s.yaml")
    check_work(scenario, 0.02)
    simulate(scenario)


@cache
def _contents() -> tuple[Any, ...]:
    """What links hold, before it is packed."""
    from rebalance_kit import scenarios
    from rebalance_kit.simulation.permalink import Link, write_link

    deeds = ({"do": "crash", "at": 5000, "member": "consumer-1"},)
    tokens = [
        write_link(Link(scenarios.load(name), protocol="eager", deeds=deeds, at_ms=4000))
        for name in ("crash", "join", "leave", "static-bounce")
        if name in scenarios.names()
    ]
    return tuple(json.loads(_unpacked(token.rpartition(".")[2])) for token in tokens)


def _unpacked(packed: str) -> bytes:
    return zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))


def _damaged_token(content: Any, dice: random.Random) -> str:
    from rebalance_kit.simulation import permalink

    if isinstance(content.get("scenario"), str) and dice.random() < 0.5:
        content = {**content, "scenario": damaged_text(content["scenario"], dice)}
    else:
        content = damaged_value(content, dice)
    text = json.dumps(content, default=str)
    packed = (
        base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "surrogatepass")))
        .rstrip(b"=")
        .decode("ascii")
    )
    token = f"{permalink.VERSION}.{permalink._digest(packed)}.{packed}"
    return damaged_text(token, dice) if dice.random() < 0.2 else token


def _open_link(token: str) -> None:
    from rebalance_kit.simulation.permalink import read_link
    from rebalance_kit.simulation.scenario.checks import check_work
    from rebalance_kit.view.lab.widget import Lab

    check_work(read_link(token).scenario, 0.02)
    Lab.from_link(token)


@cache
def _items() -> tuple[str, ...]:
    from rebalance_kit.quiz.items.bank import home

    files = sorted(home().rglob("*.yaml"))
    return tuple(path.read_text("utf-8") for path in files if path.stat().st_size < 20_000)[::7]


def _read_items(text: str) -> None:
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.items.check import check

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.yaml"
        path.write_text(text, "utf-8", "replace")
        bank = read_bank([path])
        if len(bank.items) < 4:
            check(bank)


@cache
def _expressions() -> tuple[str, ...]:
    return (
        "first_ms(rebalances) >= 12s and last_ms < 1m30s", "count('a', \"b\") == 3 * (2 + 1)", "not (a in [1, 2, 3]) or b != 5",
        "max(1, 2.5, -3) / 2 <= 10", "owner('orders-0') == 'consumer-1'", "a[0] < 5 and len(b) > 2", "least([1, 2]) + most([3])", "1 < 2 < 3",
    )  # fmt: skip


def _evaluate(text: str) -> None:
    from rebalance_kit.quiz.proof.run_book import RunBook

    RunBook().work_out(text, {}, 1, {"a": (1, 2), "b": 5, "rebalances": ()})


@cache
def _layouts() -> tuple[str, ...]:
    import rebalance_kit.forensics.lines as room

    return ((Path(room.__file__).parent / "layouts.yaml").read_text("utf-8"),) if room.__file__ else ()


def _read_layouts(text: str) -> None:
    from rebalance_kit.forensics.lines.layouts import load_layouts

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layouts.yaml"
        path.write_text(text, "utf-8", "replace")
        load_layouts(path)


@cache
def _log_texts() -> tuple[str, ...]:
    from rebalance_kit.recordings.runs.pack import read_file

    names = (
        ("crash.eager.4.3.1", "broker.log"),
        ("crash.eager.4.3.1", "c1.log"),
        ("freeze.consumer.4.3.1", "c1.log"),
    )
    texts = [read_file(run, file).decode("utf-8") for run, file in names]
    return tuple(
        "".join(text.splitlines(keepends=True)[place : place + 8])
        for text in texts
        for place in range(0, 400, 8)
    )


def _look_at(text: str) -> None:
    from rebalance_kit.forensics.look import look

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broker.log"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        result = look([path])
        for table in ("events", "rebalances", "rejected"):
            result.rows(table)


@cache
def _stored() -> tuple[Any, ...]:
    attempt = {
        "id": "x", "at": 1.0, "mode": "quiz", "item": "eager-1", "seed": 1, "given": "a", "correct": 1, "credit": 1.0, "confidence": "sure",
        "beliefs": '["a"]', "exam": None,
    }  # fmt: skip
    kept = {
        "asked": [["a", 1]],
        "given": {"0": "a"},
        "place": 0,
        "flags": [0],
        "struck": {},
        "ended": False,
        "missing": [],
    }
    return ({"attempt": attempt, "kept": kept, "line": dict(attempt)},)


def _use_store(value: Any) -> None:
    from rebalance_kit.quiz.sittings.exam import ExamSitting
    from rebalance_kit.quiz.sittings.store import Store

    parts = value if isinstance(value, dict) else {"line": value}
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "a.sqlite")
        with store._connection() as connection:
            attempt = parts.get("attempt")
            if isinstance(attempt, dict):
                cells = [
                    cell
                    if isinstance(cell, str | int | float | bytes | None)
                    else json.dumps(cell, default=str)
                    for cell in attempt.values()
                ]
                cells = [
                    None if isinstance(cell, int) and abs(cell) > 2**62 else cell
                    for cell in (cells + [None] * 11)[:11]
                ]
                cells = [
                    cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
                    for cell in cells
                ]
                connection.execute(
                    "INSERT OR IGNORE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", cells
                )
            text = json.dumps(parts.get("kept"), default=str)
            connection.execute("INSERT INTO kept VALUES ('exam', 'CCDAK', ?)", (text,))
        Path(folder, "a.sqlite.lost").write_text(json.dumps(parts.get("line"), default=str) + "\n", "utf-8")
        store.attempts()
        store.kept("exam")
        ExamSitting.begin("CCDAK", questions=2, store=store)


@cache
def _messages() -> tuple[Any, ...]:
    """What pages send, by the widget that it goes to."""
    from rebalance_kit.view.lab.requests import REQUESTS

    lab = {
        "at_ms": 3000, "member": "consumer-1", "name": "protocol", "value": "eager", "number": 0, "tab": "messages", "token": "x", "what": "html",
        "do": "crash", "values": {"a": "b"}, "answers": ["a"], "branches": [0, 1], "args": {"for": 5}, "play": False, "id": 1,
    }  # fmt: skip
    quiz = [
        {"to": "Quiz", "do": do, "given": "a", "confidence": "sure", "run": 0}
        for do in ("answer", "next", "lab")
    ]
    exam = [
        {"to": "Exam", "do": do, "given": "a", "place": 0, "option": "a", "run": 0}
        for do in ("keep", "go", "flag", "strike", "finish", "lab")
    ]
    poll = [
        {"to": "Poll", "do": do, "text": "rkv1.0123ab.abc", "run": 0}
        for do in ("take", "lab", "end_round", "revote", "show", "reveal", "restart", "collect")
    ]
    vote = [{"to": "Vote", "do": "vote", "given": "a", "again": True}]
    return (*({"to": "Lab", "type": kind, **lab} for kind in REQUESTS), *quiz, *exam, *poll, *vote)


@cache
def _widgets() -> Mapping[str, Any]:
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.items.item import Choice
    from rebalance_kit.quiz.sittings.store import Store
    from rebalance_kit.view.lab.widget import Lab
    from rebalance_kit.view.quiz.exam import Exam
    from rebalance_kit.view.quiz.poll import Poll, Vote
    from rebalance_kit.view.quiz.practice import Quiz

    folder = Path(tempfile.mkdtemp(prefix="rebalance-kit-fuzz-"))
    store = Store(folder / "a.sqlite")
    name = next(item.head.id for item in read_bank().items if isinstance(item, Choice))
    return {
        "Lab": Lab(),
        "Quiz": Quiz("eager", count=2, store=store),
        "Exam": Exam("CCDAK", questions=2, store=store),
        "Poll": Poll(name, folder=folder, room="k2m4p", store=store),
        "Vote": Vote(name, room="k2m4p", store=store),
    }


def _damaged_message(message: Any, dice: random.Random) -> Any:
    """A message with one to three of its values changed, and nothing else of its name and form."""
    given = {**message}
    for _ in range(dice.randint(1, 3)):
        key = dice.choice(sorted(given))
        if key != "to":
            given[key] = damaged_value(given[key], dice)
    return {str(key): value for key, value in given.items()}


def _send(message: Any) -> None:
    _widgets()[message["to"]].handle(message)


FUZZERS: Mapping[str, Fuzzer] = {
    "scenario": Fuzzer(_scenarios, damaged_text, _read_scenario),
    "link": Fuzzer(_contents, _damaged_token, _open_link, share=6),
    "item": Fuzzer(_items, damaged_text, _read_items, share=6),
    "expression": Fuzzer(_expressions, damaged_text, _evaluate),
    "layouts": Fuzzer(_layouts, damaged_text, _read_layouts, share=3),
    "log line": Fuzzer(_log_texts, damaged_text, _look_at, share=2),
    "store": Fuzzer(_stored, damaged_value, _use_store, share=6),
    "widget message": Fuzzer(_messages, _damaged_message, _send, share=6),
}


def damaged(fuzzer: Fuzzer, seed: int) -> Any:
    """The damaged input of a seed."""
    dice = random.Random(seed)
    return fuzzer.damage(dice.choice(fuzzer.good()), dice)


def finding(fuzzer: Fuzzer, given: Any) -> str | None:
    """What is wrong with how an input is taken: an error that is not the kit's, or too long a time."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"more than {SLOW_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SLOW_S)
    try:
        fuzzer.read(given)
    except RebalanceKitError as error:
        return "an error of several lines" if "\n" in str(error).strip() and len(str(error)) > 4000 else None
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        place = f"{Path(last.tb_frame.f_code.co_filename).name}:{last.tb_lineno}" if last else "?"
        return f"{type(error).__name__} at {place}: {str(error)[:120]}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return None


def findings(name: str, seeds: Iterator[int], until: float) -> tuple[int, dict[str, tuple[int, int]]]:
    """How many were tried, and each kind of finding with its first seed and how often it came."""
    tried, found = 0, dict[str, tuple[int, int]]()
    for seed in seeds:
        if time.monotonic() > until:
            break
        tried += 1
        problem = finding(FUZZERS[name], damaged(FUZZERS[name], seed))
        if problem is not None:
            kind = problem.split(": ")[0]
            first, count = found.get(kind, (seed, 0))
            found[kind] = (first, count + 1)
            if count == 0:
                print(f"  {name}, seed {seed}: {problem!a}", flush=True)
    return tried, found


def main() -> int:
    """Fuzz the parsers named for so long each; print a row of a table each."""
    parser = argparse.ArgumentParser(description="Fuzz parsers.")
    parser.add_argument("names", nargs="*", help=", ".join(FUZZERS))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    worst = 0
    for name in given.names or FUZZERS:
        begun = time.monotonic()
        tried, found = findings(name, iter(range(given.seed, 10**9)), begun + given.seconds)
        print(f"| {name} | {tried:,} | {time.monotonic() - begun:.0f} s | {len(found)} |", flush=True)
        worst += len(found)
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
