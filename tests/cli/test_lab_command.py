"""``rebalance-kit lab``: what it opens, writes and refuses."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from urllib.request import urlopen

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.cli import lab, main
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.permalink import Link, read_link, write_link


def run(*argv):
    """Status and text of a command."""
    out = io.StringIO()
    return main(["lab", *(str(one) for one in argv)], out), out.getvalue()


def test_a_link_is_told_in_words():
    status, text = run(write_link(Link(load("crash"), 40_000, protocol="consumer")), "--text")
    assert status == 0
    assert text.startswith("40.0 s of 110.0 s, consumer. consumer-2 crashed.")


def test_a_damaged_link_is_refused_before_anything_starts(capsys):
    token = write_link(Link(load("crash")))
    assert run(token[:-1], "--notebook", "never.ipynb")[0] == 2
    assert "the link is damaged" in capsys.readouterr().err


def test_jupyterlab_starts_on_loopback_with_a_token_whoever_starts_it(tmp_path):
    command = [sys.executable, "-m", "rebalance_kit", "lab", "crash", "--no-browser"]
    with subprocess.Popen(
        command, cwd=tmp_path, start_new_session=True, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            lines = iter(process.stderr.readline, "")
            address = next((line for line in lines if "/lab/tree/lab.ipynb?token=" in line), "")
            process.kill()  # it alone, as a user would: no server may go on
            process.wait(10)
            assert "http://127.0.0.1:" in address, "JupyterLab ended before it listened"
            with pytest.raises(OSError, match="refused"), urlopen(address.split()[-1], timeout=10):  # noqa: S310 - its own address
                pass
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
    assert (tmp_path / "my-lab" / "lab.ipynb").is_file()  # a folder of the user's, which stays


@pytest.fixture
def served(monkeypatch):
    """Folder and notebook that JupyterLab would open."""
    found = []
    monkeypatch.setattr(lab, "serve", lambda folder, name, *, browser: found.append((folder, name)) or 0)
    return found


def test_work_in_the_lab_stays_and_another_link_gets_a_notebook_beside_it(tmp_path, served):
    mine = tmp_path / "mine"
    for what in ("crash", "crash", "storm"):
        assert run(what, "--folder", mine)[0] == 0
    assert served == [(mine, "lab.ipynb"), (mine, "lab.ipynb"), (mine, "lab-2.ipynb")]
    (mine / "lab.ipynb").write_text("worked on")
    assert run("crash", "--folder", mine)[0] == 0
    assert served[-1] == (mine, "lab-3.ipynb")
    assert (mine / "lab.ipynb").read_text() == "worked on"


def test_a_folder_of_the_user_is_served_as_it_is(tmp_path, served):
    assert run(tmp_path)[0] == 0
    assert served == [(tmp_path, "00-start-here.ipynb")]
    assert list(tmp_path.iterdir()) == []
    assert run(tmp_path, "--text")[0] == 2


@pytest.mark.parametrize("what", ["storm", "link", "file"])
def test_a_notebook_opens_a_name_a_file_or_a_link(tmp_path, what):
    from rebalance_kit.simulation.scenario.yaml_file import write_scenario

    link = write_link(Link(load("storm"), 30_000, protocol="eager"))
    path = tmp_path / "mine.yaml"
    path.write_text(write_scenario(load("storm")), encoding="utf-8")
    target = tmp_path / "lab.ipynb"
    assert run({"storm": "storm", "link": link, "file": path}[what], "--notebook", target)[0] == 0
    code = json.loads(target.read_text(encoding="utf-8"))["cells"][0]["source"]
    assert code.startswith("# Run this cell (Shift+Enter)")
    held = read_link(code.split("from_link('")[1].split("'")[0])
    assert (held.scenario, held.protocol) == (load("storm"), "eager")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["lab.ipynb", "mine.yaml"]


def test_an_animation_is_one_page_with_the_run_inside(tmp_path):
    target = tmp_path / "crash.html"
    assert run("crash", "--html", target)[0] == 0
    text = target.read_text(encoding="utf-8")
    assert "A consumer crashes" in text
    assert text.count("http-equiv") == text.count("Content-Security-Policy") == 1
    assert "src=" not in text.split("<script")[0]
