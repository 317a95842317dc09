"""Types of columns in Spark's words, as Arrow has them."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


@cache
def arrow_type(word: str) -> pa.DataType:
    """The Arrow type of a type in Spark's words, as ``GOLD`` uses them."""
    import pyarrow as pa

    if word.startswith("array<"):
        return pa.list_(arrow_type(word[6:-1]))
    if word.startswith("struct<"):
        fields = (part.split(":", 1) for part in _split(word[7:-1]))
        return pa.struct([(name.strip("`"), arrow_type(kind)) for name, kind in fields])
    kinds = {
        "string": pa.string(),
        "bigint": pa.int64(),
        "int": pa.int32(),
        "boolean": pa.bool_(),
        "double": pa.float64(),
        "timestamp": pa.timestamp("us", "UTC"),
    }
    return kinds[word]


def _split(fields: str) -> list[str]:
    """The fields of a struct: cut at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in fields:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts
