"""C8 Callbacks for every protocol."""

OWNED = set()
"""Numbers of the partitions that this member owns."""


def on_assign(consumer, partitions):
    """These partitions are yours from now on."""
    raise NotImplementedError


def on_revoke(consumer, partitions):
    """These partitions leave."""
    raise NotImplementedError


def on_lost(consumer, partitions):
    """These partitions have other owners already."""
    raise NotImplementedError
