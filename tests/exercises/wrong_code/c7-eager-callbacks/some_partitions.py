"""Assign all partitions that the callback is given"""


def on_assign(consumer, partitions):
    consumer.assign(partitions[:1])


def on_revoke(consumer, partitions):
    consumer.unassign()
