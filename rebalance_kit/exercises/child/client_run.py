"""Run one set of callbacks on real clients: ``python -m rebalance_kit.exercises.child.client_run ORDER`` (``code_tasks.on_clients``).

The callbacks run in the same process as the clients that are watched, unlike other answers: librdkafka calls them
from ``poll()``. The process is bound as every other one; its network is the mock cluster inside it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import rebalance_kit.clients.child as clients
from rebalance_kit.exercises.child.confinement import confine, limit_resources


def main(order_file: Path) -> None:
    """Do what the order says; events go to standard output as JSON lines."""
    order = json.loads(order_file.read_text("utf-8"))
    order_file.unlink()
    limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    spec = Path(order["out"]).with_name("spec.json")
    spec.write_text(json.dumps(order["spec"]), "utf-8")
    clients.warm_up()
    os.write(order["ready"], b".")
    os.close(order["ready"])
    confine(order["secret"])
    clients.main(str(spec))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
