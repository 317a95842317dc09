"""The last steps behind a wall, in the process that will run the answer: ``python -I lock.py ORDERS``, ORDERS in JSON.

Bounds are set, another user is taken where the kit runs as root, and filters of the system that no process can take off
(no new privileges, seccomp, Landlock) are put on. Then the module that is asked for runs in this very process. The file stands alone: what it
imports comes with Python.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import runpy
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

try:
    import resource
except ImportError:  # Windows bounds nothing of a process that is running
    resource = None  # type: ignore[assignment]

REPLY = 3
"""The descriptor that leads back to whoever asked."""
STANDARD = 1
"""In its place the standard output, where a child inherits no other one; what the answer prints goes to standard error then."""

_NUMBERS: Mapping[str, tuple[int, int]] = {
    # name: (x86_64, aarch64); -1 where the machine has none
    "fork": (57, -1), "vfork": (58, -1), "execve": (59, 221), "execveat": (322, 281),
    "clone": (56, 220), "clone3": (435, 435), "socket": (41, 198), "kill": (62, 129), "tgkill": (234, 131),
    "prlimit64": (302, 261), "prctl": (157, 167), "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444), "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41),
    "chroot": (161, 51), "unshare": (272, 97), "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "keyctl": (250, 219), "add_key": (248, 217),
    "request_key": (249, 218), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "acct": (163, 89), "quotactl": (179, 60), "syslog": (103, 116), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "clock_adjtime": (305, 266), "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264), "lookup_dcookie": (212, 18), "iopl": (172, -1), "ioperm": (173, -1),
    "mknod": (133, -1), "mknodat": (259, 33), "personality": (135, 92), "vhangup": (153, 58), "fanotify_init": (300, 262),
    "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240), "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424), "setpriority": (141, 140), "ioprio_set": (251, 30), "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118), "sched_setattr": (314, 274), "sched_setaffinity": (203, 122), "migrate_pages": (256, 238),
    "move_pages": (279, 239), "shmget": (29, 194), "shmat": (30, 196), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    "chmod": (90, -1), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, -1), "fchown": (93, 55),
    "lchown": (94, -1), "fchownat": (260, 54), "utime": (132, -1), "utimes": (235, -1), "utimensat": (280, 88), "futimesat": (261, -1),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "setxattrat": (463, 463), "removexattrat": (466, 466),
}  # fmt: skip
_ALONE = ("execve", "execveat", "fork", "vfork")
_TO_OTHERS = (
    "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_open", "pidfd_send_signal", "setpriority", "ioprio_set", "sched_setscheduler",
    "sched_setparam", "sched_setattr", "sched_setaffinity", "migrate_pages", "move_pages", "shmget", "shmat", "msgget", "semget", "mq_open",
    "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat",
    "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat", "removexattrat",
)  # fmt: skip
"""Calls that reach other processes and files of the user past Landlock; behind namespaces there are none to reach."""
_APART = frozenset({"clone", "clone3", "socket", "kill", "tgkill", "prlimit64", "prctl", "seccomp"})
_LANDLOCK_CALLS = ("landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self")
_NEVER = tuple(name for name in _NUMBERS if name not in {*_ALONE, *_TO_OTHERS, *_APART, *_LANDLOCK_CALLS})

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_EPERM, _ENOSYS = 1, 38
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NEW_NAMESPACES = 0x7E020080
_THREAD = 0x00010000
_INET = (1, 2, 10, 16)
"""Families of sockets behind a wall with a network of its own: Unix, IPv4, IPv6, netlink."""
_NO_NEW_PRIVS, _DIE_WITH_PARENT = 38, 1
_FILTER = 1
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_LOW_HALF = {"number": 0, "architecture": 4, "first": 16, "first_high": 20}


class NoWall(OSError):
    """The system refuses a step, so the wall does not stand."""


def main(orders: Mapping[str, Any]) -> None:
    """Take the last steps, and become the module that is asked for."""
    os.environ.clear()
    os.environ.update(orders["environment"])
    die_with_parent()
    if orders["reply"] is not None:
        os.dup2(orders["reply"], REPLY)
    if orders["reply"] == STANDARD:
        os.dup2(2, STANDARD)
    _close_descriptors()
    for name, bound in orders["limits"].items():
        bound_by(name, bound)
    if orders["user"] is not None:
        os.setgroups([])
        os.setresgid(*[orders["user"]] * 3)
        os.setresuid(*[orders["user"]] * 3)
        die_with_parent()  # taking another user forgets it
    if orders["lock"]:
        _drop_capabilities()
        _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
        if orders["landlock"] is not None:
            landlock(orders["landlock"]["read"], orders["landlock"]["names"], orders["landlock"]["write"])
        seccomp(alone=orders["landlock"] is not None)
    os.chdir(orders["folder"])
    sys.path[:0] = [orders["kit"]]
    sys.path.extend(orders["sites"])
    sys.argv = [orders["module"], *orders["arguments"]]
    runpy.run_module(orders["module"], run_name="__main__", alter_sys=True)


def bound_by(name: str, bound: int) -> None:
    """Lower a limit for good; one that is lower already stays, and a system other than Linux may refuse it (macOS does, of memory)."""
    if resource is None:
        return  # type: ignore[unreachable]
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    kept = bound if hard == resource.RLIM_INFINITY else min(bound, hard)
    try:
        resource.setrlimit(kind, (kept, kept))
    except (OSError, ValueError):
        if sys.platform == "linux":
            raise


def die_with_parent() -> None:
    """End when the parent ends, where the system can do that."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, 9)


def _drop_capabilities() -> None:
    """Give up what root may do beyond its own files."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capset(struct.pack("Ii", 0x20080522, 0), struct.pack("6I", 0, 0, 0, 0, 0, 0)):
        raise NoWall(ctypes.get_errno(), "capset")


def _close_descriptors() -> None:
    for name in os.listdir("/dev/fd") if os.path.isdir("/dev/fd") else map(str, range(4, 1024)):  # noqa: PTH208, PTH112
        if int(name) > REPLY:
            try:
                os.close(int(name))
            except OSError:
                continue


def _number(name: str) -> int:
    column, _ = _ARCHITECTURES[platform.machine()]
    return _NUMBERS[name][column]


def _call(name: str, *arguments: Any) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result: int = libc.syscall(
        ctypes.c_long(_number(name)),
        *[ctypes.c_void_p(value) if isinstance(value, int) else value for value in arguments],
    )
    if result < 0:
        code = ctypes.get_errno()
        raise NoWall(code, f"{name}: {os.strerror(code)}")
    return result


def seccomp(*, alone: bool) -> None:
    """Refuse calls that an answer has no need of; ``alone``: no other process, no socket, no word to any process but this one."""
    column, architecture = _ARCHITECTURES[platform.machine()]
    code: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _LOW_HALF["architecture"]), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, _LOW_HALF["number"]),
    ]  # fmt: skip
    if column == 0:  # the second numbering of x86_64 would pass by every line below
        code += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _REFUSE | _EPERM)]
    for name in (*_NEVER, *(_ALONE + _TO_OTHERS if alone else ())):
        if _NUMBERS[name][column] >= 0:
            code += [(_EQUAL, 0, 1, _NUMBERS[name][column]), (_RETURN, 0, 0, _REFUSE | _EPERM)]
    code += [(_EQUAL, 0, 1, _number("clone3")), (_RETURN, 0, 0, _REFUSE | _ENOSYS)]
    flags = [
        (_LOAD, 0, 0, _LOW_HALF["first"]),
        (_AND, 0, 0, _NEW_NAMESPACES),
        (_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _REFUSE | _EPERM),
    ]
    if alone:
        flags += [
            (_LOAD, 0, 0, _LOW_HALF["first"]),
            (_AND, 0, 0, _THREAD),
            (_EQUAL, 0, 1, 0),
            (_RETURN, 0, 0, _REFUSE | _EPERM),
        ]
    code += _for_call("clone", flags)
    families = () if alone else _INET
    code += _for_call("socket", _only(families))
    if alone:
        own = os.getpid()
        for name in ("kill", "tgkill"):
            code += _for_call(name, _only((own,)))
        code += _for_call("prlimit64", _only((0, own)))
    code += [(_RETURN, 0, 0, _ALLOW)]
    program = b"".join(struct.pack("HBBI", *line) for line in code)
    held = ctypes.create_string_buffer(program, len(program))
    pointer = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(held)))
    _call("seccomp", _FILTER, 0, ctypes.addressof(pointer))


def _for_call(name: str, body: Sequence[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """These lines for one call, which end in its being allowed; any other call passes over them."""
    lines = [*body, (_RETURN, 0, 0, _ALLOW)]
    return [(_EQUAL, 0, len(lines), _number(name)), *lines]


def _only(values: Iterable[int]) -> list[tuple[int, int, int, int]]:
    """Refuse the call unless its first argument is one of these."""
    wanted = list(values)
    lines = [(_LOAD, 0, 0, _LOW_HALF["first"])]
    lines += [(_EQUAL, len(wanted) - place, 0, value) for place, value in enumerate(wanted)]
    return [*lines, (_RETURN, 0, 0, _REFUSE | _EPERM)]


_READ_FILE, _READ_DIR, _EXECUTE = 1 << 2, 1 << 3, 1 << 0
_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version of Landlock knows."""
_RULESET_ONLY_VERSION = 1
_SCOPED = 0b11
_NET = 0b11


def landlock_version() -> int:
    """The version of Landlock that this system has; 0: none."""
    try:
        return _call("landlock_create_ruleset", 0, 0, _RULESET_ONLY_VERSION)
    except (NoWall, KeyError):
        return 0


def landlock(read: Sequence[str], names: Sequence[str], write: Sequence[str]) -> None:
    """Leave these to be read, the ``names`` in those folders to be listed, and what lies in ``write`` to be changed; nothing else."""
    version = landlock_version()
    if version < 1:
        raise NoWall(_ENOSYS, "Landlock")
    every = (1 << _BY_VERSION.get(version, 16)) - 1
    fields = struct.pack("QQQ", every, _NET if version >= 4 else 0, _SCOPED if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    buffer = ctypes.create_string_buffer(fields, 24)
    ruleset = _call("landlock_create_ruleset", ctypes.addressof(buffer), size, 0)
    for rights, paths in (
        (_READ_FILE | _READ_DIR | _EXECUTE, read),
        (_READ_DIR, names),
        (every & ~_EXECUTE, write),
    ):
        for path in paths:
            _landlock_rule(ruleset, path, rights)
    _call("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def _landlock_rule(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there needs no leave
    try:
        if not os.path.isdir(path):  # noqa: PTH112
            rights &= 0b110 | _EXECUTE | (1 << 14)  # a file has no names in it
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, place), 12)
        _call("landlock_add_rule", ruleset, 1, ctypes.addressof(rule), 0)
    finally:
        os.close(place)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
