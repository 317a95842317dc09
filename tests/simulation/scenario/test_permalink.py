"""A link gives back what was put into it, and says what is wrong with it otherwise."""

from __future__ import annotations

import base64
import json
import re
import zlib

import pytest

from rebalance_kit.scenarios import load, names
from rebalance_kit.simulation.permalink import (
    MOST_BYTES,
    MOST_CHARACTERS,
    VERSION,
    Link,
    LinkError,
    _digest,
    read_link,
    write_link,
)
from rebalance_kit.simulation.scenario.scenario import Scenario


def token(text: str) -> str:
    """A well-made token around any text."""
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode())).rstrip(b"=").decode()
    return f"{VERSION}.{_digest(packed)}.{packed}"


@pytest.mark.parametrize("name", names())
def test_every_scenario_of_the_kit_travels_in_a_link_and_comes_back_equal(name):
    made = write_link(Link(load(name), 1_234))
    assert read_link(made) == Link(load(name), 1_234)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", made)
    assert len(made) < 2_000


def test_deeds_protocol_assignor_and_seed_come_back_too():
    link = Link(
        load("crash"), 5, ({"do": "crash", "at": 12_000, "member": "consumer-1"},), "eager", "sticky", 7
    )
    assert read_link(write_link(link)) == link


def test_one_character_changed_anywhere_is_noticed():
    made = write_link(Link(load("crash"), 10_000))
    for place in range(0, len(made), 7):
        wrong = made[:place] + ("A" if made[place] != "A" else "B") + made[place + 1 :]
        with pytest.raises(LinkError):
            read_link(wrong)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "is no link of the lab"),
        ("https://example.org", "is no link of the lab"),
        ("rk2.00.AA", "version 'rk2'; this kit reads 'rk1'"),
        ("rk1.0000000000.AAAA", "damaged: a part of it is missing"),
        ("rk1." + "A" * MOST_CHARACTERS, f"expected at most {MOST_CHARACTERS}"),
        (token("no json"), "no JSON"),
        (token("[" * 100_000), "no JSON"),
        (token("[]"), "holds no scenario"),
        (token('{"scenario": "scenario: x\\nend: 10s\\nsurprise: 1"}'), "surprise"),
        (token('{"scenario": "!!python/object/apply:os.system [echo]"}'), "cannot be read"),
        (token("x" * (MOST_BYTES + 1)), "more than"),
    ],
)
def test_what_is_wrong_with_a_link_is_said(given, words):
    with pytest.raises(LinkError, match=re.escape(words)):
        read_link(given)


@pytest.mark.parametrize(
    "wrong", [{"at": -1}, {"at": True}, {"deeds": {}}, {"deeds": [1]}, {"protocol": 3}, {"seed": "x"}]
)
def test_values_of_another_kind_are_refused(wrong):
    held = json.loads(
        zlib.decompress(base64.urlsafe_b64decode(write_link(Link(load("crash"))).split(".")[2] + "=="))
    )
    with pytest.raises(LinkError, match="the link's"):
        read_link(token(json.dumps({**held, **wrong})))


def test_a_scenario_too_large_for_a_link_is_refused_when_it_is_made():
    with pytest.raises(LinkError, match="Export the scenario as YAML instead"):
        write_link(
            Link(Scenario("x", (), (), story="".join(f"{number * 7919:x} " for number in range(40_000))))
        )
