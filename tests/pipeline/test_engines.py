"""Both engines tell the same, Spark in both of its ways: every table of the same logs, to the byte."""

from __future__ import annotations

import json
import tarfile

import pytest

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.pipeline.command import chosen
from tests.support.pipeline import many_logs
from tests.support.pipeline.kafka_lines import stabilized

_AT = 1_772_359_200_000
"""When the lines of ``kafka_lines`` begin: 1 March 2026, 10:00."""
_AT_IN_JUL = 1_795_270_525_000


@pytest.fixture(scope="module")
def logs(runs_folder, tmp_path_factory):
    return many_logs.write(tmp_path_factory.mktemp, runs_folder).paths, Reading(
        year=2026, offsets=(("*/crash.*/c1*", 250),)
    )


@pytest.fixture(scope="module")
def here(logs):
    return look(*logs)


@pytest.fixture(
    scope="module",
    params=[
        "runs folded where they are read",
        pytest.param("events sent to those who fold", marks=pytest.mark.long),
    ],
)
def there(request, spark, logs):
    from rebalance_kit.pipeline.inquiry import gold, read_events

    paths, reading = logs
    fold = request.param.startswith("runs")
    silver = read_events(spark, paths, reading=reading, fold=fold)
    assert (silver.folded is not None) is fold
    yield gold(silver)
    silver.kept.unpersist()


def as_text(result, name):
    return [
        json.dumps({**row, "at": str(row.get("at")).removesuffix("+00:00")}, sort_keys=True)
        for row in result.rows(name)
    ]


@pytest.mark.spark
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_both_engines_are_equal_to_the_byte(here, there, name):
    assert len(here.rows(name)) > 10
    assert as_text(there, name) == as_text(here, name)


@pytest.mark.spark
def test_the_tables_of_both_engines_have_the_same_columns(there):
    assert {name: tuple(table.columns) for name, table in there.tables().items()} == {
        name: tuple(columns) for name, columns in TABLES.items()
    }


@pytest.mark.spark
@pytest.mark.parametrize(
    ("megabytes", "cores", "folded"),
    [
        ([8], None, True),
        ([9], None, False),
        ([100] * 8, 2, True),
        ([100], 2, True),
        ([100], 4, False),
        ([100, 400], 3, False),
        ([600] * 8, 2, False),
        ([], 2, True),
    ],
)
def test_runs_are_folded_where_they_are_read_unless_one_is_too_large_or_most_cores_would_wait(
    megabytes, cores, folded
):
    from rebalance_kit.pipeline.gold import fit

    assert fit([size << 20 for size in megabytes], cores) is folded


@pytest.mark.spark
def test_both_engines_read_other_digits_and_what_a_damaged_archive_still_gives(spark, tmp_path):
    from rebalance_kit.pipeline import forensics

    line = stabilized(0, 2)
    other = (
        "".join(chr(0x660 + int(letter)) if letter.isdecimal() else letter for letter in line[:24])
        + line[24:]
    )
    (tmp_path / "a.log").write_text(line + other + line.replace("2026-03-01", "2026-02-30"), "utf-8")
    with tarfile.open(tmp_path / "b.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.log", "c.log")
    data = (tmp_path / "b.tar.gz").read_bytes()
    (tmp_path / "b.tar.gz").write_bytes(data[:-6] + b"\0" + data[-5:])
    java = "Nov 21, 2026 2:15:25 PM a.B c\nINFO: [Consumer clientId=c1, groupId=own] (Re-)joining group\n"
    (tmp_path / "jul.log").write_text(java, "utf-8")
    here, there = look([tmp_path]), forensics(spark, [tmp_path])
    assert here.passed_over == there.passed_over
    assert [one.damaged for one in here.passed_over] == [True]
    for name in ("lines", "rejected", "rebalances", "groups"):
        assert here.rows(name) == there.rows(name)
    times = [sorted(row["at_ms"] for row in result.rows("events")) for result in (here, there)]
    assert times == [[_AT] * 4 + [_AT_IN_JUL]] * 2
    assert len(here.rows("rejected")) == 2


def test_few_lines_are_read_in_this_process_and_a_master_means_spark(tmp_path):
    (tmp_path / "server.log").write_text("x\n")
    assert chosen("auto", None, [tmp_path]) == "local"
    assert chosen("spark", None, [tmp_path]) == "spark"
    assert chosen("auto", "local[2]", [tmp_path]) == "spark"


@pytest.mark.parametrize(("engine", "master"), [("duck", None), ("local", "local[2]")])
def test_an_engine_that_cannot_be_meant_is_refused(engine, master, tmp_path):
    with pytest.raises(ConfigError, match="--engine"):
        chosen(engine, master, [tmp_path])
