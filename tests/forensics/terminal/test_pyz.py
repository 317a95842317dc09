"""The reading of logs as one file: a Python with nothing installed runs it, and says what the kit says."""

from __future__ import annotations

import io
import subprocess
import sys

from rebalance_kit import cli
from tests.support.paths import ROOT
from tests.support.pipeline.kafka_lines import failing, joining


def test_one_file_says_what_the_kit_says_on_a_python_without_any_package(tmp_path):
    target, log = tmp_path / "kit.pyz", tmp_path / "server.log"
    log.write_text(joining(0, 0, "c1") + joining(10, 1, "c2") + failing(60, 2, "c2"))
    subprocess.run([sys.executable, ROOT / "scripts" / "pyz.py", target], check=True, capture_output=True)
    assert target.stat().st_size <= 3_000_000
    # -I and -S: neither the environment, nor the user's packages, nor those of this Python.
    done = subprocess.run(
        [sys.executable, "-I", "-S", target, "logs", log],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    here = io.StringIO()
    assert (done.returncode, done.stderr) == (cli.main(["logs", str(log)], here), "")
    assert done.stdout == here.getvalue()
