"""The doctor tells what is here, what is not, and what that costs."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest
import yaml

from rebalance_kit import __version__, doctor
from tests.support.paths import ROOT


def told():
    out = io.StringIO()
    status = doctor.run_doctor(out)
    return status, out.getvalue()


def on_path(folder, name, text):
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    program.chmod(0o755)
    return program


def without_packages(path):
    """The diagnosis by a Python that has no installed package at all, with one folder as its path."""
    script = "import sys\nfrom rebalance_kit.doctor import run_doctor\nsys.exit(run_doctor(sys.stdout))"
    machine = {"PATH": str(path), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-S", "-c", script], env=machine, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """A machine with no program on its path and no Java at home."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path / "bin"


def test_the_diagnosis_names_the_kit_and_the_versions_found():
    status, text = told()
    assert status == 0
    assert text.startswith(f"rebalance kit {__version__}\n")
    assert f"PyYAML                 {yaml.__version__}" in text
    assert text.endswith("everything essential is here\n")


def test_a_java_at_java_home_is_reported_with_its_version_and_place(bare, monkeypatch, tmp_path):
    (tmp_path / "jdk").mkdir()
    on_path(tmp_path / "jdk" / "bin", "java", "echo 'openjdk version \"21.0.8\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert f"Java                   21 from JAVA_HOME ({tmp_path / 'jdk'})" in told()[1]


def test_a_java_that_is_too_old_is_absent_and_said_to_be_old(tmp_path):
    on_path(tmp_path / "bin", "java", "echo 'java version \"1.8.0_392\"' >&2")
    text = without_packages(tmp_path / "bin").stdout
    assert "absent  Java" in text
    assert "Java 8 in" in text
    assert "too old" in text


def test_what_a_missing_browser_disables_is_said_and_is_not_essential(bare):
    status, text = told()
    assert "absent  Chromium\n          without it: the kit's own tests in a browser" in text
    assert status == 0


def test_chromium_is_found_by_the_name_that_debian_gives_it(bare):
    assert doctor.find_chromium() is None
    program = on_path(bare, "chromium", "exit 0")
    assert doctor.find_chromium() == program


def test_a_missing_essential_gives_status_one_and_is_named(tmp_path):
    done = without_packages(tmp_path)
    assert done.returncode == 1
    assert "MISSING PyYAML\n          without it: reading scenarios" in done.stdout
    assert done.stdout.endswith("missing and essential: PyYAML\n")


def test_the_diagnosis_loads_none_of_the_libraries_it_looks_for():
    script = (
        "import sys\nfrom rebalance_kit.doctor import run_doctor\nrun_doctor(sys.stderr)\n"
        "print(*sorted({'pyspark', 'plotly', 'ipywidgets', 'jupyterlab', 'pandas', 'yaml'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == ""
