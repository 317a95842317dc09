"""Mark a course: each answer runs behind a wall of its own (``exercises.runner``), and the best attempt counts.

A mark is out of 100: half for the public checks, half for the hidden ones, each by the share that passed (of a code
exercise: by the share of points). The hidden
data are drawn from course, learner and exercise. A mark that was given stays until answer, exercise or kit change.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from rebalance_kit.classroom.course import Course, StoredAttempt
from rebalance_kit.classroom.handed_in import printable
from rebalance_kit.classroom.questions import ExamMark, QuestionMark, exam_marks, mark_questions
from rebalance_kit.classroom.similarity import Alike, alike
from rebalance_kit.classroom.terms import Terms, read_terms
from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.checking import AnswerReport, CheckLine, check_answer
from rebalance_kit.exercises.child.attempt import OUT_OF_TIME
from rebalance_kit.exercises.code_task import CaseLine, CodeExercise, CodeReport, check_code
from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.wall import kinds
from rebalance_kit.exercises.workspace import AnyExercise, Identity, find
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import EnvironmentProblem, RebalanceKitError
from rebalance_kit.model.files import write_atomically

LIMIT_S = 30.0
"""Seconds that one call of an answer may take, unless the instructor says otherwise."""

_READ = "crash.eager.4.3.1"
"""A recorded run of moderate length, read once per machine, before its first mark."""
_PATIENCE_S = 120.0
"""Seconds that the kit's own solution may take."""
_MARKS = "marks.json"
_MOST_WORDS, _MOST_FEEDBACK = 2_000, 30_000
Report = AnswerReport | CodeReport
Checker = Callable[[str, Path, int], Report]
"""Checks the answer in a file to an exercise with a learner's seed."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark of one answer: points out of 100 after the rule for late work, the first check that did not pass (if any), and its words."""

    exercise: str
    attempt: int
    points: int
    stalled_at: str = ""
    words: str = ""
    feedback: str = ""
    days_late: int = 0
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class LearnerMarks:
    """All marks of one learner: the best one per exercise, the questions of exams and votes, notes, and whole exams in the order in which they were sat."""

    learner: str
    attempts: int
    best: Mapping[str, Mark]
    questions: tuple[QuestionMark, ...]
    notes: tuple[str, ...]
    exams: tuple[ExamMark, ...] = ()


@dataclass(frozen=True, slots=True)
class CourseMarks:
    """Marks of a course: exercises that are shown, learners, pairs of answers to look at, the terms, and which exercises were set."""

    course: str
    exercises: tuple[str, ...]
    learners: tuple[LearnerMarks, ...]
    pairs: tuple[Alike, ...]
    terms: Terms = field(default_factory=Terms)
    were_set: tuple[str, ...] = ()


class SparkChecker:
    """Check answers on one bench per thread, which begins at its first answer; ``close`` ends them all.

    The kit's own solution runs before the first answer to an exercise: what is slow only once is over by then, and
    on a machine where even the solution fails nobody is marked. Raises ``EnvironmentProblem`` on a machine without a wall,
    unless ``unconfined``.
    """

    def __init__(
        self, limit_s: float = LIMIT_S, bench: SparkBench | None = None, *, unconfined: bool = False
    ) -> None:
        if not unconfined and kinds.best() == kinds.NONE:
            raise EnvironmentProblem(
                "this machine has no wall to run other people's code behind; expected bubblewrap, or namespaces that users may make. "
                "With --unconfined answers run as you do: they can read and change all that you can"
            )
        self.limit_s = limit_s
        self._given, self._benches = bench, dict[int, SparkBench]()
        self._lock, self._proven, self._proving = threading.Lock(), set[str](), dict[str, threading.Lock]()

    def __call__(self, name: str, answer: Path, seed: int) -> Report:
        """Run the public and the hidden checks."""
        exercise = find(name)
        with self._lock:
            proving = self._proving.setdefault(name, threading.Lock())
        with proving:
            if name not in self._proven:
                self._prove(exercise)
                self._proven.add(name)
        return self._check(exercise, answer, seed, self.limit_s)

    def _check(self, exercise: AnyExercise, answer: Path, seed: int | None, limit_s: float) -> Report:
        """Check one file; a code exercise leaves Spark alone and has a limit of its own."""
        file = FromFile(answer, exercise.task.function)
        if isinstance(exercise, CodeExercise):
            return check_code(exercise, file, seed=seed)
        return check_answer(exercise, file, self._bench(), seed=seed, limit_s=limit_s)

    def _bench(self) -> SparkBench:
        """The bench that was given, or this thread's own."""
        if self._given is not None:
            return self._given
        with self._lock:
            mine = threading.get_ident()
            if mine not in self._benches:
                self._benches[mine] = SparkBench(fresh=True)
                if len(self._benches) == 1:
                    self._benches[mine].keep_classes(recorded(_READ))
            return self._benches[mine]

    def _prove(self, exercise: AnyExercise) -> None:
        solution = exercise.folder / "solution.py"
        report = self._check(exercise, solution, None, max(self.limit_s, _PATIENCE_S))
        if not report.green:
            words = next(line.words or line.title for line in report.public if not line.passed)
            raise EnvironmentProblem(
                f"{exercise.name}: the kit's own solution does not pass on this machine ({words}); expected it to, before answers are marked"
            )

    def close(self) -> None:
        """End what runs on the benches that are this checker's own, and remove what they put on the disk."""
        for bench in self._benches.values():
            bench.close()


def most_at_once() -> int:
    """How many answers are marked at the same time: one per core and at most four, where the wall keeps their processes apart; else one."""
    return min(len(os.sched_getaffinity(0)), 4) if kinds.best() in (kinds.BUBBLEWRAP, kinds.NAMESPACES) else 1


def mark_course(
    course: Course,
    check: Checker,
    asked: Sequence[str] = (),
    tell: Callable[[str], object] = lambda _: None,
    at_once: int = 1,
) -> CourseMarks:
    """Mark every attempt; ``asked`` are the exercises that count (default: those of ``class.yaml``, else those that anyone handed in).

    Who stands on the roster has a row without handing in anything. So many answers ``at_once`` are marked; one that runs
    out of time beside another runs once more, alone.
    """
    attempts, terms = course.attempts(), read_terms(course.folder)
    were_set = tuple(asked) or tuple(terms.exercises)
    exercises = were_set or tuple(sorted({name for attempt in attempts for name in attempt.answers}))
    given = _Given(course.folder / _MARKS)
    by_learner: dict[str, list[StoredAttempt]] = {learner: [] for learner in terms.roster}
    for attempt in attempts:
        by_learner.setdefault(attempt.learner, []).append(attempt)
    if at_once > 1:
        wanted = [one for made in by_learner.values() for one in _answers(made[: terms.attempts], exercises)]
        _mark_side_by_side(course.name, wanted, check, given, tell, at_once)
    learners = []
    for learner, made in by_learner.items():
        marks = [
            _in_time(_marked_or_told(course.name, attempt, name, check, given), attempt, terms)
            for attempt, name in _answers(made[: terms.attempts], exercises)
        ]
        learners.append(_learner(learner, made, marks, course.rooms, terms))
        tell(f"{learner}: " + ", ".join(f"{name} {mark.points}" for name, mark in learners[-1].best.items()))
    return CourseMarks(course.name, exercises, tuple(learners), _pairs(attempts, exercises), terms, were_set)


def _in_time(mark: Mark, attempt: StoredAttempt, terms: Terms) -> Mark:
    """The mark after the rule for late work."""
    days = terms.days_late(mark.exercise, attempt.at)
    return replace(mark, points=terms.after_late(mark.points, days), days_late=days)


def _answers(made: Sequence[StoredAttempt], exercises: Sequence[str]) -> Iterator[tuple[StoredAttempt, str]]:
    return ((attempt, name) for attempt in made for name in exercises if name in attempt.answers)


def _learner(
    learner: str, made: Sequence[StoredAttempt], marks: Sequence[Mark], rooms: Sequence[str], terms: Terms
) -> LearnerMarks:
    best: dict[str, Mark] = {}
    for mark in marks:
        if mark.exercise not in best or mark.points > best[mark.exercise].points:
            best[mark.exercise] = mark
    for comment in terms.comments.get(learner, ()):
        if comment.points is not None and comment.exercise:
            before = best.get(comment.exercise, Mark(comment.exercise, 0, 0))
            best[comment.exercise] = replace(before, points=comment.points, by_hand=True)
    lines = [line for attempt in made for line in attempt.questions]
    questions, odd = mark_questions(lines, [code for attempt in made for code in attempt.votes], rooms)
    exams, not_whole = exam_marks(lines)
    notes = dict.fromkeys([*(note for attempt in made for note in attempt.notes), *odd, *not_whole])
    if terms.roster and learner not in terms.roster:
        notes["not on the roster"] = None
    if terms.attempts is not None and len(made) > terms.attempts:
        notes[f"{len(made)} attempts; the first {terms.attempts} count"] = None
    return LearnerMarks(learner, len(made), best, questions, tuple(notes), exams)


def _marked_or_told(course: str, attempt: StoredAttempt, name: str, check: Checker, given: _Given) -> Mark:
    """The mark of one answer; whatever goes wrong with it is this learner's mark of 0, in words, and not kept."""
    try:
        return _marked(course, attempt, name, check, given)
    except RebalanceKitError:
        raise
    except Exception as error:  # noqa: BLE001 - one learner's answer stops nobody else's mark
        words = printable(f"not marked: {type(error).__name__}: {error}")
        return Mark(name, attempt.number, 0, "marking this answer", words, words)


def _mark_side_by_side(
    course: str,
    wanted: Sequence[tuple[StoredAttempt, str]],
    check: Checker,
    given: _Given,
    tell: Callable[[str], object],
    at_once: int,
) -> None:
    """Give the marks that need no second try, several at a time; whoever marks one by one finds them given."""
    pool = ThreadPoolExecutor(at_once)
    try:
        begun = [
            pool.submit(_marked, course, attempt, name, check, given, alone=False) for attempt, name in wanted
        ]
        for number, done in enumerate(as_completed(begun), 1):
            _raise_own(done)
            tell(f"{number} of {len(wanted)} answers")
    except BaseException:
        given.end()
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _raise_own(done: Future[Mark]) -> None:
    """Raise what stops all marking; any other error of one answer is told where that answer is marked alone."""
    if isinstance(error := done.exception(), RebalanceKitError):
        raise error


def _marked(
    course: str, attempt: StoredAttempt, name: str, check: Checker, given: _Given, *, alone: bool = True
) -> Mark:
    """The mark of one answer, given before or now; what ran out of time is tried once more, alone, before it becomes a mark."""
    path = attempt.answers[name]
    seed = Identity(attempt.learner, course).seed(name)
    key = hashlib.sha256(f"{__version__}\n{name}\n{seed}\n".encode() + path.read_bytes()).hexdigest()
    mark = given.get(key)
    while mark is None:
        mark = mark_of(name, check(name, path, seed))
        if OUT_OF_TIME not in mark.words or given.was_late(key):
            given.keep(key, mark)
        elif alone:
            mark = None
    return replace(mark, attempt=attempt.number)


def mark_of(name: str, report: Report) -> Mark:
    """Points for what passed: half for the public checks, half for the hidden ones."""
    points = round(50 * _share(report.public) + 50 * _share(report.hidden))
    stalled = next((line for line in (*report.public, *report.hidden) if not line.passed), None)
    title, words = ("", "") if stalled is None else (stalled.title, stalled.words)
    hidden = stalled is not None and stalled in report.hidden and stalled not in report.public
    told = printable(f"on unseen data: {title}" if hidden else title)
    return Mark(name, 0, points, told, printable(words, _MOST_WORDS), printable(str(report), _MOST_FEEDBACK))


def _share(lines: Sequence[CheckLine | CaseLine]) -> float:
    points = sum(line.points for line in lines if isinstance(line, CaseLine))
    if points:
        return sum(line.earned for line in lines if isinstance(line, CaseLine)) / points
    return sum(line.passed is True for line in lines) / len(lines) if lines else 0.0


def _pairs(attempts: Sequence[StoredAttempt], exercises: Sequence[str]) -> tuple[Alike, ...]:
    """Pairs among the last answers of the learners, exercise by exercise."""
    pairs: list[Alike] = []
    for name in exercises:
        last = {attempt.learner: attempt.answers[name] for attempt in attempts if name in attempt.answers}
        texts = {learner: path.read_text("utf-8", "replace") for learner, path in last.items()}
        own = [find(name).text(file) for file in ("answer.py", "solution.py")]
        pairs += alike(name, texts, own)
    return tuple(pairs)


class _Given:
    """Marks given so far, by what they depend on; kept after each one, so that an interrupt loses none."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock, self._late, self._ended = path, threading.Lock(), set[str](), False
        try:
            written = json.loads(path.read_text("utf-8"))
            self._marks = {str(key): Mark(**mark) for key, mark in written.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            self._marks = {}

    def get(self, key: str) -> Mark | None:
        return self._marks.get(key)

    def was_late(self, key: str) -> bool:
        """Whether this answer ran out of time before; from now on it did."""
        with self._lock:
            before = key in self._late
            self._late.add(key)
        return before

    def keep(self, key: str, mark: Mark) -> None:
        with self._lock:
            if self._ended:
                return
            self._marks[key] = mark
            texts = {name: asdict(given) for name, given in self._marks.items()}
            write_atomically(self._path, json.dumps(texts, indent=1) + "\n")

    def end(self) -> None:
        """Keep nothing more: answers that run now are ended, not marked."""
        with self._lock:
            self._ended = True
