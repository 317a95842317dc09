"""Which functions a test really executes: ``python -m tests.support.executed FILE`` runs tests and says what they never reached.

FILE is JSON: a list of [file of the function, its qualified name, node id of the test]. Printed is a JSON list of the
entries whose test passed without a call of the function, or failed. Tests are watched by a profile function until the
function has been called; the other cases of a parametrized test are then passed over.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import FrameType

import pytest

Entry = tuple[str, str, str]


class Watch:
    """Runs only the named tests, and notes which named function each of them calls."""

    def __init__(self, entries: list[Entry]) -> None:
        self.missing = {tuple(entry) for entry in entries}
        self.of_test: dict[str, list[Entry]] = {}
        for entry in entries:
            self.of_test.setdefault(entry[2], []).append(entry)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if not self._left(item):
            pytest.skip("all that it is to reach has been reached")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item):  # type: ignore[no-untyped-def]
        """Watch the calls of a test."""
        left = self._left(item)

        def called(frame: FrameType, event: str, _: object) -> None:
            if event != "call":
                return
            code = frame.f_code
            for entry in [one for one in left if code.co_filename.endswith(one[0])]:
                if code.co_qualname == entry[1] or code.co_qualname.startswith(f"{entry[1]}.<locals>."):
                    left.remove(entry)
                    self.missing.discard(entry)
            if not left:
                sys.setprofile(None)

        sys.setprofile(called)
        try:
            return (yield)
        finally:
            sys.setprofile(None)

    def _left(self, item: pytest.Item) -> list[Entry]:
        wanted = self.of_test.get(item.nodeid.partition("[")[0], [])
        return [entry for entry in wanted if entry in self.missing]


def main(path: str) -> int:
    """Run the tests of a file of entries and print what was missed."""
    watch = Watch([tuple(entry) for entry in json.loads(Path(path).read_text("utf-8"))])
    nodes = sorted(watch.of_test)
    pytest.main(["-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", *nodes], plugins=[watch])
    print("\n" + json.dumps(sorted(watch.missing)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
