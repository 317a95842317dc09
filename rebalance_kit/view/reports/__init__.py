"""HTML reports of runs and of logs, and the live watch in a notebook."""
