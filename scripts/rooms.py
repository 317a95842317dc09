"""Draw the rooms inside ``simulation``, ``pipeline`` and ``view`` into docs/design.md, from what the modules import.

``python scripts/rooms.py`` rewrites the block between the two markers; a test compares the block with the imports.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from rebalance_kit.model.files import write_atomically

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "rebalance_kit"
ROOMS = ("simulation", "pipeline", "view")
DESIGN = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- rooms: scripts/rooms.py -->", "<!-- /rooms -->"
Graph = Mapping[str, frozenset[str]]


def inside(room: str) -> Graph:
    """What each sub-room (a folder, or a module of its own) of a room imports of the others, types included."""
    home = ROOT / PACKAGE / room
    graph: dict[str, set[str]] = {}
    for path in sorted(home.rglob("*.py")):
        own = path.relative_to(home).parts[0].removesuffix(".py")
        if own == "__init__":  # lists names, imports none before they are asked for
            continue
        wanted = {name.split(".")[2] for name in _imported(path) if name.startswith(f"{PACKAGE}.{room}.")}
        graph.setdefault(own, set()).update(wanted - {own})
    return {name: frozenset(graph[name] & set(graph)) for name in sorted(graph)}


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def reached(graph: Graph, start: str) -> frozenset[str]:
    """Everything that a sub-room imports, itself or through others."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for target in graph[waiting.pop()] - seen:
            seen.add(target)
            waiting.append(target)
    return frozenset(seen)


def circles(graph: Graph) -> list[str]:
    """Sub-rooms that import themselves through others."""
    return [name for name in graph if name in reached(graph, name)]


def drawing(room: str) -> str:
    """One room as a Mermaid chart: an arrow per import that no chain of other arrows replaces."""
    graph = inside(room)
    below = {name: reached(graph, name) for name in graph}
    lines = ["```mermaid", "flowchart TD"]
    for name, targets in graph.items():
        lines.append(f"  {room}_{name}[{name}]")
        for target in sorted(targets):
            chains = (target in below[other] and other not in below[target] for other in targets - {target})
            if not any(chains):
                lines.append(f"  {room}_{name} --> {room}_{target}")
    return "\n".join([*lines, "```"])


def block() -> str:
    """The text between the markers."""
    parts = [f"**{room}**\n\n{drawing(room)}" for room in ROOMS]
    return "\n\n".join([BEGIN, *parts, END])


def main() -> int:
    """Rewrite the block in docs/design.md."""
    text = DESIGN.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        print(f"{DESIGN}: the markers {BEGIN} and {END} are not there", file=sys.stderr)
        return 1
    write_atomically(DESIGN, before + block() + after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
