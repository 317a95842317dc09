"""The minutes that a notebook states are those that reading it takes (scripts/minutes.py)."""

from __future__ import annotations

import pytest

from tests.support.paths import ROOT
from tests.support.scripts import loaded

SOURCES = sorted((ROOT / "notebooks" / "src").rglob("[0-9c]*.py"), key=lambda path: path.stem)
SAMPLE = """\
# %% [markdown]
# # 00 · A sample
# **5 minutes**

# %%
from rebalance_kit.notebook import predict
guess = predict({"a": None, "b": None})

# %% tags=["hide-input"]
chart(run)

# %%
Lab("join")

# %% [markdown]
# <details><summary>Answer</summary> yes </details>

# %%
Quiz("x", count=3)
Exercise("01-log-lines")
"""


@pytest.fixture(scope="module")
def minutes():
    return loaded("minutes")


@pytest.fixture(scope="module")
def making():
    return loaded("notebooks")


def test_what_a_reader_does_is_counted(minutes, making, tmp_path):
    path = tmp_path / "00-sample.py"
    path.write_text(SAMPLE, "utf-8")
    found = minutes.reading(making.read_source(path))
    assert (found.code_cells, found.figures, found.labs, found.questions) == (3, 1, 1, 5)
    assert (found.words, found.exercise_minutes) == (7, 15)
    assert found.stated == "**15 minutes**, and 15 for its exercises"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_stated_minutes_are_measured_by_reading(minutes, making, path):
    stated = minutes.STATED.search(path.read_text("utf-8"))
    if path.stem.startswith("16"):
        return  # the exam's own ninety minutes
    assert stated is not None
    assert stated[0] == minutes.reading(making.read_source(path)).stated, "run scripts/minutes.py --write"


def test_the_paths_of_notebook_00_state_what_reading_them_takes(minutes):
    (start,) = (ROOT / "notebooks" / "src").rglob("00-*.py")
    text = start.read_text("utf-8")
    counted = minutes.path_minutes()
    assert counted["three hours"] <= 190
    for name in counted:
        assert f"| **{name}** |" in text
    assert minutes.with_paths(text) == text, "run scripts/minutes.py --write"
