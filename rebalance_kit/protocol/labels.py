"""How members are named in the trace: by their process, unless two of them belong to the same one.

A process that died and came back is in the group twice until its old session ends. The newest keeps the
name, an older one is called its previous life.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PREVIOUS = " (previous life)"


def labels(clients: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Label by member id, from (member id, process) in the order in which the members were added.

    >>> labels([("a-1", "a"), ("b-1", "b"), ("a-2", "a")])
    {'a-2': 'a', 'b-1': 'b', 'a-1': 'a (previous life)'}
    """
    label_by_id: dict[str, str] = {}
    taken: set[str] = set()
    for member_id, client in reversed(clients):
        label = client
        while label in taken:
            label += PREVIOUS
        taken.add(label)
        label_by_id[member_id] = label
    return label_by_id


def process_of(label: str) -> str:
    """The process that a label stands for."""
    return label.replace(PREVIOUS, "")
