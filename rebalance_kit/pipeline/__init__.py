"""Kafka logs at scale: Spark turns log text into tables of rebalances.

``log text -> bronze (lines) -> silver (events) -> gold (rebalances, members, findings)``: Python workers read the
lines in batches and fold the events of each group; the other steps are plain ``DataFrame -> DataFrame`` functions.
Spark is imported only by the modules that need it, so importing this package is cheap.
"""

from __future__ import annotations

from rebalance_kit.model.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "Events": "inquiry",
        "Forensics": "inquiry",
        "LocalCluster": "spark.cluster",
        "Watch": "stream.watch",
        "forensics": "inquiry",
        "quiet_session": "spark.session",
        "read_events": "inquiry",
        "run_logs": "command",
        "spark_session": "spark.session",
        "start_in_background": "spark.session",
        "sweep": "sweep.grid",
        "sweep_tables": "sweep.grid",
        "write_kit_zip": "spark.cluster",
    },
)
