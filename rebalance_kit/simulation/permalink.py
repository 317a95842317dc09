"""A link that rebuilds a run: scenario, what was done in it, the moment that is looked at, as one short token.

A token is data alone: a version, a digest, and deflated JSON whose scenario is the YAML text that
``write_scenario`` writes and ``read_scenario`` checks. What somebody else wrote into it can be refused; it is
never run.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario, write_scenario

VERSION = "rk1"
MOST_CHARACTERS = 24_000
"""Longest token that is made or read: a link has to fit into an address and a chat line."""
MOST_BYTES = 1_000_000
"""Most that a token may inflate to."""
MOST_DEEDS = 500
_TOKEN = re.compile(r"rk\d+\.[0-9a-f]+\.[A-Za-z0-9_-]+")


class LinkError(ScenarioError):
    """A link is damaged, foreign, of another version, or too long."""


@dataclass(frozen=True, slots=True)
class Link:
    """What a link rebuilds.

    ``scenario`` is the run before anything was done in the lab; ``deeds`` are what was done there, each a
    mapping of plain values that the lab reads and checks. ``protocol`` and ``assignor`` are the lab's
    choices (None: as the scenario says), ``seed`` replaces the scenario's own, ``at_ms`` is the cursor.
    """

    scenario: Scenario
    at_ms: int = 0
    deeds: tuple[Mapping[str, Any], ...] = ()
    protocol: str | None = None
    assignor: str | None = None
    seed: int | None = None


def write_link(link: Link) -> str:
    """The token of a link: letters, digits, ``-``, ``_`` and ``.`` only, so that it stands in any address.

    Raises ``LinkError`` for what would be longer than ``MOST_CHARACTERS``.

    >>> read_link(write_link(Link(Scenario("tiny", (), ())))).scenario.name
    'tiny'
    """
    content: dict[str, Any] = {"scenario": write_scenario(link.scenario), "at": link.at_ms}
    content |= {
        key: getattr(link, key) for key in ("protocol", "assignor", "seed") if getattr(link, key) is not None
    }
    if link.deeds:
        content["deeds"] = [dict(deed) for deed in link.deeds]
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=_plain)
    packed = base64.urlsafe_b64encode(zlib.compress(text.encode("utf-8"), 9)).rstrip(b"=").decode("ascii")
    token = f"{VERSION}.{_digest(packed)}.{packed}"
    if len(token) > MOST_CHARACTERS:
        raise LinkError(
            f"the link would have {len(token)} characters; expected at most {MOST_CHARACTERS}. Export the scenario as YAML instead"
        )
    return token


def read_link(token: str) -> Link:
    """What a token holds, which may stand in an address; raises ``LinkError`` that says what is wrong with it."""
    if not isinstance(token, str):
        raise LinkError(
            f"the link is a {type(token).__name__}; expected the text that the lab's Link button copied"
        )
    within = _TOKEN.search(token)
    text = _unpacked(within.group() if within else token.strip())
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False).encode(
            "utf-8"
        )  # JSON can name halves of letters, which are no text
    except (ValueError, RecursionError) as error:
        raise LinkError(f"the link is damaged: what it holds is no JSON ({error})") from error
    if not isinstance(content, dict) or not isinstance(content.get("scenario"), str):
        raise LinkError("the link holds no scenario; expected one as YAML text under 'scenario'")
    try:
        scenario = read_scenario(content["scenario"] + "\n", "the link's scenario")
    except (ScenarioError, ConfigError) as error:
        raise LinkError(f"the link's scenario cannot be read: {error}") from error
    return Link(
        scenario,
        _moment(content.get("at", 0)),
        _deeds(content.get("deeds", [])),
        _name(content, "protocol"),
        _name(content, "assignor"),
        _seed(content.get("seed")),
    )


def _unpacked(token: str) -> str:
    if len(token) > MOST_CHARACTERS:
        raise LinkError(f"the link has {len(token)} characters; expected at most {MOST_CHARACTERS}")
    parts = token.split(".")
    if len(parts) != 3 or not parts[0].startswith("rk"):
        shown = token[:24] + ("…" if len(token) > 24 else "")
        raise LinkError(
            f"{shown!r} is no link of the lab; expected {VERSION}, a digest and data, with dots between"
        )
    if parts[0] != VERSION:
        raise LinkError(f"the link is of version {parts[0]!r}; this kit reads {VERSION!r}")
    if _digest(parts[2]) != parts[1]:
        raise LinkError("the link is damaged: a part of it is missing or was changed on the way")
    try:
        data = base64.b64decode(parts[2] + "=" * (-len(parts[2]) % 4), altchars=b"-_", validate=True)
        inflater = zlib.decompressobj()
        plain = inflater.decompress(data, MOST_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise LinkError(f"the link is damaged: {error}") from error
    if inflater.unconsumed_tail or not inflater.eof:
        raise LinkError(
            f"the link holds more than {MOST_BYTES} bytes, or is cut off; expected less, and whole"
        )
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LinkError(f"the link is damaged: {error}") from error


def _digest(packed: str) -> str:
    return hashlib.blake2b(packed.encode("ascii", "replace"), digest_size=5).hexdigest()


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else list(value)


def _moment(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise LinkError(f"the link's moment is {value!r}; expected milliseconds from 0 on")
    return value


def _deeds(value: Any) -> tuple[Mapping[str, Any], ...]:
    if (
        not isinstance(value, list)
        or len(value) > MOST_DEEDS
        or not all(isinstance(deed, dict) for deed in value)
    ):
        raise LinkError(
            f"the link's deeds are no list of at most {MOST_DEEDS} mappings; got {str(value)[:60]!r}"
        )
    for deed in value:
        if not isinstance(deed.get("member"), str | None):
            raise LinkError(f"the link names {str(deed['member'])[:40]!r} as a member; expected a name")
    return tuple(value)


def _name(content: Mapping[str, Any], key: str) -> str | None:
    value = content.get(key)
    if value is not None and not isinstance(value, str):
        raise LinkError(f"the link's {key} is {value!r}; expected a name")
    return value


def _seed(value: Any) -> int | None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise LinkError(f"the link's seed is {value!r}; expected a whole number")
    return value
