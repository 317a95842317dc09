"""A wall of Linux's namespaces, built by this file alone: ``python -I namespaces.py PLAN COMMAND...``, PLAN in JSON.

The command sees a file system of its own (an empty one, into which the allowed paths are bound, unchangeable), no process but its
own, and no network but its own loopback. When this process ends, all of that ends.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

_NEW_USER, _NEW_MOUNT, _NEW_PIDS, _NEW_NET, _NEW_IPC, _NEW_NAMES = (
    0x10000000,
    0x20000,
    0x20000000,
    0x40000000,
    0x8000000,
    0x4000000,
)
_BIND, _RECURSIVE, _PRIVATE, _NO_SUID, _NO_DEVICES, _NO_PROGRAMS, _READ_ONLY = (
    0x1000,
    0x4000,
    1 << 18,
    2,
    4,
    8,
    1,
)
_ATTRIBUTES = 442
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SUID, _ATTRIBUTE_NO_DEVICES = 1, 2, 4
_AT_RECURSIVE, _HERE = 0x8000, -100
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_DETACHED = 2
_DIE_WITH_PARENT = 1
_NOBODY = 65534

_libc = ctypes.CDLL(None, use_errno=True)


def main(plan: Mapping[str, Any], command: list[str]) -> int:
    """Build the wall and run the command behind it; its status (128 and more: the signal that ended it)."""
    _die_with_parent()
    user, group = os.getuid(), os.getgid()
    flags = _NEW_MOUNT | _NEW_PIDS | _NEW_NET | _NEW_IPC | _NEW_NAMES
    _must("unshare", _libc.unshare(flags if plan["as_root"] else flags | _NEW_USER))
    if not plan["as_root"]:
        Path("/proc/self/setgroups").write_text("deny", "ascii")
        Path("/proc/self/uid_map").write_text(f"{user or _NOBODY} {user} 1", "ascii")
        Path("/proc/self/gid_map").write_text(f"{group or _NOBODY} {group} 1", "ascii")
    first = os.fork()
    if first:
        if plan["reply"] is not None:
            os.close(plan["reply"])
        return _status(os.waitpid(first, 0)[1])
    os._exit(_inside(plan, command))


def _inside(plan: Mapping[str, Any], command: list[str]) -> int:
    """The first process of the new world: it lays out the files, starts the command, and ends with it."""
    try:
        _die_with_parent()
        _must("sethostname", _libc.sethostname(b"localhost", 9))
        _lay_out(plan)
        _loopback_up()
        running = os.fork()
        if not running:
            os.execv(command[0], command)  # noqa: S606 - a fixed list of arguments
    except OSError as problem:
        os.write(2, f"{problem}\n".encode())
        return 125
    if plan["user"] is not None:
        os.setgroups([])
        os.setresgid(*[plan["user"]] * 3)
        os.setresuid(*[plan["user"]] * 3)
        _die_with_parent()
    for descriptor in (
        0,
        1,
        plan["reply"],
    ):  # an end of a pipe that is held here would never be seen to close
        if descriptor is not None:
            os.close(descriptor)
    while True:
        ended, status = os.wait()
        if ended == running:
            return _status(status)


def _lay_out(plan: Mapping[str, Any]) -> None:
    root = plan["root"]
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    _mount("root", root, "tmpfs", _NO_SUID | _NO_DEVICES, "size=4m,mode=755")
    for path, source in [*((path, path) for path in plan["read"]), *plan["files"].items()]:
        _bind(source, root + path, read_only=True)
    for path in plan["devices"]:
        _bind(path, root + path, read_only=False)
    for path in plan["masked"]:
        _mount("nothing", root + path, "tmpfs", _NO_SUID | _NO_DEVICES | _READ_ONLY, "size=4k,mode=755")
    for link, target in plan["links"].items():
        if not os.path.lexists(root + link):
            Path(root + link).parent.mkdir(parents=True, exist_ok=True)
            Path(root + link).symlink_to(target)
    Path(root + plan["scratch"]).mkdir(parents=True, exist_ok=True)
    _mount(
        "scratch",
        root + plan["scratch"],
        "tmpfs",
        _NO_SUID | _NO_DEVICES,
        f"size={plan['scratch_bytes']},mode=1777",
    )
    Path(root + "/proc").mkdir(exist_ok=True)
    with suppress(OSError):  # inside some containers it is refused; most programs do without
        _mount("proc", root + "/proc", "proc", _NO_SUID | _NO_DEVICES | _NO_PROGRAMS | _READ_ONLY)
    os.chdir(root)
    _must("pivot_root", _libc.syscall(_PIVOT_ROOT[os.uname().machine], b".", b"."))
    _must("umount", _libc.umount2(b".", _DETACHED))
    os.chdir("/")
    _attributes("/", _ATTRIBUTE_READ_ONLY, recursive=False)


def _bind(path: str, target: str, *, read_only: bool) -> None:
    source = os.path.realpath(path)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    if os.path.isdir(source):  # noqa: PTH112
        Path(target).mkdir(exist_ok=True)
    elif not os.path.lexists(target):
        Path(target).touch()
    _mount(source, target, None, _BIND | _RECURSIVE)
    if read_only:
        _attributes(target, _ATTRIBUTE_READ_ONLY | _ATTRIBUTE_NO_SUID | _ATTRIBUTE_NO_DEVICES, recursive=True)


def _attributes(path: str, attributes: int, *, recursive: bool) -> None:
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    depth = _AT_RECURSIVE if recursive else 0
    _must(
        "mount_setattr",
        _libc.syscall(_ATTRIBUTES, _HERE, os.fsencode(path), depth, wanted, ctypes.c_size_t(len(wanted))),
    )


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    given = None if kind is None else kind.encode()
    _must(
        f"mount {target}",
        _libc.mount(
            os.fsencode(source), os.fsencode(target), given, ctypes.c_ulong(flags), options.encode() or None
        ),
    )


def _loopback_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as plug:
        fcntl.ioctl(
            plug, 0x8914, struct.pack("16sH14s", b"lo", 0x41, b"")
        )  # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


def _die_with_parent() -> None:
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _must(what: str, result: int) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def _status(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1]), sys.argv[2:]))
