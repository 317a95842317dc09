"""The course in a browser: JupyterLite with every notebook, the kit, its libraries and a Python, served by the site itself.

Pyodide's own lock names packages on a foreign host. The course has a lock that names wheels beside it: pure ones from the
package index, at the versions of Pyodide's lock, or at those of this environment for what that does not know.
"""

from __future__ import annotations

import ast
import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from scripts.bundle import ROOT, SOURCES

LOCKED = (
    "asttokens decorator executing ipython jedi matplotlib-inline micropip narwhals packaging parso prompt-toolkit pure-eval "
    "pygments six stack-data traitlets typing-extensions wcwidth"
).split()
"""Packages at the versions of Pyodide's lock."""
OURS = {
    "anywidget": ("ipywidgets", "psygnal", "typing-extensions"),
    "comm": ("traitlets",),
    "fsrs": ("typing-extensions",),
    "ipywidgets": ("comm", "ipython", "jupyterlab-widgets", "traitlets"),
    "jupyterlab-widgets": (),
    "plotly": ("narwhals", "packaging"),
    "psygnal": (),
}
"""Packages at the versions of this environment, and what each depends on."""
PRELOADED = (
    "anywidget",
    "comm",
    "fsrs",
    "ipython",
    "ipywidgets",
    "jedi",
    "micropip",
    "plotly",
    "rebalance-kit",
)
"""Loaded when a kernel starts, with what they depend on; so no notebook begins with an installation."""
WHEELS = ROOT / "build" / "course-wheels"
ELSEWHERE = {"pyspark", "rebalance_kit.pipeline", "subprocess"}
"""Modules whose work needs what a browser does not have."""
ELSEWHERE_NAMES = {"run_clients", "watching", "live", "real_run"}
"""Names of the kit of which the same is true."""
FIRST = "from rebalance_kit.notebook import recorded_run\n\nrecorded_run({name!r}, get_ipython())"
_KERNEL = "@jupyterlite/pyodide-kernel-extension:kernel"
_SHARED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
"""Files of the lab's Python from which a notebook's starts."""
_UNASKED = {
    "service-worker.js",
    "rspack.config.js",
    "rspack.config.analyze.js",
    "rspack.config.watch.js",
    "package.json",
}
"""Files that no notebook asks for."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
Cell = dict[str, Any]


def build(folder: Path, pyodide: Path) -> None:
    """Make the course in ``folder``, beside ``pyodide``, the site's own, which it shares."""
    lite = ROOT / "build" / "course"
    for old in (lite, folder):
        shutil.rmtree(old, ignore_errors=True)
    _contents(lite / "files")
    options = ["--no-sourcemaps", "--no-unused-shared-packages", "--apps", "lab"]
    options += ["--lite-dir", str(lite), "--contents", str(lite / "files"), "--output-dir", str(folder)]
    _run("jupyterlite_core", "build", *options, cwd=lite)
    _settle(folder / "jupyter-lite.json")
    _wheels(folder / "wheels", json.loads((pyodide / "pyodide-lock.json").read_text("utf-8")))
    _offline(folder)


def _offline(folder: Path) -> None:
    """Put what keeps the course for visits without a network in front of JupyterLite's service worker."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in _UNASKED)
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    names = [path.relative_to(folder).as_posix() for path in files] + [
        f"../pyodide/{name}" for name in _SHARED
    ]
    source = (SOURCES / "site" / "course.js").read_text("utf-8")
    source = source.replace("/* files */ []", json.dumps(names)).replace("/* version */", whole)
    worker = folder / "service-worker.js"
    worker.write_text(f"{source}\n{worker.read_text('utf-8')}", "utf-8")


def _run(module: str, *arguments: str, cwd: Path = ROOT) -> None:
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode:
        raise SystemExit(f"{module} {arguments[0]} failed:\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")


# --- notebooks -----------------------------------------------------------------------------------
def _contents(folder: Path) -> None:
    """The notebooks, their pictures, and the one document to which they link."""
    (folder / "docs").mkdir(parents=True)
    for source in sorted((ROOT / "notebooks").glob("*.ipynb")):
        text = source.read_text("utf-8").replace("](../docs/", "](docs/")
        notebook = for_a_browser(json.loads(text), source.name)
        (folder / source.name).write_text(json.dumps(notebook, ensure_ascii=False), "utf-8")
    shutil.copytree(ROOT / "notebooks" / "images", folder / "images")
    shutil.copyfile(ROOT / "docs" / "your-client.md", folder / "docs" / "your-client.md")


def for_a_browser(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """The notebook with the browser's kernel; cells that need processes begin with ``%%recorded``, and a cell before them says so."""
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
        for output in cell.get("outputs", []):
            _join(output.get("data", {}))
    needing = needs_processes(code)
    for cell in needing:
        cell["source"] = f"%%recorded\n{cell['source']}"
    if needing:
        notebook["cells"].insert(1, _said(FIRST.format(name=name)))
    notebook["metadata"]["kernelspec"] = {
        "display_name": "Python (Pyodide)",
        "language": "python",
        "name": "python",
    }
    return notebook


def _said(source: str) -> Cell:
    metadata = {"tags": ["hide-input"], "jupyter": {"source_hidden": True}}
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": "recorded",
        "metadata": metadata,
        "outputs": [],
        "source": source,
    }


def _join(data: dict[str, object]) -> None:
    """Texts as texts: lists of lines, as files have them, break JupyterLite's table of contents."""
    for kind, value in data.items():
        if isinstance(value, list) and not kind.endswith("json"):
            data[kind] = "".join(value)


def needs_processes(cells: Sequence[Cell]) -> list[Cell]:
    """The cells that cannot run without processes: those that use what only such a cell, or such a module, gives.

    A function that uses it can be defined; the cell that calls it cannot run.
    """
    out_of_reach = set(ELSEWHERE_NAMES)
    found = []
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        recorded = (
            "exercise" in cell["metadata"].get("tags", ())
            or _imports_elsewhere(tree)
            or _reaches(tree.body, out_of_reach)
        )
        bound = set(_bound(tree.body))
        if recorded:
            found.append(cell)
            out_of_reach |= bound
            continue
        out_of_reach -= bound - ELSEWHERE_NAMES
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and set(_used(node.body)) & out_of_reach:
                out_of_reach.add(node.name)
            if isinstance(node, ast.Import):
                out_of_reach |= {alias.name for alias in node.names if alias.name in ELSEWHERE}
    return found


def _imports_elsewhere(tree: ast.Module) -> bool:
    """Whether a name is taken from a module that works elsewhere alone; a module as a whole may be named."""
    return any(
        isinstance(node, ast.ImportFrom) and _within(node.module or "", ELSEWHERE) for node in ast.walk(tree)
    )


def _reaches(body: Sequence[ast.stmt], out_of_reach: set[str]) -> bool:
    """Whether a statement reads such a name before the cell itself has bound it."""
    own: set[str] = set()
    for node in body:
        if set(_used([node])) & (out_of_reach - own):
            return True
        own.update(_bound([node]))
    return False


def _within(module: str, homes: Iterable[str]) -> bool:
    return any(module == home or module.startswith(f"{home}.") for home in homes)


def _used(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that these statements read when they run, not those in functions that they define."""
    for node in body:
        if not isinstance(node, ast.FunctionDef):
            yield from (
                one.id
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
            )


def _bound(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that exist when these statements have run."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        else:
            yield from (
                one.id
                for one in ast.walk(node)
                if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
            )


# --- Python and its packages ---------------------------------------------------------------------
def _settle(path: Path) -> None:
    """Say in JupyterLite's settings where Python and its packages are, and that nothing else is asked."""
    settings = json.loads(path.read_text("utf-8"))
    ours = settings["jupyter-config-data"]
    ours |= {"appName": "Rebalance kit: the course", "exposeAppInBrowser": True}
    ours["litePluginSettings"][_KERNEL] |= {
        "pyodideUrl": "./../pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"lockFileURL": "./wheels/pyodide-lock.json", "packages": list(PRELOADED)},
    }
    path.write_text(json.dumps(settings, indent=1), "utf-8")


def _wheels(folder: Path, lock: dict[str, Any]) -> None:
    """Every wheel, and a lock that speaks of these and of no others."""
    known = lock["packages"]
    pins = {name: known[name]["version"] for name in LOCKED}
    pins |= {name: distribution(name).version for name in OURS}
    _fetch(pins)
    folder.mkdir()
    wheels = {name: _copied(_found(name, version)[0], folder) for name, version in pins.items()}
    wheels["pyyaml"] = _pyyaml(folder)
    _run("hatchling", "build", "-t", "wheel", "-d", str(folder))
    wheels["rebalance-kit"] = next(folder.glob("rebalance_kit-*.whl"))
    depends = {
        **{name: known.get(name, {}).get("depends", ()) for name in wheels},
        **OURS,
        "rebalance-kit": ("pyyaml",),
    }
    lock["packages"] = {
        name: _entry(name, wheel, [one.replace("_", "-") for one in depends[name]])
        for name, wheel in sorted(wheels.items())
    }
    (folder / "pyodide-lock.json").write_text(json.dumps(lock, indent=1), "utf-8")


def _copied(wheel: Path, folder: Path) -> Path:
    return Path(shutil.copyfile(wheel, folder / wheel.name))


def _fetch(pins: Mapping[str, str]) -> None:
    """Bring what is not here yet from the package index: pure wheels, whose hashes pip compares with the index."""
    missing = [f"{name}=={version}" for name, version in pins.items() if not _found(name, version)]
    if missing:
        target = (
            "--python-version 3.14 --platform any --implementation py --abi none --only-binary :all:".split()
        )
        _run("pip", "download", "--quiet", "--no-deps", *target, "--dest", str(WHEELS), *missing)


def _found(name: str, version: str) -> list[Path]:
    return sorted(WHEELS.glob(f"{name.replace('-', '_')}-{version}-*.whl"))


def _pyyaml(folder: Path) -> Path:
    """PyYAML as this environment has it, without its compiled part: it does its work in Python where there is none."""
    found = distribution("PyYAML")
    info = f"pyyaml-{found.version}.dist-info"
    path = folder / f"pyyaml-{found.version}-py3-none-any.whl"
    files = {
        str(file): Path(str(found.locate_file(file))).read_bytes()
        for file in found.files or ()
        if file.parts[0] == "yaml" and file.suffix == ".py"
    }
    files[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: PyYAML\nVersion: {found.version}\n".encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{info}/RECORD"] = b""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return path


def _entry(name: str, wheel: Path, depends: list[str]) -> dict[str, object]:
    module, version = wheel.name.split("-")[:2]
    return {
        "depends": depends,
        "file_name": wheel.name,
        "imports": ["yaml" if name == "pyyaml" else module],
        "install_dir": "site",
        "name": name,
        "package_type": "package",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "unvendored_tests": False,
        "version": version,
    }
