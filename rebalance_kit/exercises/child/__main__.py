"""Run one answer on Spark: ``python -m rebalance_kit.exercises.child``, started by ``spark_host`` behind the same wall; the order comes in as a line.

The process attaches to Spark, says so, binds itself, lets the answer in, and replies with rows or words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.child import attempt
from rebalance_kit.pipeline.spark.shared_java import VIEWS, borrowed_session


def main() -> None:
    """Do what the order says."""
    order = attempt.next_order()
    attempt.limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    spark = borrowed_session(order["tag"])
    inputs = [spark.table(f"{VIEWS}.{name}") for name in order["views"]]
    kind = type(spark.range(0)) if not inputs else type(inputs[0])
    attempt.reply({"begun": True})

    def rows() -> Mapping[str, Any]:
        stream = Path(order["folder"]) if order["streaming"] else None
        frame = attempt.function_of(order)(*inputs)
        return {"rows": attempt.rows_of(frame, order["function"], order["columns"], kind, stream)}

    attempt.give(attempt.attempted(rows, order["file"], order["limit_s"]))


main()
