"""The course as it lies in the folder: which notebooks there are, in order, and which one comes next.

No notebook names another one by hand, so that no text can name one that is not there.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from rebalance_kit.classroom.handing_out import notebook_file
from rebalance_kit.notebook.text import Text, in_lines
from rebalance_kit.scenarios import explained

_NUMBERED = re.compile(r"\d\d[a-z]?-[\w-]+\.ipynb")
_AT_HOME = 'To run it, type at home, in a clone of the kit: pip install ".[lab,spark,clients]" && rebalance-kit course my-course'
_MINUTES = re.compile(r"\*\*(\d+) minutes\.?\*\*(?:, and (\d+) for its exercises)?")


@dataclass(frozen=True, slots=True)
class Lesson:
    """A notebook of the course; minutes are None where its first cell names none."""

    file: str
    title: str
    minutes: int | None
    exercise_minutes: int


class Links(Text):
    """Links that a notebook shows as links and a terminal as text."""

    markdown = ""

    def _repr_markdown_(self) -> str:
        return self.markdown


def lessons(folder: Path | str = ".") -> tuple[Lesson, ...]:
    """The numbered notebooks of a folder, in order."""
    found = sorted(path for path in Path(folder).glob("*.ipynb") if _NUMBERED.fullmatch(path.name))
    return tuple(_lesson(path) for path in found)


def _lesson(path: Path) -> Lesson:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    first = "".join(cells[0]["source"]) if cells else ""
    stated = _MINUTES.search(first)
    title = first.partition("\n")[0].lstrip("# ") or path.stem
    minutes = int(stated[1]) if stated else None
    return Lesson(path.name, title, minutes, int(stated[2] or 0) if stated else 0)


def course_map(folder: Path | str = ".") -> Links:
    """Every notebook of the course with its minutes, as links."""
    rows = ["| notebook | minutes | exercises |", "|---|---:|---:|"]
    rows += [
        f"| [{lesson.title}]({lesson.file}) | {lesson.minutes or ''} | {lesson.exercise_minutes or ''} |"
        for lesson in lessons(folder)
    ]
    links = Links("\n".join(lesson.title for lesson in lessons(folder)))
    links.markdown = "\n".join(rows)
    return links


def case_map(folder: Path | str = ".") -> Links:
    """Every case of the course as a link with its minutes: one incident each."""
    found = [_lesson(path) for path in sorted(Path(folder).glob("case-*.ipynb"))]
    links = Links("\n".join(case.title for case in found))
    links.markdown = "\n".join(f"- [{case.title}]({case.file}), {case.minutes} minutes" for case in found)
    return links


def next_notebook(number: str, folder: Path | str = ".") -> Links:
    """A link to the notebook that follows ``number`` (such as ``"04"``) in the course."""
    after = [lesson for lesson in lessons(folder) if lesson.file.partition("-")[0] > number]
    if not after:
        return Links("This is the last notebook of the course.")
    links = Links(f"Next: {after[0].title}")
    links.markdown = f"**Next:** [{after[0].title}]({after[0].file})"
    return links


def explain(term: str) -> Text:
    """What the glossary says of a term, a config key or an action of a scenario."""
    return in_lines(str(explained(term)))


def doctor() -> Text:
    """Whether everything that the course needs is installed, in one line."""
    from rebalance_kit.doctor import run_doctor

    details = StringIO()
    run_doctor(details)
    return Text(details.getvalue().splitlines()[-1])


def recorded_run(notebook: str, shell: Any) -> Text:
    """Give ``shell`` the magic ``%%recorded``, by which a cell shows what it showed in the recorded run of ``notebook``.

    For places where no process, Spark or client of Kafka runs: the course in a browser writes it before such cells.
    """
    cells = json.loads(notebook_file(notebook).read_text("utf-8"))["cells"]
    outputs = {"".join(cell["source"]).strip(): cell.get("outputs", []) for cell in cells}

    def recorded(_line: str, cell: str) -> None:
        if cell.strip() not in outputs:
            print(f"You changed this cell, and its run was not recorded. {_AT_HOME}")  # noqa: T201 - a cell's output
        for output in outputs.get(cell.strip(), []):
            data = output.get("data", {"text/plain": output.get("text", "")})
            shell.display_pub.publish(
                {kind: "".join(value) if isinstance(value, list) else value for kind, value in data.items()}
            )

    shell.register_magic_function(recorded, "cell", "recorded")
    return in_lines(
        "Cells that begin with %%recorded need processes, which a browser does not have: Spark, clients of Kafka, a terminal, "
        f"the check of an exercise. They show what they showed in a recorded run. {_AT_HOME}"
    )
