"""The Spark session, its Java, local clusters, and joins by time."""
