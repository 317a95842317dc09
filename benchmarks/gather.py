"""Run every benchmark and write docs/benchmarks.md from what each printed or published."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from shared.tables import FOLDER, machine

from rebalance_kit.model.files import write_atomically

HEAD = """# Benchmarks

Made by `make bench` on one machine ({machine}); peers run beside the kit in the same run, and other work on the machine
slows both. Speed is never asserted by a test.

"""
HERE = Path(__file__).resolve().parent


def run(name: str) -> tuple[int, str]:
    """One benchmark in a process of its own; its text is shown as it comes."""
    print(f"== {name}", flush=True)
    done = subprocess.Popen([sys.executable, str(HERE / f"{name}.py")], stdout=subprocess.PIPE, text=True)
    text = []
    for line in done.stdout or ():
        print(line, end="", flush=True)
        text.append(line)
    return done.wait(), "".join(text)


def main() -> int:
    asked = sys.argv[1:] or sorted(file.stem for file in HERE.glob("[a-z]*.py") if file.stem != "gather")
    FOLDER.mkdir(parents=True, exist_ok=True)
    missed = []
    for name in asked:
        for old in FOLDER.glob(f"{name}.*"):
            old.unlink()
        status, text = run(name)
        (FOLDER / f"{name}.txt").write_text(text, encoding="utf-8")
        if status:
            missed.append(name)
    target = HERE.parent / "docs" / "benchmarks.md"
    write_atomically(target, HEAD.format(machine=machine()) + "\n".join(_parts()))
    print(
        f"wrote docs/{target.name}"
        + (f"; missed their targets or failed: {', '.join(missed)}" if missed else "")
    )
    return 1 if missed else 0


def _parts() -> list[str]:
    parts = []
    for file in sorted(FOLDER.glob("*.txt")):
        text = file.read_text(encoding="utf-8").strip()
        if text.startswith("## "):
            parts.append(text + "\n")
        elif text:
            parts.append(
                f"## {file.stem.replace('_', ' ').capitalize()}\n\n"
                + (text if "|--" in text else f"```\n{text}\n```")
                + "\n"
            )
    return parts


if __name__ == "__main__":
    raise SystemExit(main())
