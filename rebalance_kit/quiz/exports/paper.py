"""A printable page: the questions, and with the key a second part with the answers and why."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rebalance_kit.model.html import policy
from rebalance_kit.quiz.exports.marked import block, inline, key_text, option_html, stem_html, whys
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question

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
