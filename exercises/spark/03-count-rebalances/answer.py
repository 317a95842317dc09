"""03 How many rebalances?"""

from pyspark.sql import DataFrame


def rebalances_per_run(events: DataFrame) -> DataFrame:
    """One row a run: run, rebalances."""
    raise NotImplementedError
