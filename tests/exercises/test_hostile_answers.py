"""Answers that loop, exit, cheat or break things: each is told in words, none is green, and the next one is checked."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import textwrap
import threading

import pytest

from rebalance_kit.exercises.checking import check_answer
from rebalance_kit.exercises.runner import FromCell, FromFile, run_answer
from rebalance_kit.exercises.spark_bench import LOST, SparkBench
from rebalance_kit.exercises.task import load
from rebalance_kit.exercises.wall.begin import Reply

pytestmark = pytest.mark.spark
EASY = load("03")
RIGHT = EASY.text("solution.py")
STUB_WAY = "def rebalances_per_run(events):\n    return events\n"
FAKE = """
class Frame:
    isStreaming = False
    class schema:
        fields = []
    def __eq__(self, other): return True
    def __getattr__(self, name): return lambda *a, **k: self
    def __iter__(self): return iter([])
def rebalances_per_run(events):
    return Frame()
"""
EQUAL = (
    """
class Any(str):
    def __eq__(self, other): return True
    __hash__ = str.__hash__
import pyspark.sql.classic.dataframe as d
d.DataFrame.collect = lambda self: [{"run": Any("x"), "rebalances": Any("y")}] * 3
"""
    + RIGHT
)
FRAMES = """
import sys
def rebalances_per_run(events):
    frame, names = sys._getframe(), []
    while frame:
        names += [name for name in (*frame.f_locals, *frame.f_globals) if name in {"case", "seen", "exercise", "seed"}]
        frame = frame.f_back
    raise ValueError(f"found {names}; modules {[m for m in sys.modules if m.endswith(('.truth', '.drawn', '.checking', '.catalogue'))]}")
"""
BODY = "def rebalances_per_run(events):\n    "

WORDS = {
    "loop at the top": ("while True: pass\n" + STUB_WAY, "no answer within 2 s (at line 1)"),
    "loop that catches everything": (
        "def rebalances_per_run(events):\n    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n",
        "no answer within 2 s",
    ),
    "a sort without end": (BODY + "return sorted(iter(int, 1))", "no answer within 2 s"),
    "input at the top": ("x = input()\n" + STUB_WAY, "Nobody answers `input()`"),
    "exit": ("exit(0)\n" + STUB_WAY, "SystemExit"),
    "os._exit at the top": (
        "import os\nos._exit(0)\n" + STUB_WAY,
        "ended its process before it gave an answer",
    ),
    "os._exit with a status": (BODY + "import os; os._exit(7)", "ended its process with status 7"),
    "abort": (BODY + "import os; os.abort()", "ended its process (SIGABRT)"),
    "memory": (BODY + "return 'x' * (20 << 30)", "MemoryError: more memory than an answer gets"),
    "rows": (
        BODY + "return events.sparkSession.range(10**9).selectExpr(\"'a' run\", 'id rebalances')",
        "more than 20,000 rows",
    ),
    "a file that is too large": (BODY + "open('large', 'wb').write(b'x' * (65 << 20))", "File too large"),
    "a file of the user": (BODY + "open('/srv/thesis.txt').read()", "none of your files"),
    "a file elsewhere": (BODY + "open('/mine', 'w')", "Read-only file system"),
    "a program of Java's": (
        BODY
        + "b = events.sparkSession._jvm.java.lang.ProcessBuilder(['cat', '/etc/shadow']); return b.start().waitFor()",
        "returned a int",
    ),
    "the solution by Java": (
        BODY + f"return events.sparkSession.read.text({str(EASY.folder / 'solution.py')!r})",
        "PATH_NOT_FOUND",
    ),
    "the solution by a worker": (
        BODY
        + f"f = lambda rows: [open({str(EASY.folder / 'solution.py')!r}).read()]; return events.rdd.mapPartitions(f).collect()",
        "none of your files",
    ),
    "the network": (
        BODY + "import urllib.request as r; r.urlopen('http://192.0.2.1/')",
        "An answer has no network",
    ),
    "a name": (BODY + "import socket; socket.getaddrinfo('example.org', 80)", "An answer has no network"),
    "the hidden cases": (BODY + f"open({str(EASY.folder / 'hidden.py')!r}).read()", "none of your files"),
    "truth through the shelf": (BODY + "import rebalance_kit.exercises.task", "No module named"),
    "truth through frames": (FRAMES, "found []; modules []"),
    "a frame that equals everything": (FAKE, "returned a Frame, expected a Spark DataFrame"),
    "an exception whose text raises": (
        "class E(Exception):\n    def __str__(self): raise KeyError(1)\ndef rebalances_per_run(events): raise E\n",
        "an error whose text raises KeyError",
    ),
    "recursion": (BODY + "return rebalances_per_run(events)", "RecursionError"),
    "deep text": ("x = " + "-" * 90_000 + "1\n" + STUB_WAY, "nested too deeply"),
    "nul": ("x = '\0'\n" + STUB_WAY, "Python cannot read this"),
    "no function": ("a = 1\n", "has no function rebalances_per_run"),
    "a number in its place": ("rebalances_per_run = 5\n", "has no function rebalances_per_run"),
    "closes everything": (
        "import os\nos.closerange(0, 3)\n" + BODY + "raise ValueError('after close')",
        "ValueError: after close",
    ),
    "a class of rows": (EQUAL, "cannot be read"),
    "a lock": (
        BODY + "import threading; threading.Lock().acquire(); threading.Event().wait()",
        "no answer within 2 s",
    ),
}


def checked(text, bench, tmp_path, limit_s=2.0, seed=None, name="answer.py"):
    path = tmp_path / name
    if isinstance(text, str):
        text = text.encode("utf-8")
    path.write_bytes(text)
    return check_answer(EASY, FromFile(path, EASY.task.function), bench, seed=seed, limit_s=limit_s)


@pytest.mark.parametrize(("text", "words"), WORDS.values(), ids=WORDS)
def test_a_hostile_answer_is_told_in_words(text, words, bench, tmp_path):
    limit_s = 2 if "2 s" in words else 60  # whoever is to say something may be on a busy machine
    report = checked(textwrap.dedent(text), bench, tmp_path, limit_s=limit_s)
    assert not report.green
    assert words in " ".join(line.words for line in report.public), str(report)
    assert "Traceback" not in str(report)


@pytest.mark.parametrize(
    "word", ["Py4JNetworkError: An error while", "Py4JError: py4j does not exist in the JVM"]
)
def test_an_answer_that_lost_its_connection_runs_once_more(word):
    class Heard(SparkBench):
        def __init__(self, *replies):
            super().__init__()
            self.replies, self.renewed = list(replies), 0

        def renew(self):
            self.renewed += 1

        def _attempted(self, order, limit_s):
            return self.replies.pop(0)

    lost, fine = Reply({}, word), Reply({"rows": []})
    for replies, problem in (([lost, fine], None), ([lost, lost], LOST), ([fine], None)):
        heard = Heard(*replies)
        assert heard.attempt({}, 1).problem == problem
        assert (heard.replies, heard.renewed) == ([], len(replies) - 1)
        heard.close()


@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf" + RIGHT.encode(),
        RIGHT + "\nimport atexit, os\natexit.register(os._exit, 0)\n",
        RIGHT + "\nimport sys\nsys.stdout.close()\n",
        RIGHT + "\nimport threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()\n",
        RIGHT + "\nprint('\\x1b[31mhello')\n",
    ],
    ids=["byte order mark", "atexit", "closed stdout", "thread", "print"],
)
def test_a_right_answer_with_something_odd_is_green(text, bench, tmp_path):
    report = checked(text, bench, tmp_path, limit_s=60)
    assert report.green, str(report)
    assert ("hello" in report.printed) == (b"hello" in (text if isinstance(text, bytes) else text.encode()))


@pytest.mark.parametrize("kind", ["pipe", "folder", "zero", "socket", "missing", "huge", "latin-1"])
def test_what_is_no_file_of_text_is_told_so_at_once(kind, bench, tmp_path, monkeypatch):
    path = tmp_path / "answer.py"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "socket":
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("answer.py")
    elif kind == "huge":
        path.write_bytes(b"#" * 2_000_000)
    elif kind == "latin-1":
        path.write_bytes("x = 'é'\n".encode("latin-1"))
    report = check_answer(EASY, FromFile(path, "f"), bench)
    assert "answer.py" in report.public[0].words


def test_a_function_of_a_cell_is_called_elsewhere(bench):
    here = []

    def answer(events):
        import os as system

        here.append(1)
        raise ValueError(f"process {system.getpid()}")

    done = run_answer(EASY.task, FromCell(answer), EASY.task.inputs(bench.given, EASY.task.public), bench)
    assert done.problem is not None
    assert "ValueError: process" in done.problem
    assert str(os.getpid()) not in done.problem
    assert here == []


def test_a_function_that_cannot_be_sent_is_told_so(bench):
    held = threading.Lock()

    def answer(events):
        return held.acquire()

    done = run_answer(EASY.task, FromCell(answer), [], bench)
    assert done.problem is not None
    assert "cannot be sent" in done.problem


STOPS = """
import sys
from rebalance_kit.exercises.task import load
from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.checking import check_answer
from rebalance_kit.exercises.spark_bench import SparkBench
from pathlib import Path
bench, easy = SparkBench(), load("03")
def told(text):
    Path("answer.py").write_text(text)
    return check_answer(easy, FromFile(Path("answer.py"), easy.task.function), bench, limit_s=60)
HEAD = "def rebalances_per_run(events):\\n    s = events.sparkSession\\n    "
stopping = told(HEAD + sys.argv[1] + "; return events")
assert "your code stopped Spark" in str(stopping), str(stopping)
assert told(easy.text("solution.py")).green
print("as it should be")
"""


@pytest.mark.parametrize(
    "ends", ["s.stop()", pytest.param("s._jvm.java.lang.System.exit(0)", marks=pytest.mark.long)]
)
def test_after_an_answer_that_stopped_spark_a_right_one_is_green(tmp_path, ends):
    answer = subprocess.run(
        [sys.executable, "-c", STOPS, ends],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert "as it should be" in answer.stdout, answer.stderr[-3000:]
