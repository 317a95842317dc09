"""GIFT, Moodle's text format (https://docs.moodle.org/en/GIFT_format)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rebalance_kit.quiz.exports.marked import as_matching, inline, option_html, plain, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short

_SPECIAL = re.compile(r"([\\~=#{}:])")


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The questions, a blank line between them."""
    del with_key
    category = f"$CATEGORY: $course$/{' '.join(title.replace('/', ' ').split())}\n\n"
    return (
        category
        + "\n\n".join(
            _question(as_matching(question) if isinstance(question, Ordering) else question)
            for question in questions
        )
        + "\n"
    ).encode()


def _safe(text: str) -> str:
    """HTML with GIFT's signs escaped and no line break in it; braces as entities, since some readers end a question at any."""
    return _SPECIAL.sub(r"\\\1", text.replace("{", "&lbrace;").replace("}", "&rbrace;")).replace("\n", "\\n")


def _question(question: Question) -> str:
    stem = stem_html(question)
    if isinstance(question, Matching) and question.options[0][1] == "1":
        stem += "<p>Give each step its place.</p>"
    return f"::{_safe(question.head.id)}::[html]{_safe(stem)} {{\n{_answers(question)}\n}}"


def _answers(question: Question) -> str:
    if isinstance(question, Choice):
        return "\n".join(_options(question))
    if isinstance(question, Numeric):
        lines = [f"={question.key:g}:{question.tolerance:g}#{_safe(inline(question.why))}"]
        return "#" + "\n".join(
            [
                *lines,
                *(
                    f"=%0%{wrong.value:g}:{question.tolerance:g}#{_safe(inline(wrong.why))}"
                    for wrong in question.wrong
                ),
            ]
        )
    if isinstance(question, Short):
        right = [f"={_safe(text)}#{_safe(inline(question.why))}" for text in question.accept]
        return "\n".join(
            [*right, *(f"=%0%{_safe(wrong.text)}#{_safe(inline(wrong.why))}" for wrong in question.wrong)]
        )
    if isinstance(question, Matching):
        texts = dict(question.options)
        used = {prompt.key for prompt in question.prompts}
        lines = [
            f"={_safe(inline(prompt.text))} -> {_safe(plain(texts[prompt.key]))}"
            for prompt in question.prompts
        ]
        return "\n".join(
            lines + [f"= -> {_safe(plain(text))}" for letter, text in question.options if letter not in used]
        )
    raise AssertionError(question)


def _options(question: Choice) -> list[str]:
    share = f"{100 / len(question.key):.5f}".rstrip("0").rstrip(".")
    lines = []
    for option in question.options:
        sign = "~" if question.many or not option.right else "="
        weight = f"%{share}%" if question.many and option.right else f"%-{share}%" if question.many else ""
        lines.append(
            f"{sign}{weight}{_safe(option_html(option.text, option.picture, question.kind))}#{_safe(inline(option.why))}"
        )
    return lines
