"""What a process may do once it runs a learner's code: limits of the system, and events that Python refuses.

The limits hold for C code as well. The audit hook refuses connections beyond this machine, other programs, and
files that hold truth; an audit hook cannot be removed by Python code. Spark's Java lies outside of both.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

Refusal: TypeAlias = Callable[[tuple[Any, ...]], None]
"""Raises for the arguments of an event that is refused."""
_DIE_WITH_PARENT = 1
"""``PR_SET_PDEATHSIG`` of prctl(2)."""

_PROGRAMS = frozenset(
    {"os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "pty.spawn"}
    | {"subprocess.Popen", "ctypes.dlopen", "ctypes.dlsym", "os.kill", "os.killpg", "signal.pthread_kill"}
)
_WITHOUT_EVENT = (
    ("os", "pidfd_open"), ("posix", "pidfd_open"), ("signal", "pidfd_send_signal"), ("_signal", "pidfd_send_signal"),
    ("_posixsubprocess", "fork_exec"), ("subprocess", "_fork_exec"),
)  # fmt: skip
"""Ways to start a program, or to stop the process that marks, of which Python tells no audit hook."""
_CONNECTIONS = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})
_NAMES = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_THIS_MACHINE = ("127.", "::1", "localhost")
_KIT = "rebalance_kit.exercises"
_FILES = frozenset(
    {"open", "os.listdir", "os.scandir", "os.link", "os.symlink", "os.rename", "shutil.copyfile"}
)

_CHANGES = frozenset(
    {"os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate", "os.chmod", "os.link", "os.symlink"}
    | {"shutil.rmtree", "shutil.move"}
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_KITS_HOME = str(Path(__file__).resolve().parents[2]) + os.sep
"""No answer changes the kit, which checks the next one."""


def limit_resources(cpu_s: int, memory: int, file_size: int) -> None:
    """Bound CPU seconds, bytes of memory and bytes of a file; end this process when its parent ends."""
    for kind, bound in (
        (resource.RLIMIT_CPU, cpu_s),
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        kept = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
        resource.setrlimit(kind, (kept, kept))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if hasattr(ctypes.CDLL(None), "prctl"):
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def confine(secret: Sequence[str]) -> None:
    """Refuse from now on what an answer has no need of; ``secret`` are folders that hold truth."""
    import sys

    folders = tuple(os.path.realpath(folder) + os.sep for folder in secret)
    own = f"/proc/{os.getpid()}/"
    refusals: dict[str, Refusal] = {
        **dict.fromkeys(_PROGRAMS, _refuse_program),
        **dict.fromkeys(_CONNECTIONS, _refuse_far),
        **dict.fromkeys(_NAMES, _refuse_name),
        **{event: _secret_refusal(event, folders, own) for event in _FILES},
        "import": _refuse_kit,
    }
    for event in _CHANGES:
        refusals[event] = _both(refusals.get(event), _refuse_change)
    refusals["open"] = _both(refusals["open"], _refuse_writing)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        refuse = refusals.get(event)
        if refuse is not None:
            refuse(arguments)

    sys.addaudithook(hook)
    for module, name in _WITHOUT_EVENT:
        if hasattr(sys.modules.get(module), name):
            setattr(sys.modules[module], name, _refuse_program)


def _both(first: Refusal | None, then: Refusal) -> Refusal:
    def refuse(arguments: tuple[Any, ...]) -> None:
        if first is not None:
            first(arguments)
        then(arguments)

    return refuse


def _refuse_writing(arguments: tuple[Any, ...]) -> None:
    path = arguments[0]
    if isinstance(path, str | bytes | os.PathLike):
        # A folder that is opened is a way to change what lies in it, by names that are relative to its number.
        place = os.path.realpath(os.fsdecode(path)).rstrip(os.sep) + os.sep
        if (place.startswith(_KITS_HOME) or _KITS_HOME.startswith(place)) and Path(place).is_dir():
            raise PermissionError(f"an answer does not change the kit: it does not open the folder {place}")
    if len(arguments) > 2 and isinstance(arguments[2], int) and arguments[2] & _WRITING:
        _refuse_change(arguments[:1])


def _refuse_change(arguments: tuple[Any, ...]) -> None:
    for path in arguments[:2]:
        if isinstance(path, str | bytes | os.PathLike) and os.path.realpath(os.fsdecode(path)).startswith(
            _KITS_HOME
        ):
            raise PermissionError(
                f"an answer does not change the kit: {Path(os.fsdecode(path)).name} stays as it is"
            )


def _refuse_program(*_arguments: object, **_named: object) -> None:
    raise PermissionError(
        "an answer starts no other program and loads no library of C; it returns what it was asked for"
    )


def _refuse_far(arguments: tuple[Any, ...]) -> None:
    address = arguments[1] if len(arguments) > 1 else None
    if isinstance(address, tuple) and not str(address[0]).startswith(_THIS_MACHINE):
        raise PermissionError(f"an answer has no network: no connection to {address[0]}")


def _refuse_name(arguments: tuple[Any, ...]) -> None:
    host = arguments[0].decode("ascii", "replace") if isinstance(arguments[0], bytes) else arguments[0]
    if host is not None and not str(host).startswith(_THIS_MACHINE):
        raise PermissionError(f"an answer has no network: {host} is not looked up")


def _secret_refusal(event: str, folders: tuple[str, ...], own: str) -> Callable[[tuple[Any, ...]], None]:
    return lambda arguments: _refuse_secret(event, arguments, folders, own)


def _refuse_secret(event: str, arguments: tuple[Any, ...], folders: tuple[str, ...], own: str) -> None:
    for path in arguments[:2]:
        if not isinstance(path, str | bytes | os.PathLike):
            continue
        place = os.path.realpath(os.fsdecode(path)).rstrip(os.sep) + os.sep
        if event == "open" and any(folder.startswith(place) for folder in folders):
            # A folder that is opened is a way to what lies in it, by names that no hook sees.
            raise PermissionError(f"an answer does not open the folder {place}: the answer is in the logs")
        if place.startswith(folders) or (place.startswith("/proc/") and _is_other_process(place, own)):
            raise PermissionError(f"an answer does not read {Path(place).name}: the answer is in the logs")


def _is_other_process(place: str, own: str) -> bool:
    return place.split("/")[2].isdigit() and not place.startswith(own)


def _refuse_kit(arguments: tuple[Any, ...]) -> None:
    name = str(arguments[0])
    if name == _KIT or name.startswith(_KIT + "."):
        raise ImportError(f"an answer does not import {name}: it holds what the answer is compared with")
