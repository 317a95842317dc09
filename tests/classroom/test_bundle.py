"""The offline bundle: what is in it, and that its script installs it without an index."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile

import pytest

from rebalance_kit.classroom.handing_out import install_script, leave_solutions_out, wheel_names, write_zip

WHEEL = "rebalance_kit-9.9-py3-none-any.whl"
FILES = {
    "rebalance_kit/__init__.py": "",
    "rebalance_kit-9.9.dist-info/METADATA": "Metadata-Version: 2.1\nName: rebalance-kit\nVersion: 9.9\nLicense: Apache-2.0\nProvides-Extra: lab\n",
    "rebalance_kit-9.9.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "rebalance_kit-9.9.dist-info/RECORD": "",
}


@pytest.fixture
def unpacked(tmp_path):
    """A bundle with a small wheel in place of the kit's, unpacked."""
    with zipfile.ZipFile(tmp_path / WHEEL, "w") as packed:
        for name, text in FILES.items():
            packed.writestr(name, text)
    write_zip(tmp_path / "bundle.zip", [tmp_path / WHEEL], ["lab"])
    assert wheel_names(tmp_path / "bundle.zip") == (WHEEL,)
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        packed.extractall(tmp_path)
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    return folder


def test_it_holds_notebooks_exercises_and_how_to_install(unpacked):
    assert (unpacked / "notebooks" / "00-start-here.ipynb").is_file()
    assert (unpacked / "exercises" / "spark" / "01-log-lines" / "README.md").is_file()
    assert "python install.py" in (unpacked / "README.txt").read_text("utf-8")
    assert "Without Spark" in (unpacked / "README.txt").read_text("utf-8")
    assert not list(unpacked.rglob("__pycache__"))


def test_without_solutions_neither_the_wheel_nor_the_folder_has_one(tmp_path):
    wheel, kept = tmp_path / WHEEL, "rebalance_kit/exercises/spark/01-log-lines/answer.py"
    left = kept.replace("answer", "solution")
    record = "rebalance_kit-9.9.dist-info/RECORD"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, text in {**FILES, kept: "", left: "", record: f"{kept},,\n{left},,\n"}.items():
            packed.writestr(name, text)
    assert leave_solutions_out(wheel) == 1
    with zipfile.ZipFile(wheel) as packed:
        assert left not in packed.namelist() and kept in packed.namelist()
        assert packed.read(record).decode() == f"{kept},,\n"
    write_zip(tmp_path / "bundle.zip", [wheel], ["lab"], solutions=False)
    with zipfile.ZipFile(tmp_path / "bundle.zip") as packed:
        assert not [name for name in packed.namelist() if name.endswith("solution.py")]
        assert any(name.endswith("01-log-lines/README.md") for name in packed.namelist())


def test_its_script_installs_without_an_index(unpacked):
    done = subprocess.run(
        [sys.executable, unpacked / "install.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list((unpacked / ".venv").rglob("rebalance_kit-9.9.dist-info"))
    assert "lab notebooks/00-start-here.ipynb" in done.stdout


def test_its_script_refuses_a_wheel_that_was_changed(unpacked):
    with zipfile.ZipFile(unpacked / "wheels" / WHEEL, "a") as packed:
        packed.writestr("rebalance_kit/more.py", "")
    done = subprocess.run(
        [sys.executable, unpacked / "install.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_it_says_what_each_wheel_is_and_what_it_is_licensed_under(unpacked):
    digest = hashlib.sha256((unpacked / "wheels" / WHEEL).read_bytes()).hexdigest()
    assert (unpacked / "requirements.txt").read_text() == f"rebalance-kit[lab]==9.9 --hash=sha256:{digest}\n"
    assert (unpacked / "licences.txt").read_text() == "rebalance-kit 9.9: Apache-2.0\n"
    (part,) = json.loads((unpacked / "sbom.cdx.json").read_text())["components"]
    assert (part["purl"], part["hashes"][0]["content"]) == ("pkg:pypi/rebalance-kit@9.9", digest)


def test_the_script_refuses_another_python(tmp_path):
    other = install_script().replace(f"({sys.version_info[0]}, {sys.version_info[1]})", "(2, 7)")
    (tmp_path / "install.py").write_text(other)
    done = subprocess.run(
        [sys.executable, tmp_path / "install.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "expected 2.7" in done.stderr
