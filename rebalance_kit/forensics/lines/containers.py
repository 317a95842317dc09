"""What containers put around a line: docker, Kubernetes and Compose add a name, a time or a stream before it."""

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

#: The file that docker keeps of a container's output: one JSON object a line.
DOCKER_JSON = '{"log":"'


#: How JSON escapes half of a letter beyond the first 65,536; alone it is none.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")

#: How lines begin that nothing was put before.
_BARE = ("[20", "%", "\t")


def unwrap(line: str) -> tuple[str, str | None]:
    """A line as the process wrote it, and the time that the container gave it (None: it gave none).

    Knows ``docker logs --timestamps``, docker's files, CRI, ``kubectl logs --prefix`` and compose.
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
    """The JSON object that a line is, its numbers as they are written; None when it is none."""
    try:
        told = json.loads(text, parse_int=str, parse_float=str)
        if _HALF.search(text):
            # Half a letter is no text: nothing could store it.
            whole = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
            told = json.loads(whole, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None
