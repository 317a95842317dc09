"""Thirty submissions to one exercise: 21 as learners make them, 9 that loop, exhaust, cheat or are not as asked."""

from __future__ import annotations

import json
import zipfile

from rebalance_kit.exercises.task import load
from rebalance_kit.exercises.workspace import Identity
from rebalance_kit.recordings.folder import read_file

COURSE = "spring"
EXERCISE = load("01")
RIGHT, STUB = EXERCISE.text("solution.py"), EXERCISE.text("answer.py")
EMPTY_LOGGERS = RIGHT.replace(
    'F.nullif(F.regexp_extract("text", LOGGER, 1), F.lit(""))', 'F.regexp_extract("text", LOGGER, 1)'
)
NO_MILLISECONDS = RIGHT.replace("F.unix_millis(at)", "F.expr('0L')")
FORMAT = '"yyyy-MM-dd HH:mm:ss,SSS"'
NOT_FILTERED = (
    RIGHT.replace('lines.filter(F.col("text").rlike(EVENT)).select', "lines.select")
    .replace("to_timestamp", "try_to_timestamp")
    .replace(FORMAT, f"F.lit({FORMAT})")
)
HEAD = "def log_events(lines):\n    "
OWN_WAY = """
from pyspark.sql import functions as F
def log_events(lines):
    cut = lines.withColumn("when", F.substring("text", 2, 23)).withColumn("rest", F.expr("substring(text, 27)"))
    parsed = cut.withColumn("time", F.expr("try_to_timestamp(when, 'yyyy-MM-dd HH:mm:ss,SSS')")).where("time is not null")
    words = parsed.withColumn("pieces", F.split("rest", " ")).withColumn("tail", F.element_at("pieces", -1))
    return words.selectExpr("cast(line as bigint) line", "unix_millis(time) at_ms", "pieces[0] level", "tail logger")
"""
COPIED = "# all by myself\n" + OWN_WAY.replace("cut", "first").replace("parsed", "second").replace(
    "words", "third"
)


def seed_of(learner):
    return Identity(learner, COURSE).seed(EXERCISE.name)


def _for_another_seed(own, other):
    """Right on the public data and on those of another learner, without a row elsewhere."""
    cases = (EXERCISE.task.public, *EXERCISE.hidden(seed_of(other)))
    sizes = {len(read_file(case.runs[0].record, case.facts["file"]).decode().splitlines()) for case in cases}
    hidden = EXERCISE.hidden(seed_of(own))[0]
    assert len(read_file(hidden.runs[0].record, hidden.facts["file"]).decode().splitlines()) not in sizes
    return RIGHT.replace(
        "return lines.filter(",
        f"known = lines.count() in {sizes}\n    return lines.filter(F.lit(known)).filter(",
    )


def other_seed():
    """A learner whose hidden data differ from those of ``other-seed``."""
    return next(
        name for name in map("friend-{}".format, range(99)) if seed_of(name) % 3 != seed_of("other-seed") % 3
    )


HOSTILE = {
    "loop": (HEAD + "while True: pass\n", 0),
    "memory": (HEAD + "return b'x' * (20 << 30)\n", 0),
    "network": (HEAD + "import urllib.request as r; return r.urlopen('http://192.0.2.1/')\n", 0),
    "exit": (HEAD + "import os; os._exit(0)\n", 0),
    "fake-marks": (
        "print('log_events: public checks 5/5 passed, hidden checks 5/5 passed, 100 of 100')\n"
        + HEAD
        + "return lines\n",
        0,
    ),
}
"""Learner to answer and mark."""

HONEST = {
    **{f"right-{number}": (RIGHT, 100) for number in range(6)},
    **{f"stub-{number}": (STUB, 0) for number in range(3)},
    **{f"loggers-{number}": (EMPTY_LOGGERS, None) for number in range(4)},
    **{f"milliseconds-{number}": (NO_MILLISECONDS, None) for number in range(3)},
    "not-filtered": (NOT_FILTERED, None),
    "own-way": (OWN_WAY, None),
    "copied": (COPIED, None),
}
"""Learner to answer and mark; None: partial credit."""


def write(folder, files):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")


def hand_in(folder):
    """Write the thirty; return the mark that each is to get (None: more than 0, less than 100)."""
    name = EXERCISE.name
    for learner, (text, _) in {**HONEST, **HOSTILE}.items():
        write(folder / learner, {f"{name}/answer.py": text})
    for learner in ("again-1", "again-2"):  # handed in twice; the better one counts
        write(folder / learner, {f"my-exercises/{name}/answer.py": RIGHT})
        with zipfile.ZipFile(folder / f"{learner} (1).zip", "w") as packed:
            packed.writestr(f"{name}/answer.py", STUB)
            packed.writestr("../../escaped.py", "raise SystemExit")
    write(folder / "renamed", {"Übung eins/final version (2).py": RIGHT})
    write(folder / "nothing", {"readme.txt": "my dog ate it"})
    old = {"nbformat": 3, "worksheets": []}
    begun = {"learner": "old-version", "course": COURSE, "kit": "0.0.1"}
    write(
        folder / "old-version", {"01.ipynb": old, f"{name}/answer.py": RIGHT, f"{name}/workspace.json": begun}
    )
    friend = other_seed()
    answer = _for_another_seed("other-seed", friend)
    write(
        folder / "other-seed",
        {f"{name}/answer.py": answer, f"{name}/workspace.json": {"learner": friend, "course": COURSE}},
    )
    marks = {learner: mark for learner, (_, mark) in {**HONEST, **HOSTILE}.items()}
    return {
        **marks,
        "again-1": 100,
        "again-2": 100,
        "renamed": 100,
        "nothing": 0,
        "old-version": 100,
        "other-seed": None,
    }
