"""records were never read"""


def on_assign(consumer, partitions):
    for partition in partitions:
        partition.offset = -1
    consumer.assign(partitions)


def on_revoke(consumer, partitions):
    consumer.unassign()
