"""What notebooks 06 to 15 say in prose, where no cell of theirs shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.notebook import incident, reasons, run, with_configs
from rebalance_kit.notebook.admin import INCIDENTS
from tests.support.paths import ROOT


def stored(name: str) -> list[dict]:
    (path,) = Path(ROOT / "notebooks").glob(f"{name}-*.ipynb")
    return json.loads(path.read_text("utf-8"))["cells"]


def test_a_longer_poll_interval_ends_the_storm():
    lasting, just, over = (
        len(
            str(
                reasons(run(with_configs("storm", {"max.poll.interval.ms": limit}), "eager"), since_s=25)
            ).splitlines()
        )
        for limit in (19_000, 20_000, 21_000)
    )
    assert (lasting > 2, just, over) == (True, 1, 1), "from 20 s on nothing happens"


def test_13_shows_the_recorded_gaps_in_the_rows_of_their_own_runs():
    shown = "\n".join(
        "".join(output.get("data", {}).get("text/plain", ()))
        for cell in stored("13")
        for output in cell.get("outputs", ())
    )
    measured = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
    for name in ("crash.eager.4.3.1",):
        (seen,) = re.findall(rf"^{name} +longest gap, s +([\d.]+)", shown, re.MULTILINE)
        (known,) = re.findall(rf"^\| {name} \| [\d.]+ \([^|]*\| ([\d.]+) \(", measured, re.MULTILINE)
        assert float(seen) == pytest.approx(float(known), abs=0.05)


def test_an_incident_has_a_letter_that_does_not_give_its_cause_away():
    assert incident("A").meta["scenario"] == "wrong-librdkafka-callback"
    shown = "\n".join("".join(cell["source"]) for cell in stored("14") if cell["cell_type"] == "code")
    for name, _ in INCIDENTS.values():
        assert f'run("{name}", None)' not in shown
    with pytest.raises(DataError, match="incident 'D' is unknown; expected one of A, B, C"):
        incident("D")
