#!/usr/bin/env python
"""Make rebalance-kit.pyz: the reading of logs as one file that any Python from 3.11 on runs, with nothing installed.

python scripts/pyz.py [TARGET]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipapp
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parent.parent

#: What the reading of logs has no use for: pages, pictures, recorded answers.
LEFT_OUT = ("__pycache__", "*.pyc", "*.gz", "*.js", "*.css", "*.html", "*.woff2", "*.svg", "*.png", "*.zip")

#: A bastion's Python runs these commands.
MAIN = """import sys

if sys.version_info < (3, 11):
    sys.exit("rebalance-kit.pyz needs Python 3.11 or later")
from rebalance_kit.cli import main

sys.exit(main())
"""


def main(arguments: list[str]) -> int:
    """Write the file, and say how large it is."""
    target = Path(arguments[0]) if arguments else ROOT / "dist" / "rebalance-kit.pyz"
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "app"
        shutil.copytree(
            ROOT / "rebalance_kit", folder / "rebalance_kit", ignore=shutil.ignore_patterns(*LEFT_OUT)
        )
        shutil.copytree(
            Path(yaml.__file__).parent, folder / "yaml", ignore=shutil.ignore_patterns("*.so", "__pycache__")
        )
        (folder / "__main__.py").write_text(MAIN, "utf-8")
        draft = target.with_name(f".{target.name}.part")
        zipapp.create_archive(folder, draft, interpreter="/usr/bin/env python3", compressed=True)
        draft.replace(target)
    print(f"wrote {target}: {target.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
