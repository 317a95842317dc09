"""A few recorded runs as folders, unpacked once."""

from __future__ import annotations

import pytest

from rebalance_kit.recordings.folder import MORE, unpack
from tests.support.recordings.repeated_runs import RACES, REPEATED, REPEATED_LATER


@pytest.fixture(scope="session")
def recorded_folders(tmp_path_factory):
    """Folder of each run by its name."""
    place = tmp_path_factory.mktemp("recorded")
    return {
        folder.name: folder
        for folder in (*unpack(place, REPEATED), *unpack(place, (*REPEATED_LATER, *RACES), MORE))
    }
