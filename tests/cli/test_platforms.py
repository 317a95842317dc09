"""Windows and macOS as far as they can be told on another machine: every module loads, every command works or says what to do.

The table below is the statement of supported systems; ``docs/platforms.md`` gives it to readers.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys

import pytest

from rebalance_kit.recordings.folder import unpack
from tests.support.paths import ROOT

WORKS = 0
COMMANDS = {
    "run crash --one-run": WORKS,
    "scenarios": WORKS,
    "explain generation": WORKS,
    "lab crash --notebook {}/lab.ipynb": WORKS,
    "lab crash --text": WORKS,
    "search --count 1": WORKS,
    "make-logs crash --out {}/logs": WORKS,
    "logs {}/logs": 1,  # a finding
    "quiz --count 1 --store {}/quiz": WORKS,
    "review --store {}/quiz": WORKS,
    "course {}/all": WORKS,
    "answers report --store {}/quiz": WORKS,
    "items export csv {}/items.csv --count 1": WORKS,
    "workshop 90min --minutes": WORKS,
    "cards --svg --out {}/cards": WORKS,
    "exercise list": WORKS,
    "exercise start c1 --folder {}/mine": WORKS,
    "exercise check c1 --folder {}/answers": WORKS,
    "exercise check c5 --folder {}/answers": WORKS,
    "exercise check c2 --folder {}/endless --limit 1": 1,
    "classroom collect {}/handed --to {}/course": WORKS,
    "install": WORKS,
    "doctor": WORKS,
    f"assign {ROOT}/tests/data/assignor_corners.json.gz": WORKS,
    "replay {}/runs/crash.eager.4.3.1 --draws 1": WORKS,
    "what-if {}/runs/crash.eager.4.3.1 --draws 2 --seconds 2": WORKS,
    "plan-deploy {}/deployment.yaml --draws 2 --seconds 2 --partitions 4": WORKS,
    "check-config {}/consumer.properties": 1,  # a finding
    "watch {}/none": 2,  # no such folder
    "today --store {}/quiz": WORKS,
    "plan --store {}/quiz": WORKS,
    "exam CCDAK --questions 1 --store {}/exam": WORKS,
}
"""Each with its status, on every system."""
REAL = ("broker start", "record crash --out {}", "deeds")
"""Commands that start a real Kafka; Windows refuses them."""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  replicas: 2
  template: {spec: {containers: [{name: a, image: b, env: [{name: GROUP_ID, value: orders}]}]}}
"""
ENDLESS = """def assign(*given):
    print("so far")
    while True:
        pass
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers and hand-ins to check."""
    place = tmp_path_factory.mktemp("platforms")
    for name in ("c1", "c5", "01"):
        (source,) = (ROOT / "exercises").glob(f"*/{name}-*")
        for target in (place / "answers" / source.name, place / "handed" / "ada" / source.name):
            target.mkdir(parents=True)
            shutil.copy(source / "solution.py", target / "answer.py")
    (source,) = (ROOT / "exercises" / "code").glob("c2-*")
    (place / "endless" / source.name).mkdir(parents=True)
    (place / "endless" / source.name / "answer.py").write_text(ENDLESS)
    unpack(place / "runs", {"crash.eager.4.3.1"})
    (place / "deployment.yaml").write_text(DEPLOYMENT)
    (place / "consumer.properties").write_text("group.id=a\nsession.timeout.ms=10000\n")
    return place


@pytest.mark.parametrize("platform", ["windows", "macos"])
def test_every_module_loads_and_every_command_works_or_says_what_to_do(platform, folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    lines = [command.replace("{}", str(tmp_path)).split() for command in COMMANDS]
    modules, *ends = became(platform, lines, tmp_path)
    assert modules == []
    found = {command: status for command, (status, _) in zip(COMMANDS, ends, strict=True)}
    words = {command: text for command, (_, text) in zip(COMMANDS, ends, strict=True)}
    assert found == COMMANDS, {
        command: words[command] for command in COMMANDS if found[command] != COMMANDS[command]
    }
    endless = words["exercise check c2 --folder {}/endless --limit 1"]
    assert re.search(r"no answer within 1 s \(at line [34]\)", endless)


def test_a_pyspark_answer_on_windows_is_refused_with_where_it_can_be_checked(folder):
    command = ["exercise", "check", "01", "--folder", str(folder / "answers")]
    _, (status, told) = became("windows", [command], folder)
    assert (status, told.count("\n")) == (2, 1)
    assert "expected Linux, macOS, or WSL" in told


def test_a_real_kafka_on_windows_is_refused_with_where_it_can_be_started(folder):
    _, *ends = became(
        "windows", [command.replace("{}", str(folder / "record")).split() for command in REAL], folder
    )
    for status, told in ends:
        assert status == 2
        assert "needs Linux, macOS, or WSL on Windows" in told


def became(platform, lines, home):
    """What ``as_platform.py`` prints: modules that cannot be imported, then status and words of each command."""
    done = subprocess.run(
        [sys.executable, ROOT / "tests/support/cli/as_platform.py", platform, json.dumps(lines)],
        stdin=subprocess.DEVNULL, cwd=ROOT, env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(home), "LOGNAME": "ada"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])
