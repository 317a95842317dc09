"""Strips what docker, Kubernetes and Compose put before a line: a name, a time or a stream."""

from __future__ import annotations

import json
import re
from typing import Any

#: docker compose and ``kubectl logs --prefix`` write a name.
NAMED = r"(?:\[pod/\S+\] |[\w.-]+ +\| )"
_NAMED = re.compile(NAMED, re.ASCII)
_TIMED = re.compile(
    r"(?s)(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)) "
    r"(?:(?:stdout|stderr) [FP] |(?=\[\d{4}-|\d{4}-\d\d-\d\d|%\d\||\{|\t| |\[[\w.-]+\] [A-Z]+ +\S+ -)(?! *[A-Z]+ \S+ ---))",
    re.ASCII,
)

#: docker's own log file of a container: one JSON object per line.
DOCKER_JSON = '{"log":"'


#: A JSON escape of one half of a surrogate pair; alone it is no character.
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")

#: How lines begin that have no such prefix.
_BARE = ("[20", "%", "\t")


def unwrap(line: str) -> tuple[str, str | None]:
    """Return a line as the process wrote it, and the time that the container added (None without one).

    Knows ``docker logs --timestamps``, docker's log files, CRI, ``kubectl logs --prefix`` and compose.
    """
    if line.startswith(_BARE):
        return line, None
    text, at = line, None
    if line.startswith(DOCKER_JSON):
        log, time = map((json_object(line) or {}).get, ("log", "time"))
        if isinstance(log, str):
            text, at = log.rstrip("\r\n"), time if isinstance(time, str) else None
    else:
        named = _NAMED.match(line)
        text = line[named.end() :] if named else line
    timed = _TIMED.match(text) if text[:1] == "2" and text[10:11] == "T" else None
    if timed is None:
        return text, at
    return text[timed.end() :], timed[1]


def json_object(text: str) -> dict[str, Any] | None:
    """Parse a line as a JSON object, with numbers as they are written; None when it is not one."""
    try:
        value = json.loads(text, parse_int=str, parse_float=str)
        if _SURROGATE.search(text):
            # A lone surrogate cannot be encoded as UTF-8, so nothing could store it.
            repaired = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            value = json.loads(repaired, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
