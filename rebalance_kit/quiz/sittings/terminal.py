"""Quiz, review and exam in a terminal: questions and answers a line each, and at the end what was believed that is not so."""

from __future__ import annotations

import sys
import textwrap
import time
from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.proof.replay import Replay
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.page import WIDTH, question_lines
from rebalance_kit.quiz.sittings.practice import NOTHING_DUE, Practice, beliefs_shown, practise, practise_due
from rebalance_kit.quiz.sittings.store import Store

_CONFIDENCE = {"": None, "s": "sure", "t": "think", "g": "guess"}


def run_quiz(
    tag: str | None = None,
    count: int | None = None,
    seed: int = 1,
    *,
    ids: Sequence[str] = (),
    source: TextIO | None = None,
    out: TextIO,
    store: Store | None = None,
    confidence: bool = False,
    links: bool = False,
) -> int:
    """Ask the first ``count`` questions of a tag (all of the bank without one), reading one answer per line.

    ``source`` is standard input unless given. With ``links`` each verdict ends with the commands that open the
    runs behind it in the lab. An empty line passes a question over, ``q`` or the end of
    the input stops. Returns 0; raises ``DataError`` for an unknown tag or id, or a count below 1.
    """
    if count is not None and count < 1:
        raise DataError(f"count {count} received, expected at least 1")
    return _ask_all(
        practise(tag, ids, seed, count, store, tag or "of the whole bank"),
        source,
        out,
        confidence=confidence,
        links=links,
    )


def run_review(
    count: int | None = None,
    *,
    store: Store,
    source: TextIO | None = None,
    out: TextIO,
    now: float | None = None,
    links: bool = False,
) -> int:
    """Ask what is due, at most ``count``; says so when nothing is. Returns 0."""
    practice = practise_due(store, time.time() if now is None else now, count)
    if not practice.questions:
        out.write(f"{NOTHING_DUE}\n")
        return 0
    return _ask_all(practice, source, out, confidence=True, links=links)


def _ask_all(practice: Practice, source: TextIO | None, out: TextIO, *, confidence: bool, links: bool) -> int:
    source = sys.stdin if source is None else source
    for number, question in enumerate(practice.questions, start=1):
        practice.place = number - 1
        out.write("\n" + "\n".join(question_lines(question, number)) + "\n")
        if not _ask(practice, source, out, confidence=confidence):
            break
        out.writelines(_seen(replay, links=links) for replay in practice.replays)
    beliefs = read_bank().beliefs
    out.write(f"\n{practice.right} right of {len(practice.verdicts)} answered.\n")
    out.writelines(
        "\n".join(textwrap.wrap(f"Not so: {beliefs[belief]} ({belief})", WIDTH)) + "\n"
        for belief in beliefs_shown(practice.verdicts.values())
    )
    if practice.store is not None and practice.store.notice:
        out.write(f"{practice.store.notice}\n")
    return 0


def _ask(practice: Practice, source: TextIO, out: TextIO, *, confidence: bool) -> bool:
    """Read until an answer is one; False when the learner stops."""
    while True:
        answer = _read("Answer: ", source, out)
        if answer is None or answer.lower() == "q":
            return False
        if not answer:
            return True
        try:
            how = _confidence(source, out) if confidence else None
            out.write(f"{practice.answer(answer, how)}\n")
        except DataError as error:
            out.write(f"{error}\n")
            continue
        return True


def _seen(replay: Replay, *, links: bool) -> str:
    moment = f"the run that decides it: {replay.name}, from {replay.at_ms / 1000:g} s"
    return f"{moment}\n  rebalance-kit lab {replay.link}\n" if links else f"{moment}\n"


def _confidence(source: TextIO, out: TextIO) -> str | None:
    letter = (_read("Sure, think so or guess (s, t, g): ", source, out) or "").lower()[:1]
    return _CONFIDENCE.get(letter)


def _read(asks: str, source: TextIO, out: TextIO) -> str | None:
    out.write(asks)
    out.flush()
    line = source.readline()
    return line.strip() if line else None


_HELP = "an answer, n(ext), p(revious), a number and g to go there, f(lag), x and a letter to strike out, r(eview screen), hand in, q(uit; the clock runs on)"


def run_exam(
    name: str,
    seed: int = 1,
    questions: int | None = None,
    minutes: float | None = None,
    *,
    store: Store,
    source: TextIO | None = None,
    out: TextIO,
    links: bool = False,
    again: bool = False,
) -> int:
    """Sit an exam, or come back to it; commands are told at its beginning. Returns 0."""
    source = sys.stdin if source is None else source
    exam = ExamSitting.begin(name, seed, questions=questions, minutes=minutes, store=store, again=again)
    out.write(
        "This exam was handed in; --again begins it once more.\n"
        if exam.ended
        else f"{len(exam.questions)} questions, {exam.left_s / 60:.0f} minutes left.\n{_HELP}\n"
    )
    out.writelines(
        f"The bank lacks {number} questions of {domain}.\n"
        for domain, number in exam.page()["missing"].items()
    )
    while not exam.ended:
        _show(exam, out)
        line = _read("> ", source, out)
        if line is None or line.lower() == "q":
            out.write("The exam goes on: the same command comes back to it.\n")
            return 0
        try:
            _obey(exam, line, out)
        except DataError as error:
            out.write(f"{error}\n")
    out.write(exam.report().text() + "\n")
    _look_back(exam, source, out, links=links)
    return 0


def _look_back(exam: ExamSitting, source: TextIO, out: TextIO, *, links: bool) -> None:
    """After the end: a number shows that question with its key and reasons, an empty line or q ends."""
    wrong = [
        str(n) for n, verdict in enumerate(exam.verdicts(), start=1) if verdict is None or not verdict.right
    ]
    if wrong:
        out.write(f"\nNot right: {' '.join(wrong)}\n")
    while number := _read("A question's number to see its key and reasons, Enter to end: ", source, out):
        if number.lower() == "q":
            return
        try:
            exam.go(int(number) - 1 if number.isdecimal() else -1)
        except DataError:
            out.write(f"{number!r} received, expected a number from 1 to {len(exam.questions)}\n")
            continue
        lines = question_lines(exam.questions[exam.place], exam.place + 1)
        out.write(
            "\n"
            + "\n".join(lines)
            + f"\n   [your answer: {exam.given(exam.place) or 'none'}]\n{exam.told()}\n"
        )
        out.writelines(_seen(replay, links=links) for replay in exam.replays())


def _show(exam: ExamSitting, out: TextIO) -> None:
    page = exam.page()
    if page["ended"]:
        return
    marks = [
        f"your answer {page['given']}" if page["given"] else "",
        "flagged" if page["places"][exam.place]["flagged"] else "",
        f"struck out {' '.join(page['struck'])}" if page["struck"] else "",
    ]
    out.write("\n" + exam.text() + "\n")
    out.write("".join(f"   [{mark}]\n" for mark in marks if mark))


def _obey(exam: ExamSitting, line: str, out: TextIO) -> None:
    words = line.lower().split()
    last = len(exam.questions) - 1
    if words in (["n"], ["next"], []):
        exam.go(min(exam.place + 1, last))
    elif words in (["p"], ["previous"]):
        exam.go(max(exam.place - 1, 0))
    elif words in (["f"], ["flag"]):
        exam.flag()
    elif words in (["r"], ["review"]):
        out.write(_review_screen(exam))
    elif words == ["hand", "in"]:
        exam.finish()
    elif len(words) == 2 and words[0] == "x":
        exam.strike(words[1])
    elif len(words) == 2 and words[1] == "g" and words[0].isdecimal() and len(words[0]) < 9:
        exam.go(int(words[0]) - 1)
    else:
        exam.answer(line)
        exam.go(min(exam.place + 1, last))


def _review_screen(exam: ExamSitting) -> str:
    lines = []
    for number, question in enumerate(exam.page()["places"], start=1):
        status = "answered" if question["answered"] else "open"
        lines.append(f"{number:>3} {status}{', flagged' if question['flagged'] else ''}")
    return "\n".join(lines) + "\n"
