"""Bad inputs by entry: each a command (or a call) in a folder of its own, and how it ended.

The table is made of what is put where: values in the keys of a scenario, damaged links, messages of widgets, item
files, expressions, layouts, lines of logs, stores, wrong files and flags. The outcome of each stands in
``tests/golden/bad-input.txt``, the counts in ``docs/bad-input.md``; ``tests/support/bad_input/outcomes.py`` writes both.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from rebalance_kit.cli.door import DEFECT
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.quiz.sittings.store import VARIABLE
from tests.support.bad_input.by_hand import Try, by_hand
from tests.support.bad_input.calls import calls
from tests.support.bad_input.command import ended
from tests.support.bad_input.found import ENTRY, ITEM, found
from tests.support.bad_input.parsers import CORNERS, FUZZERS

Outcome = str
"""``taken``, ``refused`` (status 2, one line), ``found`` (status 1), or what must not be: ``traceback``, ``odd``."""


@dataclass(frozen=True)
class Case:
    """One input: the entry, a name, and what runs it in an empty folder."""

    entry: str
    name: str
    run: Callable[[Path], Outcome]

    @property
    def key(self) -> str:
        """The case in the list of outcomes."""
        return f"{self.entry} | {self.name!a}"


ODD = {
    "null": "~", "empty": '""', "text": "abc", "number": "7", "negative": "-1", "huge": "9" * 40, "infinite": ".inf", "nan": ".nan", "true": "true",
    "list": "[1, [2]]", "map": "{a: {b: c}}", "date": "2026-02-30", "nul": '"a\\0b"', "escape": '"\\e[31m"', "superscript": "²", "long": "a" * 3000,
}  # fmt: skip
TOP = (
    "scenario",
    "title",
    "seed",
    "end",
    "group",
    "kafka_version",
    "protocol",
    "topics",
    "members",
    "actions",
    "nodes",
    "broker",
)
MEMBER = ("name", "topics", "client", "start", "configs", "rack")
ACTION = ("at", "do", "member", "for")
BASE = {
    "topics": "{orders: 2}",
    "members": "[{name: c1, topics: [orders]}, {name: c2, topics: [orders]}]",
    "end": "5s",
}


_MOST_LETTERS = 2_500


def _told(status: int, error: str) -> Outcome:
    if "Traceback" in error or status == DEFECT:
        return "traceback"
    if status == 2:
        lines = error.splitlines()
        one = len(lines) == 1 or (lines[:1] and lines[0].startswith("usage: ") and " error: " in lines[-1])
        return "refused" if one and len(error) < _MOST_LETTERS else "odd"
    # 3: taken, and said that it may not be all.
    return {0: "taken", 1: "found", 3: "taken"}.get(status, "odd")


def _command(*words: str, files: dict[str, str | bytes] | None = None) -> Callable[[Path], Outcome]:
    """A command; ``{}`` in a word is the folder, ``files`` are written there first."""

    def run(folder: Path) -> Outcome:
        for name, text in (files or {}).items():
            (folder / name).write_bytes(
                text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
            )
        result = ended(*(word.replace("{}", str(folder)) for word in words))
        return _told(result.status, result.error)

    return run


def _call(call: Callable[[], object]) -> Callable[[Path], Outcome]:
    """A call that may raise errors of the kit alone."""

    def run(_folder: Path) -> Outcome:
        try:
            call()
        except RebalanceKitError as error:
            return "refused" if str(error) else "odd"
        return "taken"

    return run


def scenario_text(**changed: str) -> str:
    """A small scenario with some keys changed."""
    return "".join(f"{key}: {value}\n" for key, value in {**BASE, **changed}.items())


def _scenarios() -> Iterator[Case]:
    def case(where: str, odd: str, text: str) -> Case:
        return Case(
            "scenario files",
            f"{where}: {odd}",
            _command("run", "{}/s.yaml", "--one-run", files={"s.yaml": text}),
        )

    for key, (odd, value) in product(TOP, ODD.items()):
        yield case(key, odd, scenario_text(**{key: value}))
    for key, (odd, value) in product(MEMBER, ODD.items()):
        member = {"name": "c1", "topics": "[orders]", key: value}
        inside = ", ".join(f"{name}: {one}" for name, one in member.items())
        yield case(f"members[0].{key}", odd, scenario_text(members=f"[{{{inside}}}]"))
    for key, (odd, value) in product(ACTION, ODD.items()):
        action = {"at": "1s", "do": "crash", "member": "c1", key: value}
        inside = ", ".join(f"{name}: {one}" for name, one in action.items())
        yield case(f"actions[0].{key}", odd, scenario_text(actions=f"[{{{inside}}}]"))


def _wrong_files() -> Iterator[Case]:
    def made(kind: str, folder: Path) -> None:
        path = folder / "x"
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind in {"zero", "full", "loop", "dangling"}:
            path.symlink_to(
                {"zero": "/dev/zero", "full": "/dev/full", "loop": path, "dangling": folder / "gone"}[kind]
            )
        elif kind in _CONTENTS:
            path.write_bytes(_CONTENTS[kind])

    commands = {
        "run": ("run", "{}/x"), "lab --text": ("lab", "{}/x", "--text"), "items check": ("items", "check", "{}/x"), "sweep": ("sweep", "{}/x"),
        "make-logs": ("make-logs", "{}/x", "--out", "{}/out"), "assign": ("assign", "{}/x"), "replay": ("replay", "{}/x"), "logs": ("logs", "{}/x"),
        "search": ("search", "{}/x", "--count", "1"),
    }  # fmt: skip
    for (name, words), kind in product(commands.items(), (*_KINDS, *_CONTENTS)):

        def run(folder: Path, words: tuple[str, ...] = words, kind: str = kind) -> Outcome:
            made(kind, folder)
            return _command(*words)(folder)

        yield Case("wrong files", f"{name}: {kind}", run)


_KINDS = ("folder", "pipe", "zero", "full", "loop", "dangling", "missing")
_CONTENTS = {
    "empty file": b"", "bytes": bytes(range(256)), "latin-1": "é".encode("latin-1"), "deep": b"[" * 100_000, "nul": b"\0" * 100,
    "UTF-16": "topics: {a: 1}".encode("utf-16"), "an alias": b"a: &x [1]\nb: *x\n", "a tag": b"!!python/object/apply:os.system [id]\n",
}  # fmt: skip


def _places() -> Iterator[Case]:
    writers = {
        "run --out": ("run", "crash", "--one-run", "--out"), "lab --html": ("lab", "crash", "--html"), "lab --notebook": ("lab", "crash", "--notebook"),
        "make-logs --out": ("make-logs", "crash", "--out"), "exercise start": ("exercise", "start", "13", "--learner", "x", "--folder"),
        "workshop --to": ("workshop", "90min", "--to"), "items new": ("items", "new", "single", "x-new", "--to"),
    }  # fmt: skip
    places = {
        "below a file": "{}/file/o", "in /proc": "/proc/nope/o", "a pipe": "{}/pipe", "a long name": "{}/" + "a" * 300, "a NUL": "{}/a\0b",
        "missing parents": "{}/a/b/c",
    }  # fmt: skip
    for (name, words), (place, path) in product(writers.items(), places.items()):
        yield Case("places to write to", f"{name}: {place}", _writing(*words, path))


def _writing(*words: str) -> Callable[[Path], Outcome]:
    """A command that writes beside a file and a pipe, which must both be what they were."""

    def run(folder: Path) -> Outcome:
        os.mkfifo(folder / "pipe")
        ended_as = _command(*words, files={"file": "x"})(folder)
        kept = (folder / "pipe").is_fifo() and (folder / "file").read_text("utf-8") == "x"
        return ended_as if kept else "odd"

    return run


def _flags() -> Iterator[Case]:
    wrong = ("-1", "0", "nan", "inf", "1e400", "9" * 30, "²", "", "a", "1 2", "\u0664")
    flags = {
        "run --seed": ("run", "crash", "--one-run", "--seed"), "run --draws": ("run", "crash", "--draws"), "run --seconds": ("run", "crash", "--draws", "2", "--seconds"),
        "run --protocol": ("run", "crash", "--one-run", "--protocol"), "search --count": ("search", "crash", "--count"),
        "make-logs --size": ("make-logs", "crash", "--out", "{}/o", "--size"), "make-logs --hours": ("make-logs", "crash", "--out", "{}/o", "--hours"),
        "make-logs --begins": ("make-logs", "crash", "--out", "{}/o", "--begins"), "make-logs --kafka-version": ("make-logs", "crash", "--out", "{}/o", "--kafka-version"),
        "make-logs --rotate": ("make-logs", "crash", "--out", "{}/o", "--rotate"), "exercise hint": ("exercise", "hint", "03", "--folder", "{}"),
        "exam --minutes": ("exam", "CCDAK", "--questions", "1", "--minutes"), "sweep --seeds": ("sweep", "--scenario", "crash", "--seeds"), "explain": ("explain",),
    }  # fmt: skip
    quick = {
        "search --count",
        "run --draws",
        "run --seconds",
        "make-logs --size",
        "make-logs --hours",
        "sweep --seeds",
    }
    for (name, words), value in product(flags.items(), wrong):
        if (value == "\u0664" and name == "exam --minutes") or (
            name in quick and value in {"9" * 30, "\u0664"}
        ):
            continue  # a number that is taken would be worked through
        yield Case("flags", f"{name} {value!r}", _command(*words, value))


def _links() -> Iterator[Case]:
    from rebalance_kit.simulation.permalink import Link, write_link
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario

    small = read_scenario(scenario_text(), "s.yaml")
    token = write_link(Link(small))
    head, digest, packed = token.split(".")
    texts = {
        "no dots": packed, "another version": f"rk9.{digest}.{packed}", "another digest": f"{head}.0000000000.{packed}", "cut": token[:-5],
        "nothing packed": f"{head}.{digest}.", "spaces": f" {token} ", "not base64": f"{head}.{digest}.%%%", "long": "rk1." + "a" * 100_000,
        "an unknown protocol": write_link(Link(small, protocol="raft")), "an unknown assignor": write_link(Link(small, assignor="x", protocol="eager")),
        "nobody crashes": write_link(Link(small, deeds=({"do": "crash", "at": 1, "member": "x"},))), "no deed": write_link(Link(small, deeds=({"x": 1},))),
        "a path": "../../etc/passwd", "a whole page": f"https://example.org/#{token}",
    }  # fmt: skip
    for name, text in texts.items():
        yield Case("links", name, _command("lab", text, "--text"))
    fuzzer = FUZZERS["link"]
    for seed in range(26):
        dice = random.Random(seed)
        damaged = fuzzer.damage(dice.choice(fuzzer.good()), dice)
        yield Case("links", f"damaged, seed {seed}", _call(lambda damaged=damaged: fuzzer.read(damaged)))


def _messages() -> Iterator[Case]:
    values: dict[str, Any] = {
        "null": None, "a list": ["take"], "a map": {"a": 1}, "infinity": float("inf"), "nan": float("nan"), "a huge number": 10**400, "half a pair": "\ud800",
    }  # fmt: skip
    keys = {
        "Lab": [("tab", "at_ms"), ("tab", "tab"), ("tab", "member"), ("act", "do"), ("act", "args"), ("settings", "values"), ("set", "name"), ("set", "value"),
                ("compare", "branches"), ("branch", "number"), ("preset", "name"), ("open", "token"), ("export", "what"), ("nothing", "type")],
        "Quiz": [("answer", "do"), ("answer", "given"), ("answer", "confidence"), ("lab", "run")],
        "Exam": [("keep", "do"), ("keep", "given"), ("go", "place"), ("strike", "option"), ("flag", "given")],
        "Poll": [("take", "do"), ("take", "text"), ("lab", "run")],
        "Vote": [("vote", "do"), ("vote", "given"), ("vote", "again")],
    }  # fmt: skip
    for widget, spots in keys.items():
        for (kind, key), (name, value) in product(spots, values.items()):
            message = {
                "to": widget,
                "type": kind,
                "do": "crash" if widget == "Lab" else kind,
                "member": "consumer-1",
                "tab": "messages",
                key: value,
            }
            yield Case(
                "widget messages",
                f"{widget} {kind}.{key}: {name}",
                _call(lambda message=message: FUZZERS["widget message"].read(message)),
            )
    yield Case(
        "widget messages",
        "Lab settings called self",
        _call(
            lambda: FUZZERS["widget message"].read({"to": "Lab", "type": "settings", "values": {"self": "x"}})
        ),
    )


def _expression_cases() -> Iterator[Case]:
    texts = (
        "", " ", "(", "1 +", "1 / 0", "9" * 5000, "9" * 300 + " / 1", "2 ** 9", "least()", "most()", "least('a', 1)", "pick([], 1)", "pick([1], 2)", "names('c', -1)",
        "names('c', 1e9)", "a.b", "a[0]", "a[9]", "b[0]", "__import__('os')", "(lambda: 1)()", "[x for x in a]", "f'{a}'", "nothing", "nothing()", "least(a=1)",
        "not" * 200, "(" * 150 + "1" + ")" * 150, "-" * 300 + "1", "'\0'", "'\ud800'", "1 < 'a'", "a + b", "{1: 2}", "1; 2", "a = 1", "12s + 1m", "1e400", "²", "0x10",
        "topic('a', '²')", "same(1, 2)", "at=30s", "True and 1", "None == 1", "b'a'", "...", "a if b else 1", "yield 1", "await b",
    )  # fmt: skip
    for number, text in enumerate((*texts, *CORNERS)):
        yield Case(
            "expressions",
            f"{number}: {text[:40]!a}",
            _call(lambda text=text: FUZZERS["expression"].read(text)),
        )


def _items() -> Iterator[Case]:
    def case(name: str, text: str) -> Case:
        return Case("item files", name, _command("items", "check", "{}/i.yaml", files={"i.yaml": text}))

    yield case("nothing wrong", ITEM)
    for key, (odd, value) in product(
        ("id", "kind", "difficulty", "tags", "stem", "options", "verify", "domains", "source", "exhibit"),
        ODD.items(),
    ):
        lines = [
            line
            for line in ITEM.splitlines()
            if not line.removeprefix("- ").strip().startswith(f"{key}:")
            and not (key == "options" and line.startswith("    - "))
        ]
        first = [] if key != "id" else ["- kind: single"]
        rest = [line for line in lines[1:] if not (first and line.strip() == "kind: single")]
        yield case(f"{key}: {odd}", "\n".join(["items:", *first, *rest, f"  {key}: {value}", ""]))
    huge = "{topics: {t: 200000}, members: [{name: c, topics: [t]}], end: 60s}"
    week = "{topics: {t: 4}, members: [{prefix: c, count: 9, topics: [t]}], end: 168h}"
    runs = {
        "a list": "[1]", "a number": "5", "unknown": "{a: {scenario: nothing}}", "a list as scenario": "{a: {scenario: [1]}}",
        "a week": f"{{a: {{scenario: {week}}}}}", "a huge group": f"{{a: {{scenario: {huge}}}}}",
    }  # fmt: skip
    for name, value in runs.items():
        claims = "{a: lost() == 0, b: lost() > 0, c: lost() > 9}"
        yield case(f"runs: {name}", f"{ITEM}  verify: {{runs: {value}, claims: {claims}}}\n")


def _layouts() -> Iterator[Case]:
    for odd, value in ODD.items():
        for key in ("name", "line", "time"):
            text = f"layouts:\n- name: mine\n  line: '(?P<at>.*) (?P<message>.*)'\n  {key}: {value}\n"
            yield Case(
                "layouts",
                f"{key}: {odd}",
                _command(
                    "logs", "{}/a.log", "--layouts", "{}/l.yaml", files={"a.log": "x\n", "l.yaml": text}
                ),
            )
    for name, pattern in {
        "(a+)+": "(a+)+$",
        "no groups": "x",
        "unclosed": "(",
        "look-behind": "(?<=a+)b",
        "a huge repeat": "a{99999999999}",
    }.items():
        text = f"layouts:\n- name: mine\n  line: '{pattern}'\n"
        yield Case(
            "layouts",
            name,
            _command(
                "logs",
                "{}/a.log",
                "--layouts",
                "{}/l.yaml",
                files={"a.log": "a" * 50 + "b\n", "l.yaml": text},
            ),
        )


_LINE = (
    "[2026-11-21 02:15:18,894] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] Stabilized group "
    "orders-app generation 1 with 3 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)


def _logs() -> Iterator[Case]:
    lines = {
        "the year 0001": _LINE.replace("2026", "0001"), "the year 9999": _LINE.replace("2026", "9999"), "0001 beside 9999": _LINE.replace("2026", "0001") + _LINE.replace("2026", "9999"),
        "30 February": _LINE.replace("11-21", "02-30"), "25 o'clock": _LINE.replace("02:15", "25:15"), "a NUL": _LINE.replace("orders", "a\0b"),
        "escapes": _LINE.replace("orders", "\x1b[31m\x1b]0;x\x07"), "a script": _LINE.replace("orders-app", "<!--<script>"), "half a pair": _LINE.replace("orders", "\ud800"),
        "a generation of 40 digits": _LINE.replace("generation 1", "generation " + "9" * 40), "a generation of 5,000 digits": _LINE.replace("generation 1", "generation " + "9" * 5000),
        "a line of 3 MB": _LINE.replace("orders-app", "a" * 3_000_000), "no end of line": _LINE.strip(), "carriage returns": _LINE.replace("\n", "\r"), "UTF-16": _LINE,
        "a negative member count": _LINE.replace("with 3", "with -3"), "nothing": "", "JSON": '{"@timestamp": "2026-11-21T02:15:18Z", "message": {"a": ["b"]}}\n', "deep JSON": "[" * 50_000 + "\n",
    }  # fmt: skip
    for name, text in lines.items():
        data = text.encode("utf-16") if name == "UTF-16" else text
        for out in (False, True):
            words = ("logs", "{}/broker.log", *(("--out", "{}/out") if out else ()))
            yield Case(
                "logs", f"{name}{', with --out' if out else ''}", _command(*words, files={"broker.log": data})
            )
    for name in (
        "broker:2026-01-05T09:00.log",
        "new\nline.log",
        "tab\t.log",
        "%41.log",
        "a b.log",
        "{a,b}.log",
        "[a].log",
        "*.log",
        "\udcff.log",
        "é.log",
    ):
        yield Case("logs", f"a file called {name!a}", _named(name))


def _named(name: str) -> Callable[[Path], Outcome]:
    def run(folder: Path) -> Outcome:
        (folder / "in").mkdir()
        (folder / "in" / name).write_text(_LINE, "utf-8")
        result = ended("logs", folder / "in", "--out", folder / "out", "--all")
        if result.status == 0 and "1 parsed" not in result.out:
            return "odd"
        return _told(result.status, result.error)

    return run


def _stores() -> Iterator[Case]:
    values = {
        "null": None,
        "a number": 5,
        "text": "x",
        "a list": [1],
        "a map": {"a": 1},
        "deep": json.loads("[" * 50 + "]" * 50),
        "a huge number": 10**30,
    }
    for key, (name, value) in product(
        ("asked", "given", "place", "flags", "struck", "ended", "missing"), values.items()
    ):
        kept = {
            "asked": [["a", 1]],
            "given": {},
            "place": 0,
            "flags": [],
            "struck": {},
            "ended": False,
            "missing": [],
            key: value,
        }
        yield Case(
            "stores", f"exam {key}: {name}", _call(lambda kept=kept: FUZZERS["store"].read({"kept": kept}))
        )
    for name, text in {"deep": "[" * 100_000, "a number": "5", "no JSON": "{", "text": '"x"'}.items():
        yield Case(
            "stores",
            f"the file beside: {name}",
            _call(lambda text=text: FUZZERS["store"].read({"line": text})),
        )


def _found() -> Iterator[Case]:
    for parser, name, given in found():
        yield Case(
            ENTRY, f"{parser}: {name}", _call(lambda parser=parser, given=given: FUZZERS[parser].read(given))
        )


def _by_hand() -> Iterator[Case]:
    for one in by_hand():
        yield Case(one.entry, one.name, _tried(one))


def _tried(one: Try) -> Callable[[Path], Outcome]:
    """The command among its files, with its variables, and with what is typed; files called ``mine`` stay as they are."""

    def run(folder: Path) -> Outcome:
        for name, text in one.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in one.variables.items():
                patch.setenv(name, value.replace("{}", str(folder)))
            patch.setattr(sys, "stdin", io.StringIO(one.typed))
            result = ended(*(word.replace("{}", str(folder)) for word in one.words))
        if "mine" in one.files and (folder / "mine").read_text("utf-8") != one.files["mine"]:
            return "odd"
        if any(letter in result.out + result.error for letter in "\x1b\x07\x00\u202e"):
            return "odd"
        return _told(result.status, result.error)

    return run


def _python() -> Iterator[Case]:
    def run(call: Callable[[Path], object]) -> Callable[[Path], Outcome]:
        return lambda folder: _call(lambda: call(folder))(folder)

    for name, call in calls():
        yield Case("calls from Python", name, run(call))


class Hang(BaseException):
    """A case that takes longer than ``PATIENCE_S``."""


PATIENCE_S = 30


def outcome(case: Case, folder: Path) -> Outcome:
    """How a case ends; ``hang`` when it does not, ``traceback`` when it raises."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    kept = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder / "answers.sqlite")
    signal.alarm(PATIENCE_S)
    try:
        with contextlib.chdir(folder):
            return case.run(folder)
    except Hang:
        return "hang"
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return f"traceback ({type(error).__name__})"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        os.environ.pop(VARIABLE) if kept is None else os.environ.update({VARIABLE: kept})


@cache
def cases() -> tuple[Case, ...]:
    """All of them, by entry."""
    made = (
        _scenarios,
        _wrong_files,
        _places,
        _flags,
        _links,
        _messages,
        _expression_cases,
        _items,
        _layouts,
        _logs,
        _stores,
        _found,
        _by_hand,
        _python,
    )
    return tuple(case for make in made for case in make())


ROOT = Path(__file__).resolve().parents[3]
PLACE = ROOT / "tests" / "golden" / "bad-input.txt"


def text_of(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text("utf-8")


def counts(outcomes: Mapping[str, Outcome]) -> str:
    """The table of outcomes by entry, in Markdown."""
    by_entry: dict[str, Counter[str]] = {}
    for key, ended_as in outcomes.items():
        by_entry.setdefault(key.split(" | ")[0], Counter())[ended_as] += 1
    head = "| entry | cases | refused with the reason | taken | findings told | tracebacks and defects | hangs |\n|---|---|---|---|---|---|---|"
    rows = [
        f"| {entry} | {count.total()} | {count['refused']} | {count['taken']} | {count['found']} | "
        f"{sum(number for name, number in count.items() if name.startswith('traceback'))} | {count['hang']} |"
        for entry, count in by_entry.items()
    ]
    total = sum(by_entry.values(), Counter())
    last = f"| all | {total.total()} | {total['refused']} | {total['taken']} | {total['found']} | {sum(total[name] for name in total if name.startswith('traceback'))} | {total['hang']} |"
    return "\n".join([head, *rows, last])
