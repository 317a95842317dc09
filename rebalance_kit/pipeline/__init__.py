"""The same questions at scale: Spark turns log text into tables of rebalances.

``logs text -> bronze (lines) -> silver (events) -> gold (rebalances, members, findings)``; lines are
read by Python in batches, and every step after that is a plain ``DataFrame -> DataFrame`` function.  Spark is
imported only inside the modules that need it, so importing this package costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rebalance_kit.pipeline.cluster import LocalCluster
    from rebalance_kit.pipeline.inquiry import Events, Forensics, forensics, read_events
    from rebalance_kit.pipeline.quiet import begin_quietly, quiet_session
    from rebalance_kit.pipeline.run import run_logs
    from rebalance_kit.pipeline.session import begin_session, spark_session
    from rebalance_kit.pipeline.shipping import write_kit_zip
    from rebalance_kit.pipeline.sweep_grid import sweep, sweep_tables
    from rebalance_kit.pipeline.watch import Watch

__all__ = [
    "Events",
    "Forensics",
    "LocalCluster",
    "Watch",
    "begin_quietly",
    "begin_session",
    "forensics",
    "quiet_session",
    "read_events",
    "run_logs",
    "spark_session",
    "sweep",
    "sweep_tables",
    "write_kit_zip",
]

_HOME = {
    "Events": "inquiry",
    "read_events": "inquiry",
    "Forensics": "inquiry",
    "forensics": "inquiry",
    "run_logs": "run",
    "begin_quietly": "quiet",
    "quiet_session": "quiet",
    "begin_session": "session",
    "spark_session": "session",
    "Watch": "watch",
    "sweep": "sweep_grid",
    "sweep_tables": "sweep_grid",
    "write_kit_zip": "shipping",
    "LocalCluster": "cluster",
}


def __getattr__(name: str) -> Any:
    """Import the public names on first use (PEP 562): none of them is free."""
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
