"""Parts shared by all formats: an item's text as HTML or plain lines, and ordering asked as matching."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from rebalance_kit.model.html import policy
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


# A printable page: the questions, and with the key a second part with the answers and why.


_STYLE = """
body { font: 12pt/1.45 Georgia, "Times New Roman", serif; color: #14181d; background: #fff; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 18pt; } h2 { font-size: 14pt; break-before: page; }
section { break-inside: avoid; margin: 0 0 1.4rem; }
pre, code { font-family: ui-monospace, "DejaVu Sans Mono", Consolas, monospace; font-size: 9pt; }
pre { white-space: pre-wrap; border-left: 2pt solid #767e88; padding-left: .6rem; }
ol { padding-left: 1.6rem; } li { margin: .2rem 0; } .line { border-bottom: 1px solid #14181d; display: inline-block; min-width: 8rem; }
"""


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """One HTML file that needs nothing from outside."""
    body = "".join(
        f"<section><h3>{number}</h3>{_asked(question)}</section>\n"
        for number, question in enumerate(questions, start=1)
    )
    keys = (
        "<h2>Key</h2>\n"
        + "".join(_key(number, question) for number, question in enumerate(questions, start=1))
        if with_key
        else ""
    )
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{policy()}<title>{escape(title)}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{body}{keys}</body></html>\n"
    )
    return page.encode()


def _asked(question: Question) -> str:
    if isinstance(question, Choice):
        form = "1" if question.form else "a"
        options = "".join(
            f"<li>{option_html(option.text, option.picture, question.kind)}</li>"
            for option in question.options
        )
        return f'{stem_html(question)}<ol type="{form}">{options}</ol>'
    if isinstance(question, Matching):
        prompts = "".join(
            f'<li>{inline(prompt.text)}: <span class="line"></span></li>' for prompt in question.prompts
        )
        options = "".join(f"<li>{inline(text)}</li>" for _, text in question.options)
        return f'{stem_html(question)}<ol>{prompts}</ol><ol type="a">{options}</ol>'
    if isinstance(question, Ordering):
        steps = "".join(
            f"<li>{inline(step.text)}</li>" for step in sorted(question.steps, key=lambda each: each.id)
        )
        return f'{stem_html(question)}<ol type="a">{steps}</ol><p>Order: <span class="line"></span></p>'
    unit = f" {escape(question.unit)}" if isinstance(question, Numeric) else ""
    return f'{stem_html(question)}<p><span class="line"></span>{unit}</p>'


def _key(number: int, question: Question) -> str:
    reasons = "".join(f"<li>{inline(what)}: {inline(why)}</li>" for what, why in whys(question))
    return f"<section><h3>{number}: {inline(key_text(question))}</h3><ul>{reasons}</ul>{block('Source: ' + ', '.join(question.head.source))}</section>\n"
