"""The JSON of jupyterquiz (``display_quiz``): multiple_choice, many_choice, numeric and string questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from rebalance_kit.quiz.exports.marked import as_matching, inline, option_html, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The questions as a list; a matching becomes one question a prompt."""
    del title, with_key
    made = [
        entry
        for question in questions
        for entry in _questions(as_matching(question) if isinstance(question, Ordering) else question)
    ]
    return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode()


def _questions(question: Question) -> list[dict[str, Any]]:
    stem = stem_html(question)
    if isinstance(question, Choice):
        kind = "many_choice" if question.many else "multiple_choice"
        return [{"question": stem, "type": kind, "answers": _options(question)}]
    if isinstance(question, Numeric):
        stem = f"{stem}<p>(in {question.unit})</p>"
        return [{"question": stem, "type": "numeric", "answers": _numbers(question)}]
    if isinstance(question, Short):
        return [{"question": stem, "type": "string", "answers": _texts(question)}]
    assert isinstance(question, Matching)
    return [
        {
            "question": f"{stem}<p>{option_html(prompt.text)}</p>",
            "type": "multiple_choice",
            "answers": [
                {"answer": option_html(text), "correct": letter == prompt.key, "feedback": inline(prompt.why)}
                for letter, text in question.options
            ],
        }
        for prompt in question.prompts
    ]


def _options(question: Choice) -> list[dict[str, Any]]:
    return [
        {
            "answer": option_html(option.text, option.picture, question.kind),
            "correct": option.right,
            "feedback": inline(option.why),
        }
        for option in question.options
    ]


def _texts(question: Short) -> list[dict[str, Any]]:
    texts = [(text, True, question.why) for text in question.accept]
    texts += [(wrong.text, False, wrong.why) for wrong in question.wrong]
    return [
        {"answer": text, "correct": right, "match_case": False, "feedback": inline(why)}
        for text, right, why in texts
    ]


def _numbers(question: Numeric) -> list[dict[str, Any]]:
    right: dict[str, Any] = {"type": "value", "value": question.key}
    if question.tolerance:
        right = {
            "type": "range",
            "range": [question.key - question.tolerance, question.key + question.tolerance],
        }
    answers = [{**right, "correct": True, "feedback": inline(question.why)}]
    answers += [
        {"type": "value", "value": wrong.value, "correct": False, "feedback": inline(wrong.why)}
        for wrong in question.wrong
    ]
    return [*answers, {"type": "default", "feedback": "Not the number asked for."}]
