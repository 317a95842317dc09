"""Quiz, review and exam in a terminal: questions and answers a line each, and at the end what was believed that is not so."""

from __future__ import annotations

import shutil
import sys
import textwrap
import time
from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings import daily
from rebalance_kit.quiz.sittings.exam import ExamSitting, clock_text
from rebalance_kit.quiz.sittings.page import WIDTH, fitted, question_lines
from rebalance_kit.quiz.sittings.practice import (
    A_DAY,
    NOTHING_DUE,
    Practice,
    beliefs_shown,
    practise,
    practise_due,
)
from rebalance_kit.quiz.sittings.progress import TO_CHECK, Replay
from rebalance_kit.quiz.sittings.store import Store

_CONFIDENCE = {"": None, "s": "sure", "t": "think", "g": "guess"}


def run_quiz(
    tag: str | None = None,
    count: int | None = None,
    seed: int | None = None,
    *,
    ids: Sequence[str] = (),
    wanted: daily.Wanted | None = None,
    source: TextIO | None = None,
    out: TextIO,
    store: Store | None = None,
    confidence: bool = False,
    links: bool = False,
) -> int:
    """Ask ``count`` questions of a tag, of ``ids``, or as ``wanted``; one answer a line.

    What was answered longest ago, or never, comes first, so that two days do not ask the same. ``source`` is standard input unless
    given. With ``links`` each verdict ends with the commands that open the runs behind it in the lab. An empty line passes a
    question over, ``q`` or the end of the input stops. Returns 0; raises ``DataError`` for an unknown tag or id, or a count below 1.
    """
    practice = (
        practise(ids=ids, seed=seed or 1, count=count, store=store, title=tag)
        if ids
        else daily.practise_wanted(wanted or daily.Wanted(tag), Store.given(store), count, seed)
    )
    if not practice.questions:
        out.write("No question fits: nothing is new, or no theme is weak, there.\n")
        return 0
    return _ask_all(practice, source, out, confidence=confidence, links=links)


def run_today(
    name: str,
    *,
    store: Store,
    source: TextIO | None = None,
    out: TextIO,
    now: float | None = None,
    links: bool = False,
) -> int:
    """Say what today holds, and ask it. Returns 0."""
    at = time.time() if now is None else now
    out.write("\n".join(daily.today_lines(store, name, at)) + "\n")
    practice = daily.practise_today(store, name, at)
    if practice.questions:
        _ask_all(practice, source, out, confidence=True, links=links)
        out.write(daily.coming_line(store, at) + "\n")
    return 0


def run_review(
    count: int | None = None,
    *,
    store: Store,
    source: TextIO | None = None,
    out: TextIO,
    now: float | None = None,
    links: bool = False,
) -> int:
    """Ask what is due, ``count`` questions at most (20 unless given); says how many come tomorrow. Returns 0."""
    at = time.time() if now is None else now
    practice = practise_due(store, at, A_DAY if count is None else count)
    if not practice.questions:
        out.write(f"{NOTHING_DUE}\n{daily.coming_line(store, at)}\n")
        return 0
    _ask_all(practice, source, out, confidence=True, links=links)
    out.write(daily.coming_line(store, at) + "\n")
    return 0


def _ask_all(practice: Practice, source: TextIO | None, out: TextIO, *, confidence: bool, links: bool) -> int:
    source = sys.stdin if source is None else source
    for number, question in enumerate(practice.questions, start=1):
        practice.place = number - 1
        out.write("\n" + "\n".join(question_lines(question, number, _width())) + "\n")
        if not _ask(practice, source, out, confidence=confidence):
            break
        out.writelines(_seen(replay, links=links) for replay in practice.replays)
    beliefs = read_bank().beliefs
    out.write(f"\n{practice.right} right of {len(practice.verdicts)} answered.\n")
    fitting = [
        _wrap(f"- {beliefs[belief]} ({belief})") for belief in beliefs_shown(practice.verdicts.values())
    ]
    if fitting:
        out.write("\n".join([_wrap(f"{TO_CHECK}:"), *fitting, ""]))
    if practice.store is not None and practice.store.notice:
        out.write(f"{practice.store.notice}\n")
    return 0


def _ask(practice: Practice, source: TextIO, out: TextIO, *, confidence: bool) -> bool:
    """Read until an answer is one; False when the learner stops."""
    while True:
        answer = _read("Answer: ", source, out)
        if answer is None or answer.lower() in {"q", "quit", "exit"}:
            return False
        if not answer:
            return True
        if answer.lower() in {"h", "help", "?"}:
            out.write("an answer, Enter to pass the question over, q to stop\n")
            continue
        try:
            practice.check(answer)
            how = _confidence(source, out) if confidence else None
            out.write(fitted(f"{practice.answer(answer, how)}\n{practice.source_line}\n", _width()))
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


_HELP = (
    "an answer, n(ext), p(revious), o(pen: the next one), m(arked: the next with a flag), a number and g to go there, f(lag), "
    "x and a letter to strike out, r(eview screen), hand in, h(elp), q(uit; the clock runs on)"
)
WARNED_S = 300
"""Seconds before the end at which an exam warns."""


def run_exam(
    name: str,
    seed: int = 1,
    questions: int | None = None,
    minutes: float | None = None,
    *,
    store: Store,
    source: TextIO | None = None,
    out: TextIO,
    again: bool = False,
) -> int:
    """Say what the exam is, wait for Enter, and sit it; or come back to one that has begun. Returns 0.

    Nothing counts before Enter; ``q`` there leaves the exam unbegun. The end of the input leaves it open, as ``q`` does.
    """
    source = sys.stdin if source is None else source
    exam = ExamSitting.begin(name, seed, questions=questions, minutes=minutes, store=store, again=again)
    if not exam.begun and not _start(exam, source, out):
        return 0
    if exam.ended:
        out.write("This exam was handed in; --again begins it once more, in another order.\n")
    else:
        out.write(f"{len(exam.questions)} questions, {clock_text(exam.left_s)} left.\n{_wrap(_HELP)}\n")
    warned = False
    while not exam.ended:
        if exam.left_s <= WARNED_S and not warned:
            warned = True
            out.write(f"\nFive minutes or less: {clock_text(exam.left_s)} left.\n")
        _show(exam, out)
        line = _read("> ", source, out)
        if line is None or line.lower() in {"q", "quit", "exit"}:
            out.write("The exam is kept and its clock runs on: the same command comes back to it.\n")
            return 0
        try:
            _obey(exam, line, source, out)
        except DataError as error:
            out.write(f"{error}\n")
    _report(exam, out)
    _look_back(exam, source, out)
    return 0


def _width() -> int:
    """As wide as the terminal, and no wider than what is comfortably read."""
    return max(40, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def _wrap(text: str) -> str:
    return "\n".join(textwrap.wrap(text, _width(), break_on_hyphens=False, break_long_words=False))


def _start(exam: ExamSitting, source: TextIO, out: TextIO) -> bool:
    """The screen before the clock runs; whether the learner begins."""
    title = exam.page()["title"]
    lines = [fitted(line, _width()) for line in exam.start_lines()]
    out.write("\n".join([title, "", *lines, "", ""]))
    line = _read("Enter begins, q leaves it: ", source, out)
    if line is None or line.lower() not in {"", "b", "begin", "y", "yes"}:
        out.write("Not begun; no time has passed.\n")
        return False
    exam.start()
    return True


def _report(exam: ExamSitting, out: TextIO) -> None:
    """The report, and for each run that it advises the command that opens it at its moment."""
    out.write(fitted(exam.report().text(), _width()) + "\n")
    runs = exam.to_replay()
    out.write("\nOpen a run one second before the moment that decides:\n" if runs else "")
    out.writelines(
        f"  question {number}, {run.name}, from {run.at_ms / 1000:g} s\n  rebalance-kit lab {run.link}\n"
        for number, run in runs
    )


def _look_back(exam: ExamSitting, source: TextIO, out: TextIO) -> None:
    """After the end: a number shows that question with its key and reasons, an empty line or q ends."""
    wrong = [
        str(n) for n, verdict in enumerate(exam.verdicts(), start=1) if verdict is None or not verdict.right
    ]
    if wrong:
        out.write("\n" + _wrap(f"Not right: {' '.join(wrong)}") + "\n")
    while number := _read("A question's number to see its key and reasons, Enter to end: ", source, out):
        if number.lower() in {"q", "quit"}:
            return
        try:
            exam.go(int(number) - 1 if number.isdecimal() and len(number) < 9 else -1)
        except DataError:
            out.write(f"{number!r} received, expected a number from 1 to {len(exam.questions)}\n")
            continue
        lines = question_lines(exam.questions[exam.place], exam.place + 1, _width())
        given = f"   [your answer: {exam.given(exam.place) or 'none'}]"
        told = fitted(f"{exam.told()}\n{exam.sources()}", _width())
        out.write("\n" + "\n".join([*lines, given, told]) + "\n")
        out.writelines(_seen(replay, links=True) for replay in exam.replays())


def _show(exam: ExamSitting, out: TextIO) -> None:
    page = exam.page()
    if page["ended"]:
        return
    place = page["places"][exam.place]
    marks = [
        f"your answer {page['given']}" if page["given"] else "",
        f"{place['lacking']} more asked for: counts as open" if place["lacking"] else "",
        "flagged" if place["flagged"] else "",
        f"struck out {' '.join(page['struck'])}" if page["struck"] else "",
    ]
    out.write("\n" + exam.text(_width()) + "\n")
    out.write("".join(f"   [{mark}]\n" for mark in marks if mark))


def _obey(exam: ExamSitting, line: str, source: TextIO, out: TextIO) -> None:
    words = line.lower().split()
    last = len(exam.questions) - 1
    if words in (["n"], ["next"], []):
        exam.go(min(exam.place + 1, last))
    elif words in (["p"], ["previous"]):
        exam.go(max(exam.place - 1, 0))
    elif words in (["o"], ["open"], ["next", "open"]):
        out.write("" if exam.next_open() else "No question is open.\n")
    elif words in (["m"], ["marked"], ["next", "flagged"]):
        out.write("" if exam.next_flagged() else "No question is flagged.\n")
    elif words in (["f"], ["flag"]):
        exam.flag()
    elif words in (["r"], ["review"]):
        out.write(_review_screen(exam))
    elif words in (["h"], ["help"], ["?"]):
        out.write(_wrap(_HELP) + "\n")
    elif words in (["hand", "in"], ["handin"], ["submit"], ["finish"]):
        _hand_in(exam, source, out)
    elif len(words) == 2 and words[0] == "x":
        exam.strike(words[1])
    elif len(words) == 2 and words[1] == "g" and words[0].isdecimal() and len(words[0]) < 9:
        exam.go(int(words[0]) - 1)
    else:
        exam.answer(line)
        exam.go(min(exam.place + 1, last))


def _hand_in(exam: ExamSitting, source: TextIO, out: TextIO) -> None:
    """Hand in; where something is open or flagged, only after a yes."""
    page = exam.page()
    if page["ended"]:
        return
    left = [str(number) for number, place in enumerate(page["places"], 1) if not place["answered"]]
    flagged = [str(number) for number, place in enumerate(page["places"], 1) if place["flagged"]]
    if left or flagged:
        out.write(_wrap(f"Open: {' '.join(left) or 'none'}. Flagged: {' '.join(flagged) or 'none'}.") + "\n")
        answer = _read("Hand in? (yes or no): ", source, out)
        if (answer or "").lower() not in {"y", "yes"}:
            out.write("Not handed in.\n")
            return
    exam.finish()


def _review_screen(exam: ExamSitting) -> str:
    places = list(enumerate(exam.places(), start=1))
    groups = {
        "Answered": [number for number, place in places if place["answered"]],
        "Open": [number for number, place in places if not place["answered"]],
        "Flagged": [number for number, place in places if place["flagged"]],
    }
    lines = [f"{clock_text(exam.left_s)} left, {len(groups['Answered'])} of {len(places)} answered"]
    lines += [f"{name}: {' '.join(map(str, found)) or 'none'}" for name, found in groups.items()]
    lines += [
        f"Open, {place['lacking']} more asked for: {number}" for number, place in places if place["lacking"]
    ]
    return fitted("\n".join(lines), _width()) + "\n"
