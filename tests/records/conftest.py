"""A few recorded runs as folders, unpacked once."""

from __future__ import annotations

import pytest
from repeated_runs import REPEATED

from rebalance_kit.records.pack import unpack


@pytest.fixture(scope="session")
def recorded_folders(tmp_path_factory):
    """Folder of each run by its name."""
    return {folder.name: folder for folder in unpack(tmp_path_factory.mktemp("recorded"), REPEATED)}
