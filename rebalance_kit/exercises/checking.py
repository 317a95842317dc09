"""Check an answer: the public checks with words that teach, the hidden ones with their titles only.

Output of a right answer to the public case, as a small table: the hint between problem and solution.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.exercises.runner import LIMIT_S, Answer, Attempted, run_answer
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import (
    Case,
    Check,
    CheckInput,
    Exercise,
    NotYet,
    Task,
    in_order,
    shown,
    told,
)

ANSWERS = "return a DataFrame with the requested columns"
EVERY_ROW = "every row is what happened"


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One check: its title, whether it passed, and the words when not; ``None`` passed: not looked at."""

    title: str
    passed: bool | None
    words: str = ""


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Results of the checks of one answer; ``hidden`` is empty unless they were asked for.

    ``printed`` is what the answer wrote to standard output during the public case.
    """

    exercise: str
    public: tuple[CheckLine, ...]
    hidden: tuple[CheckLine, ...] = ()
    printed: str = ""

    @property
    def green(self) -> bool:
        """Whether every check that is here passed."""
        return all(line.passed for line in (*self.public, *self.hidden))

    def __str__(self) -> str:
        lines = [f"Your code printed:\n{self.printed}\n"] if self.printed else []
        lines += [
            f"{_mark(line)} {line.title}" + (f"\n    {line.words}" if line.words else "")
            for line in self.public
        ]
        lines.append(f"{self.exercise}: public checks {_count(self.public)} passed")
        if self.hidden:
            lines += [
                f"{_mark(line)} on data you have not seen: {line.title}"
                for line in self.hidden
                if not line.passed
            ]
            lines.append(f"{self.exercise}: hidden checks {_count(self.hidden)} passed")
        return "\n".join(lines)


def _mark(line: CheckLine) -> str:
    return {True: "passed ", False: "to do  ", None: "  -    "}[line.passed]


def _count(lines: tuple[CheckLine, ...]) -> str:
    return f"{sum(line.passed is True for line in lines)}/{len(lines)}"


def check_answer(
    exercise: Exercise,
    answer: Answer,
    bench: SparkBench,
    *,
    seed: int | None = None,
    limit_s: float = LIMIT_S,
) -> AnswerReport:
    """Run the public checks and, once they all pass and a learner's ``seed`` is given, the hidden ones.

    The answer runs in a process of its own (``runner.run_answer``); it is compared in this one.
    """
    task = exercise.task
    bench.next_answer()
    public, printed = _look(task, task.public, answer, bench, limit_s)
    if seed is None or not all(line.passed for line in public):
        return AnswerReport(exercise.name, public, printed=printed)
    hidden = [line for case in exercise.hidden(seed) for line in _look(task, case, answer, bench, limit_s)[0]]
    titles = tuple(CheckLine(line.title, line.passed) for line in hidden)
    return AnswerReport(exercise.name, public, titles, printed)


def _look(
    task: Task, case: Case, answer: Answer, bench: SparkBench, limit_s: float
) -> tuple[tuple[CheckLine, ...], str]:
    """The checks of one case, and what the answer printed."""
    checks = (*task.checks, Check(EVERY_ROW, lambda seen: same_rows(task, seen)))
    try:
        answer.code()  # what can be said without data is said before Spark starts
        done = run_answer(task, answer, task.inputs(bench.given, case), bench, limit_s)
    except NotYet as words:
        done = Attempted(problem=str(words))
    if done.problem is not None:
        unseen = (CheckLine(check.title, None) for check in checks)
        return (CheckLine(ANSWERS, False, done.problem), *unseen), done.printed
    seen = CheckInput(in_order(done.rows, task.key), in_order(task.truth(case), task.key), case, task.key)
    return (CheckLine(ANSWERS, True), *(_verdict(check, seen) for check in checks)), done.printed


def _verdict(check: Check, seen: CheckInput) -> CheckLine:
    try:
        check.look(seen)
    except NotYet as words:
        return CheckLine(check.title, False, str(words))
    except (TypeError, KeyError, ValueError) as error:
        return CheckLine(
            check.title,
            False,
            f"your rows hold something that cannot be compared ({error}): a null where a value belongs?",
        )
    return CheckLine(check.title, True)


def same_rows(task: Task, seen: CheckInput) -> None:
    """Compare by key; the first difference is told, with the number of them."""
    if repeated := seen.repeated():
        raise NotYet(
            f"{len(repeated)} rows repeat a key, the first: {shown(repeated[0], task.key)}. One row each is asked for: was a `groupBy` or `dropDuplicates` forgotten, or does a join multiply?"
        )
    if missing := seen.missing():
        raise NotYet(
            f"{len(missing)} of {len(seen.truth)} rows are missing, the first: {shown(missing[0], task.key)}. {task.next_step}"
        )
    if extra := seen.extra():
        raise NotYet(
            f"{len(extra)} rows too many, the first: {shown(extra[0], list(task.columns))}. {task.next_step}"
        )
    if wrong := seen.pairs(lambda got, true: any(got[name] != true[name] for name in task.columns)):
        got, true = wrong[0]
        name = next(name for name in task.columns if got[name] != true[name])
        raise NotYet(
            f"{len(wrong)} of {len(seen.truth)} rows differ, the first: {shown(true, task.key)}: {name} is {told(got[name])}, it was {told(true[name])}. {task.next_step}"
        )


SHOWN = 12


def expected(task: Task) -> str:
    """The true rows of the public case, the first ``SHOWN`` of them, in the order of their keys.

    Made from the truth, so it never holds what a solution happens to answer.
    """
    rows = in_order(task.truth(task.public), task.key)
    table = [list(task.columns), *([told(row[name]) for name in task.columns] for row in rows[:SHOWN])]
    widths = [max(len(line[column]) for line in table) for column in range(len(task.columns))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    ]
    more = len(rows) - SHOWN
    return "\n".join([*lines, f"... and {more} more rows"] if more > 0 else lines) + "\n"
