"""A consumer under the classic protocol, Java's and librdkafka's."""
