"""The trace: one flat row an event, the narrow waist between what happens and what reads it.

Every number and picture of the kit can be recomputed from these rows. The columns have the same
names in Python, JSONL and Spark. ``KINDS`` says what each kind of row means and names the keys of its
``detail``; ``model.schema_rows`` has their types. A kind or key that is not listed there is never written.

Partitions inside a ``detail`` are written the way Kafka prints them (``orders-4``).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from rebalance_kit.model.errors import DataError, require, require_kind
from rebalance_kit.model.files import refuse_no_file
from rebalance_kit.model.html import html_table
from rebalance_kit.model.schema_rows import SCHEMA

Detail = Mapping[str, Any]
NO_DETAIL: Detail = MappingProxyType({})
Derived = TypeVar("Derived")
COLUMNS = (
    "run_id",
    "at_ms",
    "seq",
    "actor",
    "kind",
    "protocol",
    "generation",
    "member_id",
    "topic",
    "partition",
    "detail",
)


class TraceRow(NamedTuple):
    """One event.

    ``at_ms`` counts from the start of the run; ``seq`` orders rows of one millisecond. ``actor`` is
    a member's name, ``coordinator``, ``broker``, ``admin`` or ``run``. ``protocol`` is ``classic``
    or ``consumer``, None where the row belongs to neither. ``generation`` is the classic generation or the KIP-848 epoch that the actor
    knows at that moment, None where it has none.
    """

    at_ms: int
    seq: int
    actor: str
    kind: str
    protocol: str | None
    generation: int | None
    member_id: str | None
    topic: str | None
    partition: int | None
    detail: Detail

    def speaks(self) -> str:
        """The protocol of a row that has one; raises ``DataError`` for a row that belongs to neither."""
        if self.protocol is None:
            raise DataError(
                f"row {self.seq} ({self.kind} at {self.at_ms} ms) has no protocol, expected classic or consumer"
            )
        return self.protocol


KINDS: Mapping[str, str] = MappingProxyType({name: kind.sentence() for name, kind in SCHEMA.items()})
"""Each kind of row in one sentence with its keys; types and meanings are in ``model.schema_rows``."""


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """All rows of one run, with what is needed to name and repeat it.

    ``label`` is the protocol the run was made for (eager, cooperative, consumer, classic, mixed),
    ``source`` is ``simulated`` or ``recorded``.
    """

    run_id: str
    label: str
    seed: int
    end_ms: int
    rows: tuple[TraceRow, ...]
    source: str = "simulated"
    meta: Mapping[str, Any] = field(default_factory=lambda: NO_DETAIL)
    _places: dict[str, list[int]] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Where the rows of each kind stand, made when first asked for."""
    _derived: dict[Callable[[Trace], Any], Any] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __repr__(self) -> str:
        """The run in a line, however long it is; its rows are ``rows``."""
        return (
            f"<Trace {self.run_id}: {self.label}, {self.source}, seed {self.seed}, {self.end_ms / 1000:g} s, "
            f"{len(self.rows):,} rows>"
        )

    def _repr_html_(self) -> str:
        """The run in little, as a notebook shows it: what it is, and how many rows of each kind it has."""
        counts = Counter(row.kind for row in self.rows)
        kinds = ", ".join(f"{kind} {count:,}" for kind, count in counts.most_common())
        return html_table(
            [
                ("run", self.run_id),
                ("protocol", f"{self.label}, {self.source}, seed {self.seed}"),
                ("time", f"{self.end_ms / 1000:g} s"),
                (f"{len(self.rows):,} rows", kinds),
                ("to go on", ".metrics, .of(kind), .to_pandas(), .to_arrow()"),
            ]
        )

    @property
    def metrics(self) -> Any:
        """What the run cost: ``rebalance_kit.metrics(trace)``, worked out once."""
        # The room above: only whoever asks a trace for its cost imports it.
        return self.derived(import_module("rebalance_kit.analysis.metrics").metrics)

    def to_arrow(self) -> Any:
        """The rows as a ``pyarrow.Table``, one column a field of ``COLUMNS``, ``detail`` as JSON text; raises ``EnvironmentProblem`` without pyarrow."""
        require("pyarrow")
        pa = import_module("pyarrow")
        kinds = {"at_ms": pa.int64(), "seq": pa.int64(), "generation": pa.int64(), "partition": pa.int64()}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
        rows = ((self.run_id, *row[:-1], _dumps(row.detail)) for row in self.rows)
        columns = list(zip(*rows, strict=True)) or [() for _ in COLUMNS]
        return pa.table(dict(zip(COLUMNS, map(list, columns), strict=True)), schema=schema)

    def to_pandas(self) -> Any:
        """The rows as a pandas ``DataFrame``, one column a field of ``COLUMNS``; raises ``EnvironmentProblem`` without pandas."""
        require("pandas")
        pandas = import_module("pandas")
        return pandas.DataFrame([(self.run_id, *row) for row in self.rows], columns=list(COLUMNS))

    def derived(self, work_out: Callable[[Trace], Derived]) -> Derived:
        """``work_out(self)``, worked out once; nobody may change what is returned."""
        if work_out not in self._derived:
            self._derived[work_out] = work_out(self)
        answer: Derived = self._derived[work_out]
        return answer

    def of(self, *kinds: str) -> Iterator[TraceRow]:
        """Rows of the given kinds, in order; raises ``KeyError`` for a kind that does not exist."""
        for kind in kinds:
            if kind not in KINDS:
                raise KeyError(f"{kind!r} is no kind of trace row")
        rows, places = self.rows, self._places
        if not places:
            for index, row in enumerate(rows):
                places.setdefault(row[3], []).append(index)
        wanted = dict.fromkeys(kinds)
        if len(wanted) > 1:
            return iter(
                [rows[index] for index in sorted([at for kind in wanted for at in places.get(kind, ())])]
            )
        return iter([rows[index] for kind in wanted for index in places.get(kind, ())])

    def rewritten(self, changed: Iterable[TraceRow], meta: Mapping[str, Any]) -> Trace:
        """The same trace with these rows in place of those of the same number and kind, and with another ``meta``."""
        rows = list(self.rows)
        for row in changed:
            rows[row.seq] = row
        return replace(self, rows=tuple(rows), meta=meta)

    def jsonl(self) -> Iterator[str]:
        """Lines of the trace file: a head line, then a line per row, byte for byte reproducible."""
        head = {
            "run_id": self.run_id,
            "label": self.label,
            "seed": self.seed,
            "end_ms": self.end_ms,
            "source": self.source,
            "meta": dict(self.meta),
        }
        yield _dumps({"trace": head})
        for row in self.rows:
            yield _dumps({"run_id": self.run_id, **row._asdict()})


def _dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)


def require_trace(value: object) -> None:
    """Raise ``WrongKind`` for what is no trace."""
    require_kind(value, Trace, "the run", "a trace, as rebalance_kit.simulate(scenario) returns it")


def require_traces(values: object) -> None:
    """Raise ``WrongKind`` for what is no list of traces, and ``DataError`` for an empty one."""
    require_kind(values, (list, tuple), "the runs", "a list of traces")
    if not values:
        raise DataError("no run was given; expected a list of at least one trace")
    for value in values if isinstance(values, list | tuple) else ():
        require_trace(value)


def read_trace(path: str | Path) -> Trace:
    """Read a trace file written from ``Trace.jsonl``; raises ``DataError`` naming the line."""
    require_kind(path, (str, Path), "the path", "a file of a trace")
    try:
        refuse_no_file(Path(path), "a trace file")
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as a trace: {error}") from error
    return parse_trace(text.splitlines(), str(path))


def parse_trace(lines: Iterable[str], where: str = "<trace>") -> Trace:
    """Build a trace from its lines; the first one must be the head."""
    head: dict[str, Any] | None = None
    rows: list[TraceRow] = []
    for number, line in enumerate(lines, start=1):
        try:
            value = json.loads(line)
            if head is None:
                head = value["trace"]
            else:
                rows.append(TraceRow(*(value[name] for name in TraceRow._fields)))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(
                f"{where}:{number}: not a row of a trace ({error!r}); expected the columns {', '.join(COLUMNS)}"
            ) from error
    if head is None:
        raise DataError(f"{where}: empty, expected a trace file whose first line is its head")
    return Trace(
        head["run_id"], head["label"], head["seed"], head["end_ms"], tuple(rows), head["source"], head["meta"]
    )
