"""Run one answer on Spark: ``python -m rebalance_kit.exercises.child``, started by ``spark_host`` behind the same wall; the order comes in as a line.

The process attaches to Spark, says so, binds itself, lets the answer in, and replies with rows or words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.child.attempt import (
    attempted,
    function_of,
    give,
    limit_resources,
    next_order,
    reply,
    rows_of,
)
from rebalance_kit.pipeline.spark.shared_java import VIEWS, borrowed_session


def main() -> None:
    """Do what the order says."""
    order = next_order()
    limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    spark = borrowed_session(order["tag"])
    inputs = [spark.table(f"{VIEWS}.{name}") for name in order["views"]]
    kind = type(spark.range(0)) if not inputs else type(inputs[0])
    reply({"begun": True})

    def rows() -> Mapping[str, Any]:
        stream = Path(order["folder"]) if order["streaming"] else None
        frame = function_of(order)(*inputs)
        return {"rows": rows_of(frame, order["function"], order["columns"], kind, stream)}

    give(attempted(rows, order["file"], order["limit_s"]))


main()
