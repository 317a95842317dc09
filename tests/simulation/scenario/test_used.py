"""A scenario that comes with the kit is met: in a notebook or case, an exercise, an item or a workshop."""

from __future__ import annotations

import re

from rebalance_kit.scenarios import names
from tests.support.paths import ROOT

WHERE = (
    "notebooks/src/**/*.py",
    "exercises/**/*.py",
    "exercises/quiz/*.yaml",
    "rebalance_kit/classroom/*.yaml",
)
LESSONS_ALONE = frozenset(
    {
        "defect-empty-group-waits",
        "defect-joins-too-early",
        "defect-second-revocation",
        "defect-sticky-stale-leader",
        "lost-records",
        "network-cut",
        "regex-surprise",
        "skewed-range",
        "slow-consumer",
    }
)
"""Met in the lab's list of lessons and nowhere else so far; this list only shrinks."""


def test_every_scenario_is_met_somewhere():
    text = "\n".join(path.read_text("utf-8") for pattern in WHERE for path in ROOT.glob(pattern))
    met = set(re.findall(r"""(?:["']|scenario: )([a-z0-9-]+)""", text))
    unmet = set(names()) - met
    assert unmet <= LESSONS_ALONE, (
        f"no notebook, case, exercise, item or workshop runs {sorted(unmet - LESSONS_ALONE)}"
    )
    assert unmet >= LESSONS_ALONE, f"take out of LESSONS_ALONE: {sorted(LESSONS_ALONE - unmet)}"
