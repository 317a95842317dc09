"""The coordinator of a KIP-848 group: its data, epochs, reconciliation, and changes of protocol."""
