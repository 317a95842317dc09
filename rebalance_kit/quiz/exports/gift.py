"""GIFT, Moodle's text format (https://docs.moodle.org/en/GIFT_format)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rebalance_kit.quiz.exports.marked import as_matching, inline, option_html, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short

_SPECIAL = re.compile(r"([\\~=#{}:])")


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The questions, a blank line between them."""
    del with_key
    category = f"$CATEGORY: $course$/{' '.join(title.replace('/', ' ').split())}\n\n"
    return (
        category
        + "\n\n".join(_question(as_matching(one) if isinstance(one, Ordering) else one) for one in questions)
        + "\n"
    ).encode()


def _safe(text: str) -> str:
    """HTML with GIFT's signs escaped and no line break in it; braces as entities, since some readers end a question at any."""
    return _SPECIAL.sub(r"\\\1", text.replace("{", "&lbrace;").replace("}", "&rbrace;")).replace("\n", "\\n")


def _question(asked: Question) -> str:
    stem = stem_html(asked)
    if isinstance(asked, Matching) and asked.options[0][1] == "1":
        stem += "<p>Give each step its place.</p>"
    return f"::{_safe(asked.head.id)}::[html]{_safe(stem)} {{\n{_answers(asked)}\n}}"


def _answers(asked: Question) -> str:
    if isinstance(asked, Choice):
        return "\n".join(_options(asked))
    if isinstance(asked, Numeric):
        lines = [f"={asked.key:g}:{asked.tolerance:g}#{_safe(inline(asked.why))}"]
        return "#" + "\n".join(
            [
                *lines,
                *(f"=%0%{one.value:g}:{asked.tolerance:g}#{_safe(inline(one.why))}" for one in asked.wrong),
            ]
        )
    if isinstance(asked, Short):
        right = [f"={_safe(text)}#{_safe(inline(asked.why))}" for text in asked.accept]
        return "\n".join(
            [*right, *(f"=%0%{_safe(one.text)}#{_safe(inline(one.why))}" for one in asked.wrong)]
        )
    if isinstance(asked, Matching):
        texts = dict(asked.options)
        used = {prompt.key for prompt in asked.prompts}
        lines = [f"={_safe(inline(prompt.text))} -> {_safe(texts[prompt.key])}" for prompt in asked.prompts]
        return "\n".join(
            lines + [f"= -> {_safe(text)}" for letter, text in asked.options if letter not in used]
        )
    raise AssertionError(asked)


def _options(asked: Choice) -> list[str]:
    share = f"{100 / len(asked.key):.5f}".rstrip("0").rstrip(".")
    lines = []
    for option in asked.options:
        sign = "~" if asked.many or not option.right else "="
        weight = f"%{share}%" if asked.many and option.right else f"%-{share}%" if asked.many else ""
        lines.append(
            f"{sign}{weight}{_safe(option_html(option.text, option.picture, asked.kind))}#{_safe(inline(option.why))}"
        )
    return lines
