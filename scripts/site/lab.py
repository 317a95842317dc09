"""The lab as a static site: pages, the kit as a zip, Pyodide; any static host serves the folder as it is.

Made by `make site`, with the course and the documents around it.

Pyodide comes once from npm's registry (Deno keeps it); its files are compared with the hashes below.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from html import escape
from importlib.metadata import distribution
from pathlib import Path

from rebalance_kit.model import __version__
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.reading import read_document
from rebalance_kit.view.lab.guide import guide_of
from rebalance_kit.view.lab.lessons import lesson_rows
from rebalance_kit.view.lab.page import style
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.reports.log_report import script_digest
from rebalance_kit.view.style.theme import embedded
from scripts.bundle import ROOT, SOURCES, bundle
from scripts.page import run

PYODIDE = "314.0.7"
PYODIDE_FILES = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
}
"""What a page needs of the npm package, with its SHA-256."""
ROOMS = (
    "model",
    "assignors",
    "protocol",
    "simulation",
    "analysis",
    "scenarios",
    "view",
    "logs",
    "forensics",
    "recordings",
    "whatif",
)
"""The rooms that go into the page's Python; the rest is notebooks, commands and Spark."""
PURE = {"yaml": "PyYAML", "traitlets": "traitlets"}
PURE_OF_QUESTIONS = {"fsrs": "fsrs", "typing_extensions": "typing-extensions"}
FIRST = ("two-consumers-crash", "eager")
PROTOCOLS = ("eager", "cooperative", "consumer")
AS_CONFIGURED = "own"
"""In the place of a protocol: each member speaks what the lesson says."""
ENTRIES = {"site/main.js": "site.js", "site/logs.js": "logs.js", "site/quiz.js": "quiz.js"}
"""Scripts of pages, and the files of their bundles."""
ALONE = ("worker.js", "embed.js")
"""Scripts that a browser loads by themselves."""
OFFLINE, LOST = "offline.js", "lost.js"
LATER = ("quiz.tar.xz", "pyodide/python_stdlib.zip")
"""Files that not every visit needs; the browser keeps them from their first use on."""
RUNS = "script-src 'self' 'wasm-unsafe-eval'{more}; worker-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:{blob}"
HEADS = {
    "index.html": (
        "Crash a consumer. See what Kafka does.",
        "lab.css site.css",
        RUNS.format(more="", blob=" blob:; frame-src 'self'"),
    ),
    "embed.html": (
        "A Kafka consumer group that you can crash",
        "lab.css site.css",
        RUNS.format(more="", blob=" blob:"),
    ),
    "lessons.html": ("Lessons: rebalance kit", "site.css", "style-src 'self'; img-src 'self'"),
    "logs.html": ("Read your logs: rebalance kit", "site.css", RUNS.format(more=" '{report}'", blob="")),
    "quiz.html": (
        "Questions: rebalance kit",
        "site.css quiz.css",
        RUNS.format(more="", blob="; frame-src 'self'"),
    ),
    "404.html": (
        "No such page: rebalance kit",
        "",
        "script-src '{lost-digest}'; connect-src 'self'; style-src 'unsafe-inline'; img-src data:",
    ),
}
"""Per page: its title, its style sheets, and what it may load."""
SAID = "Kafka's group protocols, message by message, in your browser: crash consumers, switch protocols, compare."
WAIT = (
    "If nothing comes here: this page works from a host, not from a file. Any host will do: "
    "<code>python -m http.server</code> in the folder of the site."
)
UNUSED = {"tests", "optimizer"}
"""Parts of those packages that the page has no use for."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


class NoPyodide(RuntimeError):
    """Pyodide is not at hand: Deno fetches it once, and could not."""


def build(folder: Path) -> None:
    """Make the whole site in ``folder`` beside the old one, then exchange them; raises ``NoPyodide``."""
    beside = folder.with_name(folder.name + ".new")
    shutil.rmtree(beside, ignore_errors=True)
    (beside / "films").mkdir(parents=True)
    _pyodide(beside / "pyodide")
    _compiled(beside)
    first, text = _films(beside / "films")
    _pages(beside, first, text)
    _scripts(beside)
    _notices(beside / "notices.txt")
    _offline(beside)
    if folder.exists():
        shutil.rmtree(folder)
    beside.replace(folder)


def _pyodide(folder: Path) -> None:
    home = ROOT / "build" / "deno"
    run("cache", "--quiet", f"npm:pyodide@{PYODIDE}")
    found = next(iter(home.glob(f"npm/*/pyodide/{PYODIDE}")), None)
    if found is None:
        raise NoPyodide(f"Pyodide {PYODIDE} is not at hand, and npm's registry does not answer")
    folder.mkdir()
    for name, wanted in PYODIDE_FILES.items():
        data = (found / name).read_bytes()
        is_ = hashlib.sha256(data).hexdigest()
        if is_ != wanted:
            raise SystemExit(f"{found / name}: SHA-256 is {is_}; expected {wanted}")
        (folder / name).write_bytes(data)


def _compiled(folder: Path) -> None:
    """The kit, and the questions, which one page alone needs: modules that the page's Python has compiled."""
    zips = [folder / "kit.zip", folder / "quiz.zip"]
    _kit(zips[0])
    _questions(zips[1])
    script = str(ROOT / "scripts" / "site" / "compiled.mjs")
    pyodide = str((folder / "pyodide").resolve())
    rights = ("--allow-read", "--allow-write", "--allow-env")
    done = run(
        "run", "--quiet", "--no-check", *rights, script, pyodide, *(str(one.resolve()) for one in zips)
    )
    if done.returncode:
        raise SystemExit("the kit was not compiled; Deno says why above")
    for one in zips:
        one.unlink()


def _kit(path: Path) -> None:
    """The kit's rooms and the pure packages they need, as one zip whose bytes depend on its contents alone."""
    package = ROOT / "rebalance_kit"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(_kit_files(package)):
            _put(archive, f"rebalance_kit/{source.relative_to(package).as_posix()}", source.read_bytes())
        for name in PURE:
            _put_package(archive, name)


def _questions(path: Path) -> None:
    """The room of questions, the bank, and what schedules reviews. The bank is JSON where that says the same: it is read a hundred times faster."""
    package = ROOT / "rebalance_kit"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(_sources(package / "quiz")):
            _put(archive, f"rebalance_kit/{source.relative_to(package).as_posix()}", source.read_bytes())
        for source in sorted((ROOT / "exercises" / "quiz").glob("*.yaml")):
            value = read_document(source).value
            text = json.dumps(value, ensure_ascii=False)
            same = json.loads(text) == value  # keys that are numbers would become words
            data = text.encode() if same else source.read_bytes()
            _put(archive, f"rebalance_kit/quiz/bank/{source.name}", data)
        for name in PURE_OF_QUESTIONS:
            _put_package(archive, name)


def _put_package(archive: zipfile.ZipFile, name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{name} is not installed; expected it for the page's Python")
    home = Path(spec.origin)
    if spec.submodule_search_locations is None:
        _put(archive, home.name, home.read_bytes())
        return
    for source in sorted(home.parent.rglob("*.py")):
        if not UNUSED & {source.stem, *source.relative_to(home.parent).parts}:
            _put(archive, f"{name}/{source.relative_to(home.parent).as_posix()}", source.read_bytes())


def _sources(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")


def _kit_files(package: Path) -> Iterator[Path]:
    yield from package.glob("*.py")
    yield from package.glob("*.yaml")
    for room in ROOMS:
        yield from _sources(package / room)


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def _films(folder: Path) -> tuple[dict[str, object], str]:
    """Each lesson under each protocol that can run it, ready to play; the first one, and its words."""
    first, text = {}, ""
    for name in _names():
        for protocol, lab in _runs(name):
            state = write_film(folder / f"{name}.{protocol}.json", lab, name, protocol)
            if (name, protocol) == FIRST:
                first, text = state, f"{lab.text}\n\n{lab.story}"
    return first, text


def write_film(path: Path, lab: LabSession, lesson: str, protocol: str) -> dict[str, object]:
    """What a page plays before Python is there; ``lesson`` and ``protocol`` are those that Python begins with."""
    state = {
        "lesson": lesson,
        "protocol": protocol,
        "film": base64.b64encode(lab.film).decode("ascii"),
        "controls": {**lab.controls, "guide": guide_of(lab.history.state)},
        "cursor_ms": lab.cursor_ms,
    }
    path.write_text(json.dumps(state, separators=(",", ":")), "utf-8")
    return state


def _runs(name: str) -> Iterator[tuple[str, LabSession]]:
    """A lesson under each protocol, or as it says where its members speak different ones."""
    lab = LabSession(name)
    if lab.protocol is None:
        yield AS_CONFIGURED, lab
        return
    for protocol in PROTOCOLS:
        yield protocol, lab if protocol == lab.protocol else LabSession(name, protocol)


def _names() -> list[str]:
    return [str(row["name"]) for row in lesson_rows()]


def _pages(folder: Path, first: dict[str, object], text: str) -> None:
    known = {path.name.removesuffix(".json") for path in (folder / "films").iterdir()}
    items = "\n".join(_entry(row, known) for row in lesson_rows())
    lost = (SOURCES / "site" / LOST).read_text("utf-8")
    words = {
        "{nav}": (SOURCES / "site" / "nav.html").read_text("utf-8"),
        "{wait}": WAIT,
        "{lost}": f"<script>{lost}</script>",
        "{lost-digest}": f"sha256-{base64.b64encode(hashlib.sha256(lost.encode()).digest()).decode()}",
        "{version}": escape(__version__),
        '"{first}"': embedded(first),
        "{text}": escape(text),
        "{lesson}": FIRST[0],
        "{report}": script_digest(),
        "{count}": str(len(lesson_rows())),
        "{items}": str(len(read_bank().items)),
        "{repeated}": _repeated(),
        "{lessons}": f"<ol>\n{items}\n</ol>",
    }
    for page in HEADS:
        html = (SOURCES / "site" / page).read_text("utf-8").replace("{head}\n", _head(page))
        for place, value in words.items():
            html = html.replace(place, value)
        (folder / page).write_text(html, "utf-8")
    (folder / "lab.css").write_text(style(), "utf-8")
    shutil.copyfile(ROOT / "rebalance_kit" / "view" / "quiz" / "static" / "quiz.css", folder / "quiz.css")
    for name in ("site.css", "icon.svg"):
        shutil.copyfile(SOURCES / "site" / name, folder / name)


def _head(page: str) -> str:
    """What stands above a page's body: title, style sheets, and what the page may load."""
    title, styles, policy = HEADS[page]
    links = [f'<link rel="stylesheet" href="{name}">' for name in styles.split()]
    links.append('<link rel="icon" href="icon.svg">' if styles else '<link rel="icon" href="data:,">')
    if page == "index.html":
        links.insert(0, f'<meta name="description" content="{SAID}">')
    html = (SOURCES / "site" / "head.html").read_text("utf-8")
    html = html.replace("{title}", escape(title)).replace("{policy}", policy)
    return html.replace("{links}", "\n    ".join(links))


def _repeated() -> str:
    """How many recorded runs the engine repeats, as the page about it says."""
    text = (ROOT / "docs" / "fidelity.md").read_text("utf-8")
    found = re.search(r"equal in (\d+ of \d+) runs", text)
    if found is None:
        raise SystemExit("docs/fidelity.md names no result; expected 'equal in N of M runs'")
    return found[1]


def _notices(path: Path) -> None:
    """What of others the site brings along, each with its licence."""
    parts = [
        f"The rebalance kit {__version__}, Apache License 2.0\n\n{(ROOT / 'NOTICE').read_text('utf-8')}",
        f"Pyodide {PYODIDE}, Mozilla Public License 2.0 (https://mozilla.org/MPL/2.0/), source: https://github.com/pyodide/pyodide",
        "CPython's interpreter and standard library inside Pyodide, Python Software Foundation License 2 "
        "(https://docs.python.org/3/license.html)",
    ]
    for package in (*PURE.values(), *PURE_OF_QUESTIONS.values()):
        found = distribution(package)
        texts = [
            file.read_text() for file in found.files or () if "LICENSE" in file.name or "COPYING" in file.name
        ]
        parts.append("\n\n".join((f"{package} {found.version}", *texts)))
    path.write_text("\n\n{}\n\n".format("=" * 78).join(parts) + "\n", "utf-8")


def _entry(row: Mapping[str, object], known: set[str]) -> str:
    name = str(row["name"])
    protocol = next(one for one in (*PROTOCOLS, AS_CONFIGURED) if f"{name}.{one}" in known)
    title, watch = escape(str(row["title"])), escape(str(row["watch"]))
    return (
        f'<li><a href="index.html?lesson={name}&amp;protocol={protocol}">{title}</a><br>Watch {watch}.</li>'
    )


def _scripts(folder: Path) -> None:
    for entry, name in ENTRIES.items():
        (folder / name).write_text(bundle(entry), "utf-8")
    for name in ALONE:
        shutil.copyfile(SOURCES / "site" / name, folder / name)


def _offline(folder: Path) -> None:
    """The service worker knows every file, those that come later, and the digest of them all."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    names = ["./", *(path.relative_to(folder).as_posix() for path in files)]
    source = (SOURCES / "site" / OFFLINE).read_text("utf-8")
    source = source.replace("/* files */ []", json.dumps([name for name in names if name not in LATER]))
    source = source.replace("/* later */ []", json.dumps(LATER)).replace("/* version */", whole)
    (folder / OFFLINE).write_text(source, "utf-8")
