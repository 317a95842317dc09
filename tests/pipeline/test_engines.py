"""Both engines tell the same: every table of the same logs, to the byte."""

from __future__ import annotations

import json

import pytest

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.pipeline.command import chosen
from tests.support.pipeline import many_logs


@pytest.fixture(scope="module")
def both(spark, runs_folder, tmp_path_factory):
    from rebalance_kit.pipeline import forensics

    paths = many_logs.write(tmp_path_factory.mktemp, runs_folder).paths
    reading = Reading(year=2026, offsets=(("*/crash.*/c1*", 250),))
    return look(paths, reading), forensics(spark, paths, reading=reading)


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_both_engines_are_equal_to_the_byte(both, name):
    here, there = (
        [
            json.dumps({**row, "at": str(row.get("at")).removesuffix("+00:00")}, sort_keys=True)
            for row in result.rows(name)
        ]
        for result in both
    )
    assert len(here) > 10
    assert there == here


@pytest.mark.spark
def test_the_tables_of_both_engines_have_the_same_columns(both):
    _, there = both
    assert {name: tuple(table.columns) for name, table in there.tables().items()} == {
        name: tuple(columns) for name, columns in TABLES.items()
    }


def test_few_lines_are_read_in_this_process_and_a_master_means_spark(tmp_path):
    (tmp_path / "server.log").write_text("x\n")
    assert chosen("auto", None, [tmp_path]) == "local"
    assert chosen("spark", None, [tmp_path]) == "spark"
    assert chosen("auto", "local[2]", [tmp_path]) == "spark"


@pytest.mark.parametrize(("engine", "master"), [("duck", None), ("local", "local[2]")])
def test_an_engine_that_cannot_be_meant_is_refused(engine, master, tmp_path):
    with pytest.raises(ConfigError, match="--engine"):
        chosen(engine, master, [tmp_path])
