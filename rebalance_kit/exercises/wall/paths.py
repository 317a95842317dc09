"""What is to be seen behind a wall: the interpreter, its packages, the few modules of the kit that an answer may import, and its inputs.

Nothing of a home, a course, ``/tmp`` or another learner is on the list, and no module of the kit that knows the truth.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from rebalance_kit.model.files import scratch_folder

_KIT = Path(__file__).resolve().parents[2]
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SETTINGS = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/ssl/openssl.cnf")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_ENGINE = ("model", "assignors", "protocol", "simulation")
CHILD = (
    "__init__.py", "exercises/__init__.py", "exercises/child", "model",
    "pipeline/__init__.py", "pipeline/spark/__init__.py", "pipeline/spark/shared_java.py",
)  # fmt: skip
"""What every answer's process needs of the kit."""
ASSIGNOR = (
    *CHILD, "assignors/__init__.py", "assignors/contract.py", "assignors/java_order.py", "simulation/__init__.py", "simulation/learner_code",
)  # fmt: skip
LISTENER = (*CHILD, *_ENGINE)
SPARK = (*CHILD, *_ENGINE, "analysis", "forensics", "notebook", "pipeline", "scenarios")


@dataclass(frozen=True, slots=True)
class Seen:
    """Paths to be read (folders whole, but for those ``masked``), devices, and links that lead to them."""

    read: tuple[str, ...]
    masked: tuple[str, ...]
    devices: tuple[str, ...]
    links: dict[str, str]
    sites: tuple[str, ...]


@lru_cache(maxsize=1)
def interpreter() -> Seen:
    """This Python with its packages, less the kit, and the libraries of the system."""
    prefixes = {
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
    }
    sites = [
        path
        for path in sys.path
        if Path(path).name in {"site-packages", "dist-packages"} and Path(path).is_dir()
    ]
    wanted = [str(Path(path)) for path in (*prefixes, *sites) if path and Path(path).parent != Path(path)]
    links = {path: str(Path(path).readlink()) for path in _SYSTEM if Path(path).is_symlink()}
    system = [path for path in (*_SYSTEM, *_SETTINGS) if Path(path).exists() and path not in links]
    read = _outermost([*system, *wanted, *_java_settings()])
    links["/dev/fd"] = "/proc/self/fd"
    links |= {link: target for link, target in _links_of(sys.executable) if not _below(link, read)}
    inside = _KIT.parent.name in {"site-packages", "dist-packages"}
    masked = (str(_KIT),) if inside else ()
    return Seen(read, masked, tuple(path for path in _DEVICES if Path(path).exists()), links, tuple(sites))


def _java_settings() -> list[str]:
    """Folders of settings that Debian's Java links to."""
    return [str(path) for path in sorted(Path("/etc").glob("java*"))]


def _links_of(path: str) -> list[tuple[str, str]]:
    """The links that lead from the name of the interpreter to its file."""
    found: list[tuple[str, str]] = []
    while Path(path).is_symlink() and len(found) < 40:
        target = str(Path(path).readlink())
        found.append((path, target))
        path = os.path.normpath(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120
    return found


def _outermost(paths: Sequence[str]) -> tuple[str, ...]:
    """Paths without those that lie in another of them."""
    kept: list[str] = []
    for path in sorted(set(paths)):
        if not _below(path, kept):
            kept.append(path)
    return tuple(kept)


def _below(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def granted(seen: Seen) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """For a wall that can only allow: what may be read, and folders whose names may be listed, around what is masked."""
    read: list[str] = []
    names: list[str] = []
    todo = list(seen.read)
    while todo:
        path = todo.pop()
        if path in seen.masked:
            continue
        if any(masked.startswith(path + "/") for masked in seen.masked):
            names.append(path)
            todo += [os.path.join(path, name) for name in os.listdir(path)]  # noqa: PTH118, PTH208
        else:
            read.append(path)
    return tuple(read), tuple(names)


@lru_cache(maxsize=8)
def kit(modules: tuple[str, ...]) -> Path:
    """A folder with these parts of the kit and nothing else; one per process."""
    folder = scratch_folder("kit")
    folder.chmod(0o755)
    for name in modules:
        source, target = _KIT / name, folder / "rebalance_kit" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copy2(source, target)
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


@lru_cache(maxsize=64)
def settings_folder(user: int) -> Path:
    """Files of ``/etc`` as a wall has them: one user, one host."""
    folder = scratch_folder("etc")
    folder.chmod(0o755)
    files = {
        "passwd": f"answer:x:{user}:{user}::/:/bin/false\n",
        "group": f"answer:x:{user}:\n",
        "hosts": "127.0.0.1 localhost\n::1 localhost\n",
        "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    }
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o644)
    return folder
