"""Settings that every test shares: hypothesis profiles, golden files, and what to do about a skip.

Hypothesis: the profile ``default`` is used unless ``--hypothesis-profile=thorough`` asks for 10,000
examples; under ``make test-long`` it draws ten times as many. A slow property takes a share of the profile, so that ``thorough`` still reaches it::

    @settings(max_examples=settings.default.max_examples // 10)
"""

from __future__ import annotations

import os
import runpy
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from rebalance_kit.doctor import find_chromium
from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.java import find_java

GOLDEN = Path(__file__).parent / "golden"
LONG = "REBALANCE_KIT_LONG"  # set to 1 by `make test-long`: what carries the mark ``long``, larger draws, pictures
NO_SKIPS = "REBALANCE_KIT_NO_SKIPS"  # set to 1 where everything is installed: a skip is then a failure
LIVE = "REBALANCE_KIT_LIVE"  # set to 1 by `make test-live`: tests that fetch Kafka and run it

QUIET_BROWSER = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

_SLOW_MACHINES = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(
    "default",
    max_examples=1_000 if os.environ.get(LONG) == "1" else 100,
    derandomize=True,
    deadline=None,
    suppress_health_check=_SLOW_MACHINES,
)
settings.register_profile(
    "thorough", max_examples=10_000, deadline=None, print_blob=True, suppress_health_check=_SLOW_MACHINES
)
settings.load_profile("default")


def pytest_configure() -> None:
    """Take Ctrl-C as at a terminal, and make the page's bundles, which are not in git, where they are missing or old.

    A shell starts what runs in the background with SIGINT ignored, and the processes that tests interrupt would inherit that.
    """
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    tool = Path(__file__).parents[1] / "scripts" / "bundle.py"
    if tool.exists():  # not beside a copy of this file (tests/project/test_settings.py)
        runpy.run_path(str(tool))["freshen"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the stored texts instead of comparing with them"
    )


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Look for doctests in the package alone: helpers and conftests here are no tests."""
    return True if collection_path.suffix == ".py" and not collection_path.name.startswith("test_") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the long tests, and leave out what this machine cannot run."""
    items.sort(key=lambda item: _heavy(item.nodeid) or "~")
    _leave_out(items, "spark", _why_no_spark)
    _leave_out(items, "browser", _why_no_browser)
    if os.environ.get(LIVE) != "1":
        _deselect(config, items, lambda item: item.get_closest_marker("live") is not None)
    if os.environ.get(LONG) != "1" and "long" not in config.option.markexpr:
        _deselect(config, items, lambda item: item.get_closest_marker("long") is not None)
    if config.getoption("--update-golden"):
        _deselect(config, items, lambda item: not _is_golden(item))


def _deselect(
    config: pytest.Config, items: list[pytest.Item], left_out: Callable[[pytest.Item], bool]
) -> None:
    config.hook.pytest_deselected(items=[item for item in items if left_out(item)])
    items[:] = [item for item in items if not left_out(item)]


def _heavy(nodeid: str) -> str | None:
    """What a test starts that others of its kind use again: a browser or a JVM."""
    if nodeid.startswith("tests/browser/") or "_in_browser.py" in nodeid:
        return "browser"
    return "jvm" if nodeid.startswith(("tests/pipeline/", "tests/exercises/")) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``-n``: one process has the browser, one the JVM, and whoever is free takes file by file.

    The groups of ``--dist loadgroup`` (pytest-xdist 3.8) have no effect under pytest 9.2, which no longer
    reads the attribute that they are written to.
    """
    from xdist.scheduler import LoadScopeScheduling

    class OneForEachHeavy(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if heavy := _heavy(nodeid):
                return heavy
            path = nodeid.partition("::")[0]
            return nodeid if path == "tests/notebooks/test_notebooks.py" else path

    return OneForEachHeavy(config, log)


def _leave_out(items: list[pytest.Item], marker: str, why: Callable[[], str | None]) -> None:
    marked = [item for item in items if item.get_closest_marker(marker)]
    reason = why() if marked else None
    if reason is not None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _is_golden(item: pytest.Item) -> bool:
    return "golden" in getattr(item, "fixturenames", ()) or item.get_closest_marker("golden") is not None


def _why_no_spark() -> str | None:
    try:
        find_java()
    except EnvironmentProblem as problem:
        return str(problem)
    return None


def _why_no_browser() -> str | None:
    if find_chromium() is None:
        return "no Chromium on the PATH (Debian: apt-get install chromium)"
    return None


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A headless Chromium, one for the whole process: playwright refuses a second driver beside it."""
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium on the PATH (Debian: apt-get install chromium)")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: tests of the screen are left out"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(found), args=list(QUIET_BROWSER))
        yield browser
        browser.close()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str, str], None]:
    """Compare a text with ``tests/golden/<name>.txt``: ``golden(name, intent, text)``.

    The first line of the file is the intent; ``--update-golden`` rewrites the file.
    """

    def compare(name: str, intent: str, text: str) -> None:
        path = GOLDEN / f"{name}.txt"
        whole = f"# {intent}\n{text.rstrip()}\n"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(whole, "utf-8")
        assert path.exists(), f"{path.name} is not stored yet: make golden writes it"
        assert whole == path.read_text("utf-8"), f"{name} differs; make golden rewrites it when it should"

    return compare


# Where everything is installed, a test that is skipped is a test that was lost.
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and item.get_closest_marker("may_skip") is None:
        _count_as_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    if report.skipped:
        _count_as_failure(report)
    return report


def _count_as_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get(NO_SKIPS) == "1":
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {_reason(report)}"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    told = report.longrepr
    return told[2].removeprefix("Skipped: ") if isinstance(told, tuple) else str(told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one place which tests this machine had to leave out."""
    reasons: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reasons[_reason(report)] = reasons.get(_reason(report), 0) + 1
    if reasons:
        terminalreporter.section("left out on this machine")
        for reason, count in sorted(reasons.items()):
            terminalreporter.line(f"{count} test{'s'[: count != 1]}: {reason}")
