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


def test_every_scenario_is_met_somewhere():
    text = "\n".join(path.read_text("utf-8") for pattern in WHERE for path in ROOT.glob(pattern))
    met = set(re.findall(r"""(?:["']|scenario: )([a-z0-9-]+)""", text))
    unmet = set(names()) - met
    assert not unmet, f"no notebook, case, exercise, item or workshop runs {sorted(unmet)}"
