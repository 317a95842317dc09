"""17 Incident: whom does everybody wait for?"""

from pyspark.sql import DataFrame


def waited_for(events: DataFrame) -> DataFrame:
    """One row per run: run, waited_ms, culprit, kind."""
    raise NotImplementedError
