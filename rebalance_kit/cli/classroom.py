"""Commands of the classroom: the guide of a workshop, its plan B, votes; collect, mark and report; course, cards and bundle."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.door import Commands
from rebalance_kit.cli.practice import seconds as _seconds

if TYPE_CHECKING:
    from rebalance_kit.classroom.plan import Plan


PAGES = "index.html"
"""The page of plan B that leads to the others."""


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    workshop = commands.add_parser("workshop", help="write the instructor's notebook of a workshop")
    workshop.add_argument("name", help="90min, halfday or day")
    workshop.add_argument(
        "--to", type=Path, default=None, metavar="FILE", help="where (default: workshop-NAME.ipynb here)"
    )
    workshop.add_argument(
        "--source", action="store_true", help="write the notebook's source in percent format"
    )
    workshop.add_argument("--minutes", action="store_true", help="print the schedule and write nothing")
    workshop.add_argument(
        "--check", action="store_true", help="on a learner's laptop: try all that the workshop needs"
    )
    workshop.add_argument(
        "--plan-b",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="also write animations that play in any browser and printed questions",
    )
    workshop.set_defaults(command=_workshop)
    vote = commands.add_parser("vote", help="vote in a classroom poll and print the code to send")
    vote.add_argument("item", help="the question's id, as the instructor shows it")
    vote.add_argument("room", help="the room's word, as the instructor's screen shows it")
    vote.add_argument("--seed", type=int, default=1)
    vote.add_argument("--again", action="store_true", help="the vote after the discussion")
    vote.add_argument("--folder", type=Path, default=None, help="a shared folder to put the vote into")
    vote.add_argument("--store", type=Path, default=None, help="the file of your answers")
    vote.set_defaults(command=_vote)
    _add_classroom(commands)


def _add_classroom(commands: Commands) -> None:
    classroom = commands.add_parser("classroom", help="collect, mark and report on what learners handed in")
    actions = classroom.add_subparsers(title="actions", metavar="ACTION", required=True)
    collect = actions.add_parser("collect", help="take submissions into a course's folder; executes nothing")
    collect.add_argument("folder", type=Path, help="one folder or zip per learner, named for the learner")
    collect.add_argument("--to", type=Path, default=Path("course"), metavar="COURSE", help="default: course")
    collect.add_argument(
        "--course", default=None, metavar="NAME", help="the course's name, as learners have it"
    )
    collect.add_argument(
        "--room", action="append", default=[], metavar="WORD", help="the word of a poll whose votes count"
    )
    collect.add_argument(
        "--at",
        default=None,
        metavar="MOMENT",
        help="when this was handed in, as 2026-12-01T18:00 (default: now)",
    )
    collect.set_defaults(command=_collect)
    opened = actions.add_parser(
        "open", help="open notebooks that were handed in, as their cells alone, in JupyterLab"
    )
    opened.add_argument("what", type=Path, metavar="COURSE|FILE", help="a course's folder, or a notebook")
    opened.add_argument("learner", nargs="?", default=None, help="whose notebooks, of a course")
    opened.add_argument(
        "--attempt", type=int, default=None, metavar="N", help="which attempt (default: the last)"
    )
    opened.add_argument(
        "--to", type=Path, default=None, metavar="FOLDER", help="write the copies there and open nothing"
    )
    opened.add_argument("--no-browser", action="store_true", help="start JupyterLab without a browser")
    opened.set_defaults(command=_open)
    mark = actions.add_parser(
        "mark", help="run every answer behind a wall of its own and write gradebook.csv"
    )
    mark.add_argument("course", type=Path)
    mark.add_argument("--exercise", action="append", default=[], metavar="NAME", help="only these count")
    mark.add_argument(
        "--limit", type=_seconds, default=30.0, metavar="SECONDS", help="time of one call (default 30)"
    )
    mark.add_argument(
        "--at-once",
        type=int,
        choices=range(1, 5),
        default=None,
        metavar="N",
        help="answers marked at the same time (default: one per core, at most 4)",
    )
    mark.add_argument(
        "--unconfined",
        action="store_true",
        help="on a machine without a wall: run answers as you, who can read and change all that is yours",
    )
    mark.set_defaults(command=_mark)
    for name, command, words in (
        ("gradescope", _gradescope, "write the autograder zip of an exercise for Gradescope"),
        ("nbgrader", _nbgrader, "write a zip of assignments to unpack into an nbgrader course"),
    ):
        zipped = actions.add_parser(name, help=words)
        zipped.add_argument("exercise", nargs="+" if command is _nbgrader else 1, help="as in 01 or c1")
        zipped.add_argument("--to", type=Path, required=True, metavar="FILE", help="a zip to write")
        zipped.set_defaults(command=command)
    report = actions.add_parser("report", help="print the class report and write report.html")
    report.add_argument("course", type=Path)
    report.set_defaults(command=_report)


def _collect(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.course import Course

    course = Course.begin(arguments.to, arguments.course)
    course.add_rooms(arguments.room)
    for line in course.collect(arguments.folder, _moment(arguments.at)):
        print(line, file=out)
    print(f"Then: rebalance-kit classroom mark {shlex.quote(str(arguments.to))}", file=out)
    return 0


def _moment(text: str | None) -> datetime | None:
    from rebalance_kit.classroom.terms import moment_of
    from rebalance_kit.model.errors import DataError

    try:
        return None if text is None else moment_of(text)
    except ValueError as error:
        raise DataError(f"--at {text!r}; expected a moment such as 2026-12-01T18:00") from error


def _open(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.opening import notebooks_of
    from rebalance_kit.cli.lab import serve
    from rebalance_kit.model.errors import require
    from rebalance_kit.model.files import scratch_folder
    from rebalance_kit.quiz.exports import write_new

    copies = notebooks_of(arguments.what, arguments.learner, arguments.attempt)
    if arguments.to is None:
        require("jupyterlab")
    folder = arguments.to or scratch_folder("open")
    folder.mkdir(parents=True, exist_ok=True)
    for name, cells in copies.items():
        write_new(folder / name, cells)
        print(f"written: {folder / name}", file=out)
    return serve(folder, next(iter(copies)), browser=not arguments.no_browser) if arguments.to is None else 0


def _mark(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.course import Course
    from rebalance_kit.classroom.marking import SparkChecker, most_at_once
    from rebalance_kit.classroom.writing import mark_and_write
    from rebalance_kit.exercises.workspace import find

    asked = tuple(find(name).name for name in arguments.exercise)
    check = SparkChecker(arguments.limit, unconfined=arguments.unconfined)
    try:
        course = Course.open(arguments.course)
        at_once = arguments.at_once or most_at_once()
        mark_and_write(course, check, asked, lambda line: print(line, file=out, flush=True), at_once)
    finally:
        check.close()
    print(f"{arguments.course / 'gradebook.csv'}, and what each learner reads in feedback/", file=out)
    print(f"Then: rebalance-kit classroom report {shlex.quote(str(arguments.course))}", file=out)
    return 0


def _gradescope(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.graders import gradescope

    name = gradescope(arguments.exercise[0], arguments.to)
    print(f"{name}: {arguments.to}. Upload it as the assignment's autograder, on Ubuntu 24.04.", file=out)
    return 0


def _nbgrader(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.graders import nbgrader

    names = nbgrader(arguments.exercise, arguments.to)
    print(f"{', '.join(names)}: {arguments.to}. Unpack it in the course's folder, then:", file=out)
    for name in names:
        print(f"nbgrader generate_assignment {name}", file=out)
    return 0


def _report(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.course import Course
    from rebalance_kit.classroom.writing import write_report

    out.write(write_report(Course.open(arguments.course)))
    print(f"as a page: {arguments.course / 'report.html'}", file=out)
    return 0


def _workshop(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.guide import notebook, schedule, source
    from rebalance_kit.classroom.plan import read_plan
    from rebalance_kit.model.errors import require
    from rebalance_kit.model.files import refuse_taken
    from rebalance_kit.quiz.exports import write_new

    plan = read_plan(arguments.name)
    if arguments.check:
        from rebalance_kit.classroom.handing_out import check_laptop

        return check_laptop(plan, out)
    if arguments.plan_b is not None:
        require("anywidget", "plotly")  # for its animations
    if arguments.minutes:
        out.write(schedule(plan) + "\n")
        return 0
    if arguments.plan_b is not None:
        # Before anything is written: a folder that cannot be made leaves nothing behind.
        arguments.plan_b.mkdir(parents=True, exist_ok=True)
    target = arguments.to or Path(f"workshop-{plan.name}.{'py' if arguments.source else 'ipynb'}")
    pages = os.path.relpath(arguments.plan_b / PAGES, target.parent) if arguments.plan_b else ""
    guide = source(plan) if arguments.source else notebook(plan, pages.replace(os.sep, "/"))
    refuse_taken(target)
    pages_of_plan_b = _plan_b(plan, arguments.plan_b) if arguments.plan_b is not None else []
    write_new(target, guide.encode())  # last, since it is not written again
    out.write(f"{plan.minutes} minutes in {len(plan.beats)} beats: {target}\n")
    out.writelines(f"plan B: {file}\n" for file in pages_of_plan_b)
    return 0


def _plan_b(plan: Plan, folder: Path) -> list[Path]:
    """Animations of the plan's runs under each protocol, a page that leads to them, the questions on paper, and the key apart."""
    from rebalance_kit.classroom.guide import PROTOCOLS, index, with_switch
    from rebalance_kit.quiz.exports import export, write_new
    from rebalance_kit.quiz.sittings.practice import pick_questions
    from rebalance_kit.view.lab.requests import exported
    from rebalance_kit.view.lab.widget import Lab

    made: dict[str, bytes] = {}
    scenes = {(beat.lab.scenario, beat.lab.seed): beat.lab for beat in plan.beats if beat.lab is not None}
    for scene in scenes.values():
        runs = {
            protocol: exported(Lab(scene.scenario, protocol, seed=scene.seed, at_ms=scene.at_ms), "animation")
            for protocol in PROTOCOLS
        }
        for protocol, (name, page) in runs.items():
            made[name] = with_switch(page, protocol, {one: file for one, (file, _) in runs.items()})
    made[PAGES] = index(plan, [*made]).encode()
    questions = pick_questions(ids=[beat.poll for beat in plan.beats if beat.poll])
    made["questions.html"] = export(questions, "html", plan.title, with_key=False)
    made["questions-with-key.html"] = export(questions, "html", f"{plan.title}: key")
    for name, content in made.items():
        write_new(folder / name, content, again=True)
    return [folder / name for name in made]


def _vote(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.items.bank import read_bank
    from rebalance_kit.quiz.sittings.page import question_lines
    from rebalance_kit.quiz.sittings.poll import (
        asked_in_poll,
        cast,
        known_room,
        voter_of,
        write_code,
        write_file,
    )
    from rebalance_kit.quiz.sittings.store import Store

    room = known_room(arguments.room)
    question = asked_in_poll(read_bank().item(arguments.item), arguments.seed)
    out.write("\n".join(question_lines(question, 1)) + "\nYour vote: ")
    out.flush()
    ballot = cast(
        question, sys.stdin.readline().strip(), voter_of(Store(arguments.store)), again=arguments.again
    )
    if arguments.folder is not None:
        out.write(f"put into {write_file(ballot, room, arguments.folder)}\n")
    out.write(f"send this code to the instructor: {write_code(ballot, room)}\n")
    return 0


def add_handouts(commands: Commands) -> None:
    """Add the commands of this file."""
    course = commands.add_parser(
        "course", help="write notebooks and exercises into a folder of yours; what you changed stays"
    )
    course.add_argument("folder", type=Path, metavar="DIR", help="your folder, made where it is missing")
    course.add_argument("--without-solutions", action="store_true", help="leave the folder solutions/ out")
    course.set_defaults(command=_course)
    cards = commands.add_parser("cards", help="write the pages that people print, as SVG and PDF")
    cards.add_argument("--out", type=Path, default=Path("cards"), metavar="DIR", help="default: cards")
    cards.add_argument("--svg", action="store_true", help="SVG alone, which needs no extra package")
    cards.set_defaults(command=_cards)
    bundle = commands.add_parser("bundle", help="write what learners install without a network")
    bundle.add_argument("--out", type=Path, required=True, metavar="FILE", help="the zip to write")
    bundle.add_argument("--without-spark", action="store_true", help="leave Spark and Java out")
    bundle.add_argument(
        "--without-solutions", action="store_true", help="leave the kit's own answers to the exercises out"
    )
    bundle.set_defaults(command=_bundle)


def _course(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.handing_out import FIRST, hand_out, trust

    done = hand_out(arguments.folder, solutions=not arguments.without_solutions)
    trust(arguments.folder)
    print(f"{arguments.folder}: {len(done.written)} written", file=out)
    if done.kept:
        print(
            f"kept, because you changed them: {', '.join(done.kept)} (rename one to get the kit's)", file=out
        )
    print(f"Begin with {FIRST}: rebalance-kit lab {arguments.folder}", file=out)
    return 0


def _cards(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.view.cards.printing import write_cards

    for path in write_cards(arguments.out, with_pdf=not arguments.svg):
        print(path, file=out)
    return 0


def _bundle(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.handing_out import make_bundle

    wheels, size = make_bundle(
        arguments.out,
        with_spark=not arguments.without_spark,
        solutions=not arguments.without_solutions,
        tell=lambda line: print(line, file=out, flush=True),
    )
    print(f"{arguments.out}: {wheels} wheels, {size / 1e6:.0f} MB", file=out)
    return 0
