"""A group as Kafka's command-line tools describe it."""
