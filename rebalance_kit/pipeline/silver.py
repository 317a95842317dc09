"""Silver: what each line is (parsed, ignored or rejected), and the events that were parsed.

Steps: ``lay_out`` takes a line apart by its layout, ``strip_prefix`` removes the broker's or the
client's prefix, ``apply_grammar`` finds the template, ``settle_class`` decides.  Lines
without any clue of the grammar skip all of that: most of a log costs a few substring searches.
"""

from __future__ import annotations

import json
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.bronze import LONGEST_LINE, with_line_numbers
from rebalance_kit.pipeline.grammar import BLOCK_LINES, CLUES, CLUES_AT_START, MESSAGES, NOISE, REFUSALS
from rebalance_kit.pipeline.layouts import CONTINUATIONS, EPOCH_SECONDS, LAYOUTS, Layout
from rebalance_kit.pipeline.templates import FIELD_SEPARATOR, NUMBERS, VALUE_SEPARATOR, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame

#: Prefix of a client's lines; a Connect worker's group coordinator prints the same with its own name.
_CLIENT_PREFIX = r"(?s)^\[(?:Consumer|Worker) (?:instanceId=(.*?), )?clientId=(.*?), groupId=(.*?)\] ?(.*)$"
_BROKER_PREFIX = r"^\[Group(?:Coordinator|MetadataManager) [^\]]*\]:? "

_TEMPLATES = "array<struct<start: string, pieces: array<string>, pattern: string, replacement: string, strict: boolean>>"

#: In every line of ``REFUSALS``, which begin with anything.
_REFUSAL = "assignors must have the same protocol type"

#: How much of a line is kept to be shown as evidence.
_SHOWN = 300

#: Text columns of an event that come straight from a template's field.
_TEXT_FIELDS = (
    "member", "other", "leader", "reason", "cause", "detail", "state", "state_from", "state_to",
    "protocol", "assignor", "topic", "mode", "kind", "key", "value",
)  # fmt: skip


def classify(bronze: DataFrame) -> DataFrame:
    """Every line with its ``class``; parsed ones with ``fields``, rejected ones with ``why``.

    Columns: path, file, block, row, class, why, layout, head (map), fields (map), text.
    """
    return (
        bronze.transform(lay_out)
        .transform(strip_prefix)
        .transform(apply_grammar)
        .transform(settle_class)
        .select("path", "file", "block", "row", "class", "why", "layout", "head", "fields", "text")
    )


def lay_out(bronze: DataFrame) -> DataFrame:
    """Add ``layout`` (name or null), ``hot`` (may hold an event) and ``head`` (the layout's groups, hot lines only)."""
    text = F.col("text")
    layout = F.lit(None).cast("string")
    for known in reversed(LAYOUTS):
        layout = F.when(_any([text.like(guard) for guard in known.like]), F.lit(known.name)).otherwise(layout)
    # A broker's settings come in tab-indented lines, many of them about groups; none is in the grammar.
    told = _any([text.contains(clue) for clue in CLUES]) & ~text.startswith("\t")
    clues = [told, *(text.startswith(clue) for clue in CLUES_AT_START)]
    noise = [text.contains(piece) for piece in NOISE]
    head = F.lit(None).cast("string")
    for known in LAYOUTS:
        head = F.when(
            F.col("hot") & (F.col("layout") == known.name),
            F.regexp_replace(text, known.pattern, _pairs(known)),
        ).otherwise(head)
    return (
        bronze.withColumn("layout", layout)
        .withColumn("hot", (F.col("size") <= LONGEST_LINE) & _any(clues) & ~_any(noise) & ~_binary(text))
        .withColumn("head", head)
        .transform(_mapped("head"))
    )


def strip_prefix(lines: DataFrame) -> DataFrame:
    """Add ``message`` (hot lines: what follows the prefix) and put the client's prefix into ``head``."""
    message = F.col("head")["message"]
    client = F.when(
        message.startswith("[Consumer ") | message.startswith("[Worker "),
        F.regexp_replace(message, _CLIENT_PREFIX, _replacement(("instance", "client", "group", "rest"))),
    )
    broker = F.when(message.startswith("[Group"), F.regexp_replace(message, _BROKER_PREFIX, "")).otherwise(
        message
    )
    return (
        lines.withColumn("prefix", client)
        .transform(_mapped("prefix"))
        .withColumn("message", F.coalesce(F.col("prefix")["rest"], broker))
        .withColumn(
            "message",
            F.when(F.col("layout").isNull() & F.col("hot"), F.col("text")).otherwise(F.col("message")),
        )
    )


def apply_grammar(lines: DataFrame) -> DataFrame:
    """Add ``fields`` (map; null when no template fits) and ``resembles`` (a template nearly does).

    The grammar travels as one literal: a map from a message's first word to the templates that
    begin with it.  (One ``CASE`` over all templates outgrows what Java can compile.)
    """
    message = F.col("message")
    word = F.substring_index(F.substring_index(message, " ", 1), "=", 1)
    laid, unlaid = F.col("layout").isNotNull(), F.col("layout").isNull()
    likely = F.coalesce(
        F.when(laid, F.element_at(_table(MESSAGES), word)),
        F.when(unlaid, F.element_at(_table(BLOCK_LINES), word)),
        F.when(unlaid & message.contains(_REFUSAL), _array(REFUSALS)),
    )

    def claims(template: Column) -> Column:
        return message.startswith(template["start"]) & F.forall(template["pieces"], message.contains)

    def resembles(template: Column) -> Column:
        return (
            template["strict"]
            & message.startswith(template["start"])
            & message.contains(template["pieces"][0])
        )

    rewritten = F.regexp_replace(message, F.col("template.pattern"), F.col("template.replacement"))
    # The likely templates stay inside the expressions: as a column they would be copied with each row.
    return (
        lines.withColumn("template", F.get(F.filter(likely, claims), F.lit(0)))
        .withColumn("fields", rewritten)
        .transform(_mapped("fields"))
        .withColumn("resembles", F.when(F.col("fields").isNull(), F.exists(likely, resembles)))
        .withColumn("resembles", F.coalesce("resembles", F.lit(False)))
        .drop("template")
    )


def settle_class(lines: DataFrame) -> DataFrame:
    """Add ``class`` (parsed, ignored, rejected) and ``why`` (of a rejection); keep the beginning of the text, of ignored lines none."""
    text, laid = F.col("text"), F.col("layout").isNotNull()
    continued = (text == "") | _any([text.startswith(start) for start in CONTINUATIONS])
    why = (
        F.when(
            F.col("size") > LONGEST_LINE,
            F.format_string("line of %d bytes; at most %d are read", "size", F.lit(LONGEST_LINE)),
        )
        .when(F.col("fields").isNotNull(), F.lit(None))
        .when(_binary(text), F.lit("binary, not text"))
        .when(
            F.col("hot") & laid & F.col("head").isNull(),
            F.concat(F.lit("not quite the layout "), F.col("layout")),
        )
        .when(F.col("resembles"), F.lit("begins like a group line but ends otherwise than Kafka writes it"))
        .when(~laid & ~continued, F.lit("no known layout"))
    )
    kind = (
        F.when(F.col("why").isNotNull(), F.lit("rejected"))
        .when(F.col("fields").isNotNull(), F.lit("parsed"))
        .otherwise(F.lit("ignored"))
    )
    head = F.when(
        F.col("class") == "parsed",
        F.map_concat(F.coalesce("head", F.create_map()), F.coalesce("prefix", F.create_map())),
    )
    return (
        lines.withColumn("why", why)
        .withColumn("class", kind)
        .withColumn("head", head)
        .withColumn("text", F.when(F.col("class") != "ignored", F.substring(text, 1, _SHOWN)))
    )


def events(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The parsed lines as typed events, one row each, in the columns the gold steps use."""
    fields, head = F.col("fields"), F.col("head")
    numbers = [fields[name].try_cast("long").alias(name) for name in sorted(NUMBERS)]
    texts = [_present(fields[name]).alias(name) for name in _TEXT_FIELDS]
    return (
        classified.filter(F.col("class") == "parsed")
        .transform(lambda rows: with_line_numbers(rows, blocks))
        .select(
            "path",
            "file",
            "line",
            "block",
            "row",
            _time(LAYOUTS).alias("at"),
            fields["event"].alias("event"),
            fields["side"].alias("side"),
            head["level"].alias("level"),
            _present(F.coalesce(fields["group"], head["group"])).alias("group"),
            _present(F.coalesce(fields["client"], F.substring_index(head["client"], "#", 1))).alias("client"),
            _present(F.coalesce(_instance(fields["instance"]), _instance(head["instance"]))).alias(
                "instance"
            ),
            *texts,
            *numbers,
            _partitions(fields["partitions"]).alias("partitions"),
            "text",
        )
        .withColumn("at_ms", F.unix_millis("at"))
    )


def rejected(classified: DataFrame, blocks: DataFrame) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""
    lines = classified.filter(F.col("class") == "rejected").transform(
        lambda rows: with_line_numbers(rows, blocks)
    )
    return lines.select("path", "file", "line", "why", "text")


def _table(templates: Sequence[Template]) -> Column:
    """The templates as a literal map from first word to templates.

    Written as one JSON literal, which Spark reads once: as an expression the table would be
    thousands of nodes in every plan.
    """
    words: dict[str, list[dict[str, object]]] = {}
    for template in templates:
        words.setdefault(template.first_word, []).append(_row(template))
    return F.from_json(F.lit(json.dumps(words)), f"map<string, {_TEMPLATES}>")


def _array(templates: Sequence[Template]) -> Column:
    return F.from_json(F.lit(json.dumps([_row(template) for template in templates])), _TEMPLATES)


def _row(template: Template) -> dict[str, object]:
    start, pieces = template.literals
    return {
        "start": start,
        "pieces": pieces or ("",),
        "pattern": template.pattern,
        "replacement": template.replacement,
        "strict": template.side != "librdkafka",
    }


def _mapped(name: str) -> Callable[[DataFrame], DataFrame]:
    """A step that turns the text column of separated names and values into a map; null where nothing was rewritten.

    A step of its own: inside the expression above it, the rewriting would be done twice.
    """
    text = F.col(name)
    pairs = F.substring(text, 2, 2**31 - 1)
    fields = F.when(
        text.startswith(FIELD_SEPARATOR), F.str_to_map(pairs, F.lit(FIELD_SEPARATOR), F.lit(VALUE_SEPARATOR))
    )
    return lambda lines: lines.withColumn(name, fields)


def _pairs(layout: Layout) -> str:
    return _replacement(layout.groups)


def _replacement(groups: Sequence[str]) -> str:
    pairs = (f"{name}{VALUE_SEPARATOR}${place}" for place, name in enumerate(groups, start=1))
    return FIELD_SEPARATOR + FIELD_SEPARATOR.join(pairs)


def _binary(text: Column) -> Column:
    """Control characters that no log writes, two of which separate fields here."""
    return _any([text.contains(letter) for letter in ("\0", FIELD_SEPARATOR, VALUE_SEPARATOR)])


def _any(conditions: Sequence[Column]) -> Column:
    return reduce(or_, conditions)


def _time(layouts: Sequence[Layout]) -> Column:
    """The line's time; null where the layout has none or it cannot be read."""
    text = F.col("head")["at"]
    at = F.lit(None).cast("timestamp")
    for layout in layouts:
        if layout.time == EPOCH_SECONDS:
            read = F.timestamp_millis((text.try_cast("decimal(20,3)") * 1000).cast("long"))
        else:
            read = F.try_to_timestamp(text, F.lit(layout.time))
        at = F.when(F.col("layout") == layout.name, read).otherwise(at)
    return at


def _present(text: Column) -> Column:
    return F.nullif(text, F.lit(""))


def _instance(text: Column) -> Column:
    """A ``group.instance.id``; null for the ways Kafka writes that there is none."""
    bare = F.regexp_replace(text, r"^Some\((.*)\)$", "$1")
    return F.when(~bare.isin("null", "None", ""), bare)


def _partitions(text: Column) -> Column:
    """``[a-0, a-1]`` or ``a-0, a-1`` as an array; an empty array for none; null for events without."""
    bare = F.trim(F.regexp_replace(text, r"^\s*\[(.*)\]\s*$", "$1"))
    return F.when(
        text.isNotNull(), F.when(bare == "", F.array().cast("array<string>")).otherwise(F.split(bare, ", "))
    )
