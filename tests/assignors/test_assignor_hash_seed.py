"""Python hashes strings anew in every process; no answer may show it."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.paths import DATA

VECTORS = DATA / "assignor_vectors.json.gz"
PROGRAM = """
import hashlib, io, sys
from rebalance_kit.assignors.vectors import run_assign
out = io.StringIO()
run_assign(sys.argv[1], as_json=True, explain=True, out=out)
print(hashlib.sha256(out.getvalue().encode()).hexdigest())
"""


def test_answers_and_explanations_are_the_same_under_every_hash_seed():
    digests = set()
    for seed in ("0", "1", "4711"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PROGRAM, str(VECTORS)]
        digests.add(
            subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
        )
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
