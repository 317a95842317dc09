"""Try the table of bad inputs, note how each ends, and put the counts into docs/bad-input.md.

python -m tests.support.bad_input.outcomes
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path

from tests.support.bad_input.cases import PLACE, ROOT, cases, counts, outcome

PAGE = ROOT / "docs" / "bad-input.md"
MARKS = "<!-- cases: tests/support/bad_input/outcomes.py -->", "<!-- /cases -->"


def main() -> int:
    """Write the list of outcomes and the table; 1 when an input ends in a traceback or a hang."""
    begun = time.monotonic()
    outcomes = {}
    for case in cases():
        with tempfile.TemporaryDirectory() as folder:
            outcomes[case.key] = outcome(case, Path(folder))
            if outcomes[case.key] not in {"taken", "refused", "found"}:
                print(f"{case.key}: {outcomes[case.key]}")
    lines = (f"{key} | {ended_as}\n" for key, ended_as in outcomes.items())
    PLACE.write_text(
        f"# How each bad input of tests/support/bad_input/cases.py ends\n{''.join(lines)}", "utf-8"
    )
    inside = f"{MARKS[0]}\n\n{counts(outcomes)}\n\n{MARKS[1]}"
    pattern = re.compile(f"{re.escape(MARKS[0])}.*?{re.escape(MARKS[1])}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: inside, PAGE.read_text("utf-8")), "utf-8")
    print(f"{len(outcomes):,} cases in {time.monotonic() - begun:.0f} s")
    return 0 if set(outcomes.values()) <= {"taken", "refused", "found"} else 1


if __name__ == "__main__":
    raise SystemExit(main())
