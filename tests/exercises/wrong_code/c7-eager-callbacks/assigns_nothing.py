"""reads nothing at the end"""


def on_assign(consumer, partitions):
    consumer.assign([])


def on_revoke(consumer, partitions):
    consumer.unassign()
