"""C3 A listener that loses nothing."""


class Listener:
    """A new one is made each time a member's process starts."""

    def on_assigned(self, partitions, consumer):
        raise NotImplementedError

    def on_revoked(self, partitions, consumer):
        raise NotImplementedError

    def on_lost(self, partitions, consumer):
        raise NotImplementedError
