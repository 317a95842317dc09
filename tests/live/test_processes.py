"""Whatever ends the process that started a broker, nothing of it is left."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_kit.live.processes import Processes

# Both outputs of the helper are also those of what it starts, so their end means that all of it is gone.
HELPER = """
import signal, sys
from rebalance_kit.live.processes import Processes, send
held = Processes()
(held.folder / "data").write_text("x")
child = held.start([sys.executable, "-c", "import signal; signal.pause()"], sys.stdout, sys.stderr)
send(child, signal.SIGSTOP)
print(held.folder, flush=True)
sys.stdin.readline()
raise SystemExit(1) if len(sys.argv) > 1 else 0
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, None])
def test_nothing_is_left_when_the_starter_ends(end):
    helper = subprocess.Popen(
        [sys.executable, "-c", HELPER, "raise"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    folder = Path(helper.stdout.readline().strip())
    assert (folder / "data").exists()
    if end is not None:
        helper.send_signal(end)
    helper.communicate("\n", timeout=60)
    assert not folder.exists()


def test_closing_ends_them_all_and_may_be_done_twice(tmp_path):
    held = Processes()
    one = held.start([sys.executable, "-c", "import signal; signal.pause()"], tmp_path / "out")
    held.close()
    held.close()
    assert one.returncode == -signal.SIGKILL
    assert not held.folder.exists()
