"""Run one answer: ``python -m rebalance_kit.exercises.child ORDER``; the order is a file of JSON (``runner.py``).

The process attaches to Spark, says so on a pipe, binds itself, lets the answer in, writes rows or words to a file,
and ends at once: neither the answer's ``atexit`` nor its threads see the end.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.child.attempt import attempted, function_of, write_answer
from rebalance_kit.exercises.child.collecting import rows_of
from rebalance_kit.exercises.child.confinement import confine, limit_resources
from rebalance_kit.pipeline.spark.shared_java import VIEWS, borrowed_session


def main(order_file: Path) -> None:
    """Do what the order says."""
    order = json.loads(order_file.read_text("utf-8"))
    order_file.unlink()
    limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    spark = borrowed_session(order["tag"])
    inputs = [spark.table(f"{VIEWS}.{name}") for name in order["views"]]
    kind = type(spark.range(0)) if not inputs else type(inputs[0])
    out = Path(order["out"])
    os.write(order["ready"], b".")
    os.close(order["ready"])
    confine(order["secret"])

    def rows() -> Mapping[str, Any]:
        stream = Path(order["stream"]) if order["stream"] else None
        frame = function_of(order)(*inputs)
        return {"rows": rows_of(frame, order["function"], order["columns"], kind, stream)}

    write_answer(out, attempted(rows, order["file"], order["limit_s"]))
    os._exit(0)


main(Path(sys.argv[1]))
