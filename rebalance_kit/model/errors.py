"""Every error the kit raises for its user, named for what the caller did wrong.

The message always says three things: the value received, what was expected, and where
(file, line and key when a file was read).
"""

from __future__ import annotations

from collections.abc import Iterable


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
