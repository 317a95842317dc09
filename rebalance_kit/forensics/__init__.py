"""Read the logs of a consumer group in plain Python: lines, messages, and the history they add up to.

The standard library (and YAML for the table of layouts) is all it takes; ``pipeline`` runs the same functions on Spark.
"""
