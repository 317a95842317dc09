"""Runs a command of the kit in this process and says how it ended."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from rebalance_kit.cli import main


@dataclass(frozen=True)
class Ended:
    """Exit status, and what was written to each stream."""

    status: int
    out: str
    error: str


def ended(*argv: object) -> Ended:
    """Run ``rebalance-kit`` with these arguments; argparse's exit counts as a status."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(out):
        try:
            status = main([str(argument) for argument in argv], out)
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 2
    return Ended(status, out.getvalue(), error.getvalue())


def assert_refused(result: Ended, *parts: str) -> None:
    """Status 2 and one line on stderr with each of ``parts``."""
    assert result.status == 2, (result.status, result.out[-300:], result.error[-600:])
    assert "Traceback" not in result.error
    assert len(result.error.splitlines()) == 1, result.error[-600:]
    for part in parts:
        assert part in result.error
