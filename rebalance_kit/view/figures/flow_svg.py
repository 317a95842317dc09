"""The flow animation as one SVG that moves by itself: it plays where no script may run, on GitHub and in HTML made of a notebook.

Everything that moves is SMIL. It is played ``PLAYS`` times, then the picture rests at the moment at which most partitions are
unread, which is also what a reader sees that plays nothing (paper, PDF); inside a page a click plays it again.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.flow import FLOWS, STOPPED, deciding_moment, flow_figure, too_many
from rebalance_kit.view.figures.flow_layout import WIDE, FlowGrid
from rebalance_kit.view.figures.gantt import gantt_svg
from rebalance_kit.view.style.showing import Figure, words
from rebalance_kit.view.style.theme import FONT, ROLES

PLAYS = 3
"""Then it rests: what moves without end cannot be read beside."""
TICK_S, GLIDE = 0.1, 3
"""A picture of the animation, and in how many of them a tile is in its new place."""
LEFT, RIGHT, TOP, GAP, STRIP_ROW, FOOT = 14, 14, 64, 58, 34, 32
BASELINE, LINE = 0.35, 1.25
_LENGTH = re.compile(r"(?:<br>| )[\d.,]+ (?:ms|s|min)$")
"""How long ago: it would change with every picture."""


def flow_svg(runs: Sequence[Trace], theme: str = "light") -> str:
    """One to three runs under one clock, as ``flow_figure`` shows them; for more members than it can show, the first run's chart."""
    if any(too_many(trace) for trace in runs):
        return gantt_svg(Boards(runs[0]), theme).svg
    figure = flow_figure(runs, theme)
    film = _Film(figure, deciding_moment(Boards(runs[0])) / 1000)
    return _Drawing(figure, film, theme).svg()


class _Film:
    """When which picture of a figure is shown, as a share of one play, and which one stands where nothing plays."""

    def __init__(self, figure: Figure, rests_s: float) -> None:
        order = figure["layout"]["updatemenus"][0]["buttons"][0]["args"][0]
        self.frames = [frame["data"] for frame in figure["frames"]]
        self.times_s = [float(frame["name"]) for frame in figure["frames"]]
        begins: dict[str, int] = {}
        for place, name in enumerate(order):
            begins.setdefault(name, place)
        self.begins = [begins[frame["name"]] for frame in figure["frames"]]
        self.ticks = len(order)
        first_s = self.times_s[0]
        self.rest = max(place for place, at in enumerate(self.times_s) if at <= max(rests_s, first_s))

    @property
    def key(self) -> str:
        """A name that no other figure of a page has."""
        return f"rkf{zlib.crc32(repr(self.frames).encode()):08x}"

    def moving(
        self, attribute: str, values: Sequence[str], *, glide: bool = False, kind: str = "animate"
    ) -> str:
        """The element that gives an attribute its value of every picture; empty where they are all one."""
        if len(set(values)) == 1:
            return ""
        keys: list[tuple[float, str]] = [(0.0, values[0])]
        for (_, before), (begin, now) in pairwise(zip(self.begins, values, strict=True)):
            if now == before:
                continue
            if glide:
                keys += [(begin, before), (min(begin + GLIDE, self.ticks), now)]
            else:
                keys.append((begin, now))
        if glide:
            keys = [*_in_order(keys), (float(self.ticks), values[-1])]
        times = ";".join(f"{at / self.ticks:.4f}".rstrip("0").rstrip(".") for at, _ in keys)
        how = "" if glide else ' calcMode="discrete"'
        type_ = ' type="translate"' if kind == "animateTransform" else ""
        return (
            f'<{kind} attributeName="{attribute}"{type_} begin="0s;{self.key}.click" dur="{self.ticks * TICK_S:g}s"'
            f' repeatCount="{PLAYS}"{how} keyTimes="{times}" values="{";".join(value for _, value in keys)}"/>'
        )


def _in_order(keys: Sequence[tuple[float, str]]) -> list[tuple[float, str]]:
    """Keys whose times never go back: a glide that another one overtakes ends where that begins."""
    kept: list[tuple[float, str]] = []
    for at, value in keys:
        while kept and kept[-1][0] > at:
            kept.pop()
        kept.append((at, value))
    return kept


class _Tile(NamedTuple):
    """Where a partition's tile stands in one picture, what shape it has, and its colour."""

    place: str
    shape: int
    colour: str


class _Drawing:
    """The parts of the picture, in the places that plotly would give them."""

    SHAPES: ClassVar[Mapping[bool, str]] = {
        True: "M-{0},-{0}H{0}V{0}H-{0}z",
        False: "M0,-{0}L{0},0L0,{0}L-{0},0z",
    }

    def __init__(self, figure: Figure, film: _Film, theme: str) -> None:
        self.figure, self.film, self.role = figure, film, ROLES[theme]
        self.layout = figure["layout"]
        self.rows: int = self.layout["yaxis2"]["range"][1]
        self.since_s: float
        self.until_s: float
        self.since_s, self.until_s = self.layout["xaxis2"]["range"]
        self.strip_top: float = TOP - self.layout["yaxis"]["range"][0] + GAP
        self.height = self.strip_top + self.rows * STRIP_ROW + FOOT

    def svg(self) -> str:
        """The whole picture with its text twin as description."""
        wide, key = LEFT + WIDE + RIGHT, self.film.key
        title = self.layout["title"]["text"]
        return "".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" id="{key}" viewBox="0 0 {wide} {self.height:g}" width="{wide}" height="{self.height:g}"'
                f' role="img" font-family="{escape(FONT, quote=True)}" style="max-width:100%;height:auto">',
                f"<title>{escape(title)}</title><desc>{escape(self.layout['meta']['text'])}</desc>",
                f'<rect width="{wide}" height="{self.height:g}" rx="12" fill="{self.role["surface"]}"/>',
                words(LEFT, 26, title, colour=self.role["ink"], bold=True, size=16),
                *self._legend(),
                *self._boxes(),
                *self._strips(),
                *self._events(),
                *self._still_texts(self.figure["data"][8]),
                *self._discs(),
                *self._texts(),
                *self._tiles(),
                *self._cursor(),
                "</svg>",
            ]
        )

    # --- what does not move ---------------------------------------------------------------------------
    def _legend(self) -> Iterator[str]:
        x = float(LEFT)
        for entry in (one for one in self.figure["data"] if one.get("name")):
            marker, half = entry["marker"], entry["marker"]["size"] / 2
            square = marker["symbol"].startswith("square")
            look = f'fill="{marker["color"]}"'
            if marker["symbol"] == "circle":
                yield f'<circle cx="{x + 6:g}" cy="46" r="{half:g}" {look}/>'
            else:
                yield f'<path transform="translate({x + 6:g} 46)" d="{self.SHAPES[square].format(f"{half:g}")}" {look}/>'
            if marker["symbol"] == "square-x":
                yield self._cross(half, f"translate({x + 6:g} 46)")
            yield words(x + 18, 50, entry["name"], colour=self.role["ink2"], size=12)
            x += 34 + 6.6 * len(entry["name"])

    def _boxes(self) -> Iterator[str]:
        for box in self.layout["shapes"]:
            if box["type"] != "rect":
                continue
            fill, line = box.get("fillcolor", "none"), box["line"]
            stroke = f' stroke="{line["color"]}"' if line["width"] else ""
            x, y = LEFT + box["x0"], TOP - box["y0"]
            yield f'<rect x="{x:g}" y="{y:g}" width="{box["x1"] - box["x0"]:g}" height="{box["y0"] - box["y1"]:g}" rx="6" fill="{fill}"{stroke}/>'

    def _strips(self) -> Iterator[str]:
        """How many partitions are unread over the whole run, with its axis."""
        for drawn in (one for one in self.figure["data"] if one.get("fill") == "tonexty"):
            base = min(drawn["y"])
            shape = [f"M{self._x(drawn['x'][0]):.1f},{self._y(base):.1f}"]
            for (x, y), (until, _) in pairwise(zip(drawn["x"], drawn["y"], strict=True)):
                shape.append(f"V{self._y(y):.1f}H{self._x(until):.1f}" if x <= self.until_s else "")
            yield f'<path d="{"".join(shape)}V{self._y(base):.1f}z" fill="{drawn["fillcolor"]}"/>'
            yield self._rule(self.since_s, self.until_s, base)
        axis = self.layout["yaxis2"]
        for row, said in zip(axis["tickvals"], axis["ticktext"], strict=True):
            yield words(
                self._x(self.since_s) - 8,
                self._y(row) + 4,
                said,
                colour=self.role["ink2"],
                size=12,
                anchor="end",
            )
        step = next(
            one for one in (1, 2, 5, 10, 20, 50, 100, 200, 500) if (self.until_s - self.since_s) / one <= 9
        )
        for at_s in range(int(-(-self.since_s // step) * step), int(self.until_s) + 1, step):
            yield words(
                self._x(at_s),
                self.height - 10,
                f"{at_s} s",
                colour=self.role["ink2"],
                size=12,
                anchor="middle",
            )

    def _events(self) -> Iterator[str]:
        top, bottom = self.strip_top, self.strip_top + self.rows * STRIP_ROW
        for line in (one for one in self.layout["shapes"] if one["type"] == "line"):
            x = self._x(line["x0"])
            yield f'<path d="M{x:.1f},{top:g}V{bottom:g}" stroke="{line["line"]["color"]}" stroke-dasharray="2 3"/>'
        begin, wide = self._x(self.since_s), self._x(self.until_s) - self._x(self.since_s)
        for said in self.layout["annotations"]:
            y = top - said["yshift"] + 4
            yield words(begin + said["x"] * wide, y, said["text"], colour=said["font"]["color"], size=12)

    def _still_texts(self, drawn: Figure) -> Iterator[str]:
        font = drawn["textfont"]
        for x, y, said, size, weight in zip(
            drawn["x"], drawn["y"], drawn["text"], font["size"], font["weight"], strict=True
        ):
            yield words(
                LEFT + x, TOP - y + size * BASELINE, said, colour=font["color"], bold=weight > 600, size=size
            )

    # --- what moves -----------------------------------------------------------------------------------
    def _tiles(self) -> Iterator[str]:
        tiles = self.figure["data"][0]
        frames = [self._tiles_of(frame[0], tiles["marker"]) for frame in self.film.frames]
        half = tiles["marker"]["size"] / 2
        for number, label in enumerate(tiles.get("text") or [""] * len(frames[0])):
            seen = [frame[number] for frame in frames]
            rest = seen[self.film.rest]
            shapes = [self.SHAPES[one.shape in {FLOWS, STOPPED}].format(f"{half:g}") for one in seen]
            moves = self.film.moving(
                "transform", [one.place for one in seen], glide=True, kind="animateTransform"
            )
            turns = self.film.moving("d", shapes) + self.film.moving("fill", [one.colour for one in seen])
            stops = ["visible" if one.shape == STOPPED else "hidden" for one in seen]
            said = (
                words(0, 4, label, colour=self.role["surface"], bold=True, size=11, anchor="middle")
                if label
                else ""
            )
            yield (
                f'<g transform="translate({rest.place})">{moves}{self._record(number, half)}'
                f'<path d="{shapes[self.film.rest]}" fill="{rest.colour}" stroke="{self.role["surface"]}">{turns}</path>'
                f"{self._crossed(half, stops)}{said}</g>"
            )

    def _tiles_of(self, drawn: Figure, marker: Figure) -> list[_Tile]:
        scale = [colour for _, colour in marker["colorscale"][::2]]
        columns = (unpacked(drawn["x"]), unpacked(drawn["y"]), *map(unpacked, drawn["marker"].values()))
        return [
            _Tile(f"{LEFT + x:g} {TOP - y:g}", shape, scale[hue + 2])
            for x, y, shape, hue in zip(*columns, strict=True)
        ]

    def _record(self, number: int, half: float) -> str:
        """The records below a tile: one travels while the partition is read, unread they pile up."""
        sizes = [unpacked(frame[1]["marker"]["size"])[number] / 2 for frame in self.film.frames]
        most = max(sizes)
        reads = ["visible" if size < most or most < 3 else "hidden" for size in sizes]
        grows = self.film.moving("r", [f"{size:g}" for size in sizes])
        y = FlowGrid.record_below
        runs = (
            f'<animate attributeName="cx" begin="0s;{self.film.key}.click" dur="0.9s" repeatCount="{int(PLAYS * self.film.ticks * TICK_S / 0.9)}"'
            f' values="{half:g};-{half:g}"/>'
            if "visible" in reads and min(sizes) < 3
            else ""
        )
        return (
            f'<circle cy="{y}" r="{sizes[self.film.rest]:g}" fill="{self.role["ink"]}">{runs}{grows}</circle>'
        )

    def _crossed(self, half: float, stops: Sequence[str]) -> str:
        if "visible" not in stops:
            return ""
        hides = self.film.moving("visibility", stops)
        return f'<g visibility="{stops[self.film.rest]}">{self._cross(half, "")}{hides}</g>'

    def _cross(self, half: float, transform: str) -> str:
        where = f' transform="{transform}"' if transform else ""
        arm = f"{half:g}"
        return f'<path{where} d="M-{arm},-{arm}L{arm},{arm}M-{arm},{arm}L{arm},-{arm}" stroke="{self.role["surface"]}" stroke-opacity="0.45"/>'

    def _discs(self) -> Iterator[str]:
        discs = self.figure["data"][2]
        line = discs["marker"]["line"]["color"]
        alive = [unpacked(frame[2]["marker"]["symbol"]) for frame in self.film.frames]
        hues = [frame[2]["textfont"]["color"] for frame in self.film.frames]
        for number, (x, y, label) in enumerate(zip(discs["x"], discs["y"], discs["text"], strict=True)):
            fills = [line[number] if frame[number] == 0 else self.role["surface"] for frame in alive]
            inks = [frame[number] for frame in hues]
            rest = self.film.rest
            yield (
                f'<circle cx="{LEFT + x:g}" cy="{TOP - y:g}" r="11" stroke="{line[number]}" stroke-width="2" fill="{fills[rest]}">'
                f'{self.film.moving("fill", fills)}</circle><text x="{LEFT + x:g}" y="{TOP - y + 3.6:g}" font-size="10" font-weight="700"'
                f' text-anchor="middle" fill="{inks[rest]}">{escape(label)}{self.film.moving("fill", inks)}</text>'
            )

    def _texts(self) -> Iterator[str]:
        """What members do, how many partitions are read, what goes on: each text shown as long as it holds."""
        for place, anchor in ((3, "start"), (4, "end"), (5, "start")):
            fixed = self.figure["data"][place]
            for number, (x, y) in enumerate(zip(fixed["x"], fixed["y"], strict=True)):
                said = [_LENGTH.sub("", frame[place]["text"][number]) for frame in self.film.frames]
                colour = self._colours(place, number)
                yield from self._shown(said, self._writer((x, y), fixed["textfont"], anchor, colour))

    def _writer(
        self, at: tuple[float, float], font: Figure, anchor: str, colour: Callable[[str], str]
    ) -> Callable[[str], str]:
        return lambda text: self._lines(text, at, font, anchor, colour(text))

    def _colours(self, place: int, number: int) -> Callable[[str], str]:
        """The colour of a text: that of the counts says whether all is read."""
        if place != 4:
            ink = self.figure["data"][place]["textfont"]["color"]
            return lambda _text: str(ink)
        colours = {
            frame[4]["text"][number]: frame[4]["textfont"]["color"][number] for frame in self.film.frames
        }
        return lambda text: str(colours[text])

    def _lines(self, text: str, at: tuple[float, float], font: Figure, anchor: str, colour: str) -> str:
        size, lines = font["size"], text.split("<br>")
        first = TOP - at[1] - (len(lines) - 1) * size * LINE / 2 + size * BASELINE
        return "".join(
            words(
                LEFT + at[0],
                first + row * size * LINE,
                line,
                colour=colour,
                size=size,
                anchor=anchor,
                bold=font.get("weight", 400) > 600,
            )
            for row, line in enumerate(lines)
        )

    def _shown(self, said: Sequence[str], drawn: Callable[[str], str]) -> Iterator[str]:
        for text in dict.fromkeys(said):
            seen = ["visible" if one == text else "hidden" for one in said]
            if text:
                yield f'<g visibility="{seen[self.film.rest]}">{drawn(text)}{self.film.moving("visibility", seen)}</g>'

    def _cursor(self) -> Iterator[str]:
        places = [f"{self._x(at_s):.1f} 0" for at_s in self.film.times_s]
        keys = ";".join(f"{begin / self.film.ticks:.4f}" for begin in self.film.begins)
        rest = self.film.rest
        moves = (
            f'<animateTransform attributeName="transform" type="translate" begin="0s;{self.film.key}.click" dur="{self.film.ticks * TICK_S:g}s"'
            f' repeatCount="{PLAYS}" keyTimes="{keys};1" values="{";".join([*places, places[-1]])}"/>'
        )
        bottom = self.strip_top + self.rows * STRIP_ROW
        clocks = self._shown(
            [f"{at_s:.0f} s" for at_s in self.film.times_s],
            lambda text: words(
                0, self.strip_top - 5, text, colour=self.role["ink"], bold=True, size=13, anchor="middle"
            ),
        )
        yield (
            f'<g transform="translate({places[rest]})">{moves}<path d="M0,{self.strip_top:g}V{bottom:g}" stroke="{self.role["ink"]}" stroke-width="2"/>'
            f"{''.join(clocks)}</g>"
        )

    # --- places ---------------------------------------------------------------------------------------
    def _x(self, at_s: float) -> float:
        left = LEFT + FlowGrid.strip_left * WIDE
        share = (at_s - self.since_s) / (self.until_s - self.since_s)
        return left + max(0.0, min(1.0, share)) * (LEFT + WIDE - left)

    def _y(self, row: float) -> float:
        return self.strip_top + (self.rows - row) * STRIP_ROW

    def _rule(self, since_s: float, until_s: float, row: float) -> str:
        return f'<path d="M{self._x(since_s):.1f},{self._y(row):.1f}H{self._x(until_s):.1f}" stroke="{self.role["control"]}"/>'


def unpacked(values: Mapping[str, Any]) -> list[int]:
    """The numbers of ``showing.packed``.

    >>> unpacked({'dtype': 'i1', 'bdata': 'AQID'})
    [1, 2, 3]
    """
    data, code = base64.b64decode(values["bdata"]), {"i1": "b", "i2": "h"}[values["dtype"]]
    return list(struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data))
