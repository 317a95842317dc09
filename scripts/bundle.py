"""The page's bundles: each entry of page/ with all that it imports as one file, in Python alone.

python scripts/bundle.py            make the bundles that are missing or older than their sources
python scripts/bundle.py FOLDER     make all of them below a folder

The bundles are not in git. The wheel's build hook (``hatch_build.py``), ``make``, the tests and the scripts that show a page
call ``freshen``. Each module becomes a function that returns what it exports, in an order in which nothing is used before it
is made; so names of two modules never meet. What such a function cannot be made of is refused with file and line.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import runpy
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "page"
PACKAGE = ROOT / "rebalance_kit"
BUNDLES = {
    "lab/main.js": "view/lab/static/lab.js",
    "quiz/practice.js": "view/quiz/static/practice.js",
    "quiz/exam.js": "view/quiz/static/exam.js",
    "quiz/poll.js": "view/quiz/static/poll.js",
    "quiz/vote.js": "view/quiz/static/vote.js",
    "forensics/main.js": "view/reports/static/log_page.js",
}
"""Each entry of page/, and where its bundle stands in the package."""
KINDS = "rebalance_kit/view/kinds.py"
"""The words that the page shares with Python; ``page/generated/kinds.js`` is made of its tables."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "(\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
_NAMED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default \{ \w+ \};\n", re.MULTILINE)
"""What an entry alone exports so: anywidget asks for it."""
_OTHER = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(?://[^\n]*|/\*\*(?:(?!\*/).)*\*/[ \t]*)\n", re.MULTILINE | re.DOTALL)
_BLANK = re.compile(r"\n{2,}")
_TYPES = {str: "string", bool: "boolean", int: "number"}
_HEAD = "// Made of page/{entry} by scripts/bundle.py; edit there. Sources {digest}.\n"


class BadModule(ValueError):
    """A module that cannot become a function: another form of import or export, or imports in a circle."""


def modules(entry: str) -> list[Path]:
    """A module and everything that it imports, each after what it imports; raises ``BadModule`` for a circle."""
    found: dict[Path, bool] = {}

    def visit(module: Path, way: tuple[Path, ...]) -> None:
        if module in way:
            names = " → ".join(_name(one) for one in (*way[way.index(module) :], module))
            raise BadModule(f"modules import each other: {names}")
        if module not in found:
            for imported in _IMPORT.findall(_text(module)):
                visit((module.parent / imported[1]).resolve(), (*way, module))
            found[module] = True

    visit((SOURCES / entry).resolve(), ())
    return list(found)


def bundle(entry: str) -> str:
    """The text of a bundle, its head included; the same bytes for the same sources."""
    *parts, last = modules(entry)
    body = "".join(_function(module) for module in parts) + _body(last)
    return head(entry) + body


def head(entry: str) -> str:
    """The first line of a bundle: what it is made of."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for module in modules(entry):
        digest.update(f"\0{_name(module)}\0".encode() + module.read_bytes())
    return _HEAD.format(entry=entry, digest=digest.hexdigest()[:16])


def kinds() -> str:
    """The text of ``page/generated/kinds.js``: each table of ``KINDS``, and a type of its keys."""
    parts = [f"// Made of {KINDS} by scripts/bundle.py; edit there.\n"]
    for name, (key, rows) in runpy.run_path(str(ROOT / KINDS))["TABLES"].items():
        union = " | ".join(map(json.dumps, rows))
        of = next(iter(rows.values()))
        shape = "; ".join(f"{column}: {_TYPES[type(value)]}" for column, value in of.items())
        table = json.dumps(rows, ensure_ascii=False, indent=2)
        parts += [
            f"\n/** @typedef {{{union}}} {key} */\n",
            f"/** @type {{Readonly<Record<{key}, {{ {shape} }}>>}} */\nexport const {name} = {table};\n",
        ]
    return "".join(parts)


def write_kinds() -> None:
    """Write ``page/generated/kinds.js`` where it does not say what ``KINDS`` says."""
    target, text = SOURCES / "generated" / "kinds.js", kinds()
    if not target.exists() or target.read_text("utf-8") != text:
        _write(target, text)


def stale() -> list[str]:
    """Entries whose bundle is missing or was made of other sources."""
    return [entry for entry, target in BUNDLES.items() if not _made_of(PACKAGE / target, head(entry))]


def build(folder: Path, entries: Iterable[str]) -> None:
    """Make bundles, each written beside and renamed."""
    for entry in entries:
        _write(folder / BUNDLES[entry], bundle(entry))


def freshen() -> None:
    """Make what is missing or stale; without page/, in an installed package, there is nothing to do."""
    if SOURCES.is_dir():
        write_kinds()
        build(PACKAGE, stale())


def _write(target: Path, text: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(f".{os.getpid()}.new")
    beside.write_text(text, "utf-8")
    beside.replace(target)


def _made_of(target: Path, first: str) -> bool:
    if not target.exists():
        return False
    with target.open(encoding="utf-8") as lines:
        return lines.readline() == first


def _text(module: Path) -> str:
    return module.read_text("utf-8")


def _name(module: Path) -> str:
    return module.relative_to(SOURCES).as_posix()


def _variable(module: Path) -> str:
    return "$" + re.sub(r"\W", "_", _name(module).removesuffix(".js"))


def _function(module: Path) -> str:
    """A module as a function called at once, which returns its exports."""
    names = _NAMED.findall(_text(module))
    body = _DEFAULT.sub("", _EXPORT.sub("", _body(module))).replace("export {};\n", "")
    if left := _OTHER.search(body):
        raise BadModule(f"page/{_name(module)}: {left[0]!r}; expected export function, class or const")
    return f"const {_variable(module)} = (() => {{\n{body}return {{ {', '.join(names)} }};\n}})();\n"


def _body(module: Path) -> str:
    """A module without comments of its own lines, its imports taken from what the other functions return."""

    def taken(found: re.Match[str]) -> str:
        names = re.sub(r"\b(\w+) as (\w+)", r"\1: \2", " ".join(found[1].split()))
        return f"const {{ {names.rstrip(',')} }} = {_variable((module.parent / found[2]).resolve())};\n"

    text = _BLANK.sub("\n", _IMPORT.sub(taken, _COMMENT.sub("", _text(module))))
    return f"// page/{_name(module)}\n{text.lstrip()}"


if __name__ == "__main__":
    freshen()
    build(Path(sys.argv[1]), BUNDLES) if len(sys.argv) > 1 else None
