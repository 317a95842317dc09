"""The schema as a page of documentation, and as Spark's DDL."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_kit.model.schema.kind import Keys, Kind
from rebalance_kit.model.schema.table import PARTS, SCHEMA

HEAD = """# The trace

Made by `make golden` from the tables in `rebalance_kit/model/schema`.

A trace is a file of JSON lines. The first line is the head: `{"trace": {"run_id", "label", "seed", "end_ms",
"source", "meta"}}`. Each further line is one event with the same columns in Python, JSON and Spark:

| column | type | holds |
|---|---|---|
| `run_id` | text | the run, the same in every line |
| `at_ms` | int | ms from the beginning of the run |
| `seq` | int | the row's number; it orders rows of one millisecond |
| `actor` | text | a member's name, `coordinator`, `broker`, `admin` or `run` |
| `kind` | text | what kind of row it is: the rest of this page |
| `protocol` | text? | `classic` or `consumer`; None where the row belongs to neither |
| `generation` | int? | the classic generation or the KIP-848 epoch that the actor knows just then |
| `member_id` | text? | the member id that the actor knows, or that the row is about |
| `topic`, `partition` | text?, int? | what the row is about, where it is about one topic or partition |
| `detail` | map | the keys listed below |

Types: `text`, `int`, `number`, `bool`, `partition` (text such as `orders-4`), `config` (a configuration value),
`a, b` (one of these words), `[type]` (a list), `{type}` (a map whose keys are text). A question mark allows None.

Keys *for logs* exist only because Kafka's own log lines tell them; nothing but `rebalance-kit logs` reads them. Keys
*not recorded* are missing from traces of recorded runs. `model.schema.check.problems(trace)` compares a trace with this page,
and `model.trace.read_trace(path)` reads a file back.

To read one kind of row with Spark, ask for its schema:

```python
from rebalance_kit.model.schema.text import ddl

commits = spark.read.schema(ddl("commit")).json("crash.eager.jsonl").where("kind = 'commit'")
```
"""
COLUMNS_DDL = (
    "run_id STRING, at_ms BIGINT, seq BIGINT, actor STRING, kind STRING, protocol STRING, "
    "generation BIGINT, member_id STRING, topic STRING, partition BIGINT"
)


def ddl(kind: str) -> str:
    """The Spark schema of one kind of row, as DDL; raises ``KeyError`` for a kind that does not exist."""
    types = {name: key.type.spark() for _, name, key in SCHEMA[kind].all_keys()}
    detail = ", ".join(f"`{name}`: {spark}" for name, spark in types.items())
    return f"{COLUMNS_DDL}, detail STRUCT<{detail}>" if detail else COLUMNS_DDL


def page() -> str:
    """The whole schema in Markdown (``docs/trace.md``)."""
    return "\n".join([HEAD, *_parts()])


def _parts() -> Iterator[str]:
    for title, kinds in PARTS.items():
        yield f"## {title}\n"
        for name, kind in kinds.items():
            yield from _kind(name, kind)


def _kind(name: str, kind: Kind) -> Iterator[str]:
    notes = [] if kind.protocol else ["no protocol"]
    notes += [f"about a {kind.place}"] if kind.place else []
    yield f"### `{name}`\n"
    aside = f" ({', '.join(notes)})" if notes else ""
    yield f"{kind.text[0].upper()}{kind.text[1:]}{aside}.\n"
    tables = [("", kind.keys), *kind.variants.items()]
    rows = [row for variant, keys in tables for row in _rows(variant, keys)]
    if rows:
        heading = f"| {kind.by} " if kind.by else ""
        yield f"{heading}| key | type | holds |"
        yield f"{'|---' if kind.by else ''}|---|---|---|"
        yield from (row if kind.by else row.removeprefix("| all ") for row in rows)
        yield ""


def _rows(variant: str, keys: Keys) -> Iterator[str]:
    for name, key in keys.items():
        notes = [
            note
            for note, holds in (
                ("may be missing", key.optional),
                ("not recorded", not key.recorded),
                ("for logs", key.logs),
            )
            if holds
        ]
        type_ = ", ".join(word or "(empty)" for word in str(key.type).split("|"))
        aside = f" (*{', '.join(notes)}*)" if notes else ""
        yield f"| {variant or 'all'} | `{name}` | {type_} | {key.text}{aside} |"
