"""Layouts in Spark: which lines may matter, and what stands where in those.

The tests of the first kind run on every line of a log, so they are prefix and substring tests only.
Expressions run on the lines that pass.
"""

from __future__ import annotations

from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.dispatch import chain
from rebalance_kit.pipeline.grammar import CLUES, CLUES_AT_START, NOISE
from rebalance_kit.pipeline.layouts import (
    CONTINUATIONS,
    EPOCH_MILLIS,
    EPOCH_SECONDS,
    HEAD,
    ISO,
    Layout,
    Reading,
    overlaps,
    quick_checks,
)
from rebalance_kit.pipeline.templates import FIELD_SEPARATOR, VALUE_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame

#: Prefix of a client's lines; a Connect worker's group coordinator prints the same with its own name.
_CLIENT_PREFIX = r"(?s)^\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ?(.*)$"
_BROKER_PREFIX = r"^\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? "

#: What containers put before a line: a name (docker compose, kubectl --prefix), a time and a stream.
_NAMED = r"(?s)^(?:\[pod/\S+\] |[\w.-]+ +\| )(.*)$"
_TIMED = (
    r"(?s)^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?:(?:stdout|stderr) [FP] (.*)|(?=\[\d{4}-|\d{4}-\d\d-\d\d|%\d\||\{|\t| |\[[\w.-]+\] [A-Z]+ +\S+ -)(?! *[A-Z]+ \S+ ---)(.*))$"
)
_DOCKER_JSON = '{"log":"'

_SEPARATED = FIELD_SEPARATOR


def any_of(conditions: Sequence[Column]) -> Column:
    """Whether one of the conditions holds."""
    return reduce(or_, conditions)


def is_told(text: Column) -> Column:
    """Whether a line holds a clue of the grammar."""
    # A broker's settings come in tab-indented lines, many of them about groups; none is in the grammar.
    inside = any_of([text.contains(clue) for clue in CLUES]) & ~text.startswith("\t")
    starts = any_of([text.startswith(clue) for clue in CLUES_AT_START])
    wrapped = (text.startswith("2") & (F.substring(text, 11, 1) == "T")) | text.startswith(_DOCKER_JSON)
    blocks = any_of([text.contains(clue.strip("\t")) for clue in CLUES_AT_START[1:]])
    return (inside | starts | (wrapped & blocks)) & ~any_of([text.contains(piece) for piece in NOISE])


def is_binary(text: Column) -> Column:
    """Control characters that no log writes, two of which separate fields here."""
    return any_of([text.contains(letter) for letter in ("\0", FIELD_SEPARATOR, VALUE_SEPARATOR)])


def is_laid(text: Column, layouts: Sequence[Layout]) -> Column:
    """Whether a line begins as one of the layouts does, or as a container's prefix."""
    shapes = list(dict.fromkeys(shape for layout in layouts for shape in layout.begins))
    named = text.startswith("[pod/") | (text.contains(" | ") & text.rlike(_NAMED))
    return any_of([_begins(text, shape) for shape in shapes]) | named


def is_continued(text: Column) -> Column:
    """Whether a line without a layout goes on with the event above it."""
    return text.isin("", "\r") | any_of([text.startswith(start) for start in CONTINUATIONS])


def _begins(text: Column, shape: str) -> Column:
    tests = [
        text.startswith(piece) if place == 1 else F.substring(text, place, len(piece)) == piece
        for place, piece in quick_checks(shape)
    ]
    return reduce(and_, tests)


def take_apart(lines: DataFrame, layouts: Sequence[Layout]) -> DataFrame:
    """Add what hot lines hold: ``layout`` (name or null), ``head``, ``prefix``, ``message``, ``outer``, ``astray``, ``continued``.

    ``head`` are the layout's parts in the order of ``HEAD``, ``prefix`` those of a client's prefix
    from 1 (instance, client, group), ``outer`` the time that a container wrote, ``astray`` says that a
    line begins as its layout does and goes on otherwise.
    """
    laid = lines.transform(_unwrapped)
    for _ in range(_rounds(layouts)):
        laid = laid.transform(lambda rows: _next_layout(rows, layouts))
    names = F.lit([layout.name for layout in layouts])
    fits = F.col("parted").startswith(_SEPARATED)
    told = F.split(F.when(fits, F.substring("parted", 2, 2**31 - 1)), _SEPARATED)
    message = F.col("head")[0]
    client = F.when(
        message.startswith("[Consumer ") | message.startswith("[Worker "),
        F.regexp_replace(message, _CLIENT_PREFIX, "".join(f"{_SEPARATED}${n}" for n in (1, 2, 3, 4))),
    )
    bare = F.when(message.startswith("[Group"), F.regexp_replace(message, _BROKER_PREFIX, "")).otherwise(
        message
    )
    return (
        laid.withColumn("layout", F.get(names, F.col("tried") - 1))
        .withColumn("head", told)
        .withColumn("astray", F.col("layout").isNotNull() & ~F.coalesce(fits, F.lit(False)))
        .withColumn("prefixed", client)
        .withColumn(
            "prefix", F.when(F.col("prefixed").startswith(_SEPARATED), F.split("prefixed", _SEPARATED))
        )
        .withColumn(
            "message",
            F.when(F.col("layout").isNull(), F.col("inner")).otherwise(
                F.coalesce(F.get("prefix", F.lit(4)), bare)
            ),
        )
        .withColumn("continued", is_continued(F.coalesce("inner", "text")))
        .drop("prefixed", "parted", "tried", "inner")
    )


def _unwrapped(lines: DataFrame) -> DataFrame:
    """Add ``inner``: a hot line without what a container put before it."""
    text, inner = F.col("text"), F.col("inner")
    docker = text.startswith(_DOCKER_JSON)
    named = text.startswith("[pod/") | (text.contains(" | ") & text.rlike(_NAMED))
    opened = (
        F.when(docker, F.rtrim(F.get_json_object(text, "$.log"), F.lit("\r\n")))
        .when(~text.startswith("[20") & ~text.startswith("%") & named, F.regexp_replace(text, _NAMED, "$1"))
        .otherwise(text)
    )
    timed = inner.startswith("2") & (F.substring(inner, 11, 1) == "T")
    cut = F.when(timed, F.regexp_replace(inner, _TIMED, f"{_SEPARATED}$1{_SEPARATED}$2$3"))
    parts = F.col("cut")
    return (
        lines.withColumn("inner", F.when(F.col("hot"), opened))
        .withColumn("cut", F.split(F.when(F.col("hot"), cut), _SEPARATED))
        .withColumn("inner", F.coalesce(F.get(parts, F.lit(2)), inner))
        .withColumn(
            "outer",
            F.coalesce(
                F.when(F.size(parts) > 1, parts[1]),
                F.when(docker & F.col("hot"), F.get_json_object(text, "$.time")),
            ),
        )
        .withColumn("tried", F.lit(None).cast("int"))
        .withColumn("parted", F.lit(None).cast("string"))
        .drop("cut")
    )


def _next_layout(lines: DataFrame, layouts: Sequence[Layout]) -> DataFrame:
    """Try the next layout that a line begins like, unless one fits already."""
    inner, tried = F.col("inner"), F.coalesce("tried", F.lit(0))
    begins = [any_of([_begins(inner, shape) for shape in layout.begins]) for layout in layouts]
    candidate = chain([(begins[n] & (tried < n + 1), F.lit(n + 1)) for n in range(len(layouts))])
    parted = chain(
        [(F.col("next") == n, _parted(inner, layout)) for n, layout in enumerate(layouts, start=1)],
        F.col("parted"),
    )
    fits = F.coalesce(F.col("parted").startswith(_SEPARATED), F.lit(False))
    return (
        lines.withColumn("next", F.when(inner.isNotNull() & ~fits, candidate))
        .withColumn("parted", parted)
        .withColumn("tried", F.coalesce("next", "tried"))
        .drop("next")
    )


def _rounds(layouts: Sequence[Layout]) -> int:
    """How many layouts one line may begin like."""
    return max(sum(overlaps(one, other) for other in layouts) for one in layouts)


def _parted(inner: Column, layout: Layout) -> Column:
    """The parts of a line in the order of ``HEAD``, a separator before each; the line itself when it is laid out otherwise."""
    if layout.pattern:
        pieces = ("".join(f"${place}" for place in layout.groups(name)) for name in HEAD)
        return F.regexp_replace(inner, layout.whole, "".join(_SEPARATED + piece for piece in pieces))
    keys = dict(layout.json)
    schema = ", ".join(
        f"`{key}` string" for key in dict.fromkeys(key for some in keys.values() for key in some)
    )
    told = F.from_json(inner, schema)
    found = {name: F.coalesce(*[told[key] for key in keys[name]], F.lit("")) for name in keys}
    # The text of an exception or a block follows in the same message; an event stands in its first line.
    found["message"] = F.substring_index(found["message"], "\n", 1)
    pieces = [F.concat(F.lit(_SEPARATED), found.get(name, F.lit(""))) for name in HEAD]
    return F.when(found["message"] != "", F.concat(*pieces)).otherwise(inner)


def line_time(reading: Reading) -> Column:
    """The time of a line by its layout, else by its container; null where it cannot be read."""
    at = F.coalesce(F.nullif(F.get("head", F.lit(HEAD.index("at"))), F.lit("")), F.col("outer"))
    time = _iso(at, reading)
    for layout in reading.table:
        if layout.time not in (None, ISO):
            time = F.when(
                F.col("layout") == layout.name, _by_pattern(at, layout.time or "", reading)
            ).otherwise(time)
    return time


def _by_pattern(at: Column, pattern: str, reading: Reading) -> Column:
    if pattern == EPOCH_SECONDS:
        return F.timestamp_millis((at.try_cast("decimal(20,3)") * 1000).cast("long"))
    if pattern == EPOCH_MILLIS:
        return F.timestamp_millis(at.try_cast("long"))
    if not any(letter in pattern for letter in "yu"):
        year = F.lit(None if reading.year is None else str(reading.year)).cast("string")
        at, pattern = F.concat(year, F.lit(" "), at), "yyyy " + pattern
    return _local(
        F.try_to_timestamp(at, F.lit(pattern)),
        reading,
        zoned=F.lit(any(letter in pattern for letter in "XZzVO")),
    )


def _iso(at: Column, reading: Reading) -> Column:
    """ISO 8601 with the liberties that loggers take; a bare number is seconds or milliseconds since 1970."""
    bare = F.translate(at, ",", ".")
    zoned = (F.length(at) > 19) & at.rlike(r"(?:Z|[+-]\d\d:?\d\d)$")
    offset = F.when(F.length(at) > 23, F.regexp_replace(bare, r" ?([+-]\d\d):?(\d\d)$", "$1:$2")).otherwise(
        bare
    )
    number = F.timestamp_millis(
        (at.try_cast("decimal(20,3)") * F.when(F.length(at) >= 13, 1).otherwise(1000)).cast("long")
    )
    instant = F.timestamp_millis(F.get_json_object(at, "$.epochSecond").try_cast("long") * 1000)
    return (
        F.when(at.startswith("{"), instant)
        .when(F.substring(at, 5, 1) == "-", _local(offset.try_cast("timestamp"), reading, zoned))
        .otherwise(number)
    )


def _local(time: Column, reading: Reading, zoned: Column) -> Column:
    """A time without a zone in the zone that the reader names."""
    if reading.time_zone is None:
        return time
    return F.when(zoned, time).otherwise(F.to_utc_timestamp(time, reading.time_zone))
