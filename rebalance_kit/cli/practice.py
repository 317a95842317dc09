"""Commands of practice: questions, exams, review, the bank; exercises on logs with PySpark and on code for the engine."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.door import Commands

if TYPE_CHECKING:
    from rebalance_kit.exercises.workspace import Workspace
    from rebalance_kit.quiz.sittings.store import Store


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_practice(commands)
    _add_items(commands)


def _add_practice(commands: Commands) -> None:
    quiz = commands.add_parser("quiz", help="practise questions in the terminal")
    quiz.add_argument("topic", nargs="?", default=None, help="a tag, for example eager")
    quiz.add_argument("--count", type=int, default=None)
    quiz.add_argument("--domain", default=None, help='a domain of an exam, for example "CCDAK Connect"')
    quiz.add_argument("--objective", default=None, help="words of an objective")
    quiz.add_argument("--weak", action="store_true", help="themes in which your first answers were weak")
    quiz.add_argument("--new", action="store_true", help="only what was never answered")
    quiz.add_argument("--seed", type=int, default=None, help="the same order and variants again")
    quiz.add_argument("--confidence", action="store_true", help="ask how sure each answer is")
    quiz.set_defaults(command=_quiz)
    today = commands.add_parser("today", help="fifteen minutes: what is due, what is weak, what is new")
    plan = commands.add_parser("plan", help="a plan up to a day, with its gates, and how far you are")
    for command in (today, plan):
        command.add_argument("name", nargs="?", default="CCDAK", help="CCDAK (unless given) or CCAAK")
    today.set_defaults(command=_today)
    plan.add_argument("--until", default=None, metavar="DATE", help="the day of the exam, as in 2026-12-31")
    plan.set_defaults(command=_plan)
    exam = commands.add_parser("exam", help="sit a timed mock exam, or come back to it")
    exam.add_argument("name", help="CCDAK or CCAAK")
    exam.add_argument(
        "--seed", type=int, default=1, help="1, 2 and 3 are parallel and avoid each other's questions"
    )
    exam.add_argument("--questions", type=int, default=None)
    exam.add_argument("--minutes", type=float, default=None)
    exam.add_argument(
        "--again", action="store_true", help="begin an exam once more that was handed in, in another order"
    )
    exam.set_defaults(command=_exam)
    review = commands.add_parser("review", help="what was missed or guessed and is due again (FSRS)")
    review.add_argument("--count", type=int, default=None)
    review.set_defaults(command=_review)
    answers = commands.add_parser("answers", help="your own answers: report, export, import, delete")
    answers.add_argument("action", choices=("report", "export", "import", "delete"))
    answers.add_argument("--to", type=Path, default=None, help="export: the file to write (JSON lines)")
    answers.add_argument(
        "--from", type=Path, default=None, dest="source", help="import: a file of export, or of the page's"
    )
    answers.set_defaults(command=_answers)
    answers.add_argument("--yes", action="store_true", help="delete: do not ask")
    for command in (quiz, review, answers, today):
        command.add_argument(
            "--links", action="store_true", help="print what opens the runs behind a verdict in the lab"
        )
    for command in (quiz, exam, review, answers, today, plan):
        command.add_argument("--store", type=Path, default=None, help="the file of your answers")


def _add_items(commands: Commands) -> None:
    items = commands.add_parser("items", help="the item bank: check it, begin an item, export a selection")
    actions = items.add_subparsers(title="actions", required=True)
    check = actions.add_parser(
        "check", help="schema, duplicates, give-aways, and every key against the engine"
    )
    check.add_argument("paths", nargs="*", help="item files or folders (default: the kit's own)")
    check.add_argument("--json", action="store_true")
    check.add_argument(
        "--draws",
        type=int,
        default=100,
        metavar="N",
        help="ask each key with a time of N draws of its runs' phases (2 to 10000, default 100)",
    )
    check.set_defaults(command=_items_check)
    new = actions.add_parser("new", help="write a commented draft of an item")
    new.add_argument("kind", help="single, multiple, numeric or another kind of docs/items.md")
    new.add_argument("id", help="a name of its own, as in eager-crash-which-unread")
    new.add_argument("--to", type=Path, default=None, help="a new file (default: print it)")
    new.set_defaults(command=_items_new)
    _add_items_stats(actions)
    export = actions.add_parser("export", help="Anki, Moodle, GIFT, QTI, jupyterquiz, CSV or HTML")
    export.add_argument("format")
    export.add_argument("to", type=Path)
    export.add_argument("--tag", default=None)
    export.add_argument("--ids", nargs="*", default=())
    export.add_argument("--count", type=int, default=None)
    export.add_argument("--seed", type=int, default=1)
    export.add_argument("--without-key", action="store_true", help="html: a paper to hand out")
    export.set_defaults(command=_items_export)


def _add_items_stats(actions: Commands) -> None:
    stats = actions.add_parser(
        "stats", help="difficulty, discrimination and chosen options, from your answers or from files"
    )
    stats.add_argument(
        "files", nargs="*", type=Path, help="files of --to to put together (default: your own answers)"
    )
    stats.add_argument(
        "--to", type=Path, default=None, help="a new file of sums, without names (default: print)"
    )
    stats.add_argument("--store", type=Path, default=None, help="the file of your answers")
    stats.set_defaults(command=_items_stats)


def _store(arguments: argparse.Namespace) -> Store:
    from rebalance_kit.model.errors import DataError
    from rebalance_kit.quiz.sittings.store import Store

    if arguments.store is not None and not arguments.store.absolute().parent.is_dir():
        raise DataError(
            f"{arguments.store.absolute().parent}: does not exist; expected a folder for the file of your answers"
        )
    return Store(arguments.store)


def _quiz(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.sittings.daily import Wanted
    from rebalance_kit.quiz.sittings.terminal import run_quiz

    return run_quiz(
        count=arguments.count,
        seed=arguments.seed,
        wanted=Wanted(arguments.topic, arguments.domain, arguments.objective, arguments.weak, arguments.new),
        out=out,
        store=_store(arguments),
        confidence=arguments.confidence,
        links=arguments.links,
    )


def _today(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.sittings.terminal import run_today

    return run_today(arguments.name, store=_store(arguments), out=out, links=arguments.links)


def _plan(arguments: argparse.Namespace, out: TextIO) -> int:
    import time
    from datetime import timedelta

    from rebalance_kit.model.errors import DataError
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.sittings.daily import progress_lines
    from rebalance_kit.quiz.sittings.progress import DAYS, day_of, keep_plan, kept_plan, plan_lines, read_day

    if "." in arguments.name:
        raise DataError(
            f"plan is the plan of your study, of CCDAK or CCAAK, not of {arguments.name!r}; "
            f"for a deploy: rebalance-kit plan-deploy {arguments.name}"
        )
    store, name, now = _store(arguments), arguments.name, time.time()
    today = day_of(now)
    if arguments.until is not None:
        keep_plan(store, name, today, read_day(arguments.until))
    elif kept_plan(store, name) is None:
        keep_plan(store, name, today, today + timedelta(days=DAYS))
    lines = [*plan_lines(store, read_bank(), name, today), "", *progress_lines(store, name, now)]
    out.write("\n".join(lines) + "\n")
    return 0


def _exam(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.sittings.terminal import run_exam

    return run_exam(
        arguments.name,
        arguments.seed,
        arguments.questions,
        arguments.minutes,
        again=arguments.again,
        store=_store(arguments),
        out=out,
    )


def _review(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.sittings.terminal import run_review

    return run_review(arguments.count, store=_store(arguments), out=out, links=arguments.links)


def _answers(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.errors import DataError
    from rebalance_kit.model.files import draft_of
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.sittings.progress import progress, to_replay

    store = _store(arguments)
    if arguments.action == "report":
        bank = read_bank()
        report = progress(store.attempts(), bank)
        out.write(report.text() + "\n")
        out.writelines(
            f"\n{replay.name}:\nrebalance-kit lab {replay.link}\n"
            for replay in (to_replay(report, bank) if arguments.links else ())
        )
    elif arguments.action == "delete":
        if not arguments.yes and not _agreed(store, out):
            out.write("Nothing was deleted.\n")
            return 0
        out.write(f"{store.delete()} answers deleted from {store.path}\n")
    elif arguments.action == "import":
        _import_answers(arguments.source, store, out)
    elif arguments.to is None:
        if not store.export(out):
            print(f"no answers in {store.path} yet", file=sys.stderr)
    else:
        if arguments.to.exists():
            raise DataError(f"{arguments.to}: exists already; expected the name of a new file")
        with draft_of(arguments.to) as draft, draft.open("w", encoding="utf-8") as stream:
            number = store.export(stream)
        out.write(f"{number} answers written to {arguments.to}\n")
    return 0


def _import_answers(source: Path | None, store: Store, out: TextIO) -> None:
    """Take in a file of answers; raises ``DataError`` where there is none, or where it holds something else."""
    from rebalance_kit.model.errors import DataError
    from rebalance_kit.model.yaml_text import YamlRules, read_text

    if source is None:
        raise DataError("import names no file; expected --from FILE, as `answers export --to FILE` wrote it")
    try:
        fresh, known = store.bring(
            read_text(source, YamlRules("a file of answers", most_bytes=50_000_000)).splitlines()
        )
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    out.write(f"{fresh} answers taken in from {source}; {known} were here before\n")


def _agreed(store: Store, out: TextIO) -> bool:
    """Whether the learner says yes to losing all answers, exams that are open included."""
    import sys

    answers, exams = len(store.attempts()), len(store.kept("exam"))
    out.write(
        f"{answers} answers and {exams} exams, open ones too, are deleted for good. Delete? (yes or no): "
    )
    out.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _items_check(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.items.check import run_items_check

    return run_items_check(arguments.paths, as_json=arguments.json, out=out, draws=arguments.draws)


def _items_stats(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.sittings.stats import run_items_stats

    return run_items_stats(arguments.files, arguments.to, _store(arguments), out)


def _items_new(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.items.schema import run_items_new

    return run_items_new(arguments.kind, arguments.id, arguments.to, out)


def _items_export(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.exports import run_items_export

    return run_items_export(
        arguments.format,
        arguments.to,
        tag=arguments.tag,
        ids=arguments.ids,
        count=arguments.count,
        seed=arguments.seed,
        with_key=not arguments.without_key,
        out=out,
    )


def add_exercises(commands: Commands) -> None:
    """Add the commands of this file."""
    exercise = commands.add_parser(
        "exercise", help="exercises: PySpark on rebalance logs, and code for assignors, listeners, clients"
    )
    actions = exercise.add_subparsers(title="actions", metavar="ACTION", required=True)
    _action(actions, "list", "name, level, minutes and title of each", _list)
    start = _action(
        actions, "start", "copy an exercise into your own folder; keeps an answer that is there", _start
    )
    check = _action(actions, "check", "check your answer (starts Spark where the exercise needs it)", _check)
    hint = _action(actions, "hint", "the next hint, or the one of that number", _hint)
    solution = _action(actions, "solution", "the kit's own answer", _solution)
    for command in (start, check, hint, solution):
        command.add_argument("name", help="name, number or part of the name")
    solution.add_argument("--yes", action="store_true", help="do not ask")
    hint.add_argument("number", nargs="?", type=int, default=None)
    check.add_argument("--public", action="store_true", help="leave the hidden checks out")
    check.add_argument(
        "--limit",
        type=seconds,
        default=None,
        metavar="SECONDS",
        help="time limit of one call (default: the exercise's own)",
    )
    for command in (start, check):
        command.add_argument(
            "--learner",
            default=None,
            help="whose exercise it is (default: REBALANCE_KIT_LEARNER, or the user)",
        )


def seconds(text: str) -> float:
    """A time limit from the command line; more than 0 and less than a day."""
    value = float(text)
    if not 0 < value < 86_400:
        raise argparse.ArgumentTypeError(f"{text} is no time limit; expected seconds, more than 0")
    return value


def _action(actions: Commands, name: str, words: str, command: object) -> argparse.ArgumentParser:
    from rebalance_kit.exercises import FOLDER

    parser = actions.add_parser(name, help=words)
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(FOLDER),
        metavar="DIR",
        help=f"your own folder (default: {FOLDER})",
    )
    parser.set_defaults(command=command)
    return parser


def _desk(arguments: argparse.Namespace) -> Workspace:
    from rebalance_kit.exercises.workspace import Identity, Workspace, whoever

    learner = getattr(arguments, "learner", None)
    return Workspace(arguments.folder, Identity(learner, whoever().course) if learner else None)


def _list(arguments: argparse.Namespace, out: TextIO) -> int:
    print(_desk(arguments).listing(), file=out)
    return 0


def _start(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.exercises import FOLDER

    print(_desk(arguments).start(arguments.name), file=out)
    where = "" if arguments.folder == Path(FOLDER) else f" --folder {shlex.quote(str(arguments.folder))}"
    print(f"Then: rebalance-kit exercise check {arguments.name}{where}", file=out)
    print(f"Or:   rebalance-kit exercise hint {arguments.name}{where}", file=out)
    return 0


def _hint(arguments: argparse.Namespace, out: TextIO) -> int:
    print(_desk(arguments).hint(arguments.name, arguments.number), file=out)
    return 0


def _solution(arguments: argparse.Namespace, out: TextIO) -> int:
    """Ask once; 1 where the answer is not yes."""
    desk = _desk(arguments)
    if not (arguments.yes or desk.has_seen_solution(arguments.name)):
        print(
            "This shows the kit's own answer, and notes in your folder that you looked. Show it? (yes or no): ",
            end="",
            flush=True,
            file=out,
        )
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            print("Nothing was shown.", file=out)
            return 1
    print(desk.solution(arguments.name), file=out)
    return 0


def _check(arguments: argparse.Namespace, out: TextIO) -> int:
    """0 when every check passes, 1 when one does not."""
    from rebalance_kit.exercises.spark_bench import SparkBench
    from rebalance_kit.exercises.task import Exercise
    from rebalance_kit.exercises.workspace import find
    from rebalance_kit.pipeline.spark.session import require_spark

    if isinstance(find(arguments.name), Exercise):  # a wrong name is told before Spark starts
        require_spark()
    bench, desk = SparkBench(), _desk(arguments)
    if words := desk.without_wall(arguments.name):
        print(words, file=out)
    try:
        report = desk.check(arguments.name, bench, hidden=not arguments.public, limit_s=arguments.limit)
    finally:
        bench.close()
    print(report, file=out)
    return 0 if report.green else 1
