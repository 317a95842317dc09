"""A trace file is read by Spark with the schema of the kind of row that is wanted."""

import json

from rebalance_kit import scenarios
from rebalance_kit.model.schema_rows import SCHEMA
from rebalance_kit.model.schema_text import ddl
from rebalance_kit.simulation.simulate import simulate

KINDS = ("commit", "owned", "assignment", "action", "account", "request", "response", "process_started")


def test_spark_reads_rows_with_the_schema_of_their_kind(spark, tmp_path):
    trace = simulate(scenarios.load("crash"), protocol="eager")
    (tmp_path / "crash.jsonl").write_text("\n".join(trace.jsonl()), "utf-8")
    for kind in KINDS:
        table = spark.read.schema(ddl(kind)).json(str(tmp_path / "crash.jsonl")).where(f"kind = '{kind}'")
        read = [row.asDict(recursive=True) for row in table.orderBy("seq").collect()]
        written = [row for row in trace.rows if row.kind == kind]
        assert len(read) == len(written) > 0
        for got, row in zip(read, written, strict=True):
            assert {name: value for name, value in got["detail"].items() if value is not None} == {
                name: value
                for name, value in json.loads(json.dumps(row.detail, default=dict)).items()
                if value is not None
            }
            assert (got["at_ms"], got["actor"], got["protocol"]) == (row.at_ms, row.actor, row.protocol)


def test_spark_understands_the_schema_of_every_kind(spark):
    for kind in SCHEMA:
        assert spark.createDataFrame([], ddl(kind)).columns[:3] == ["run_id", "at_ms", "seq"]
