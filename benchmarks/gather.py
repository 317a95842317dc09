"""Run every benchmark, or those named, and put their tables into docs/benchmarks.md; the tables of others stay."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from shared.tables import FOLDER

from rebalance_kit.model.files import write_atomically

HEAD = """# Benchmarks

Made by `make bench`, table by table, on the machine and day that each names; peers run beside the kit in the same run, and other work on
the machine slows both. Speed is never asserted by a test.

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
    before = target.read_text(encoding="utf-8") if target.exists() else ""
    write_atomically(target, HEAD + "\n".join(merged(sections(before), _parts(asked))))
    print(
        f"wrote docs/{target.name}"
        + (f"; missed their targets or failed: {', '.join(missed)}" if missed else "")
    )
    return 1 if missed else 0


def sections(text: str) -> list[str]:
    """The parts of a document from one heading of the second rank to the next; what stands before the first is left out."""
    return [
        part.strip() + "\n"
        for part in re.split(r"^(?=## )", text, flags=re.MULTILINE)
        if part.startswith("## ")
    ]


def merged(before: list[str], made: list[str]) -> list[str]:
    """Each table that was made in the place of the one with its heading; the others stay, new ones come last."""
    new = {part.splitlines()[0]: part for part in made}
    kept = [new.pop(part.splitlines()[0], part) for part in before]
    return kept + list(new.values())


def _parts(asked: list[str]) -> list[str]:
    """What the benchmarks just run have published or printed, as sections."""
    parts: list[str] = []
    for file in sorted(file for name in asked for file in FOLDER.glob(f"{name}*.txt")):
        text = file.read_text(encoding="utf-8").strip()
        if text.startswith("## "):
            parts += sections(text)
        elif text:
            parts.append(
                f"## {file.stem.replace('_', ' ').capitalize()}\n\n"
                + (text if "|--" in text else f"```\n{text}\n```")
                + "\n"
            )
    return parts


if __name__ == "__main__":
    raise SystemExit(main())
