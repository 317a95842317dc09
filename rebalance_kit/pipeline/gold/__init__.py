"""Gold tables: one row per rebalance, member, pause, storm, group."""
