"""The texts of Kafka's log lines."""
