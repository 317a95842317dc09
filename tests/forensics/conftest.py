"""One reading of all logs that the tests of this room ask about."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import look
from rebalance_kit.recordings.folder import unpack
from tests.support.pipeline import many_logs


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    unpack(folder)
    return folder


@pytest.fixture(scope="session")
def looked_at(runs_folder, tmp_path_factory):
    """All logs in one look: see ``many_logs``."""
    made = many_logs.write(tmp_path_factory.mktemp, runs_folder)
    result, out = look(made.paths, Reading(year=2026)), io.StringIO()
    Answer("json").tell(result, out)
    made.result, made.records = result, [json.loads(line) for line in out.getvalue().splitlines()]
    made.groups = [line for line in made.records if line["kind"] == "group"]
    return made


@pytest.fixture(scope="session")
def records(looked_at):
    """The lines of JSON of the runs under a folder, by the path's end and the group."""

    def under(folder):
        return {
            (Path(line["path"]).name, line["group"]): line
            for line in looked_at.groups
            if str(folder) in line["path"]
        }

    return under


@pytest.fixture(scope="session")
def table(looked_at):
    """The rows of a table of the runs under a folder, with ``run``, the path's end."""

    def rows(name, folder):
        found = looked_at.result.rows(name)
        return [{**row, "run": row["path"].rsplit("/", 1)[-1]} for row in found if str(folder) in row["path"]]

    return rows


@pytest.fixture(scope="session")
def recorded(records, runs_folder):
    """What is said of the recorded runs: records by run and group."""
    return records(runs_folder)
