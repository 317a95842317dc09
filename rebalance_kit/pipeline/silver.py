"""Silver: what each line is (parsed, ignored or rejected), and the events that were parsed.

Most of a log has nothing to do with groups: ``passed_over`` tells with a few substring searches, and
such lines are counted and gone.  What is left is taken apart (``layout_steps``), matched with
the grammar (``dispatch``) and settled here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline import dispatch, layout_steps
from rebalance_kit.pipeline.bronze import LONGEST_LINE, with_line_numbers
from rebalance_kit.pipeline.dispatch import slot
from rebalance_kit.pipeline.layout_steps import is_binary, is_continued, is_laid, is_told
from rebalance_kit.pipeline.layouts import Reading
from rebalance_kit.pipeline.templates import NUMBERS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: How much of a line is kept to be shown as evidence.
_SHOWN = 300

#: Text columns of an event that come straight from a template's field.
_TEXT_FIELDS = (
    "member", "other", "leader", "reason", "cause", "detail", "state", "state_from", "state_to",
    "protocol", "assignor", "topic", "mode", "kind", "key", "value",
)  # fmt: skip

_AS_READ = Reading()

#: The columns of classified lines, in order.
CLASSIFIED = (
    "path", "file", "block", "row", "class", "why", "at", "event", "side", "level", "group", "client", "instance",
    *_TEXT_FIELDS, *sorted(NUMBERS), "partitions", "text",
)  # fmt: skip


def passed_over(text: Column, size: Column, reading: Reading = _AS_READ) -> Column:
    """Whether a line is ignored at first sight: laid out as logs are, and without any clue of the grammar."""
    return (size <= LONGEST_LINE) & ~is_told(text) & (is_laid(text, reading.table) | is_continued(text))


def classify(bronze: DataFrame, reading: Reading = _AS_READ) -> DataFrame:
    """Every line with its ``class``, parsed ones with their fields, rejected ones with ``why`` (``CLASSIFIED``)."""
    text, size = F.col("text"), F.col("size")
    return (
        bronze.withColumn("cold", passed_over(text, size, reading))
        .withColumn("hot", ~F.col("cold") & (size <= LONGEST_LINE) & is_told(text) & ~is_binary(text))
        .transform(lambda lines: layout_steps.take_apart(lines, reading.table))
        .transform(_with_template)
        .transform(dispatch.with_slots)
        .transform(_settled)
        .transform(lambda lines: _typed(lines, reading))
    )


def _with_template(lines: DataFrame) -> DataFrame:
    laid, message = F.col("layout").isNotNull(), F.col("message")
    claimed, near = dispatch.find_template(laid, message)
    return lines.withColumn("template", claimed).withColumn("near", F.when(F.col("hot"), near))


def _settled(lines: DataFrame) -> DataFrame:
    """Add ``class`` and ``why`` (of a rejection)."""
    laid = F.col("layout").isNotNull()
    rejection = (
        F.when(
            F.col("size") > LONGEST_LINE,
            F.format_string("line of %d bytes; at most %d are read", "size", F.lit(LONGEST_LINE)),
        )
        .when(is_binary(F.col("text")), F.lit("binary, not text"))
        .when(F.col("astray"), F.concat(F.lit("not quite the layout "), F.col("layout")))
        .when(
            F.col("near").isNotNull(),
            F.lit("begins like a group line but ends otherwise than Kafka writes it"),
        )
        .when(~laid & ~F.col("continued"), F.lit("no known layout"))
    )
    kind = (
        F.when(F.col("why").isNotNull(), F.lit("rejected"))
        .when(F.col("parts").isNotNull(), F.lit("parsed"))
        .otherwise(F.lit("ignored"))
    )
    return lines.withColumn("why", F.when(~F.col("cold") & F.col("parts").isNull(), rejection)).withColumn(
        "class", kind
    )


def _typed(lines: DataFrame, reading: Reading) -> DataFrame:
    head, prefix = F.col("head"), F.col("prefix")
    parsed = F.col("class") == "parsed"
    columns = {
        "at": F.when(parsed, layout_steps.line_time(reading)),
        "event": dispatch.event_of(),
        "side": dispatch.side_of(),
        "level": F.when(parsed, _present(head[1])),
        "group": F.coalesce(slot("group"), F.when(parsed, _present(F.get(prefix, F.lit(3))))),
        "client": F.coalesce(
            slot("client"),
            F.when(
                parsed,
                F.coalesce(_present(F.get(prefix, F.lit(2))), _present(F.substring_index(head[3], "#", 1))),
            ),
        ),
        "instance": F.coalesce(
            _instance(slot("instance")), F.when(parsed, _instance(F.get(prefix, F.lit(1))))
        ),
        **{name: slot(name) for name in _TEXT_FIELDS},
        **{name: slot(name).try_cast("long") for name in sorted(NUMBERS)},
        "partitions": _partitions(F.get("parts", F.lit(dispatch.SLOTS.index("partitions") + 1))),
        "text": F.when(F.col("class") != "ignored", F.substring("text", 1, _SHOWN)),
    }
    return lines.select(
        "path",
        "file",
        "block",
        "row",
        "class",
        "why",
        *[columns[name].alias(name) for name in CLASSIFIED[6:]],
    )


def line_time() -> Column:
    """The time of a classified line; null where the layout has none or it cannot be read."""
    return F.col("at")


def events(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The parsed lines as typed events, one row each, in the columns the gold steps use.

    ``blocks`` may hold ``shift_ms``, what the clock of the file's host was behind.
    """
    rows = classified.filter(F.col("class") == "parsed").transform(
        lambda lines: with_line_numbers(lines, blocks)
    )
    if "shift_ms" in blocks.columns:
        rows = rows.withColumn("at", F.timestamp_millis(F.unix_millis("at") + F.col("shift_ms")))
    return rows.select(
        "path", "file", "line", "block", "row", *CLASSIFIED[6:], F.unix_millis("at").alias("at_ms")
    )


def rejected(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""
    lines = classified.filter(F.col("class") == "rejected").transform(
        lambda rows: with_line_numbers(rows, blocks)
    )
    return lines.select("path", "file", "line", "why", "text")


def _present(text: Column) -> Column:
    return F.nullif(text, F.lit(""))


def _instance(text: Column) -> Column:
    """A ``group.instance.id``; null for the ways Kafka writes that there is none."""
    bare = F.when(text.startswith("Some("), F.regexp_replace(text, r"^Some\((.*)\)$", "$1")).otherwise(text)
    return F.when(~bare.isin("null", "None", ""), bare)


def _partitions(text: Column) -> Column:
    """``[a-0, a-1]`` or ``a-0, a-1`` as an array; an empty array for none; null for events without."""
    bare = F.trim(F.regexp_replace(text, r"^\s*\[(.*)\]\s*$", "$1"))
    return F.when(bare == "", F.array().cast("array<string>")).otherwise(F.split(bare, ", "))
