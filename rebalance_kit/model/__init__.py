"""What exists: topology, configuration, trace rows and errors. Imports nothing of the kit but itself.

The version of the kit stands here, and not at the front door, so that rooms can print it without importing upwards.
"""

from __future__ import annotations

__version__ = "0.9.0"
