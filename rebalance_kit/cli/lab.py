"""Commands of the lab: open a link or a scenario in JupyterLab, or make files of it."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.door import Commands
from rebalance_kit.model.errors import DataError, require
from rebalance_kit.model.files import WRITABLE, become, write_atomically

NOTEBOOK = "lab.ipynb"
FOLDER = "my-lab"
"""Where the lab's notebook and what is saved beside it stay, below the current folder."""
JUPYTERLAB = (sys.executable, "-P", "-m", "jupyterlab")
"""Starts JupyterLab; with ``-P`` no module of the current folder is imported in its place."""


def add(commands: Commands) -> None:
    """Add the command of this file."""
    lab = commands.add_parser("lab", help="open a link, a scenario, a folder or the first lesson in the lab")
    lab.add_argument(
        "what",
        nargs="?",
        default=None,
        metavar="LINK",
        help="a link of the lab (rk1.…), a scenario's name, a YAML file or a folder of yours (default: the first lesson)",
    )
    lab.add_argument(
        "--folder",
        type=Path,
        default=Path(FOLDER),
        metavar="DIR",
        help=f"where your work is kept (default: {FOLDER})",
    )
    lab.add_argument(
        "--text", action="store_true", help="print the moment and the run in words; open nothing"
    )
    lab.add_argument(
        "--html", type=Path, metavar="FILE", help="write an animation that plays without a kernel"
    )
    lab.add_argument("--notebook", type=Path, metavar="FILE", help="write a notebook that opens it")
    lab.add_argument("--no-browser", action="store_true", help="start JupyterLab without a browser")
    lab.set_defaults(command=_lab)


def _lab(arguments: argparse.Namespace, out: TextIO) -> int:
    if _is_folder(arguments.what):
        if arguments.text or arguments.html or arguments.notebook:
            raise DataError(f"{arguments.what}: is a folder; expected a link, a scenario or a YAML file")
        from rebalance_kit.classroom.handing_out import FIRST, trust

        require("jupyterlab", "anywidget", "ipywidgets")
        trust(Path(arguments.what))
        return serve(Path(arguments.what), FIRST, browser=not arguments.no_browser)
    code = _checked(arguments.what)
    if arguments.text or arguments.html:
        return _made(arguments, out)
    if arguments.notebook:
        write_atomically(arguments.notebook, _notebook(code))
        print(f"written: {arguments.notebook}", file=out)
        return 0
    require("jupyterlab", "anywidget", "ipywidgets")
    name = _kept_in(arguments.folder, _notebook(code))
    print(f"your folder: {arguments.folder.absolute()}", file=out, flush=True)
    return serve(arguments.folder, name, browser=not arguments.no_browser)


def _is_folder(what: str | None) -> bool:
    from rebalance_kit import scenarios

    return what is not None and not _is_link(what) and what not in scenarios.names() and Path(what).is_dir()


def _kept_in(folder: Path, text: str) -> str:
    """Write the notebook under the first name that is free, or that holds the very same; return the name."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); expected {WRITABLE}") from error
    for name in itertools.chain([NOTEBOOK], (f"lab-{number}.ipynb" for number in itertools.count(2))):
        path = folder / name
        if not path.exists():
            write_atomically(path, text)
            return name
        if path.is_file() and path.read_text("utf-8", errors="replace") == text:
            return name
    raise AssertionError("there is always a next number")


def serve(folder: Path, name: str, *, browser: bool) -> int:
    """Run JupyterLab on a folder until it ends; on loopback, behind its token."""
    flags = [] if browser else ["--no-browser"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--allow-root")  # as in a container
    place = f"/lab/tree/{name}" if (folder / name).is_file() else "/lab"
    command = [
        *JUPYTERLAB,
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder.absolute()}",
        f"--LabApp.default_url={place}",
        *flags,
    ]
    if hasattr(os, "killpg"):  # not on Windows, where no process can become another program
        sys.stdout.flush()
        become(command, folder)  # so that nothing goes on when this process is killed
    return subprocess.run(command, check=False, cwd=folder).returncode


def _checked(what: str | None) -> str:
    """The line of a notebook that opens it; raises for what cannot be opened, before anything starts."""
    from rebalance_kit import scenarios
    from rebalance_kit.simulation.permalink import Link, read_link, write_link

    if what is None:
        return "Lab()"
    if _is_link(what):
        read_link(what)
        return f"Lab.from_link({what!r})"
    scenario = scenarios.scenario(what)
    return f"Lab.from_link({write_link(Link(scenario, protocol=None if scenario.chooses_protocol() else 'eager'))!r})"


def _made(arguments: argparse.Namespace, out: TextIO) -> int:
    """Text or a page of the run, without Jupyter."""
    from rebalance_kit import scenarios
    from rebalance_kit.view.lab.widget import Lab

    what = arguments.what
    link = what is not None and _is_link(what)
    lab = Lab(None if what is None or link else scenarios.scenario(what))
    if what is not None and link:
        lab.play_link(what)
    if arguments.text:
        print(f"{lab.text}\n\n{lab.story}", file=out)
    if arguments.html:
        from rebalance_kit.view.lab.requests import exported

        write_atomically(arguments.html, exported(lab, "animation")[1].decode("utf-8"))
        print(f"written: {arguments.html}", file=out)
    return 0


def _is_link(what: str) -> bool:
    return what.startswith("rk") and what.count(".") == 2


def _notebook(code: str) -> str:
    cell: dict[str, object] = {
        "cell_type": "code",
        "execution_count": None,
        "id": "lab",
        "metadata": {},
        "outputs": [],
        "source": f"# Run this cell (Shift+Enter): the lab opens below it.\nfrom rebalance_kit import Lab\n\nlab = {code}\nlab",
    }
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return (
        json.dumps({"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"
    )
