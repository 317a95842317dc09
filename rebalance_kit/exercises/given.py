"""What an exercise gives its answer, as a description: paths of logs, rows, batches. Spark makes DataFrames of it behind the wall."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from rebalance_kit.exercises.case_runs import CaseRun, place_logs

Made: TypeAlias = Mapping[str, Any]
"""One input: ``make`` names the method of ``child.inputs.Inputs`` that makes it, the rest are its arguments, as JSON has them."""


class Given:
    """Inputs of answers, described; logs and batches lie in a folder that the wall lets be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def events(self, runs: Sequence[CaseRun]) -> Made:
        """The events of these runs."""
        self._unpack(runs)
        return {"make": "events", "folders": [str(self.logs(run)) for run in runs]}

    def lines(self, runs: Sequence[CaseRun], files: Sequence[str]) -> Made:
        """The lines of some log files of these runs: run, file, line (from 1), text."""
        self._unpack(runs)
        paths = [
            path for run in runs for name in files for path in sorted(self.logs(run).glob(f"{name}.log*"))
        ]
        return {"make": "lines", "files": [str(path) for path in paths], "root": str(self.folder)}

    def table(self, rows: Iterable[Sequence[Any]], schema: str) -> Made:
        """A small table of plain values."""
        return {"make": "table", "rows": [list(row) for row in rows], "schema": schema}

    def stream(self, batches: Sequence[Sequence[Mapping[str, Any]]], schema: str) -> Made:
        """A stream that receives these batches of rows one after another, a file each."""
        texts = ["".join(json.dumps(row) + "\n" for row in batch) for batch in batches]
        source = self.folder / f"stream-{hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]}"
        if not source.exists():
            source.mkdir()
            for number, text in enumerate(texts):
                file = source / f"{number:04}.json"
                file.write_text(text, "utf-8")
                # files are taken in the order of their times
                os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        return {"make": "stream", "folder": str(source), "schema": schema}

    def logs(self, run: CaseRun) -> Path:
        """The folder of a run's logs; runs of one name that differ lie apart."""
        place_logs((run,), self._place(run))
        return self._place(run) / run.name

    def _place(self, run: CaseRun) -> Path:
        return self.folder / "logs" / hashlib.sha256(repr(run).encode()).hexdigest()[:12]

    def _unpack(self, runs: Iterable[CaseRun]) -> None:
        """Unpack all recorded runs together: each unpacking goes through the whole pack."""
        wanted = [run for run in dict.fromkeys(runs) if run.recorded and not self._place(run).exists()]
        if len(wanted) > 1:
            at_once = self.folder / "unpacked"
            place_logs(tuple(dict.fromkeys(replace(run, name=run.record) for run in wanted)), at_once)
            for run in wanted:
                shutil.copytree(at_once / run.record, self._place(run) / run.name)
            shutil.rmtree(at_once)
