"""Make the notebooks from their sources, with the outputs of a real run.

A source is ``notebooks/src/PART/NN-name.py`` in the percent format; it becomes ``notebooks/NN-name.ipynb``::

    # %% [markdown]
    # # A title
    # Prose, each line behind "# ".

    # %%
    print("code")

    # %% tags=["nbval-ignore-output"]
    figure

The code of a cell tagged ``hide-input`` is folded in JupyterLab; its output is shown.
Stored: code, outputs, tags. Not stored, since each run would change it: widget state and widget views
(the text twin of the output stays), execution times, the version of Python.
``--check`` executes nothing and fails when a notebook does not hold what its source says.
"""

from __future__ import annotations

import signal

if __name__ == "__main__":  # while modules load there is nothing to clean up, and no word to say
    signal.signal(signal.SIGINT, signal.SIG_DFL)

import argparse
import hashlib
import json
import logging
import os
import re
import runpy
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.files import write_atomically

if TYPE_CHECKING:
    import nbformat

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
CELL_SECONDS = 300
_HEAD = re.compile(r"# %%(?P<markdown> \[markdown\])?(?: tags=(?P<tags>\[.*\]))?\s*$")
_FOLDED = "<details><"
_WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
_METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"file_extension": ".py", "mimetype": "text/x-python", "name": "python"},
}


class SourceError(Exception):
    """A source is not in the form that this script reads; the message names file and line."""


def sources_of(folder: Path) -> list[Path]:
    """The sources of a folder of notebooks, in the order of their names, whatever part they lie in."""
    return sorted((folder / "src").rglob("*.py"), key=lambda path: path.stem)


def read_source(path: Path) -> nbformat.NotebookNode:
    """Return the notebook that a source describes, without outputs."""
    from nbformat.v4 import new_notebook

    cells: list[nbformat.NotebookNode] = []
    head: re.Match[str] | None = None
    lines: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if not line.startswith("# %%"):
            lines.append(line)
            continue
        _finish(cells, head, lines, path)
        head, lines = _HEAD.match(line), []
        if head is None:
            raise SourceError(
                f"{path.name}:{number}: {line!r} is no cell head; expected # %% [markdown] tags=[...]"
            )
    _finish(cells, head, lines, path)
    _name_cells(cells)
    return new_notebook(cells=cells, metadata=_METADATA)


def _finish(
    cells: list[nbformat.NotebookNode], head: re.Match[str] | None, lines: list[str], path: Path
) -> None:
    """Add the cell that ``head`` opened; what stands before the first head must be empty."""
    from nbformat.v4 import new_code_cell, new_markdown_cell

    text = "\n".join(lines).strip("\n")
    if head is None:
        if text.strip():
            raise SourceError(f"{path.name}:1: text before the first # %% belongs to no cell")
        return
    tags = json.loads(head["tags"]) if head["tags"] else []
    metadata = {"tags": tags} if tags else {}
    if "hide-input" in tags:
        metadata["jupyter"] = {"source_hidden": True}
    if head["markdown"]:
        cells.append(new_markdown_cell(_prose(text, path), metadata=metadata))
    else:
        cells.append(new_code_cell(text.rstrip(), metadata=metadata))


def _prose(text: str, path: Path) -> str:
    lines = text.splitlines()
    for line in lines:
        if line.strip() and line != "#" and not line.startswith("# "):
            raise SourceError(f"{path.name}: {line!r} in a markdown cell; expected every line behind '# '")
    return "\n".join(line[2:] for line in lines).strip()


def _name_cells(cells: list[nbformat.NotebookNode]) -> None:
    """Give each cell an id made from its text, so that a cell put in between renames no other."""
    seen: dict[str, int] = {}
    for cell in cells:
        digest = hashlib.sha256(f"{cell.cell_type}\n{cell.source}".encode()).hexdigest()[:10]
        seen[digest] = seen.get(digest, 0) + 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def execute(notebook: nbformat.NotebookNode, folder: Path) -> nbformat.NotebookNode:
    """Run every cell in a fresh kernel started in ``folder`` and keep what a second run would repeat.

    Raises ``KeyboardInterrupt`` after Ctrl-C, whatever the client makes of a kernel that is gone.
    """
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import DeadKernelError

    logging.getLogger("asyncio").disabled = True  # after Ctrl-C it tells of tasks that nobody waits for
    client = NotebookClient(
        notebook,
        timeout=CELL_SECONDS,
        kernel_name="python3",
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
        resources={"metadata": {"path": str(folder)}},
    )
    with tempfile.TemporaryDirectory() as apart, tempfile.TemporaryFile() as said:
        # No reader is to see the answers of whoever made the notebook.
        environment = {
            **os.environ,
            "REBALANCE_KIT_ATTEMPTS": str(Path(apart) / "attempts.sqlite"),
            "REBALANCE_KIT_LIVE": "0",  # a stored output is of a recorded run
        }
        try:
            client.execute(env=environment, stderr=said)  # a kernel that is stopped says so at length
        except BaseException as error:  # a cancelled task is no Exception
            if getattr(client, "_async_cleanup_kernel_future", None) is not None:  # Ctrl-C ended the kernel
                raise KeyboardInterrupt from error
            if isinstance(error, DeadKernelError):
                said.seek(0)
                print(said.read().decode("utf-8", "replace")[-2000:], file=sys.stderr)
            raise
    notebook.metadata = nbformat.from_dict(_METADATA)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)
            cell.outputs = [_repeatable(output) for output in cell.outputs if not _is_view_alone(output)]
            _fold_answer(cell)
    return notebook


def _is_view_alone(output: nbformat.NotebookNode) -> bool:
    """Tell whether an output is nothing but the view of a widget, whose picture stands in an output before it."""
    return list(output.get("data", {})) == [_WIDGET_VIEW]


def _fold_answer(cell: nbformat.NotebookNode) -> None:
    """Fold what answers a prediction, unless it folds itself: nobody reads an answer before the question."""
    told = [
        output
        for output in cell.outputs
        if _FOLDED not in "".join(output.get("data", {}).get("text/html", ""))
    ]
    if "answer" in cell.metadata.get("tags", []) and told:
        cell.metadata.setdefault("jupyter", {})["outputs_hidden"] = True


def _repeatable(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Drop the view of a widget whose state is not stored: a reader would see an error in its place."""
    data = output.get("data", {})
    if _WIDGET_VIEW in data and len(data) > 1:
        del data[_WIDGET_VIEW]
    return output


def same_content(stored: nbformat.NotebookNode, source: nbformat.NotebookNode) -> bool:
    """Tell whether a stored notebook holds the cells of its source, in order, tags included."""

    def content(notebook: nbformat.NotebookNode) -> list[tuple[str, str, str, list[str]]]:
        return [
            (cell["id"], cell.cell_type, cell.source, list(cell.metadata.get("tags", [])))
            for cell in notebook.cells
        ]

    return content(stored) == content(source)


def store(notebook: nbformat.NotebookNode, path: Path) -> None:
    """Write beside and rename, so that a reader never meets half a notebook."""
    import nbformat

    write_atomically(path, nbformat.writes(notebook) + "\n")


def main(arguments: list[str]) -> int:
    """Make or check the notebooks; return the exit status."""
    import nbformat

    runpy.run_path(str(Path(__file__).with_name("bundle.py")))["freshen"]()

    parser = argparse.ArgumentParser(description="Make the notebooks from their sources.")
    parser.add_argument("names", nargs="*", help="parts of names, as in 03 (all when none is given)")
    parser.add_argument("--check", action="store_true", help="execute nothing, compare with the sources")
    parser.add_argument(
        "--folder", type=Path, default=NOTEBOOKS, help="where the notebooks are; sources in its src/"
    )
    options = parser.parse_args(arguments)
    wanted = options.names or [""]
    sources = [path for path in sources_of(options.folder) if any(name in path.stem for name in wanted)]
    if not sources:
        print(f"no source in {options.folder / 'src'} matches {' '.join(options.names)}", file=sys.stderr)
        return 1
    stale = 0
    for path in sources:
        target = options.folder / f"{path.stem}.ipynb"
        notebook = read_source(path)
        if options.check:
            if not target.exists() or not same_content(nbformat.read(target, as_version=4), notebook):
                print(f"{target.name} is not what {path.name} says: make notebooks", file=sys.stderr)
                stale += 1
            continue
        store(execute(notebook, options.folder), target)
        print(f"{target.name}: {len(notebook.cells)} cells")
    return 1 if stale else 0


if __name__ == "__main__":
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("notebooks.py: interrupted; each notebook is whole: the new one, or as it was", file=sys.stderr)
        sys.stderr.flush()
        os._exit(130)  # the client's own clean-up fails where its kernel is gone already
