"""Every kind of row by its name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema.client_rows import CLIENT_ROWS
from rebalance_kit.model.schema.group_rows import GROUP_ROWS
from rebalance_kit.model.schema.kind import Kind
from rebalance_kit.model.schema.run_rows import MESSAGE_ROWS, RUN_ROWS

PARTS: Mapping[str, Mapping[str, Kind]] = MappingProxyType(
    {
        "The run, processes, topics and records": RUN_ROWS,
        "Messages": MESSAGE_ROWS,
        "The group, as its coordinator sees it": GROUP_ROWS,
        "Clients": CLIENT_ROWS,
    }
)
SCHEMA: Mapping[str, Kind] = MappingProxyType(
    {name: kind for part in PARTS.values() for name, kind in part.items()}
)
