"""What docs/testing.md prints runs as it is printed: each block of Python that names a file is that file."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

pytest_plugins = ["pytester"]
PAGE = (ROOT / "docs" / "testing.md").read_text("utf-8")
FILES = {found[2]: found[1] for found in re.finditer(r"```python\n(# (\w+\.py)\n.*?)```", PAGE, re.DOTALL)}
NEEDS = {"test_callbacks.py": "confluent_kafka"}


@pytest.fixture
def as_printed(pytester, monkeypatch):
    """Runs one printed file beside the printed conftest.py."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the kit, where it is not installed

    def run(name):
        for one in ("conftest.py", name):
            (pytester.path / one).write_text(FILES[one], "utf-8")
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", name)

    return run


def test_each_example_names_its_file():
    assert {"conftest.py", "test_listener.py", "test_writer.py", *NEEDS} <= set(FILES)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"conftest.py"}))
def test_an_example_passes_as_printed(as_printed, name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    done = as_printed(name)
    done.assert_outcomes(passed=len(re.findall(r"^def test_", FILES[name], re.MULTILINE)))
