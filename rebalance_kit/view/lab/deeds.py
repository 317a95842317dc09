"""What can be done to a member at the cursor, each deed by the name that its button has."""

from __future__ import annotations

from typing import Any


class Deeds:
    """Deeds as methods; whoever has them says in ``_act`` what a deed does."""

    def _act(self, do: str, member: str | None, args: dict[str, Any] | None = None) -> None:
        raise NotImplementedError

    def crash(self, member: str) -> None:
        """Kill the member's process at the cursor."""
        self._act("crash", member)

    def leave(self, member: str) -> None:
        """Close the member's consumer at the cursor: it commits, gives up, and leaves the group."""
        self._act("leave", member)

    def restart(self, member: str) -> None:
        """Start a member that is gone, or close and start one that runs."""
        self._act("restart", member)

    def freeze(self, member: str) -> None:
        """Stop the member's process as a long GC pause does."""
        self._act("freeze", member)

    def thaw(self, member: str) -> None:
        """Let a frozen process go on."""
        self._act("thaw", member)

    def add(self) -> None:
        """Start one more member with the configuration of the first."""
        self._act("add", None)

    def do(self, action: str, member: str | None = None, **args: Any) -> None:
        """Any action of a scenario at the cursor, with its arguments."""
        self._act(action, member, args)
