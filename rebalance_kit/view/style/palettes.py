"""The colours themselves: twelve member hues and the roles of the interface, in three themes.

Hues belong to members and to nothing else; everything that is not a member is ink, grey or the one
alert red. The contrast of every pair that is used is held by tests (WCAG 2.x relative luminance).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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
