"""The settings of tests/conftest.py, tried on small suites of their own."""

from __future__ import annotations

import shutil
from xml.etree import ElementTree as ET

import pytest
from hypothesis import settings

from tests.support.paths import ROOT

CONFTEST = ROOT / "tests" / "conftest.py"
pytest_plugins = ["pytester"]

SKIPPING = """
import pytest

def test_that_runs():
    assert 1 + 1 == 2

def test_that_is_left_out():
    pytest.skip("no cluster here")

@pytest.mark.may_skip(reason="only on Windows")
def test_that_may_be_left_out():
    pytest.skip("only on Windows")
"""

COMPARING = """
def test_a_text(golden):
    golden("greeting", "what a reader is greeted with", "hello")

def test_without_any_text():
    assert 1 + 1 == 2
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """Run a small suite under our conftest; returns a function from its text and flags to the result."""
    monkeypatch.delenv("REBALANCE_KIT_NO_SKIPS", raising=False)
    monkeypatch.setenv("PYTHONPATH", str(CONFTEST.parents[1]))  # the kit, where it is not installed
    pytester.makeini(
        "[pytest]\nmarkers =\n    may_skip(reason): x\n    golden: x\n    spark: x\n    browser: x\n"
    )
    shutil.copy(CONFTEST, pytester.path / "conftest.py")

    def run(text, *flags):
        pytester.makepyfile(test_small=text)
        return pytester.runpytest("-p", "no:cacheprovider", *flags)

    return run


def test_a_skip_is_told_with_its_reason(suite):
    done = suite(SKIPPING)
    done.assert_outcomes(passed=1, skipped=2)
    done.stdout.fnmatch_lines(
        ["*left out on this machine*", "1 test: no cluster here", "1 test: only on Windows"]
    )


def test_a_skip_fails_where_nothing_may_be_skipped_unless_it_is_expected(suite, monkeypatch):
    monkeypatch.setenv("REBALANCE_KIT_NO_SKIPS", "1")
    done = suite(SKIPPING)
    done.assert_outcomes(passed=1, skipped=1, failed=1)
    done.stdout.fnmatch_lines(["*skipped where nothing may be: no cluster here*"])


def test_a_whole_file_that_skips_itself_fails_there_too(suite, monkeypatch):
    monkeypatch.setenv("REBALANCE_KIT_NO_SKIPS", "1")
    done = suite("import pytest\npytest.importorskip('no_such_library')\n")
    assert done.ret != 0
    done.stdout.fnmatch_lines(["*skipped where nothing may be: could not import 'no_such_library'*"])


def test_browser_tests_are_left_out_with_a_reason_where_there_is_no_chromium(suite, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = suite("import pytest\n\n@pytest.mark.browser\ndef test_a_page(chromium):\n    assert chromium\n")
    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(["1 test: no Chromium on the PATH*"])


def test_tests_that_start_a_jvm_share_a_process_those_of_a_browser_another(suite, pytester):
    for folder, name in (
        ("aside", "small"),
        ("browser", "page"),
        ("pipeline", "rows"),
        ("pipeline", "columns"),
    ):
        path = pytester.path / "tests" / folder / f"test_{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            "import os\n\n\ndef test_it(record_property):\n    record_property('process', os.getpid())\n"
        )
    done = suite("", "-n3", "--no-loadscope-reorder", "--junit-xml=told.xml", "tests")
    done.assert_outcomes(passed=4)
    cases = ET.parse(pytester.path / "told.xml").getroot().iter("testcase")  # noqa: S314 - written by this very test
    process = {case.get("classname"): case.find("properties/property").get("value") for case in cases}
    assert process["tests.pipeline.test_rows"] == process["tests.pipeline.test_columns"]
    assert len(set(process.values())) == 3


def test_a_golden_text_is_written_on_request_alone_and_then_compared(suite, pytester):
    suite(COMPARING).assert_outcomes(failed=1, passed=1)
    suite(COMPARING, "--update-golden").assert_outcomes(passed=1, deselected=1)
    stored = pytester.path / "golden" / "greeting.txt"
    assert stored.read_text("utf-8") == "# what a reader is greeted with\nhello\n"
    suite(COMPARING).assert_outcomes(passed=2)
    stored.write_text("# what a reader is greeted with\ngood bye\n", "utf-8")
    suite(COMPARING).assert_outcomes(failed=1, passed=1)


def test_the_thorough_profile_asks_for_ten_thousand_examples():
    assert settings.get_profile("thorough").max_examples == 10_000
    assert settings.get_profile("default").max_examples >= 100
