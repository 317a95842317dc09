"""How Kafka says it: broker and client log lines of a trace, and the text of its command-line tool."""
