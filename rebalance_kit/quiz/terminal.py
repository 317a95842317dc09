"""A quiz in a terminal: question, answer, feedback, and at the end what was believed that is not so."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.bank import read_bank
from rebalance_kit.quiz.practice import WIDTH, Practice, beliefs_shown, pick_questions, question_lines


def run_quiz(
    tag: str | None = None, count: int | None = None, seed: int = 1, *, ids: Sequence[str] = (), source: TextIO | None = None, out: TextIO
) -> int:
    """Ask the first ``count`` questions of a tag (all of the bank without one), reading an answer a line.

    ``source`` is standard input unless given. An empty line passes a question over, ``q`` or the end of
    the input stops. Returns 0; raises ``DataError`` for an unknown tag or id, or a count below 1.
    """
    if count is not None and count < 1:
        raise DataError(f"count {count} received, expected at least 1")
    source = sys.stdin if source is None else source
    bank = read_bank()
    practice = Practice(tag or "of the whole bank", pick_questions(tag, ids, seed, bank, count))
    for number, asked in enumerate(practice.questions, start=1):
        practice.place = number - 1
        out.write("\n" + "\n".join(question_lines(asked, number)) + "\n")
        if not _ask(practice, source, out):
            break
    out.write(f"\n{practice.right} right of {len(practice.verdicts)} answered.\n")
    out.writelines("\n".join(textwrap.wrap(f"Not so: {bank.beliefs[belief]} ({belief})", WIDTH)) + "\n" for belief in beliefs_shown(practice.verdicts.values()))
    return 0


def _ask(practice: Practice, source: TextIO, out: TextIO) -> bool:
    """Read until an answer is one; False when the learner stops."""
    while True:
        out.write("Answer: ")
        out.flush()
        line = source.readline()
        given = line.strip()
        if not line or given.lower() == "q":
            return False
        if not given:
            return True
        try:
            out.write(f"{practice.answer(given)}\n")
        except DataError as error:
            out.write(f"{error}\n")
            continue
        return True
