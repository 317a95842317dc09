"""Grids of simulated runs as Spark tasks."""
