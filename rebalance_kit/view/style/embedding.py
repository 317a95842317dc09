"""Data inside a page: JSON that no name in it can turn into HTML."""

from __future__ import annotations

import json

_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def embedded(value: object) -> str:
    r"""JSON for a ``<script>`` element: neither ``</script>`` nor ``<!--`` can come up in it.

    >>> embedded({"name": "<!--<script>"})
    '{"name":"\\u003c!--\\u003cscript\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)
