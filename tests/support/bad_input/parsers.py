"""What is fuzzed: per parser good inputs, what damages one, and what reads it.

A reader raises ``Lost`` where something is read and its text, written again, reads differently; slow steps behind a parser
(a simulation, a lab) are taken for every so-many-th input alone.
"""

from __future__ import annotations

import base64
import json
import random
import tempfile
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.bad_input.damage import as_json, damaged_letters, damaged_text, damaged_value, damaged_yaml


class Lost(Exception):
    """Something was read that is another thing after it was written and read again."""


@dataclass(frozen=True)
class Fuzzer:
    """Good inputs, what damages one, and what reads it."""

    good: Callable[[], tuple[Any, ...]]
    damage: Callable[[Any, random.Random], Any]
    read: Callable[[Any], object]
    share: int = 1
    """One of so many of a profile's examples: some parsers are slow."""


def now_and_then(text: str, times: int) -> bool:
    """Whether this input is one of the few that go through a slow step too."""
    return zlib.crc32(text.encode("utf-8", "surrogatepass")) % times == 0


@cache
def scenarios() -> tuple[str, ...]:
    """The kit's scenarios, written out."""
    from rebalance_kit import scenarios
    from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

    return tuple(write_scenario(scenarios.load(name)) for name in scenarios.names())


def read_scenario_text(text: str) -> None:
    """Read a scenario, write it and read that; run one of twelve."""
    from rebalance_kit.simulation.scenario.checks import check_work
    from rebalance_kit.simulation.scenario.yaml_file import read_scenario
    from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
    from rebalance_kit.simulation.simulate import simulate

    scenario = read_scenario(text, "s.yaml")
    if read_scenario(written := write_scenario(scenario), "written.yaml") != scenario:
        raise Lost(written[:200])
    check_work(scenario, 0.05)
    if now_and_then(text, 12):
        simulate(scenario)


@cache
def _contents() -> tuple[Any, ...]:
    """What links hold, before it is packed."""
    from rebalance_kit import scenarios
    from rebalance_kit.simulation.permalink import Link, write_link

    deeds = (
        {"do": "crash", "at": 5000, "member": "consumer-1"},
        {"do": "start", "at": 7000, "member": "consumer-1"},
        {"do": "freeze", "at": 9000, "member": "consumer-2", "for": 3000},
    )
    tokens = [
        write_link(Link(scenarios.load(name), protocol="eager", deeds=deeds, at_ms=4000, seed=3))
        for name in ("crash", "join", "leave", "rolling-restart", "regex-surprise")
    ]
    return tuple(json.loads(_unpacked(token.rpartition(".")[2])) for token in tokens)


def _unpacked(packed: str) -> bytes:
    return zlib.decompress(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))


def _damaged_token(content: Any, dice: random.Random) -> str:
    from rebalance_kit.simulation import permalink

    if isinstance(content.get("scenario"), str) and dice.random() < 0.4:
        content = {**content, "scenario": damaged_yaml(scenarios)(content["scenario"], dice)}
    else:
        content = damaged_value(content, dice)
    text = json.dumps(content, default=str) if dice.random() < 0.9 else as_json(content)
    if dice.random() < 0.1:
        text = damaged_text(text, dice)
    packed = (
        base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8", "surrogatepass")))
        .rstrip(b"=")
        .decode("ascii")
    )
    token = f"{permalink.VERSION}.{permalink._digest(packed)}.{packed}"
    return damaged_letters(token, dice) if dice.random() < 0.1 else token


def _open_link(token: str) -> None:
    from rebalance_kit.simulation.permalink import LinkError, read_link, write_link
    from rebalance_kit.simulation.scenario.checks import check_work
    from rebalance_kit.view.lab.widget import Lab

    link = read_link(token)
    try:
        again = write_link(link)
    except LinkError:  # longer than an address may be
        again = token
    if read_link(again) != link:
        raise Lost(str(link)[:200])
    check_work(link.scenario, 0.02)
    if now_and_then(token, 8):
        Lab.from_link(token)


@cache
def _items() -> tuple[str, ...]:
    """Items of the bank, one in a text."""
    import yaml

    from rebalance_kit.quiz.items.bank import BELIEFS, SCENARIOS, home
    from rebalance_kit.quiz.items.reading import read_document

    files = [path for path in sorted(home().rglob("*.yaml")) if path.name not in {BELIEFS, SCENARIOS}]
    items = [item for path in files for item in read_document(path).value.get("items", ())]
    return tuple(
        yaml.safe_dump({"items": [item]}, sort_keys=False, allow_unicode=True) for item in items[::5]
    )


@cache
def _context() -> Any:
    from rebalance_kit.quiz.items.bank import _context as context_of

    return context_of([])


def _read_items(text: str) -> None:
    from rebalance_kit.quiz.items.bank import Bank
    from rebalance_kit.quiz.items.check import check
    from rebalance_kit.quiz.items.reading import read_items
    from rebalance_kit.quiz.proof.generate import question
    from rebalance_kit.quiz.sittings.grade import grade

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "items.yaml"
        path.write_text(text, "utf-8", "replace")
        items, problems = read_items(path, _context())
    if not items and not problems and "items: []" not in text and '"items": []' not in text:
        raise Lost("an item is neither taken nor refused")
    if now_and_then(text, 20):
        check(Bank(tuple(items), tuple(problems), _context().beliefs))
        for item in items:
            grade(question(item, 1), "a")


@cache
def expressions() -> tuple[str, ...]:
    """Claims of the bank, and the grammar's corners."""
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.items.item import Generated

    claims = {
        str(claim)
        for item in read_bank().items
        if not isinstance(item, Generated) and item.proof is not None
        for claim in (*item.proof.claims.values(), item.proof.value)
        if claim
    }
    return (*CORNERS, *sorted(claims))


CORNERS = (
    "first_ms(rebalances) >= 12s and last_ms < 1m30s", "count('a', \"b\") == 3 * (2 + 1)", "not (a in [1, 2, 3]) or b != 5",
    "max(1, 2.5, -3) / 2 <= 10", "owner('orders-0') == 'consumer-1'", "a[0] < 5 and len(b) > 2", "least([1, 2]) + most([3])", "1 < 2 < 3",
)  # fmt: skip


@cache
def _book() -> Any:
    from rebalance_kit.quiz.proof.run_book import RunBook

    return RunBook()


def _evaluate(text: str) -> None:
    from rebalance_kit.quiz.items.item import RunSpec

    book = _book()
    if len(book._answers) > 5000:
        book._answers.clear()
    runs = {"run": RunSpec("crash", "eager"), "other": RunSpec("crash", "consumer")}
    book.work_out(text, runs, 1, {"a": (1, 2), "b": 5, "rebalances": ()})


@cache
def _layouts() -> tuple[str, ...]:
    import rebalance_kit.forensics.lines as room

    assert room.__file__
    return (
        (Path(room.__file__).parent / "layouts.yaml").read_text("utf-8"),
        "layouts:\n- {name: mine, begins: '####-##-## ', pattern: '(?P<at>\\S+ \\S+) (?P<level>\\w+) (?P<message>.*)', time: '%Y-%m-%d %H:%M:%S'}\n",
        "layouts:\n- {name: js, begins: ['{'], json: {at: [ts, '@timestamp'], message: [msg]}, time: epoch millis}\n",
    )


_LINES = (
    "2026-11-21 02:15:18 INFO [GroupCoordinator 1]: Preparing to rebalance group g in state Stable\n"
    + "{}\n" * 2
)


def _read_layouts(text: str) -> None:
    from rebalance_kit.forensics.lines.layouts import Reading, load_layouts
    from rebalance_kit.forensics.look import look

    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "layouts.yaml", Path(folder) / "a.log"
        path.write_text(text, "utf-8", "replace")
        layouts = load_layouts(path)
        if now_and_then(text, 10):
            log.write_text(_LINES)
            _balanced(look([log], Reading(layouts)), 3)


@cache
def _log_texts() -> tuple[str, ...]:
    from rebalance_kit.recordings.folder import read_file

    names = (
        ("crash.eager.4.3.1", "broker.log"),
        ("crash.eager.4.3.1", "c1.log"),
        ("freeze.consumer.4.3.1", "c1.log"),
        ("crash.cooperative.4.3.1", "broker.log"),
    )
    texts = [read_file(run, file).decode("utf-8") for run, file in names]
    return tuple(
        "".join(text.splitlines(keepends=True)[place : place + 8])
        for text in texts
        for place in range(0, 400, 8)
    )


def _damaged_log(text: str, dice: random.Random) -> str:
    from tests.support.bad_input.damage import damaged_lines, damaged_tokens

    chosen = dice.random()
    if chosen < 0.4:
        return damaged_tokens(text, dice, _log_texts())
    return damaged_lines(text, dice, _log_texts()) if chosen < 0.6 else damaged_letters(text, dice)


def _balanced(result: Any, wanted: int | None) -> None:
    """Raise ``Lost`` where a line is not counted, and exactly once."""
    for row in result.rows("lines"):
        if row["lines"] != row["parsed"] + row["ignored"] + row["rejected"] or wanted not in {
            None,
            row["lines"],
        }:
            raise Lost(f"{row}, of {wanted} lines")


def _look_at(text: str) -> None:
    from rebalance_kit.forensics.look import look
    from rebalance_kit.forensics.tables import GOLD

    data = text.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "broker.log"
        path.write_bytes(data)
        result = look([path])
        for table in ("events", "rejected", *GOLD):
            result.rows(table)
        _balanced(result, None)


@cache
def _stored() -> tuple[Any, ...]:
    """An answer, the state of an exam that is gone on with, and a line of the file beside."""
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.sittings.exam import ExamSitting
    from rebalance_kit.quiz.sittings.store import Store

    attempt = {
        "id": "x", "at": 1.0, "mode": "quiz", "item": "eager-1", "seed": 1, "given": "a", "correct": 1, "credit": 1.0, "confidence": "sure",
        "beliefs": '["a"]', "exam": None,
    }  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "a.sqlite")
        sitting = ExamSitting.begin("CCDAK", questions=2, store=store, bank=read_bank()).start()
        sitting.flag()
        (kept,) = store.kept("exam").values()
    return ({"attempt": attempt, "kept": kept, "line": dict(attempt)},)


def _damaged_store(value: Any, dice: random.Random) -> Any:
    part = dice.choice(sorted(value))
    return {**value, part: damaged_value(value[part], dice)}


def _cell(value: Any) -> Any:
    """What a database takes for it."""
    if isinstance(value, int) and abs(value) > 2**62:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return value if isinstance(value, int | float | bytes | None) else json.dumps(value, default=str)


def use_store(value: Any) -> None:
    """Put what is given into a store behind its back, then use it."""
    import io

    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.sittings.exam import ExamSitting
    from rebalance_kit.quiz.sittings.store import Store

    parts = value if isinstance(value, dict) else {"line": value}
    text = as_json(parts.get("kept"))
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "a.sqlite")
        with store._connection() as connection:
            if isinstance(attempt := parts.get("attempt"), dict):
                cells = [_cell(cell) for cell in [*attempt.values(), *([None] * 11)][:11]]
                connection.execute(
                    "INSERT OR IGNORE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", cells
                )
            connection.execute("INSERT INTO kept VALUES ('exam', 'CCDAK', ?)", (text,))
        Path(folder, "a.sqlite.lost").write_text(as_json(parts.get("line")) + "\n", "utf-8", "replace")
        store.attempts()
        store.kept("exam")
        store.export(io.StringIO())
        sitting = ExamSitting.begin("CCDAK", questions=2, store=store, bank=read_bank()).start()
        sitting.page()
        sitting.go(1)
        sitting.finish()


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
        {"to": "Poll", "do": do, "text": "rkv2.0123ab.abc", "run": 0}
        for do in ("take", "lab", "end_round", "revote", "show", "reveal", "restart", "collect")
    ]
    vote = [{"to": "Vote", "do": "vote", "given": "a", "again": True}]
    return (*({"to": "Lab", "type": kind, **lab} for kind in REQUESTS), *quiz, *exam, *poll, *vote)


_SENT = {"Lab": 0}
_MOST_SENT = 200


@cache
def _widgets(_generation: int) -> Mapping[str, Any]:
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.items.item import Choice
    from rebalance_kit.quiz.sittings.store import Store
    from rebalance_kit.view.lab.widget import Lab
    from rebalance_kit.view.quiz.page import Exam, Quiz
    from rebalance_kit.view.quiz.poll import Poll, Vote

    folder = Path(tempfile.mkdtemp(prefix="rebalance-kit-fuzz-"))
    store = Store(folder / "a.sqlite")
    name = next(item.head.id for item in read_bank().items if isinstance(item, Choice))
    exam = Exam("CCDAK", questions=2, store=store)
    exam.start()
    return {
        "Lab": Lab(),
        "Quiz": Quiz("eager", count=2, store=store),
        "Exam": exam,
        "Poll": Poll(name, folder=folder, room="k2m4p", store=store),
        "Vote": Vote(name, room="k2m4p", store=store),
    }


def _damaged_message(message: Any, dice: random.Random) -> Any:
    """A message with one to three of its values changed, and nothing else of its name and form."""
    given = {**message}
    for _ in range(dice.randint(1, 3)):
        key = dice.choice(sorted(given))
        if key not in {"to", "type"} or dice.random() < 0.1:
            given[key] = damaged_value(given[key], dice)
    return json.loads(as_json(given)) | {"to": message["to"]}


def send(message: Any) -> None:
    """Give a widget a message, as a page does; its state must stay what a page can read."""
    _SENT["Lab"] += 1
    widget = _widgets(_SENT["Lab"] // _MOST_SENT)[message["to"]]
    widget.handle(message)
    if now_and_then(repr(message), 10):
        json.dumps(
            {name: value for name, value in widget.get_state().items() if not name.startswith("_")},
            allow_nan=False,
            default=bytes.hex,
        )


@cache
def _sweeps() -> tuple[str, ...]:
    return (
        "scenarios: [crash]\nset: {members: [2, 3], session.timeout.ms: [6000, 45000]}\nprotocols: all\nseeds: 3\n",
        "scenarios: [join, leave]\nset: {partitions: [4, 8]}\nprotocols: [eager, consumer]\nseeds: [1, 2]\n",
    )


def _read_sweep(text: str) -> None:
    from rebalance_kit.pipeline.sweep.command import read_spec

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sweep.yaml"
        path.write_text(text, "utf-8", "replace")
        read_spec(path)


@cache
def _codes() -> tuple[str, ...]:
    from rebalance_kit.quiz.sittings.poll import Ballot, write_code

    return tuple(write_code(Ballot("eager-crash", turn, "0a1b2c3d", "b"), "k2m4p") for turn in (1, 2))


def _damaged_code(code: str, dice: random.Random) -> str:
    """A vote damaged inside its digest, or outside."""
    from rebalance_kit.quiz.sittings import poll as ballot

    if dice.random() < 0.3:
        return damaged_letters(code, dice)
    plain = damaged_text("eager-crash/1/0a1b2c3d/b", dice).encode("utf-8", "surrogatepass")
    packed = base64.urlsafe_b64encode(plain).rstrip(b"=").decode("ascii")
    return f"{ballot.VERSION}.{ballot._digest(packed, 'k2m4p')}.{packed}"


def _read_code(code: str) -> None:
    from rebalance_kit.quiz.sittings.poll import read_code, write_code

    vote = read_code(code, "k2m4p")
    if read_code(write_code(vote, "k2m4p"), "k2m4p") != vote:
        raise Lost(str(vote))


@cache
def _cases() -> tuple[Any, ...]:
    import gzip

    root = Path(__file__).resolve().parents[3] / "tests" / "data" / "assignor_corners.json.gz"
    document = json.loads(gzip.decompress(root.read_bytes()))
    return tuple(document["vectors"] if isinstance(document, dict) else document)[:60]


def _read_case(raw: Any) -> None:
    from rebalance_kit.assignors.vectors import parse_case

    parse_case(json.loads(as_json(raw)), 0, "cases.json")


@cache
def _recorded() -> tuple[Any, ...]:
    from rebalance_kit.recordings.folder import read_file

    run = "crash.eager.4.3.1"
    return (
        {
            "run.json": json.loads(read_file(run, "run.json")),
            "truth.jsonl": read_file(run, "truth.jsonl").decode().splitlines()[:60],
            "broker.log": read_file(run, "broker.log").decode().splitlines()[:60],
            "c1.log": read_file(run, "c1.log").decode().splitlines()[:60],
        },
    )


def _damaged_recording(value: Any, dice: random.Random) -> Any:
    part = dice.choice(("run.json", "run.json", "truth.jsonl", "broker.log", "c1.log"))
    if part == "run.json":
        return {**value, part: damaged_value(value[part], dice)}
    lines = [*value[part]]
    for _ in range(dice.randint(1, 3)):
        place = dice.randrange(len(lines))
        if part == "truth.jsonl" and lines[place].startswith("{") and dice.random() < 0.7:
            try:
                lines[place] = as_json(damaged_value(json.loads(lines[place]), dice))
                continue
            except ValueError:
                pass
        lines[place] = damaged_text(lines[place], dice)
    return {**value, part: lines}


def _read_recording(value: Any) -> None:
    from rebalance_kit.recordings.compare import of_record
    from rebalance_kit.recordings.folder import read_run
    from rebalance_kit.recordings.repeat import repeat
    from rebalance_kit.recordings.trace import recorded_trace

    with tempfile.TemporaryDirectory() as folder:
        for name, part in value.items():
            text = as_json(part) if name == "run.json" else "\n".join(part)
            Path(folder, name).write_text(text, "utf-8", "replace")
        run = read_run(folder)
    recorded_trace(run)
    of_record(run)
    repeat(run)


@cache
def _handed_in() -> tuple[Any, ...]:
    import nbformat

    answer = 'import os\n\ndef rebalances(lines):\n    """x"""\n    return lines\n\nN = 3\n'
    notebook = json.loads(
        nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(answer)]))
    )
    workspace = {"learner": "ada", "exercise": "03-count-rebalances", "seed": 1, "version": "1"}
    line = {
        "id": "x",
        "at": 1.0,
        "mode": "quiz",
        "item": "commit-before-processing-crash",
        "seed": 1,
        "given": "a",
        "credit": 1.0,
    }
    return ({"a.ipynb": notebook, "workspace.json": workspace, "answers.jsonl": line, "answer.py": answer},)


def _damaged_work(value: Any, dice: random.Random) -> Any:
    part = dice.choice(sorted(value))
    damage = damaged_text if isinstance(value[part], str) else damaged_value
    return {**value, part: damage(value[part], dice)}


def _sort_out(value: Any) -> None:
    from pathlib import PurePosixPath

    from rebalance_kit.classroom.handed_in import HandedIn
    from rebalance_kit.classroom.questions import mark_questions
    from rebalance_kit.classroom.submissions import sorted_out

    files = {
        PurePosixPath(f"03-count-rebalances/{name}"): (
            part if isinstance(part, str) else as_json(part)
        ).encode("utf-8", "replace")
        for name, part in value.items()
    }
    sorted_in = sorted_out(HandedIn("ada", files), "course")
    mark_questions(sorted_in.questions, sorted_in.votes, ["k2m4p"])


@cache
def _answered() -> tuple[Any, ...]:
    return ({"rows": [["a", 1, 2.5, "2026-01-01T00:00:00"], [None, None, None, None]]},)


def _read_rows(value: Any) -> None:
    from rebalance_kit.exercises.runner import rows_of
    from rebalance_kit.exercises.wall.begin import Reply
    from rebalance_kit.exercises.wall.process import Unreadable, read_answer

    class Asked:
        columns = {"a": "string", "b": "bigint", "c": "double", "d": "timestamp"}  # noqa: RUF012

    text = value if isinstance(value, str) else as_json(value)
    with suppress(Unreadable):
        rows_of(Asked(), Reply(read_answer(text.encode("utf-8", "replace"))))  # type: ignore[arg-type]


FUZZERS: Mapping[str, Fuzzer] = {
    "scenario": Fuzzer(scenarios, damaged_yaml(scenarios), read_scenario_text),
    "link": Fuzzer(_contents, _damaged_token, _open_link, share=6),
    "item": Fuzzer(_items, damaged_yaml(_items), _read_items, share=6),
    "expression": Fuzzer(expressions, damaged_text, _evaluate),
    "layouts": Fuzzer(_layouts, damaged_yaml(_layouts), _read_layouts, share=3),
    "log line": Fuzzer(_log_texts, _damaged_log, _look_at, share=2),
    "store": Fuzzer(_stored, _damaged_store, use_store, share=6),
    "widget message": Fuzzer(_messages, _damaged_message, send, share=6),
    "sweep": Fuzzer(_sweeps, damaged_yaml(_sweeps), _read_sweep, share=2),
    "vote": Fuzzer(_codes, _damaged_code, _read_code),
    "assignor case": Fuzzer(_cases, damaged_value, _read_case),
    "recorded run": Fuzzer(_recorded, _damaged_recording, _read_recording, share=6),
    "handed-in work": Fuzzer(_handed_in, _damaged_work, _sort_out, share=3),
    "rows of an answer": Fuzzer(_answered, damaged_value, _read_rows),
}
