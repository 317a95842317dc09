"""The version of the kit; here, and not at the front door, so that rooms can print it without importing upwards."""

from __future__ import annotations

__version__ = "0.9.0"
