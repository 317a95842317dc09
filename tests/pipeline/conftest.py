"""One Spark session for the whole folder, and one reading of all recorded runs."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import pytest

from rebalance_kit import scenarios
from rebalance_kit.logs.printing import PRINTERS
from rebalance_kit.recordings.maker.maker import Recipe, make_logs
from rebalance_kit.recordings.runs.pack import unpack
from tests.support.pipeline import finding_cases, pieces, round_trip
from tests.support.pipeline.damage import damaged_files


def pytest_collection_modifyitems(items):
    """The first test that asks for all logs waits until they are read."""
    for item in items:
        if "looked_at" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def spark():
    from rebalance_kit.pipeline.spark.session import spark_session

    session = spark_session("local[2]", settings={"spark.driver.memory": "2g"}, quick_start=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    unpack(folder)
    return folder


@pytest.fixture(scope="session")
def looked_at(spark, runs_folder, tmp_path_factory):
    """All logs that the suite reads to the end, in one go, since a job costs more than its lines do.

    Recorded runs, hand-written cases, random runs, one run in every layout, pieces of logs and damaged
    lines: (lines of JSON, folder of the tables, traces of the random runs, damaged lines by file).
    """
    from rebalance_kit.pipeline import run_logs
    from rebalance_kit.pipeline.command import ReadingOptions

    places = {
        name: tmp_path_factory.mktemp(name) for name in ("cases", "random", "layouts", "pieces", "damaged")
    }
    finding_cases.write(places["cases"])
    traces = round_trip.write_all(places["random"])
    for layout in PRINTERS:
        make_logs(
            scenarios.load("crash"), places["layouts"] / layout, protocol="eager", recipe=Recipe(layout)
        )
    pieces.write(places["pieces"], runs_folder)
    damaged = damaged_files(places["damaged"], 20_000, random.Random(7))
    tables, out = tmp_path_factory.mktemp("tables"), io.StringIO()
    paths = [runs_folder, *places.values()]
    assert run_logs(paths, out_dir=tables, as_json=True, out=out, options=ReadingOptions(year=2026)) == 0
    return [json.loads(line) for line in out.getvalue().splitlines()], tables, traces, damaged


@pytest.fixture(scope="session")
def records(looked_at):
    """The lines of JSON of the runs under a folder, by the path's end and the group."""
    lines, *_ = looked_at

    def under(folder):
        return {
            (Path(line["path"]).name, line["group"]): line for line in lines if str(folder) in line["path"]
        }

    return under


@pytest.fixture(scope="session")
def table(spark, looked_at):
    """The rows of a table of the runs under a folder, as dicts with ``run``, the path's end."""
    _, tables, *_ = looked_at

    def rows(name, folder):
        found = (row.asDict() for row in spark.read.parquet(str(tables / name)).collect())
        return [{**row, "run": row["path"].rsplit("/", 1)[-1]} for row in found if str(folder) in row["path"]]

    return rows


@pytest.fixture(scope="session")
def recorded(records, runs_folder):
    """What is said of the recorded runs: records by run and group."""
    return records(runs_folder)


@pytest.fixture
def read_logs(spark, tmp_path):
    """Write files (name to text) into a folder and return their tables as lists of dicts, gold too if asked."""

    def read(files, gold=False):
        from rebalance_kit.pipeline import forensics, read_events

        folder = tmp_path / "logs"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_text(content, "utf-8")
        result = (forensics if gold else read_events)(spark, folder)
        names = ["lines", "events", "rejected"] + (["rebalances", "findings"] if gold else [])
        return {name: [row.asDict() for row in getattr(result, name).collect()] for name in names}

    return read
