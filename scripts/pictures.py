"""Pictures that the browser tests have made: copied into docs/images, or laid out on sheets to be looked at; and the README's film.

python -m pytest tests/browser/test_lab_pictures.py && python scripts/pictures.py
python scripts/pictures.py film
python -m pytest tests/browser/controls/test_lab_places.py && python scripts/pictures.py sheets
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

from PIL import Image

from rebalance_kit.model.files import write_atomically
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.lab.session import LabSession

ROOT = Path(__file__).resolve().parents[1]
MADE = ROOT / "build" / "screenshots"
SHOWN = ROOT / "docs" / "images"
PICTURES = ("board", "compare", "timeline", "messages", "why", "fifty")


WIDE, GAP = 960, 12
FILM = SHOWN / "crash.svg"
FRAMES_MS = (36_000, 38_600, 48_000, 60_000, 72_000, 82_500, 82_900, 83_100, 84_000, 88_000)
"""Moments of the README's film: before the crash, the wait for the session's end, the rebalance, and after it."""
FRAME_S = 1.5


def main(arguments: list[str]) -> int:
    """Do what the command line asks."""
    if arguments == ["sheets"]:
        return sheets()
    if arguments == ["film"]:
        write_atomically(FILM, film())
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    return copies()


def film() -> str:
    """A crash under eager as one SVG whose frames follow each other; who wants no motion sees the first moments of the wait."""
    boards = LabSession("two-consumers-crash", "eager").boards
    pictures = [still(boards.at(at)) for at in FRAMES_MS]
    high = max(int(re.search(r'height="(\d+)"', picture)[1]) for picture in pictures)  # type: ignore[index]
    share = 100 / len(pictures)
    whole = FRAME_S * len(pictures)
    style = (
        f"@keyframes show{{0%,{share:g}%{{visibility:visible}}{share + 0.01:g}%,100%{{visibility:hidden}}}}"
        f"svg svg{{visibility:hidden;animation:show {whole:g}s step-end infinite}}"
        "@media(prefers-reduced-motion:reduce){svg svg{animation:none}svg svg:nth-of-type(2){visibility:visible}}"
    )
    frames = "".join(
        picture.replace("<svg ", f'<svg style="animation-delay:{number * FRAME_S:g}s" ', 1)
        for number, picture in enumerate(pictures)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 {high}" width="1000" height="{high}">'
        f"<style>{style}</style>{frames}</svg>\n"
    )


def copies() -> int:
    """Copy all six, or none and say which is missing."""
    missing = [name for name in PICTURES if not (MADE / f"doc-{name}.png").is_file()]
    if missing:
        print(
            f"not there: {', '.join(missing)}; run tests/browser/test_lab_pictures.py first", file=sys.stderr
        )
        return 1
    SHOWN.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        write_atomically(SHOWN / f"lab-{name}.png", (MADE / f"doc-{name}.png").read_bytes())
    print(f"copied: {', '.join(f'lab-{name}.png' for name in PICTURES)}")
    return 0


def sheets() -> int:
    """One sheet for each place of the lab and theme, its four screens on it."""
    made = sorted(MADE.glob("place-*.png"), key=lambda path: (*_place_and_theme(path), path.name))
    if not made:
        print(f"no pictures in {MADE}; run tests/browser/controls/test_lab_places.py first", file=sys.stderr)
        return 1
    folder = MADE.parent / "sheets"
    folder.mkdir(parents=True, exist_ok=True)
    for (place, theme), paths in groupby(made, key=_place_and_theme):
        _laid_out([Image.open(path) for path in paths]).save(folder / f"{place}-{theme}.png")
    print(f"{len(made)} pictures on sheets in {folder}")
    return 0


def _place_and_theme(path: Path) -> tuple[str, str]:
    """What a picture's name says: place-PLACE-SIZE-THEME."""
    _, place, _, theme = path.stem.split("-")
    return place, theme


def _laid_out(pictures: list[Image.Image]) -> Image.Image:
    """Two in a row, each as wide as the others."""
    fitted = [one.resize((WIDE, round(one.height * WIDE / one.width))) for one in pictures]
    rows = [fitted[at : at + 2] for at in range(0, len(fitted), 2)]
    heights = [max(one.height for one in row) for row in rows]
    sheet = Image.new("RGB", (2 * WIDE + GAP, sum(heights) + GAP * (len(rows) - 1)), "#888888")
    top = 0
    for row, height in zip(rows, heights, strict=True):
        for column, one in enumerate(row):
            sheet.paste(one, (column * (WIDE + GAP), top))
        top += height + GAP
    return sheet


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
