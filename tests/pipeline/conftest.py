"""One Spark session for the whole folder."""

from __future__ import annotations

import pytest

from rebalance_kit.recordings.folder import unpack


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
