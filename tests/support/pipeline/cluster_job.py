"""A job for ``spark-submit --py-files KIT.zip``: logs and a sweep on the cluster, the findings as JSON.

cluster_job.py MASTER LOGS OUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rebalance_kit
from rebalance_kit import scenarios
from rebalance_kit.pipeline.inquiry import forensics
from rebalance_kit.pipeline.spark.session import spark_session
from rebalance_kit.pipeline.sweep.grid import sweep


def where(batches):
    """In which folder of which executor a task runs, and where it has the kit from."""
    from pathlib import Path

    import pyarrow as pa

    import rebalance_kit

    for batch in batches:
        count = batch.num_rows
        yield pa.RecordBatch.from_pydict(
            {"folder": [str(Path.cwd())] * count, "kit": [rebalance_kit.__file__] * count}
        )


def main(master, logs, out):
    spark = spark_session(master)
    result = forensics(spark, logs)
    runs = sweep(
        spark, scenarios.load("two-consumers-crash"), {"session.timeout.ms": [6_000, 45_000]}, 3, ["eager"]
    )
    spots = spark.range(0, 40, 1, 8).mapInArrow(where, "folder string, kit string").distinct().collect()
    told = {
        "driver": rebalance_kit.__file__,
        "spots": [[row.folder, row.kit] for row in spots],
        "rebalances": sorted(repr(row) for row in result.rebalances.collect()),
        "runs": [
            [row.session_timeout_ms, row.seed, row.crash_detect_s, row.error]
            for row in runs.orderBy("run").collect()
        ],
    }
    Path(out).write_text(json.dumps(told), "utf-8")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
