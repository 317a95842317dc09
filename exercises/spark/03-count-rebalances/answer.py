"""03 How many rebalances?"""

from pyspark.sql import DataFrame


def rebalances_per_run(events: DataFrame) -> DataFrame:
    """One row per run: run, rebalances."""
    raise NotImplementedError
