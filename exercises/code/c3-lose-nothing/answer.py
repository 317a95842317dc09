"""C3 A listener that loses nothing."""


class Listener:
    """One is made for every life of a member's process."""

    def on_assigned(self, partitions, consumer):
        raise NotImplementedError

    def on_revoked(self, partitions, consumer):
        raise NotImplementedError

    def on_lost(self, partitions, consumer):
        raise NotImplementedError
