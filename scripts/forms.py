"""Make the forms of a notebook that a course hands out, from its cell tags: ``make forms ONLY=10``.

From ``notebooks/NN-name.ipynb``, into ``build/forms/FORM/``:

- ``learner``: outputs that answer a question are left out, exercises are stubs, solutions are gone
- ``completed``: every output, and the kit's solution in each exercise
- ``slides``: a slide per heading (nbconvert's metadata), folded code hidden, as a notebook and as a page for a browser
- ``handout``: a page to print: no folded code, no answers, lines to write on in their place
- ``nbgrader``: the learner's copy with nbgrader's cell metadata (schema 3): the function is theirs, the check is graded
"""

from __future__ import annotations

import argparse
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path

import nbformat
from nbconvert import HTMLExporter, SlidesExporter
from nbformat.v4 import new_code_cell

from rebalance_kit.model.files import write_atomically

ROOT = Path(__file__).resolve().parent.parent
POINTS = 10
PRINTED = ("image/svg+xml", "image/png", "text/html", "text/markdown", "text/plain")
"""What an output may be on paper; a widget or a Plotly figure falls back to its text."""

_CHECK = re.compile(r"^print\((\w+\.check\((\w+)\))\)$", re.MULTILINE)
_FOLDED = re.compile(r"<details>\s*<summary>(?P<summary>.*?)</summary>.*?</details>", re.DOTALL)
_LINES = "\n\n<div class='write'></div>\n\n"
_PAPER = "<style>.write{height:4.5rem;border-bottom:1px solid #999;background:repeating-linear-gradient(#fff 0 1.4rem,#999 1.4rem calc(1.4rem + 1px))} @media print{@page{margin:16mm}.jp-Cell{break-inside:avoid}}</style>"

Notebook = nbformat.NotebookNode


def tags_of(cell: Notebook) -> set[str]:
    """The tags of a cell."""
    return set(cell.metadata.get("tags", []))


def learner(notebook: Notebook) -> Notebook:
    """The copy to work in: no solutions, no outputs that answer a question or come from an exercise."""
    copy = deepcopy(notebook)
    copy.cells = [cell for cell in copy.cells if "solution" not in tags_of(cell)]
    for cell in copy.cells:
        if cell.cell_type == "code" and tags_of(cell) & {"answer", "exercise"}:
            cell.outputs, cell.execution_count = [], None
    return copy


def completed(notebook: Notebook, solutions: dict[str, str]) -> Notebook:
    """The copy to look things up in: each exercise holds the solution of its function instead of the stub."""
    copy = deepcopy(notebook)
    for cell in copy.cells:
        check = _CHECK.search(cell.source) if "exercise" in tags_of(cell) else None
        if check is not None and check[2] in solutions:
            cell.source = f"{solutions[check[2]].strip()}\n\n\n{check[0]}"
            cell.outputs, cell.execution_count = [], None
    return copy


def slides(notebook: Notebook) -> Notebook:
    """The copy to show: a heading of level one or two begins a slide, of level three a slide below it."""
    copy = learner(notebook)
    for cell in copy.cells:
        kind = "-"
        if cell.cell_type == "markdown":
            kind = {"#": "slide", "##": "slide", "###": "subslide"}.get(cell.source.split(" ", 1)[0], "-")
        cell.metadata["slideshow"] = {"slide_type": kind}
    return copy


def handout(notebook: Notebook) -> Notebook:
    """The copy to print: folded code and answers left out, room to write where an answer was."""
    copy = learner(notebook)
    copy.cells = [cell for cell in copy.cells if cell.cell_type != "code" or "exercise" not in tags_of(cell)]
    for cell in copy.cells:
        if cell.cell_type == "markdown":
            cell.source = _FOLDED.sub(_LINES, cell.source)
            continue
        for output in cell.outputs:
            if "data" in output:
                output.data = {kind: value for kind, value in output.data.items() if kind in PRINTED}
    return copy


def nbgrader(notebook: Notebook, name: str) -> Notebook:
    """The release for nbgrader: each exercise becomes a cell to write in and a locked cell that is graded."""
    copy = learner(notebook)
    copy.cells = [piece for cell in copy.cells for piece in _for_nbgrader(cell, name)]
    return copy


def _for_nbgrader(cell: Notebook, name: str) -> Iterator[Notebook]:
    check = _CHECK.search(cell.source) if "exercise" in tags_of(cell) else None
    if check is None:
        yield cell
        return
    grade_id = f"{name}-{check[2].replace('_', '-')}"
    cell.source = cell.source.replace(check[0], "").rstrip()
    cell.metadata["nbgrader"] = _grading(grade_id, solution=True)
    yield cell
    graded = new_code_cell(
        f"report = {check[1]}\nprint(report)\nassert report.green", id=f"{cell['id']}-check"
    )
    graded.metadata["nbgrader"] = _grading(f"{grade_id}-check", solution=False)
    yield graded


def _grading(grade_id: str, *, solution: bool) -> dict[str, object]:
    """Metadata of nbgrader's schema 3: a cell for an answer, or a locked one with points."""
    points = {} if solution else {"points": POINTS}
    kind = {"grade": not solution, "locked": not solution, "solution": solution, "task": False}
    return {"schema_version": 3, "grade_id": grade_id, "cell_type": "code", **kind, **points}


def page_of(notebook: Notebook, title: str) -> str:
    """A page of HTML without scripts' outputs, for a printer."""
    hidden = _hiding()
    body, _ = HTMLExporter(config=hidden, embed_images=True).from_notebook_node(_named(notebook, title))
    return str(body).replace("</head>", f"{_PAPER}</head>", 1)


def show_of(notebook: Notebook, title: str) -> str:
    """A page of slides; the browser fetches reveal.js from the network."""
    body, _ = SlidesExporter(config=_hiding()).from_notebook_node(_named(notebook, title))
    return str(body)


def _hiding() -> dict[str, dict[str, object]]:
    removal = {"enabled": True, "remove_input_tags": {"hide-input"}}
    return {"TagRemovePreprocessor": removal}


def _named(notebook: Notebook, title: str) -> Notebook:
    notebook.metadata["title"] = title
    return notebook


def solutions_of(folder: Path) -> dict[str, str]:
    """The kit's solutions by the function that each defines."""
    texts = [path.read_text("utf-8") for path in sorted(folder.glob("*/*/solution.py"))]
    return {name: text for text in texts for name in re.findall(r"^def ([a-z]\w*)\(", text, re.MULTILINE)}


def forms_of(notebook: Notebook, name: str) -> dict[str, str]:
    """Every form of a notebook, by its file below ``build/forms``."""
    shown, printed = slides(notebook), handout(notebook)
    write: Callable[[Notebook], str] = nbformat.writes
    return {
        f"learner/{name}.ipynb": write(learner(notebook)),
        f"completed/{name}.ipynb": write(completed(notebook, solutions_of(ROOT / "exercises"))),
        f"slides/{name}.ipynb": write(shown),
        f"slides/{name}.html": show_of(shown, name),
        f"handout/{name}.html": page_of(printed, name),
        f"nbgrader/{name}.ipynb": write(nbgrader(notebook, name)),
    }


def main(arguments: list[str]) -> int:
    """Write the forms of the notebooks whose names hold one of the given parts."""
    runpy.run_path(str(Path(__file__).with_name("bundle.py")))["freshen"]()
    parser = argparse.ArgumentParser(description="Make the forms that a course hands out.")
    parser.add_argument("names", nargs="*", help="parts of names, as in 10 (all when none is given)")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "forms")
    options = parser.parse_args(arguments)
    wanted = options.names or [""]
    paths = [
        path
        for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
        if any(part in path.stem for part in wanted)
    ]
    if not paths:
        print(f"no notebook matches {' '.join(options.names)}", file=sys.stderr)
        return 1
    for path in paths:
        made = forms_of(nbformat.read(path, as_version=4), path.stem)
        for name, text in made.items():
            target = options.out / name
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, text)
        print(f"{path.stem}: {len(made)} files in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
