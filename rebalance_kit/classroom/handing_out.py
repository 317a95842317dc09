"""What is handed out: the course as a folder, the offline bundle, and the check of a learner's laptop.

The course as a folder of the learner's own: notebooks, exercises to answer, and solutions apart.

Written again, it brings what is new and leaves everything that the learner changed.

The offline bundle: wheels of the kit and of all that it needs on this platform, notebooks, and a script that installs them.

Making it needs the network and a checkout; installing it needs Python of the same version and platform, and no network.

The notebooks are the kit's own, so Jupyter is told to trust them as long as nobody has changed them.

What a learner's laptop needs for a workshop, tried one after another, with a line for each.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import HeaderParser
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from rebalance_kit.classroom.plan import Plan, Scene
from rebalance_kit.exercises import FOLDER
from rebalance_kit.exercises.workspace import Workspace, all_names, find
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import DataError, EnvironmentProblem, RebalanceKitError
from rebalance_kit.model.files import WRITABLE, draft_of, ended_along, scratch_for, write_atomically
from rebalance_kit.pipeline.output import note_written, written_here

FIRST = "00-start-here.ipynb"
"""The notebook to begin with."""
_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE / "handed_out", _HERE.parents[1])
"""Where notebooks lie: in an installed package, in a checkout."""
_UP, _BESIDE = "](../docs/", "](docs/"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What was done: files written anew, and files of the learner's that stayed as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def hand_out(
    folder: Path, *, solutions: bool = True, tell: Callable[[str], object] = lambda _: None
) -> HandedOut:
    """Write the course into ``folder``, made where it is missing.

    A file that differs from what the kit wrote there is the learner's and stays; so does every answer. Raises ``DataError`` for
    a folder that cannot be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; expected {WRITABLE}")
    files = dict(_files(solutions=solutions))
    mine = written_here(folder)
    written, kept = [], []
    for name, data in files.items():
        target = folder / name
        if target.exists() and target.read_bytes() == data:
            continue
        if target.exists() and not mine(name):
            kept.append(name)
            continue
        _make(target.parent)
        write_atomically(target, data)
        written.append(name)
    note_written(folder, [name for name in files if name not in kept])
    desk = Workspace(folder / FOLDER)
    names = all_names()
    for number, name in enumerate(names, start=1):
        tell(f"exercise {number} of {len(names)}: {name}")
        if not desk.answer_file(find(name)).exists():
            desk.start(name)
            written.append(f"{FOLDER}/{name}")
    return HandedOut(tuple(written), tuple(kept))


def notebook_file(name: str) -> Path:
    """Where a notebook lies as it was handed out, with the outputs of its recorded run; raises ``DataError`` where it is not."""
    found = next((one for one in _HOMES if (one / "notebooks" / name).is_file()), None)
    if found is None:
        raise DataError(
            f"{_HERE}: holds no notebook {name!r}; expected a checkout of the kit, or an installed wheel"
        )
    return found / "notebooks" / name


def _files(*, solutions: bool) -> Iterator[tuple[str, bytes]]:
    """Names below the course's folder, and contents."""
    home = notebook_file(FIRST).parents[1]
    for path in sorted((home / "notebooks").glob("*.ipynb")):
        yield path.name, path.read_text("utf-8").replace(_UP, _BESIDE).encode()
    for path in sorted((home / "notebooks" / "images").iterdir()):
        yield f"images/{path.name}", path.read_bytes()
    yield "docs/your-client.md", (home / "docs" / "your-client.md").read_bytes()
    if solutions:
        for name in all_names():
            yield f"solutions/{name}.py", find(name).text("solution.py").encode()


def trust(folder: Path) -> tuple[str, ...]:
    """Sign the notebooks of the kit in ``folder`` for this machine's Jupyter, so that their films play before a cell is run.

    Only what lies there as the kit has it: a notebook that was changed, or that is not the kit's, is left to its reader.
    Returns the names; none where Jupyter is not installed.
    """
    if find_spec("nbformat") is None:
        return ()
    own = _unchanged(folder)
    if own:
        import nbformat
        from nbformat.sign import NotebookNotary

        with NotebookNotary() as notary:  # type: ignore[no-untyped-call]
            for path in own:
                notary.sign(nbformat.read(path, as_version=4))  # type: ignore[no-untyped-call]
    return tuple(path.name for path in own)


def _unchanged(folder: Path) -> list[Path]:
    """Notebooks in a folder that are byte for byte those of the kit; in the checkout's own, those that git calls unchanged."""
    if folder.resolve() == _ROOT / "notebooks":
        command = ["git", "-C", str(_ROOT), "status", "--porcelain", "--", "notebooks"]
        try:
            told = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        except OSError:
            told = ""  # an archive without git
        return [path for path in sorted(folder.glob("*.ipynb")) if path.name not in told]
    try:
        kit = {name: data for name, data in _files(solutions=False) if name.endswith(".ipynb")}
    except DataError:
        return []
    there = [(folder / name, data) for name, data in kit.items() if (folder / name).is_file()]
    return [path for path, data in there if path.read_bytes() == data]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); expected {WRITABLE}") from error


EXTRAS = ("lab", "study", "export", "clients", "print")
SPARK = ("spark", "java")
"""What the notebooks on logs need besides; about two thirds of the bundle."""

_NAME = "rebalance-kit"
_STORED = {".whl", ".png"}
_ROOT = Path(__file__).resolve().parents[2]
_INSTALL = '''"""Install the rebalance kit from this folder, without a network: python install.py"""

import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
NEEDED = ({major}, {minor})

if sys.version_info[:2] != NEEDED:
    sys.exit(f"Python {{sys.version_info[0]}}.{{sys.version_info[1]}} runs this; expected {{NEEDED[0]}}.{{NEEDED[1]}}, for which the wheels are")
home = HERE / ".venv"
venv.create(home, with_pip=True)
bin_folder = home / ("Scripts" if sys.platform == "win32" else "bin")
pip = [str(bin_folder / "python"), "-m", "pip", "install", "--no-index", "--find-links", str(HERE / "wheels")]
subprocess.run([*pip, "--require-hashes", "--requirement", str(HERE / "requirements.txt")], check=True)
jupyter = bin_folder / "jupyter"
if jupyter.exists():  # their films play before a cell is run
    subprocess.run([str(jupyter), "trust", *map(str, sorted((HERE / "notebooks").glob("*.ipynb")))], check=False, stdout=subprocess.DEVNULL)
print(f"Now: {{jupyter}} lab notebooks/00-start-here.ipynb")
'''


def make_bundle(
    target: Path,
    *,
    with_spark: bool = True,
    solutions: bool = True,
    tell: Callable[[str], object] = lambda _: None,
) -> tuple[int, int]:
    """Write the bundle; return its number of wheels and its bytes. Without ``solutions`` neither wheel nor folder has them.

    Raises ``DataError`` outside of a checkout, ``EnvironmentProblem`` where pip cannot get or build a wheel.
    """
    if not (_ROOT / "pyproject.toml").is_file() or not (_ROOT / "notebooks").is_dir():
        raise DataError(
            f"{_ROOT}: holds no notebooks; expected `rebalance-kit bundle` in a checkout of the kit"
        )
    extras = (*EXTRAS, *SPARK) if with_spark else EXTRAS
    with draft_of(target) as draft, scratch_for("bundle") as scratch:
        wheels = scratch / "wheels"
        draft.touch()  # a place that cannot be written to shows before minutes of work
        tell("building the kit's wheel")
        own = scratch / "pip"  # what pip leaves there when it is killed goes with the scratch folder
        own.mkdir()
        pip("wheel", "--no-deps", "--wheel-dir", str(wheels), str(_ROOT), scratch=own)
        (kit,) = wheels.glob("rebalance_kit-*.whl")
        tell(f"fetching wheels for {_NAME}[{','.join(extras)}]")
        wanted = f"{_NAME}[{','.join(extras)}] @ {kit.as_uri()}"
        pip("wheel", "--wheel-dir", str(wheels), wanted, scratch=own)
        if not solutions:
            leave_solutions_out(next(wheels.glob("rebalance_kit-*.whl")))
        write_zip(draft, sorted(wheels.glob("*.whl")), extras, solutions=solutions)
    return len(wheel_names(target)), target.stat().st_size


def leave_solutions_out(wheel: Path) -> int:
    """Write a wheel again without the exercises' solutions, its record too; return how many were left out."""
    with zipfile.ZipFile(wheel) as packed:
        parts = [(info, packed.read(info)) for info in packed.infolist()]
    kept = [(info, data) for info, data in parts if not info.filename.endswith("/" + _SOLUTION)]
    with draft_of(wheel) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        for info, data in kept:
            record = re.fullmatch(r"[^/]+\.dist-info/RECORD", info.filename)
            lines = data.decode().splitlines(keepends=True) if record else ()
            text = "".join(line for line in lines if not line.split(",")[0].endswith("/" + _SOLUTION))
            packed.writestr(info, text.encode() if record else data)
    return len(parts) - len(kept)


_SOLUTION = "solution.py"


def write_zip(target: Path, wheels: Sequence[Path], extras: Sequence[str], *, solutions: bool = True) -> None:
    """Put wheels, notebooks, install script and a note into one zip, below a folder of its own."""
    top = f"{_NAME}-{__version__}"
    with zipfile.ZipFile(target, "w") as packed:
        for wheel in wheels:
            packed.write(wheel, f"{top}/wheels/{wheel.name}", zipfile.ZIP_STORED)
        for path in _course_files():
            if path.name == _SOLUTION and not solutions:
                continue
            kind = zipfile.ZIP_STORED if path.suffix in _STORED else zipfile.ZIP_DEFLATED
            packed.write(path, f"{top}/{path.relative_to(_ROOT).as_posix()}", kind)
        parts = [Part.of(wheel) for wheel in wheels]
        for name, text in supply(parts, extras).items():
            packed.writestr(f"{top}/{name}", text, zipfile.ZIP_DEFLATED)
        packed.writestr(f"{top}/install.py", install_script(), zipfile.ZIP_DEFLATED)
        packed.writestr(f"{top}/README.txt", _note(extras), zipfile.ZIP_DEFLATED)


@dataclass(frozen=True, slots=True)
class Part:
    """A wheel of the bundle as its own metadata name it, with the digest of its bytes."""

    name: str
    version: str
    licence: str
    home: str
    digest: str

    @classmethod
    def of(cls, wheel: Path) -> Part:
        """Read a wheel."""
        with zipfile.ZipFile(wheel) as packed:
            (name,) = (one for one in packed.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", one))
            about = HeaderParser().parsestr(packed.read(name).decode("utf-8", "replace"))
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        project = re.sub(r"[-_.]+", "-", about["Name"]).lower()
        return cls(project, about["Version"], _licence(about), _home(about), digest)


def _licence(about: Message) -> str:
    """What a wheel's metadata say of its licence: an SPDX expression, else its first line, else its classifiers."""
    classes = [
        line.rsplit(" :: ", 1)[1] for line in about.get_all("Classifier", ()) if line.startswith("License ::")
    ]
    said = (
        about["License-Expression"]
        or "; ".join(classes)
        or (about["License"] or "").strip().split("\n", 1)[0]
    )
    return str(said)[:200] or "not said"


def _home(about: Message) -> str:
    links = [line.split(", ", 1)[1] for line in about.get_all("Project-URL", ()) if ", " in line]
    return str(about["Home-page"] or (links[0] if links else ""))


def supply(parts: Sequence[Part], extras: Sequence[str]) -> dict[str, str]:
    """What a bundle says of its wheels: the lock that its script installs by, licences, and an SBOM (CycloneDX 1.6)."""
    wanted = {_NAME: f"{_NAME}[{','.join(extras)}]"}
    lock = [f"{wanted.get(one.name, one.name)}=={one.version} --hash=sha256:{one.digest}\n" for one in parts]
    licences = [
        f"{one.name} {one.version}: {one.licence}{f' ({one.home})' if one.home else ''}\n" for one in parts
    ]
    components = [
        {
            "type": "application" if one.name == _NAME else "library",
            "bom-ref": f"{one.name}@{one.version}",
            "name": one.name,
            "version": one.version,
            "purl": f"pkg:pypi/{one.name}@{one.version}",
            "hashes": [{"alg": "SHA-256", "content": one.digest}],
            "licenses": [{"license": {"name": one.licence}}],
        }
        for one in parts
    ]
    sbom = {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}
    return {
        "requirements.txt": "".join(lock),
        "licences.txt": "".join(licences),
        "sbom.cdx.json": json.dumps(sbom, indent=1) + "\n",
    }


def install_script() -> str:
    """The script that a learner runs."""
    return _INSTALL.format(major=sys.version_info[0], minor=sys.version_info[1])


def wheel_names(bundle: Path) -> tuple[str, ...]:
    """Names of the wheels in a bundle."""
    with zipfile.ZipFile(bundle) as packed:
        return tuple(
            match[1] for name in packed.namelist() if (match := re.search(r"/wheels/(.*\.whl)$", name))
        )


def pip(*arguments: str, scratch: Path) -> None:
    """Run this Python's pip with its temporary files in ``scratch``; raises ``EnvironmentProblem`` with the last line that it wrote where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    place = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=place
    ) as process:
        assert process.stderr is not None
        with ended_along(process.pid):
            said = process.stderr.read()
    if process.returncode:
        lines = said.strip().splitlines() or ["no word of why"]
        raise EnvironmentProblem(
            f"pip {arguments[0]} failed ({lines[-1]}); expected a package index that can be reached"
        )


def _course_files() -> tuple[Path, ...]:
    """Notebooks with the pictures beside them, exercises, and the licence."""
    folders = (_ROOT / "notebooks", _ROOT / "exercises")
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    kept = [
        path for path in files if not {"__pycache__", "src", ".ipynb_checkpoints", "quiz"} & set(path.parts)
    ]
    return (_ROOT / "LICENSE", *kept)


def _note(extras: Sequence[str]) -> str:
    version = ".".join(map(str, sys.version_info[:2]))
    spark = "" if "spark" in extras else "Without Spark: notebooks 10 to 12 show their stored outputs only.\n"
    return (
        f"The rebalance kit {__version__}, to install without a network.\n\n"
        f"Python {version} on {sys.platform} is needed; the wheels are for it.\n"
        f"    python install.py\n    .venv/bin/jupyter lab notebooks/00-start-here.ipynb\n\n"
        "requirements.txt locks each wheel by its digest, and install.py takes no other. licences.txt says what each is\n"
        f"licensed under, sbom.cdx.json the same for tools (CycloneDX 1.6).\n\n{spark}"
    )


NEEDED = ("anywidget", "ipywidgets", "jupyterlab")


def check_laptop(plan: Plan, out: TextIO) -> int:
    """Try packages, every scene of the plan and the place of votes; 0 and *Ready*, or 1 and what is missing."""
    failed = []
    for what, trial in _trials(plan):
        try:
            trial()
            print(f"  ok      {what}", file=out, flush=True)
        except (RebalanceKitError, ImportError, OSError) as error:
            failed.append(what)
            print(f"  MISSING {what}: {error}", file=out, flush=True)
    where = f"{platform.node() or 'this laptop'}, Python {platform.python_version()}, kit {__version__}"
    print(f"Not ready ({where}): {', '.join(failed)}" if failed else f"Ready: {where}", file=out)
    return 1 if failed else 0


def _trials(plan: Plan) -> Iterator[tuple[str, Callable[[], object]]]:
    from rebalance_kit.quiz.sittings.poll import voter_of
    from rebalance_kit.quiz.sittings.store import Store

    for package in NEEDED:
        yield package, partial(import_module, package)
    for scene in dict.fromkeys(beat.lab for beat in plan.beats if beat.lab is not None):
        yield f"{scene.scenario}, {scene.protocol}", partial(_run, scene)
    yield "a place for your votes", lambda: voter_of(Store())


def _run(scene: Scene) -> object:
    from rebalance_kit.scenarios import load
    from rebalance_kit.simulation.scenario.expansion import drawn
    from rebalance_kit.simulation.simulate import simulate

    return simulate(drawn(load(scene.scenario), scene.seed), scene.seed, scene.protocol)
