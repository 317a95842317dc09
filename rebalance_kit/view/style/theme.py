"""The one theme: which hue, pattern and label each member has, in every figure and widget.

Member k (by order of first appearance in the scenario) has hue (k-1) mod 12 and pattern
(k-1) div 12, so that sixty members look different and a member never changes its look.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.model.trace import Trace

# The colours themselves: twelve member hues and the roles of the interface, in three themes.
#
# Hues belong to members and to nothing else; everything that is not a member is ink, grey or the one
# alert red. The contrast of every pair that is used is held by tests (WCAG 2.x relative luminance).


THEMES = ("light", "dark", "projector")
HUE_NAMES = (
    "blue",
    "amber",
    "teal",
    "magenta",
    "olive",
    "violet",
    "sky",
    "brown",
    "green",
    "slate",
    "plum",
    "rose",
)
HUES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "light": (
            "#0B6BC4",
            "#AC6200",
            "#00695F",
            "#B20587",
            "#7E9454",
            "#45007C",
            "#009EB8",
            "#7D6D5D",
            "#385302",
            "#243B5C",
            "#4F1137",
            "#B27B8D",
        ),
        "dark": (
            "#86C0FF",
            "#FFB454",
            "#47BAB1",
            "#FF8ED5",
            "#CCDFA9",
            "#A36FEE",
            "#8FE8FE",
            "#CDBFB1",
            "#9BC287",
            "#8197B7",
            "#B07694",
            "#FAC9D8",
        ),
        "projector": (
            "#00529B",
            "#9A5800",
            "#00504A",
            "#92006E",
            "#455300",
            "#390069",
            "#117F94",
            "#675748",
            "#182A01",
            "#193050",
            "#46062E",
            "#945F71",
        ),
    }
)
ROLES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {
                "page": "#F4F5F7",
                "surface": "#FFFFFF",
                "sunk": "#F0F2F4",
                "ink": "#14181D",
                "ink2": "#4A525C",
                "ink3": "#646C76",
                "alert": "#B3152A",
                "ok": "#1B6E3C",
                "control": "#767E88",
                "hairline": "#D5D9DE",
            }
        ),
        "dark": MappingProxyType(
            {
                "page": "#0F1317",
                "surface": "#171C22",
                "sunk": "#1F252C",
                "ink": "#F2F4F6",
                "ink2": "#BAC2CB",
                "ink3": "#98A2AD",
                "alert": "#FF8A8F",
                "ok": "#7FD19B",
                "control": "#7C8794",
                "hairline": "#333B45",
            }
        ),
        "projector": MappingProxyType(
            {
                "page": "#FFFFFF",
                "surface": "#FFFFFF",
                "sunk": "#EEF0F2",
                "ink": "#000000",
                "ink2": "#1F2429",
                "ink3": "#343A41",
                "alert": "#A00014",
                "ok": "#00592A",
                "control": "#4A5058",
                "hairline": "#8A9199",
            }
        ),
    }
)
TINT_SHARE: Mapping[str, float] = MappingProxyType({"light": 0.13, "dark": 0.20, "projector": 0.20})
DARK_LABEL = "#0E1216"
FONT = 'system-ui,-apple-system,"Segoe UI",Inter,Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif'


PATTERNS = ("plain", "diagonal", "dots", "horizontal", "cross")
PLOTLY_PATTERNS = ("", "/", ".", "-", "x")
OUTSIDE = frozenset({"coordinator", "broker", "admin", "run"})


@dataclass(frozen=True, slots=True)
class Look:
    """How one member is drawn in one theme; ``label`` is what its disc says, as in C2."""

    name: str
    number: int
    label: str
    hue: str
    hue_name: str
    tint: str
    on_hue: str
    pattern: str


@lru_cache(maxsize=4096)
def look(name: str, number: int, theme: str = "light") -> Look:
    """The look of the ``number``-th member (from 1); raises ``ValueError`` on an unknown theme.

    >>> look("consumer-2", 2).hue
    '#AC6200'
    >>> look("consumer-14", 14).hue_name, look("consumer-14", 14).pattern
    ('amber', 'diagonal')
    """
    if theme not in THEMES:
        raise ValueError(f"theme {theme!r} is unknown; expected one of {', '.join(THEMES)}")
    index = (number - 1) % 12
    hue = HUES[theme][index]
    pattern = PATTERNS[(number - 1) // 12 % len(PATTERNS)]
    tint = mix(hue, ROLES[theme]["surface"], TINT_SHARE[theme])
    return Look(
        name, number, short_label(name, number), hue, HUE_NAMES[index], tint, label_colour(hue), pattern
    )


def short_label(name: str, number: int) -> str:
    """At most three or four signs for a disc: initial and the name's own number, or its order.

    >>> short_label("consumer-2", 1), short_label("billing", 3)
    ('C2', 'B3')
    """
    tail = name.rpartition("-")[2]
    return f"{name[:1].upper()}{tail if tail.isdigit() and len(tail) <= 4 else number}"


def looks(names: Iterable[str], theme: str = "light") -> dict[str, Look]:
    """The looks of members given in order of first appearance; no two share a label.

    >>> [one.label for one in looks(["consumer-1", "collector-1"]).values()]
    ['C1', 'C1b']
    """
    by_name: dict[str, Look] = {}
    taken: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        member_look = look(name, number, theme)
        again = taken[member_look.label] = taken.get(member_look.label, 0) + 1
        by_name[name] = (
            member_look
            if again == 1
            else replace(member_look, label=f"{member_look.label}{chr(ord('a') + (again - 1) % 26)}")
        )
    return by_name


def member_order(trace: Trace) -> tuple[str, ...]:
    """Members by first appearance: those the scenario lists, then those that come up in the rows.

    ``trace.meta["members"]`` holds the scenario's order when the run was simulated.
    """
    seen: dict[str, None] = dict.fromkeys(str(name) for name in trace.meta.get("members", ()))
    for row in trace.rows:
        if row.kind == "process_started" and row.actor not in OUTSIDE:
            seen.setdefault(row.actor)
    return tuple(seen)


def css_variables(theme: str) -> Mapping[str, str]:
    """Every colour of a theme as CSS custom properties: roles, and ``--m1`` ``--m1t`` ``--m1o`` for members."""
    variables = {f"--rk-{role}": colour for role, colour in ROLES[theme].items()}
    variables["--rk-alertbg"] = mix(ROLES[theme]["alert"], ROLES[theme]["surface"], 0.08)
    for number in range(1, 13):
        member_look = look("", number, theme)
        variables |= {
            f"--rk-m{number}": member_look.hue,
            f"--rk-m{number}t": member_look.tint,
            f"--rk-m{number}o": member_look.on_hue,
        }
    return variables


def stylesheet() -> str:
    """CSS that defines the three themes as classes ``rk-light``, ``rk-dark`` and ``rk-projector``."""
    rules = []
    for theme in THEMES:
        body = ";".join(f"{name}:{value}" for name, value in css_variables(theme).items())
        # presented in dark, the page has the projector's sizes in these colours
        presented = ".rk-dark.rk-projector," if theme == "dark" else ""
        rules.append(f"{presented}.rk-{theme}{{{body}}}")
    rules.append(f".rk-light,.rk-dark,.rk-projector{{--rk-font:{FONT}}}")
    return "\n".join(rules)


# --- colour arithmetic ------------------------------------------------------------------------
def mix(colour: str, ground: str, share: float) -> str:
    """``share`` of a colour on a ground, as #RRGGBB.

    >>> mix("#0B6BC4", "#FFFFFF", 0.13)
    '#DFECF7'
    """
    pairs = zip(_channels(colour), _channels(ground), strict=True)
    return "#" + "".join(f"{round(first * share + other * (1 - share)):02X}" for first, other in pairs)


def contrast(first: str, second: str) -> float:
    """Contrast ratio of two colours by WCAG 2.x relative luminance (1 to 21)."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def label_colour(hue: str) -> str:
    """White or near black, whichever reads better on the hue."""
    return max(("#FFFFFF", DARK_LABEL), key=lambda ink: contrast(ink, hue))


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _luminance(colour: str) -> float:
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in _channels(colour))
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


# What stands inside a page: its script, and data that no name in them can turn into HTML.


_ESCAPED = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


def embedded(value: object) -> str:
    r"""JSON for a ``<script>`` element: neither ``</script>`` nor ``<!--`` can come up in it.

    >>> embedded({"name": "<!--<script>"})
    '{"name":"\\u003c!--\\u003cscript\\u003e"}'
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPED)


def bundled(path: Path) -> str:
    """The text of a bundle of ``page/``; raises ``EnvironmentProblem`` in a checkout in which it was not made."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as error:
        raise EnvironmentProblem(
            f"{path} is missing; expected the bundle that `make page` makes of page/"
        ) from error
