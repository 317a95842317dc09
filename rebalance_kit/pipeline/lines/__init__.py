"""From files to classified lines."""
