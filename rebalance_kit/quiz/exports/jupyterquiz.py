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
        one
        for asked in questions
        for one in _questions(as_matching(asked) if isinstance(asked, Ordering) else asked)
    ]
    return (json.dumps(made, ensure_ascii=False, indent=1) + "\n").encode()


def _questions(asked: Question) -> list[dict[str, Any]]:
    stem = stem_html(asked)
    if isinstance(asked, Choice):
        answers = [
            {
                "answer": option_html(option.text, option.picture, asked.kind),
                "correct": option.right,
                "feedback": inline(option.why),
            }
            for option in asked.options
        ]
        return [
            {"question": stem, "type": "many_choice" if asked.many else "multiple_choice", "answers": answers}
        ]
    if isinstance(asked, Numeric):
        return [
            {"question": f"{stem}<p>(in {asked.unit})</p>", "type": "numeric", "answers": _numbers(asked)}
        ]
    if isinstance(asked, Short):
        answers = [
            {"answer": text, "correct": True, "match_case": False, "feedback": inline(asked.why)}
            for text in asked.accept
        ]
        answers += [
            {"answer": one.text, "correct": False, "match_case": False, "feedback": inline(one.why)}
            for one in asked.wrong
        ]
        return [{"question": stem, "type": "string", "answers": answers}]
    assert isinstance(asked, Matching)
    return [
        {
            "question": f"{stem}<p>{option_html(prompt.text)}</p>",
            "type": "multiple_choice",
            "answers": [
                {"answer": option_html(text), "correct": letter == prompt.key, "feedback": inline(prompt.why)}
                for letter, text in asked.options
            ],
        }
        for prompt in asked.prompts
    ]


def _numbers(asked: Numeric) -> list[dict[str, Any]]:
    right: dict[str, Any] = {"type": "value", "value": asked.key}
    if asked.tolerance:
        right = {"type": "range", "range": [asked.key - asked.tolerance, asked.key + asked.tolerance]}
    answers = [{**right, "correct": True, "feedback": inline(asked.why)}]
    answers += [
        {"type": "value", "value": one.value, "correct": False, "feedback": inline(one.why)}
        for one in asked.wrong
    ]
    return [*answers, {"type": "default", "feedback": "Not the number asked for."}]
