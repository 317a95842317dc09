"""The log of a librdkafka consumer."""
