"""A message for every template of the grammar."""

from __future__ import annotations

import re

from rebalance_kit.forensics.grammar.template import Template

#: A value for each field that is not plain text.
_VALUES = {
    "hash": "-17",
    "state": "Stable",
    "state_from": "STABLE",
    "state_to": "FENCED",
    "protocol": "classic",
    "partitions": "[a-0, a-1]",
}
_NUMBERS = ("generation", "epoch", "members", "static", "took_ms", "over_ms", "limit_ms", "offset")


def sample(template: Template, optional: bool) -> tuple[str, dict[str, str]]:
    """A message of a template, with or without what only some versions print, and its fields."""
    text = re.sub(r"\[\[(.*?)\]\]", r"\1" if optional else "", template.text)
    fields = {}
    for name in template.fields:
        value = _VALUES.get(name, "12" if name in _NUMBERS else f"some-{name}")
        fields[name] = value if "{" + name + "}" in text else ""
        text = text.replace("{" + name + "}", value)
    return text.replace("{_}", "x"), fields
