"""The build hook: the page's bundles, which are not in git, are made before anything is packed; a wheel holds the notebooks."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PageBundles(BuildHookInterface):  # type: ignore[misc]
    """Makes them for wheels, editable installs and source archives alike."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make what is missing or stale; a source archive brings page/ and the bundles along."""
        runpy.run_path(str(Path(self.root) / "scripts" / "bundle.py"))["freshen"]()
        if self.target_name == "wheel" and version != "editable":
            root = Path(self.root)
            course = [
                *root.glob("notebooks/*.ipynb"),
                *root.glob("notebooks/images/*"),
                root / "docs" / "your-client.md",
            ]
            build_data["force_include"].update(
                {
                    str(path): f"rebalance_kit/classroom/handed_out/{path.relative_to(root).as_posix()}"
                    for path in course
                }
            )
