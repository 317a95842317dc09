"""Parts shared by all formats: an item's text as HTML or plain lines, and ordering asked as matching."""

from __future__ import annotations

import re
from html import escape

from rebalance_kit.quiz.items.item import Choice, GanttChart, Matching, Numeric, Ordering, Prompt, Question
from rebalance_kit.quiz.sittings.page import picture_lines

_CODE = re.compile(r"`([^`]+)`")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def inline(text: str) -> str:
    """One paragraph as HTML: text escaped, what stands between backticks set as code."""
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(clean(text).split()), quote=False))


def plain(text: str) -> str:
    """One paragraph as plain text, for places that take no markup: the signs around code are left out."""
    return _CODE.sub(r"\1", " ".join(clean(text).split()))


def block(text: str) -> str:
    """Paragraphs as HTML."""
    return "".join(f"<p>{inline(part)}</p>" for part in text.split("\n\n"))


def pre(lines: str) -> str:
    """Lines as they are, as HTML."""
    return f"<pre>{escape(clean(lines.rstrip()), quote=False)}</pre>"


def chart(picture: GanttChart | None) -> str:
    """A chart as HTML, empty for none."""
    return "" if picture is None else pre("\n".join(picture_lines(picture)))


def stem_html(question: Question) -> str:
    """Stem, exhibit and picture as HTML."""
    shown = block(question.head.stem)
    if question.head.exhibit:
        shown += pre(str(question.head.exhibit))
    return shown + chart(question.picture) if isinstance(question, Choice) else shown


def option_html(text: str, picture: GanttChart | None = None, kind: str = "") -> str:
    """An option as HTML; the lines of a log are code."""
    return (
        f"<code>{escape(clean(text), quote=False)}</code>" if kind == "log" else inline(text) + chart(picture)
    )


def stem_text(question: Question) -> str:
    """Stem, exhibit and picture as plain text, paragraphs and lines kept."""
    parts = [" ".join(part.split()) for part in question.head.stem.split("\n\n")]
    parts += [str(question.head.exhibit).rstrip()] if question.head.exhibit else []
    if isinstance(question, Choice) and question.picture is not None:
        parts.append("\n".join(picture_lines(question.picture)))
    return clean("\n\n".join(parts))


def as_matching(question: Ordering) -> Matching:
    """An ordering as the matching of its steps with places."""
    places = {step.id: number for number, step in enumerate(question.steps, start=1)}
    prompts = tuple(
        Prompt(str(number), step.text, "abcdefgh"[places[step.id] - 1], step.why)
        for number, step in enumerate(sorted(question.steps, key=lambda each: each.id), start=1)
    )
    return Matching(
        question.head,
        prompts,
        tuple(("abcdefgh"[index], str(index + 1)) for index in range(len(question.steps))),
    )


def key_text(question: Question) -> str:
    """The key in words."""
    if isinstance(question, Choice):
        return "; ".join(f"{option.id}) {option.text}" for option in question.options if option.right)
    if isinstance(question, Matching):
        texts = dict(question.options)
        return "; ".join(f"{prompt.text}: {texts[prompt.key]}" for prompt in question.prompts)
    if isinstance(question, Ordering):
        return " ".join(question.key)
    return question.amount(question.key) if isinstance(question, Numeric) else question.key


def whys(question: Question) -> list[tuple[str, str]]:
    """Every explanation with what it explains."""
    if isinstance(question, Choice):
        return [(f"{option.id}) {option.text}", option.why) for option in question.options]
    if isinstance(question, Matching):
        return [(prompt.text, prompt.why) for prompt in question.prompts]
    if isinstance(question, Ordering):
        return [*((step.text, step.why) for step in question.steps), (" ".join(question.key), question.why)]
    wrong = [
        (f"{mistake.value:g}" if hasattr(mistake, "value") else mistake.text, mistake.why)
        for mistake in question.wrong
    ]
    return [(key_text(question), question.why), *wrong]
