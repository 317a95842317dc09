"""The brokers, their network, and the actions that a scenario performs on them."""
