"""What changed between Kafka versions, printed: behaviour, defaults and defects, each with its source."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from rebalance_kit.model.config import all_keys
from rebalance_kit.model.versions import CHANGES, DEFECTS, OLDEST, Change, bound, parse_version, version_text

Row = tuple[tuple[int, int], str, str, str, str]
"""When it begins and ends, whether the kit acts on it, what it is, and where to read it."""


def version_table(since: str | None = None) -> str:
    """Every change, default and defect with its versions and source, oldest first; with ``since`` those of that version and later.

    The second column says ``acts`` where the kit branches at that version, ``documentation`` where it only tells of it.
    """
    if since is not None:
        parse_version(since)
    rows = [*_rows(CHANGES, ""), *_rows(DEFECTS, "defect: "), *_defaults()]
    wanted_rows = sorted(row for row in rows if since is None or row[0] >= bound(since))
    lines = [
        (f"{version_text(first)}{f' to {until}' if until else ''}", column, text, source)
        for first, until, column, text, source in wanted_rows
    ]
    wide = max((len(when) for when, *_ in lines), default=0)
    return "\n".join(f"{when:{wide}}  {column:13}  {text} ({source})" for when, column, text, source in lines)


def _rows(changes: Mapping[str, Change], mark: str) -> list[Row]:
    return [
        (
            bound(change.since),
            change.until or "",
            "acts" if change.acts else "documentation",
            f"{mark}{change.text}",
            change.source,
        )
        for change in changes.values()
    ]


def _defaults() -> list[Row]:
    """Defaults that a modelled version changed, from the config keys themselves."""
    changed = []
    for key in all_keys().values():
        for (_, before), (since, after) in pairwise(key.history):
            if bound(since) >= OLDEST:
                text = f"default of {key.name}: {before} became {after}"
                changed.append(
                    (bound(since), "", "acts", text, key.source or "ConsumerConfig, GroupCoordinatorConfig")
                )
    return changed
