"""One Spark session for the whole folder, and one reading of all recorded runs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from rebalance_kit.records.pack import unpack


@pytest.fixture(scope="session")
def spark():
    from rebalance_kit.pipeline.session import spark_session

    session = spark_session("local[2]", settings={"spark.driver.memory": "2g"}, quick_start=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    unpack(folder)
    return folder


@pytest.fixture(scope="session")
def recorded(spark, runs_folder, tmp_path_factory):
    """All recorded runs read in one go: (records by run and group, folder of the tables)."""
    from rebalance_kit.pipeline import run_logs

    tables, out = tmp_path_factory.mktemp("tables"), io.StringIO()
    assert run_logs([runs_folder], out_dir=tables, as_json=True, out=out) == 0
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return {(Path(line["path"]).name, line["group"]): line for line in lines}, tables


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
