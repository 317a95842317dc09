"""A read-only look at a cluster's consumer groups: what a client may see, and what it means."""
