"""What a callback raises comes out of poll()"""


def on_assign(consumer, partitions):
    raise ValueError("no cache")


def on_revoke(consumer, partitions):
    pass
