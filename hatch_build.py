"""The wheel's build hook: the page's bundles, which are not in git, are made before anything is packed."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBundles(BuildHookInterface):  # type: ignore[misc]
    """Makes them for wheels, editable installs and source archives alike."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make what is missing or stale; a source archive brings page/ and the bundles along."""
        del version, build_data
        runpy.run_path(str(Path(self.root) / "scripts" / "bundle.py"))["freshen"]()
