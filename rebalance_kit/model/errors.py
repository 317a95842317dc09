"""Every error the kit raises for its user, named for what the caller did wrong.

The message always says three things: the value received, what was expected, and where
(file, line and key when a file was read).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class RebalanceKitError(Exception):
    """Root of the family: catch this to catch everything the kit raises on purpose."""


class ScenarioError(RebalanceKitError):
    """A scenario, or an action in it, cannot be read or cannot mean anything."""


class ConfigError(RebalanceKitError):
    """A Kafka configuration is unknown or refused; carries Kafka's own wording where Kafka has one."""


class AssignorError(RebalanceKitError):
    """An assignor was given input it refuses, or failed the way Kafka's own class fails."""


class ProtocolViolation(RebalanceKitError):
    """A machine was sent an event that its driver must never send; nothing was changed."""


class DataError(RebalanceKitError):
    """A file of another kind (log, recorded run, trace, item) is missing, damaged or malformed."""


class WrongKind(RebalanceKitError, TypeError):
    """A function was given a value of another kind than it takes."""


class EnvironmentProblem(RebalanceKitError):
    """Something the machine lacks: Java, an optional package, a browser."""


def nearest(word: object, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where a known word is close, else nothing.

    >>> nearest("crahs", ["crash", "close"])
    "; did you mean 'crash'?"
    """
    from difflib import get_close_matches  # only where something is wrong

    close = get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


_SHOWN = 60
_PLAIN = (str, bytes, int, float, type(None), list, tuple, dict, set)


def require_kind(value: object, kinds: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raise ``WrongKind`` unless ``value`` is of one of the ``kinds``; true and false are no numbers.

    >>> require_kind("abc", int, "seed", "a whole number")
    Traceback (most recent call last):
    rebalance_kit.model.errors.WrongKind: seed is 'abc'; expected a whole number
    """
    if isinstance(value, kinds) and not isinstance(value, bool):
        return
    kind = type(value)
    said = repr(value) if kind in _PLAIN or kind is bool else f"a {kind.__name__}"
    raise WrongKind(f"{name} is {said if len(said) <= _SHOWN else said[:_SHOWN] + '…'}; expected {expected}")


# Kafka's errors: their messages (``org.apache.kafka.common.protocol.Errors``), and what some of them mean to a client.


MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "The coordinator is not aware of this member.",
        "ILLEGAL_GENERATION": "Specified group generation id is not valid.",
        "REBALANCE_IN_PROGRESS": "The group is rebalancing, so a rejoin is needed.",
        "FENCED_INSTANCE_ID": "The broker rejected this static consumer since another consumer with the same "
        "group.instance.id has registered with a different member.id.",
        "INCONSISTENT_GROUP_PROTOCOL": "The group member's supported protocols are incompatible with those of existing "
        "members or first group member tried to join with empty protocol type or empty protocol list.",
        "INVALID_SESSION_TIMEOUT": "The session timeout is not within the range allowed by the broker "
        "(as configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
        "INVALID_GROUP_ID": "The configured groupId is invalid.",
        "GROUP_AUTHORIZATION_FAILED": "Not authorized to access group: Group authorization failed.",
        "GROUP_MAX_SIZE_REACHED": "The consumer group has reached its max size.",
        "NOT_COORDINATOR": "This is not the correct coordinator.",
        "COORDINATOR_NOT_AVAILABLE": "The coordinator is not available.",
        "COORDINATOR_LOAD_IN_PROGRESS": "The coordinator is loading and hence can't process requests.",
        "UNKNOWN_TOPIC_OR_PARTITION": "This server does not host this topic-partition.",
        "STALE_MEMBER_EPOCH": "The member epoch is stale. The member must retry after receiving its updated member "
        "epoch via the ConsumerGroupHeartbeat API.",
        "DISCONNECTED": "null",
    }
)
"""Error name to its message; of a broken connection a client knows none."""
EXCEPTION_MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        **MESSAGES,
        "GROUP_MAX_SIZE_REACHED": f"Consumer group {MESSAGES['GROUP_MAX_SIZE_REACHED']} already has the configured "
        "maximum number of members.",
    }
)
"""What the exception of an error says: one class takes the message for the group's name and wraps it."""
UNSUPPORTED_CONSUMER_PROTOCOL = (
    "The cluster does not support the new CONSUMER group protocol. Set group.protocol=classic on the consumer configs "
    "to revert to the CLASSIC protocol until the cluster is upgraded."
)
"""What a client says when the broker does not offer KIP-848 (UNSUPPORTED_VERSION)."""
FATAL_JOIN = frozenset(
    {
        "INCONSISTENT_GROUP_PROTOCOL",
        "INVALID_SESSION_TIMEOUT",
        "INVALID_GROUP_ID",
        "GROUP_AUTHORIZATION_FAILED",
        "GROUP_MAX_SIZE_REACHED",
    }
)
"""Answers to JoinGroup that end the application (``AbstractCoordinator.JoinGroupResponseHandler``)."""
COORDINATOR_MOVED = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"})
"""Answers after which a client looks for its coordinator."""


# The kit's optional packages: which extra brings which, and what to say when one is missing.


#: Packages that the kit imports and that come with a package of an extra.
_BROUGHT_BY = {"IPython": "ipywidgets", "traitlets": "ipywidgets", "numpy": "pandas", "py4j": "pyspark"}


def packages_by_extra() -> dict[str, list[str]]:
    """Package names by extra, from the installed kit's metadata; empty when the kit is not installed."""
    try:
        lines = requires("rebalance-kit") or []
    except PackageNotFoundError:
        return {}
    packages: dict[str, list[str]] = {}
    for line in lines:
        name = re.match(r"[\w.-]+", line)
        extra = re.search(r"""extra == ['"]([\w-]+)['"]""", line)
        if name and extra:
            packages.setdefault(extra[1], []).append(name[0])
    return packages


def missing_package(error: BaseException) -> EnvironmentProblem | None:
    """The problem to report for an import that failed because an extra is not installed; None for other errors.

    Libraries may wrap the failed import, so the causes of ``error`` are examined too.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ModuleNotFoundError) and cause.name is not None:
            return None if _extra_of(cause.name) is None else _problem([cause.name])
        cause = cause.__cause__ or cause.__context__
    return None


def require(*modules: str) -> None:
    """Raise ``EnvironmentProblem`` unless all of ``modules`` are installed; it names every extra that is missing."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise _problem(missing)


def _problem(modules: Sequence[str]) -> EnvironmentProblem:
    packages = [module.split(".", maxsplit=1)[0] for module in modules]
    extras = dict.fromkeys(extra for package in packages if (extra := _extra_of(package)) is not None)
    wanted = to_install(*extras) if extras else f"pip install {' '.join(packages)}"
    verb = "is" if len(packages) == 1 else "are"
    return EnvironmentProblem(f"{', '.join(packages)} {verb} not installed; expected: {wanted}")


def to_install(*extras: str) -> str:
    """What a reader types to get extras: in a notebook a line that a cell runs, elsewhere a command.

    >>> to_install("spark", "java")
    'rebalance-kit install spark java'
    """
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return f"{'rebalance-kit' if shell is None else '%run -m rebalance_kit'} install {' '.join(extras)}"


def _extra_of(module: str) -> str | None:
    """The first extra whose packages bring ``module``."""
    name = module.split(".", maxsplit=1)[0]
    package = _normal(_BROUGHT_BY.get(name, name))
    for extra, packages in packages_by_extra().items():
        if package in map(_normal, packages):
            return extra
    return None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
