"""A fuzzer per parser: damaged input is taken or refused in the kit's words, and in time.

The ordinary profile tries a few of each; ``pytest tests/bad_input/test_fuzz.py --hypothesis-profile=thorough`` tries thousands.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.support.bad_input.fuzzing import damaged, finding
from tests.support.bad_input.parsers import FUZZERS, Fuzzer

ORDINARY = 300
"""Examples of the ordinary profile, of which a tenth is tried here."""


@pytest.mark.parametrize("name", FUZZERS)
def test_no_damaged_input_is_a_traceback_or_a_hang(name):
    fuzzer, examples = FUZZERS[name], settings.default.max_examples
    count = max(3, examples // fuzzer.share // (10 if examples <= ORDINARY else 1))
    problems = {seed: problem for seed in range(count) if (problem := finding(fuzzer, damaged(fuzzer, seed)))}
    assert problems == {}


def test_the_fuzzer_sees_an_error_that_is_not_the_kits():
    def fails(_given):
        raise KeyError("x")

    broken = Fuzzer(good=lambda: ("a",), damage=lambda text, _dice: text, read=fails)
    assert (finding(broken, "a") or "").startswith("KeyError at test_fuzz.py")
