"""What stands inside a page: its script, and data that no name in them can turn into HTML."""

from __future__ import annotations

import json
from pathlib import Path

from rebalance_kit.model.errors import EnvironmentProblem

_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def embedded(value: object) -> str:
    r"""JSON for a ``<script>`` element: neither ``</script>`` nor ``<!--`` can come up in it.

    >>> embedded({"name": "<!--<script>"})
    '{"name":"\\u003c!--\\u003cscript\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def bundled(path: Path) -> str:
    """The text of a bundle of ``page/``; raises ``EnvironmentProblem`` in a checkout in which it was not made."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as error:
        raise EnvironmentProblem(
            f"{path} is missing; expected the bundle that `make page` makes of page/"
        ) from error
