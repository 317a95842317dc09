"""Commands as another system would run them: ``as_platform.py PLATFORM COMMANDS``, lists of words in JSON; or a script with its arguments.

What Windows or macOS lacks is lacking for the kit's modules alone: modules that cannot be imported, names that ``os``, ``signal`` and
``select`` have not, calls that are refused. The library below is this machine's, so it shows what the kit asks for, not how those systems answer.
"""

from __future__ import annotations

import builtins
import importlib
import io
import json
import pkgutil
import resource
import runpy
import subprocess
import sys
from contextlib import redirect_stderr
from types import ModuleType
from typing import Any

HERE = __file__
MISSING = {"windows": {"resource", "fcntl", "termios", "tty", "pty", "pwd", "grp"}, "macos": set()}
LACKS = {
    "windows": {
        "os": "killpg fork getuid geteuid getgid setsid getpgid mkfifo fchmod O_NONBLOCK O_NOFOLLOW O_CLOEXEC setgroups setresuid setresgid "
        "set_blocking sched_getaffinity",
        "signal": "SIGALRM setitimer ITIMER_REAL SIGKILL SIGXCPU SIGXFSZ SIGHUP SIGCHLD SIGPIPE SIGUSR1 pthread_kill",
        "select": "poll epoll select",
        "sys": "",
    },
    "macos": {"os": "setresuid setresgid sched_getaffinity", "select": "epoll", "sys": ""},
}
SAYS = {
    "windows": {"os": {"name": "nt"}, "sys": {"platform": "win32"}},
    "macos": {"sys": {"platform": "darwin"}},
}


class Lacking(ModuleType):
    """A module without some names and with other values of a few."""

    def __init__(self, module: ModuleType, lacks: set[str], says: dict[str, str]) -> None:
        self.__dict__.update(_module=module, _lacks=lacks, _says=says)

    def __getattr__(self, name: str) -> Any:
        if name in self._lacks:
            raise AttributeError(f"module {self._module.__name__!r} has no attribute {name!r}")
        return self._says.get(name) or getattr(self._module, name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self._module, name, value)


def become(platform: str) -> None:
    """Make this process look like that system to the kit."""
    real_import, real_module, real_popen = (
        builtins.__import__,
        importlib.import_module,
        subprocess.Popen.__init__,
    )
    seen = {
        name: Lacking(real_module(name), set(lacks.split()), SAYS[platform].get(name, {}))
        for name, lacks in LACKS[platform].items()
    }

    def ours(scope: Any) -> bool:
        return scope is not None and "/rebalance_kit/" in str(scope.get("__file__", ""))

    def imported(name: str, scope: Any = None, *rest: Any, **more: Any) -> Any:
        if ours(scope) and name in MISSING[platform]:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return seen[name] if ours(scope) and name in seen else real_import(name, scope, *rest, **more)

    def module(name: str, package: str | None = None) -> Any:
        return (
            imported(name, sys._getframe(1).f_globals)
            if name in MISSING[platform]
            else real_module(name, package)
        )

    def begin(self: Any, command: Any, *rest: Any, **given: Any) -> None:
        if platform == "windows" and (given.get("pass_fds") or given.get("preexec_fn")):
            raise ValueError("pass_fds not supported on Windows")
        if isinstance(command, list) and command[0] == sys.executable and "lock.py" in "".join(command[:4]):
            command = [sys.executable, "-I", HERE, platform, *command[2:]]
        real_popen(self, command, *rest, **given)

    def refused(kind: int, bounds: tuple[int, int]) -> None:
        if kind == resource.RLIMIT_AS:
            raise ValueError("current limit exceeds maximum limit")

    builtins.__import__, importlib.import_module, subprocess.Popen.__init__ = imported, module, begin  # type: ignore[method-assign]
    if platform == "macos":
        resource.setrlimit = refused


def outcome(words: list[str]) -> tuple[int, str]:
    """Status, and what was printed last."""
    from rebalance_kit.cli import main

    out, told = io.StringIO(), io.StringIO()
    with redirect_stderr(told):
        try:
            status = main(words, out)
        except SystemExit as end:
            status = int(end.code or 0)
    return status, (told.getvalue() if status == 2 else out.getvalue())[-3000:]


def every_module() -> list[str]:
    """Modules that cannot be imported, with the reason; what runs when it is imported is left out."""
    import rebalance_kit

    bad = []
    for found in pkgutil.walk_packages(rebalance_kit.__path__, "rebalance_kit."):
        if (
            found.name.endswith(("__main__", ".callbacks", ".plug_in", ".probe", ".namespaces"))
            and ".protocol" not in found.name
        ):
            continue
        try:
            importlib.import_module(found.name)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            bad.append(f"{found.name}: {type(error).__name__}: {error}")
    return bad


if __name__ == "__main__":
    become(sys.argv[1])
    if sys.argv[2].endswith(".py"):
        sys.argv = sys.argv[2:]
        runpy.run_path(sys.argv[0], run_name="__main__")
    else:
        print(json.dumps([every_module(), *map(outcome, json.loads(sys.argv[2]))]))
