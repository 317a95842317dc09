"""What all formats share: an item's text as HTML or plain lines, and how ordering is asked by matching."""

from __future__ import annotations

import re
from html import escape

from rebalance_kit.quiz.items.item import Choice, Matching, Ordering, Picture, Prompt, Question
from rebalance_kit.quiz.sittings.page import picture_lines

_CODE = re.compile(r"`([^`]+)`")
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _NOT_XML.sub("\ufffd", text)


def inline(text: str) -> str:
    """One paragraph as HTML: text escaped, what stands between backticks set as code."""
    return _CODE.sub(r"<code>\1</code>", escape(" ".join(clean(text).split()), quote=False))


def block(text: str) -> str:
    """Paragraphs as HTML."""
    return "".join(f"<p>{inline(part)}</p>" for part in text.split("\n\n"))


def pre(lines: str) -> str:
    """Lines as they are, as HTML."""
    return f"<pre>{escape(clean(lines.rstrip()), quote=False)}</pre>"


def chart(picture: Picture | None) -> str:
    """A chart as HTML, empty for none."""
    return "" if picture is None else pre("\n".join(picture_lines(picture)))


def stem_html(asked: Question) -> str:
    """Stem, exhibit and picture as HTML."""
    shown = block(asked.head.stem)
    if asked.head.exhibit:
        shown += pre(str(asked.head.exhibit))
    return shown + chart(asked.picture) if isinstance(asked, Choice) else shown


def option_html(text: str, picture: Picture | None = None, kind: str = "") -> str:
    """An option as HTML; the lines of a log are code."""
    return (
        f"<code>{escape(clean(text), quote=False)}</code>" if kind == "log" else inline(text) + chart(picture)
    )


def stem_text(asked: Question) -> str:
    """Stem, exhibit and picture as plain text, paragraphs and lines kept."""
    parts = [" ".join(part.split()) for part in asked.head.stem.split("\n\n")]
    parts += [str(asked.head.exhibit).rstrip()] if asked.head.exhibit else []
    if isinstance(asked, Choice) and asked.picture is not None:
        parts.append("\n".join(picture_lines(asked.picture)))
    return clean("\n\n".join(parts))


def as_matching(asked: Ordering) -> Matching:
    """An ordering as the matching of its steps with places."""
    places = {step.id: place for place, step in enumerate(asked.steps, start=1)}
    prompts = tuple(
        Prompt(str(number), step.text, "abcdefgh"[places[step.id] - 1], step.why)
        for number, step in enumerate(sorted(asked.steps, key=lambda one: one.id), start=1)
    )
    return Matching(
        asked.head, prompts, tuple(("abcdefgh"[place], str(place + 1)) for place in range(len(asked.steps)))
    )


def key_text(asked: Question) -> str:
    """The key in words."""
    if isinstance(asked, Choice):
        return "; ".join(f"{option.id}) {option.text}" for option in asked.options if option.right)
    if isinstance(asked, Matching):
        texts = dict(asked.options)
        return "; ".join(f"{prompt.text}: {texts[prompt.key]}" for prompt in asked.prompts)
    if isinstance(asked, Ordering):
        return " ".join(asked.key)
    return f"{asked.key:g} {asked.unit}".strip() if isinstance(asked.key, (int, float)) else asked.key


def whys(asked: Question) -> list[tuple[str, str]]:
    """Every explanation with what it explains."""
    if isinstance(asked, Choice):
        return [(f"{option.id}) {option.text}", option.why) for option in asked.options]
    if isinstance(asked, Matching):
        return [(prompt.text, prompt.why) for prompt in asked.prompts]
    if isinstance(asked, Ordering):
        return [*((step.text, step.why) for step in asked.steps), (" ".join(asked.key), asked.why)]
    wrong = [(f"{one.value:g}" if hasattr(one, "value") else one.text, one.why) for one in asked.wrong]
    return [(key_text(asked), asked.why), *wrong]
