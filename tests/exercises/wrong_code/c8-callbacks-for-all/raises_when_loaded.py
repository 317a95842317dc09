"""does your file raise while it is imported?"""

import consumer_tools_that_nobody_has  # noqa: F401


def on_assign(consumer, partitions):
    pass


def on_revoke(consumer, partitions):
    pass
