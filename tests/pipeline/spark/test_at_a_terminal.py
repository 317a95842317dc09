"""What a user at a terminal sees of Spark: the report and nothing of Java's; an interrupted look says what it knows."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pytest

from rebalance_kit import cli
from tests.support.paths import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]

#: Sends Ctrl-C to its own process when the named step of the look begins.
INTERRUPTED = """
import os, signal, sys
from rebalance_kit import cli
from rebalance_kit.pipeline import inquiry
step = getattr(inquiry, sys.argv[1])
def interrupted(*arguments, **named):
    os.kill(os.getpid(), signal.SIGINT)
    return step(*arguments, **named)
setattr(inquiry, sys.argv[1], interrupted)
sys.exit(cli.main(["logs", sys.argv[2], "--engine", "spark"]))
"""


def started(*command):
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_nothing_of_java_reaches_the_terminal(runs_folder):
    run = runs_folder / "crash.eager.4.3.1"
    done = started("-m", "rebalance_kit.cli", "logs", str(run), "--engine", "spark")
    here = io.StringIO()
    assert cli.main(["logs", str(run), "--engine", "local"], here) == 1
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == here.getvalue()


@pytest.mark.parametrize(
    ("step", "told"),
    [
        pytest.param(
            "read_events",
            "nothing is known yet. With --engine local each file is known when it is read.",
            marks=pytest.mark.long,
        ),
        ("gold", "Known: 209 parsed + 2164 ignored + 0 rejected = 2373 lines, of 4 files."),
    ],
)
def test_an_interrupted_look_prints_what_is_known_so_far(runs_folder, step, told):
    done = started("-c", INTERRUPTED, step, str(runs_folder / "crash.eager.4.3.1"))
    assert done.returncode == 128 + signal.SIGINT
    assert told in done.stdout
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("rebalance-kit: interrupted")
