"""Commands of the lab: open a link or a scenario in JupyterLab, or make files of it."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.commands import Commands
from rebalance_kit.model.errors import require
from rebalance_kit.model.files import write_atomically

NOTEBOOK = "lab.ipynb"
JUPYTERLAB = (sys.executable, "-P", "-m", "jupyterlab")
"""Starts JupyterLab; with ``-P`` no module of the current folder is imported in its place."""


def add(commands: Commands) -> None:
    """Add the command of this file."""
    lab = commands.add_parser("lab", help="open a link, a scenario or the first lesson in the lab")
    lab.add_argument(
        "what",
        nargs="?",
        default=None,
        metavar="LINK",
        help="a link of the lab (rk1.…), a scenario's name or a YAML file (default: the first lesson)",
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
    code = _checked(arguments.what)
    if arguments.text or arguments.html:
        return _made(arguments, out)
    if arguments.notebook:
        write_atomically(arguments.notebook, _notebook(code))
        print(f"written: {arguments.notebook}", file=out)
        return 0
    require("jupyterlab", "anywidget", "ipywidgets")
    with tempfile.TemporaryDirectory(prefix="rebalance-lab-") as folder:
        write_atomically(Path(folder) / NOTEBOOK, _notebook(code))
        flags = ["--no-browser"] if arguments.no_browser else []
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            flags.append("--allow-root")  # as in a container; it listens on loopback, behind its token
        command = [
            *JUPYTERLAB,
            "--ServerApp.ip=127.0.0.1",
            f"--ServerApp.root_dir={folder}",
            f"--LabApp.default_url=/lab/tree/{NOTEBOOK}",
            *flags,
        ]
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
        from rebalance_kit.view.lab.exports import exported

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
