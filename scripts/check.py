"""A quick look before a commit: style, types, rooms, and the tests that name what was changed.

python scripts/check.py [SINCE]    SINCE is a commit (origin/main, else main, else HEAD); what is not committed counts too

The tests are those whose files import a changed module or are changed themselves, nearest first, for ``TESTS_S`` seconds;
tests of the browser, of Spark and of notebooks are left to ``make test``. What is left out is said.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
TESTS_S = 40.0
"""So long are tests run; a file that does not end in what is left of it is left to ``make test``."""
SLOW = ("tests/browser", "tests/pipeline", "tests/notebooks", "tests/exercises", "tests/clients")


def git(*arguments: str) -> list[str]:
    """The lines that git prints; none where it fails."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed(since: str | None) -> list[str]:
    """Files that differ from ``since``, or that git does not know yet."""
    known = [
        name for name in (since, "origin/main", "main", "HEAD") if name and git("rev-parse", "--verify", name)
    ]
    base = git("merge-base", known[0], "HEAD")
    return sorted({*git("diff", "--name-only", *base), *git("ls-files", "--others", "--exclude-standard")})


def tests_of(files: Iterable[str]) -> list[str]:
    """Test files that concern these files, nearest first: changed ones, those that import or name them."""
    names = [
        file.removesuffix(".py").replace("/", ".") for file in files if file.startswith("rebalance_kit/")
    ]
    weights: dict[str, int] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text("utf-8")
        hits = sum(len(re.findall(rf"\b{re.escape(module)}\b", text)) for module in names)
        if name in files or hits:
            weights[name] = hits + 100 * (name in files)
    quick = [name for name in weights if not name.startswith(SLOW) and "_in_browser" not in name]
    return sorted(quick, key=lambda name: -weights[name])


def run(command: list[str]) -> bool:
    """Run a command, print whether it failed and what it said then; returns whether it succeeded."""
    begun = time.monotonic()
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    words = done.stdout + done.stderr if done.returncode else ""
    print(
        f"{'FAILED' if words else 'ok':6} {time.monotonic() - begun:5.1f} s  {' '.join(command[:3])}\n{words}",
        end="",
    )
    return not done.returncode


def run_tests(files: list[str]) -> bool:
    """Run test files one after the other until the time is over, and say which were left."""
    ends, good, left = time.monotonic() + TESTS_S, True, []
    for file in files:
        begun = time.monotonic()
        if begun >= ends:
            left.append(file)
            continue
        try:
            done = subprocess.run(
                [str(BIN / "python"), "-m", "pytest", "-q", "-x", file],
                cwd=ROOT,
                capture_output=True,
                text=True,
                check=False,
                timeout=ends - begun,
            )
        except subprocess.TimeoutExpired:
            left.append(file)
            continue
        failed = done.returncode != 0
        good &= not failed
        words = done.stdout if failed else ""
        print(f"{'FAILED' if failed else 'ok':6} {time.monotonic() - begun:5.1f} s  {file}\n{words}", end="")
    for file in left:
        print(f"left to make test: {file}")
    return good


def main(arguments: list[str]) -> int:
    """Check, say what failed, and return the exit status."""
    files = changed(arguments[0] if arguments else None)
    commands = [
        ["ruff", "check", "--quiet", "."],
        ["ruff", "format", "--quiet", "--check", "."],
        ["lint-imports", "--no-logo"],
        ["dmypy", "run", "--timeout", "3600"],
    ]
    if any(file.startswith("page/") or file.endswith(".css") for file in files):
        commands += [["python", "scripts/page.py", "lint"], ["python", "scripts/page.py", "test"]]
    with ThreadPoolExecutor(2) as both:
        styled = both.submit(lambda: [run(command) for command in commands])
        tested = both.submit(run_tests, ["tests/project/test_structure.py", *tests_of(files)])
    return int(not (all(styled.result()) and tested.result()))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
