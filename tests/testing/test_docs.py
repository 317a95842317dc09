"""What docs/testing.md prints runs as it is printed: each block of Python that names a file is that file."""

from __future__ import annotations

import inspect
import re

import pytest

from rebalance_kit.testing import DEEDS, Rebalance
from tests.support.paths import ROOT

pytest_plugins = ["pytester"]
PAGE = (ROOT / "docs" / "testing.md").read_text("utf-8")
FILES = {found[2]: found[1] for found in re.finditer(r"```python\n(# (\w+\.py)\n.*?)```", PAGE, re.DOTALL)}
NEEDS = {"test_callbacks.py": "confluent_kafka"}
AT_FAULT = "test_at_fault.py"


@pytest.fixture
def as_printed(pytester, monkeypatch):
    """Runs one printed file beside the others."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # the kit, where it is not installed

    def run(name):
        for one, text in FILES.items():
            (pytester.path / one).write_text(text, "utf-8")
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-q", name)

    return run


def test_each_example_names_its_file():
    named = {"conftest", "test_listener", "test_at_fault", "test_writer", "test_offsets", "test_counts"}
    assert set(FILES) == {f"{name}.py" for name in (*named, "test_faults", "test_callbacks")}


@pytest.mark.parametrize("name", sorted(set(FILES) - {"conftest.py", AT_FAULT}))
def test_an_example_passes_as_printed(as_printed, name):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    done = as_printed(name)
    outcomes = done.parseoutcomes()
    assert set(outcomes) == {"passed"}, done.stdout.str()
    assert outcomes["passed"] >= FILES[name].count("\ndef test_") > 0


def test_the_printed_failure_is_what_the_printed_file_gives(as_printed):
    (printed,) = re.findall(r"```text\n(.*?)…\n```", PAGE, re.DOTALL)
    done = as_printed(AT_FAULT)
    done.assert_outcomes(failed=1)
    assert printed in done.stdout.str()


def test_the_page_lists_every_deed_and_argument():
    row = next(line for line in PAGE.splitlines() if line.startswith("| `deeds`"))
    assert tuple(re.findall(r"\*([^*]+)\*", row)) == DEEDS
    arguments = inspect.signature(Rebalance.__call__).parameters
    listed = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)
    assert set(arguments) - {"self", "listener"} <= set(listed)


def test_a_callback_that_blocks_once_is_told_and_breaks_nothing(pytester):
    pytester.makeconftest('pytest_plugins = ["rebalance_kit.testing"]')
    pytester.makepyfile(
        """
        import threading

        waited = []

        class Once:
            def on_revoked(self, partitions, consumer):
                if not waited:
                    waited.append(1)
                    threading.Event().wait(4)

        def test_it(rebalance):
            rebalance(Once, deeds=["a member joins"], protocols=["eager"], seeds=(1,)).assert_no_callback_raised()
        """
    )
    done = pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider")
    done.assert_outcomes(failed=1)
    assert "this time it did not" in done.stdout.str()
    assert "ValueError" not in done.stdout.str()
