"""The whole site: the lab, the course in JupyterLite beside it, and the documents around both.

python -m scripts.site [FOLDER]     default: build/site
"""

import shutil
import sys
from pathlib import Path

from scripts.bundle import ROOT
from scripts.site import course, documents, lab


def build(folder: Path) -> None:
    """Make everything beside the old site, then exchange them."""
    beside = folder.with_name(folder.name + ".new")
    shutil.rmtree(beside, ignore_errors=True)
    lab.build(beside)
    course.build(beside / "course", beside / "pyodide")
    documents.build(beside / "docs")
    if folder.exists():
        shutil.rmtree(folder)
    beside.replace(folder)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site")
