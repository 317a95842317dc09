"""The walls that this machine has, the best first, and how a command is put behind one.

| kind | files | processes | network | on |
|---|---|---|---|---|
| bubblewrap | an own file system | own | own loopback | Linux with ``bwrap`` |
| namespaces | the same, built by the kit | own | own loopback | Linux that lets users make namespaces |
| landlock | those allowed, by the kernel's list | none can be started, none reached | no socket | Linux 5.13 and later; not for Spark |
| none | everything of the user | everything of the user | everything | anywhere |
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.child import lock
from rebalance_kit.exercises.wall import paths
from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.model.files import remove_scratch, scratch_folder

VARIABLE = "REBALANCE_KIT_WALL"
"""Names the one kind to be used."""
BUBBLEWRAP, NAMESPACES, LANDLOCK, NONE = "bubblewrap", "namespaces", "landlock", "none"
KINDS = (BUBBLEWRAP, NAMESPACES, LANDLOCK, NONE)

_PROBE_S = 20
_FIRST_USER, _USERS = 700_000_000, 64
"""Each wall that root makes has a user of its own: the limit on processes counts per user, and Spark's Java has many."""
_number = itertools.count()
_NAMESPACES = Path(__file__).with_name("namespaces.py")


@dataclass(frozen=True, slots=True)
class Need:
    """What one process needs: its module, parts of the kit, inputs to read, a size for its scratch folder, and bounds."""

    module: str
    kit: tuple[str, ...] = paths.CHILD
    arguments: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    scratch_bytes: int = 64 << 20
    limits: Mapping[str, int] = field(default_factory=dict)
    starts_processes: bool = False


@lru_cache(maxsize=8)
def works(kind: str) -> bool:
    """Whether that wall stands on this machine: a process is put behind it, and has to say so."""
    if kind == NONE:
        return True
    if sys.platform != "linux" or (kind == BUBBLEWRAP and shutil.which("bwrap") is None):
        return False
    if kind == LANDLOCK and lock.landlock_version() < 1:
        return False
    folder = scratch_folder("probe")
    try:
        command = command_behind(
            kind, Need("rebalance_kit.exercises.child.probe", arguments=(__file__,)), folder
        )
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PROBE_S, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        remove_scratch(folder)
    return done.stdout.strip() == b"behind"


@lru_cache(maxsize=8)
def _best(forced: str | None) -> str:
    if forced is None:
        return next(kind for kind in KINDS if works(kind))
    if forced not in KINDS:
        raise EnvironmentProblem(f"{VARIABLE} is {forced!r}; expected one of {', '.join(KINDS)}")
    if not works(forced):
        raise EnvironmentProblem(
            f"{VARIABLE} asks for {forced}, which does not work on this machine; expected one of {', '.join(filter(works, KINDS))}"
        )
    return forced


def best() -> str:
    """The best kind that works here, or the one that ``REBALANCE_KIT_WALL`` names; raises ``EnvironmentProblem`` where that one does not work."""
    return _best(os.environ.get(VARIABLE) or None)


def available() -> tuple[str, ...]:
    """Every kind that works here but none."""
    return tuple(kind for kind in KINDS if kind != NONE and works(kind))


def command_behind(kind: str, need: Need, folder: Path, reply: int | None = None) -> list[str]:
    """The command that runs a module behind a wall of that kind; ``folder`` is a new one for it alone, ``reply`` the end of a pipe that it inherits."""
    if kind == LANDLOCK and need.starts_processes:
        raise EnvironmentProblem(
            "Spark needs processes and sockets, which the one wall of this machine (landlock) refuses altogether; expected bubblewrap, or namespaces that users may make"
        )
    seen, kit = paths.interpreter(), str(paths.kit(need.kit))
    as_root = kind in {BUBBLEWRAP, NAMESPACES} and os.geteuid() == 0 and _may_make_namespaces()
    user = _FIRST_USER + os.getpid() * _USERS + next(_number) % _USERS if as_root else None
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    steps: dict[str, Any] = {
        "module": need.module, "arguments": need.arguments, "kit": kit, "folder": str(scratch), "sites": seen.sites,
        "limits": need.limits, "reply": reply, "user": user, "lock": kind != NONE, "landlock": None,
        "environment": _environment(need, kit, scratch),
    }  # fmt: skip
    if kind == LANDLOCK:
        read, names = paths.granted(seen)
        steps["landlock"] = {
            "read": [*read, kit, *need.read],
            "names": names,
            "write": [str(scratch), *seen.devices],
        }
    inner = [sys.executable, "-I", f"{kit}/rebalance_kit/exercises/child/lock.py", json.dumps(steps)]
    if kind in {LANDLOCK, NONE}:
        return inner
    settings = paths.settings_folder(os.geteuid() or user or _NOBODY)
    if kind == BUBBLEWRAP:
        return [*_bubblewrap(seen, need, kit, scratch, settings, as_root=as_root), *inner]
    files = {f"/etc/{file.name}": str(file) for file in settings.iterdir() if not file.name.startswith(".")}
    plan = {
        "as_root": as_root, "user": user, "root": str(folder), "read": [*seen.read, kit, *need.read], "files": files, "devices": seen.devices,
        "masked": seen.masked, "links": seen.links, "scratch": str(scratch), "scratch_bytes": need.scratch_bytes, "reply": reply,
    }  # fmt: skip
    return [sys.executable, "-I", "-S", str(_NAMESPACES), json.dumps(plan), *inner]


_NOBODY = 65534


@lru_cache(maxsize=1)
def _may_make_namespaces() -> bool:
    """Whether this root may do it without a namespace of users: not inside most containers."""
    probe = "import ctypes, sys; sys.exit(ctypes.CDLL(None).unshare(0x20000) != 0)"
    return (
        subprocess.run([sys.executable, "-I", "-S", "-c", probe], capture_output=True, check=False).returncode
        == 0
    )


def _environment(need: Need, kit: str, scratch: Path) -> dict[str, str]:
    """Nothing of the caller's environment but the language (and where Windows lies)."""
    kept = {name: os.environ[name] for name in ("LANG", "LC_ALL", "TZ", "SYSTEMROOT") if name in os.environ}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **kept, "HOME": str(scratch), "TMPDIR": str(scratch),
        "PYTHONPATH": kit, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1", **need.environment,
    }  # fmt: skip


def _bubblewrap(
    seen: paths.Seen, need: Need, kit: str, scratch: Path, settings: Path, *, as_root: bool
) -> list[str]:
    command = [
        "bwrap",
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-uts",
        "--hostname",
        "localhost",
    ]
    command += ["--die-with-parent", "--new-session", "--clearenv"]
    if as_root:
        command += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += [
            "--unshare-user",
            *(() if os.geteuid() else ("--uid", str(_NOBODY), "--gid", str(_NOBODY))),
        ]
    read = [*seen.read, kit, *need.read]
    files = {f"/etc/{file.name}": str(file) for file in settings.iterdir() if not file.name.startswith(".")}
    steps: list[tuple[str, ...]] = [
        ("--perms", "0755", "--dir", way) for way in _parents([*read, *files, *seen.devices, str(scratch)])
    ]
    steps += [("--ro-bind", path, path) for path in read]
    steps += [("--ro-bind", source, path) for path, source in files.items()]
    steps += [("--tmpfs", path, "--remount-ro", path) for path in seen.masked]
    steps += [("--symlink", target, link) for link, target in seen.links.items()]
    steps += [("--dev-bind", path, path) for path in seen.devices]
    steps += [("--proc", "/proc", "--remount-ro", "/proc")]
    steps += [
        ("--perms", "1777", "--size", str(need.scratch_bytes), "--tmpfs", str(scratch), "--remount-ro", "/")
    ]
    return [*command, *(word for step in steps for word in step), "--"]


def _parents(wanted: Sequence[str]) -> list[str]:
    """Folders on the way to these paths, the outer ones first: bubblewrap would let nobody but root pass through those that it makes itself."""
    ways = {str(parent) for path in wanted for parent in Path(path).parents}
    return sorted(ways - {"/"})
