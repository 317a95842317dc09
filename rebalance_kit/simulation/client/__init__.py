"""A member's process: application, connection, metadata, fetching and records."""
