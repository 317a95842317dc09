"""C8 The client knows the protocol: it assigns by itself what the callback leaves to it."""

OWNED = set()


def on_assign(consumer, partitions):
    OWNED.update(partition.partition for partition in partitions)


def on_revoke(consumer, partitions):
    OWNED.difference_update(partition.partition for partition in partitions)


def on_lost(consumer, partitions):
    OWNED.difference_update(partition.partition for partition in partitions)
