"""The log lines that the pipeline understands."""
