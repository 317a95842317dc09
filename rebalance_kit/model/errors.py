"""Every error the kit raises for its user, named for what the caller did wrong.

The message always says three things: the value received, what was expected, and where
(file, line and key when a file was read).
"""

from __future__ import annotations


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


class EnvironmentProblem(RebalanceKitError):
    """Something the machine lacks: Java, an optional package, a browser."""
