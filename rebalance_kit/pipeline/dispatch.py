"""The grammar in Spark: which template a message belongs to, and its fields in numbered slots.

Templates are found by a tree of cheap tests (how a message starts, what it holds).  The expression of
the one that is left then rewrites the message into its fields, with a separator between them.
Rows are sorted by template before that: Spark compiles an expression anew whenever it differs from
the row before.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import reduce
from itertools import groupby
from operator import and_
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline.grammar import BLOCK_LINES, MESSAGES, REFUSALS
from rebalance_kit.pipeline.templates import FIELD_SEPARATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import Column, DataFrame

    from rebalance_kit.pipeline.templates import Template

#: All templates; a template's number is its place here, from 1.
TEMPLATES: tuple[Template, ...] = MESSAGES + BLOCK_LINES + REFUSALS

#: How many letters of a message's beginning choose among the templates.
_BRANCH = 4

#: In every line of ``REFUSALS``, which begin with anything.
_REFUSAL = "assignors must have the same protocol type"


def slots(templates: Sequence[Template] = TEMPLATES) -> tuple[str, ...]:
    """The fields of all templates, the ones that most of them have first: short rows stay short."""
    told = Counter(name for template in templates for name in (*template.fields, *dict(template.given)))
    return tuple(sorted(told, key=lambda name: (-told[name], name)))


SLOTS = slots()


def rewriting(template: Template) -> str:
    """Java's replacement that puts a matching message's fields into their slots."""
    texts = {name: re.sub(r"([\\$])", r"\\\1", value) for name, value in template.given}
    texts |= {name: f"${place}" for place, name in enumerate(template.fields, start=1)}
    last = max((SLOTS.index(name) for name in texts), default=-1)
    return FIELD_SEPARATOR + "".join(texts.get(name, "") + FIELD_SEPARATOR for name in SLOTS[: last + 1])


def find_template(laid: Column, message: Column) -> tuple[Column, Column]:
    """Numbers of the template that claims a message, and of the first that it resembles; null for none."""

    def tree(tests: Callable[[int, Template], Column | None]) -> Column:
        blocks = F.when(message.contains(_REFUSAL), _number(REFUSALS[0])).otherwise(
            _tree(BLOCK_LINES, message, tests)
        )
        return F.when(laid, _tree(MESSAGES, message, tests)).otherwise(blocks)

    def claims(number: int, template: Template) -> Column:
        start, pieces = template.literals
        return reduce(and_, [message.contains(piece) for piece in pieces], message.startswith(start))

    def resembles(number: int, template: Template) -> Column | None:
        start, pieces = template.literals
        if template.side == "librdkafka":
            return None
        return reduce(and_, [message.contains(piece) for piece in pieces[:1]], message.startswith(start))

    return tree(claims), tree(resembles)


def with_slots(lines: DataFrame) -> DataFrame:
    """Replace ``message`` and ``template`` by ``parts`` (the fields in their slots, null when no template fits) and ``resembles``."""
    if not lines.isStreaming:
        lines = lines.sortWithinPartitions("template")
    number = F.col("template")
    rewritten = F.regexp_replace("message", _of(number, "pattern"), _of(number, "replacement"))
    return (
        lines.withColumn("rewritten", F.when(number.isNotNull(), rewritten))
        .withColumn(
            "parts",
            F.when(F.col("rewritten").startswith(FIELD_SEPARATOR), F.split("rewritten", FIELD_SEPARATOR)),
        )
        .drop("rewritten", "message")
    )


def chain(branches: Sequence[tuple[Column, Column]], otherwise: Column | None = None) -> Column | None:
    """One flat CASE: nested ones cost Spark's planner far more."""
    if not branches:
        return otherwise
    cases = F.when(*branches[0])
    for condition, value in branches[1:]:
        cases = cases.when(condition, value)
    return cases if otherwise is None else cases.otherwise(otherwise)


def slot(name: str) -> Column:
    """The text of a field; null where a line has none."""
    return F.nullif(F.get("parts", F.lit(SLOTS.index(name) + 1)), F.lit(""))


def event_of() -> Column:
    """The event that the line's template means."""
    return F.when(F.col("parts").isNotNull(), _of(F.col("template"), "event"))


def side_of() -> Column:
    """Who writes such lines: broker, java or librdkafka."""
    return F.when(F.col("parts").isNotNull(), _of(F.col("template"), "side"))


def _of(number: Column, what: str) -> Column:
    values = {
        "pattern": [template.pattern for template in TEMPLATES],
        "replacement": [rewriting(template) for template in TEMPLATES],
        "event": [template.event for template in TEMPLATES],
        "side": [template.side for template in TEMPLATES],
    }[what]
    return F.get(F.lit(values), number - 1)


def _tree(
    templates: Sequence[Template], message: Column, test: Callable[[int, Template], Column | None]
) -> Column:
    """The number of the first template that passes ``test``, looked for under its first letters only."""
    first = lambda template: template.literals[0][:_BRANCH]  # noqa: E731
    branches = []
    for letters, branch in groupby(sorted(templates, key=first), key=first):
        tests = [(test(_place(template), template), _number(template)) for template in branch]
        found = chain([(passed, number) for passed, number in tests if passed is not None])
        if found is not None:
            branches.append((message.startswith(letters), found))
    cases = chain(branches)
    return F.lit(None).cast("int") if cases is None else cases


def _place(template: Template) -> int:
    return TEMPLATES.index(template) + 1


def _number(template: Template) -> Column:
    return F.lit(_place(template)).cast("int")
