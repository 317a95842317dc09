"""Real clients (librdkafka, through confluent-kafka) over librdkafka's own mock cluster, in a process of their own."""
