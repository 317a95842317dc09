"""The schema as a page of documentation, and as Spark's DDL."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_kit.model.schema_kind import Keys, Kind
from rebalance_kit.model.schema_rows import PARTS, SCHEMA
from rebalance_kit.model.trace import Trace, TraceRow

# Whether a trace is written as the schema says.


PROTOCOLS = ("classic", "consumer")


def problems(trace: Trace) -> Iterator[str]:
    """Everything in which rows differ from the schema, each with its row; nothing for a sound trace."""
    recorded = trace.source == "recorded"
    for index, row in enumerate(trace.rows):
        kind = SCHEMA.get(row.kind)
        where = f"row {index} ({row.kind} at {row.at_ms} ms)"
        if kind is None:
            yield f"{where}: no kind of row, expected one of {', '.join(SCHEMA)}"
            continue
        if row.seq != index:
            yield f"{where}: seq {row.seq}, expected {index}"
        for problem in (*_columns(row, kind), *_detail(row, kind, recorded=recorded)):
            yield f"{where}: {problem}"


def _columns(row: TraceRow, kind: Kind) -> Iterator[str]:
    expected = PROTOCOLS if kind.protocol else (None,)
    if row.protocol not in expected:
        yield f"protocol {row.protocol!r}, expected one of {expected}"
    for name, value, wanted in (
        ("topic", row.topic, kind.place != ""),
        ("partition", row.partition, kind.place == "partition"),
    ):
        if (value is not None) != wanted:
            yield f"{name} {value!r}, expected {'one' if wanted else 'None'}"


def _detail(row: TraceRow, kind: Kind, *, recorded: bool) -> Iterator[str]:
    if kind.by is not None and row.detail.get(kind.by) not in kind.variants:
        yield f"{kind.by} {row.detail.get(kind.by)!r}, expected one of {', '.join(kind.variants)}"
        return
    keys = kind.keys_of(row.detail)
    for name, key in keys.items():
        if name not in row.detail:
            if not key.optional and (key.recorded or not recorded):
                yield f"{name} is missing, expected {key.type}"
        elif not key.type.accepts(row.detail[name]):
            yield f"{name} is {row.detail[name]!r}, expected {key.type}"
    unknown = [name for name in row.detail if name not in keys]
    if unknown:
        yield f"{', '.join(unknown)} not in the schema, expected {', '.join(keys) or 'no keys'}"


HEAD = """# The trace

Made by `make golden` from the tables in `rebalance_kit/model/schema_rows.py`.

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
*not recorded* are missing from traces of recorded runs. `model.schema_text.problems(trace)` compares a trace with this page,
and `model.trace.read_trace(path)` reads a file back.

To read one kind of row with Spark, ask for its schema:

```python
from rebalance_kit.model.schema_text import ddl

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
