"""The log of a Java consumer."""
