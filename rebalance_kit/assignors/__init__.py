"""Who gets what: Kafka's assignors as pure functions, equal to Kafka's own classes list for list."""
