"""A still picture of a moment as SVG: what a notebook shows where no widget can live."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from textwrap import wrap

from rebalance_kit.view.board.states import BoardState, MemberView, PartitionView
from rebalance_kit.view.kinds import PARTITION_WORDS
from rebalance_kit.view.style.theme import FONT, ROLES, Look, looks
from rebalance_kit.view.words.descriptions import describe_board
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import fill, seconds

WIDTH, HEAD, LANE, GAP, RAIL = 1000, 236, 76, 8, 184
CAUSE_SIGNS, EFFECT_SIGNS, LINE = 84, 118, 18
LETTER, BOLD = 0.6, 0.68
"""The width of a letter as a share of its size, in the widest of the fonts."""
LANES_UP_TO = 16


def still(board: BoardState, theme: str = "light") -> str:
    """The board as one self-contained SVG picture with its text twin as description; theme ``auto`` is light."""
    theme = "light" if theme == "auto" else theme
    role = ROLES[theme]
    present = [member for member in board.members if member.state.life != "absent"]
    shown = present[:LANES_UP_TO]
    seen = looks([member.name for member in board.members], theme)
    height = 138 + max(3, len(shown)) * (LANE + GAP)
    headline, down = _headline(board, role)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + down}" width="{WIDTH}" height="{height + down}" role="img" font-family="{escape(FONT, quote=True)}">',
        f"<title>Rebalance lab at {seconds(board.at_ms)}</title><desc>{escape(describe_board(board))}</desc>",
        f'<rect width="{WIDTH}" height="{height + down}" rx="14" fill="{role["surface"]}"/>',
        *headline,
        f'<g transform="translate(0,{down})">',
        *_coordinator(board, role),
    ]
    for row, member in enumerate(shown):
        parts += _lane(member, board, 130 + row * (LANE + GAP), seen, role)
    parts += _rail(board.owned_by(None), height, seen, role, board)
    if more := len(present) - len(shown):
        parts.append(
            _text(16, height - 4, f"{more} more member{'s' if more > 1 else ''}", 11.5, role["ink2"])
        )
    return "".join([*parts, "</g></svg>"])


def _headline(board: BoardState, role: Mapping[str, str]) -> tuple[list[str], int]:
    """What happens and what follows, in as many lines as they need, and how far down they push the rest."""
    words = sentence(board)
    causes = wrap(fill(words.cause, board.at_ms), CAUSE_SIGNS)
    effects = wrap(fill(words.effect, board.at_ms), EFFECT_SIGNS)
    flowing = f"{board.flowing} of {len(board.partitions)} flow"
    parts = [_text(WIDTH - 16, 26, flowing, 15, role["ink"], bold=True, end=True)]
    y = 26
    for line in causes:
        parts.append(_text(16, y, line, 15, role["ink"], bold=True))
        y += LINE + 3
    for line in effects:
        parts.append(_text(16, y, line, 13.5, role["ink2"]))
        y += LINE
    return parts, max(0, y - 26 - 2 * LINE - 3)


def _fitted(
    x: float, y: float, words: str, size: float, colour: str, room: float, *, bold: bool = False
) -> str:
    """Text that is set smaller where it would leave its room."""
    widest = room / (max(len(words), 1) * (BOLD if bold else LETTER))
    return _text(x, y, words, round(min(size, widest), 1), colour, bold=bold)


def _text(
    x: float, y: float, words: str, size: float, colour: str, *, bold: bool = False, end: bool = False
) -> str:
    weight = ' font-weight="700"' if bold else ""
    anchor = ' text-anchor="end"' if end else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour}"{weight}{anchor}>{escape(words)}</text>'


def _coordinator(board: BoardState, role: Mapping[str, str]) -> Iterable[str]:
    group = board.group
    number = (
        ""
        if group.generation is None
        else f"{'group epoch' if group.protocol == 'consumer' else 'generation'} {group.generation}"
    )
    yield f'<rect x="16" y="62" width="{WIDTH - 32}" height="54" rx="10" fill="{role["sunk"]}"/>'
    yield _text(32, 94, "Coordinator", 15, role["ink"], bold=True)
    width = 9 * len(group.state) + 24
    yield f'<rect x="150" y="74" width="{width}" height="30" rx="15" fill="{role["ink"]}"/>'
    yield f'<text x="{150 + width / 2:g}" y="94" font-size="13" font-weight="700" text-anchor="middle" fill="{role["surface"]}">{escape(group.state)}</text>'
    yield _text(170 + width, 94, number, 13, role["ink"])
    if group.state == "PreparingRebalance":
        yield _text(
            WIDTH - 32,
            94,
            f"joined {len(group.joined)} of {len(group.joined) + len(group.awaited)}",
            13,
            role["ink"],
            end=True,
        )


def _lane(
    member: MemberView, board: BoardState, y: float, seen: dict[str, Look], role: Mapping[str, str]
) -> Iterable[str]:
    look, dead = seen[member.name], member.state.life != "alive"
    width = WIDTH - 32 - RAIL - 14
    fill_, ink, dash = (
        (role["surface"], role["ink"], ' stroke-dasharray="4 3"') if dead else (look.hue, look.on_hue, "")
    )
    yield f'<rect x="16" y="{y:g}" width="{width}" height="{LANE}" rx="10" fill="none" stroke="{role["hairline"]}" stroke-width="1.2"/>'
    yield f'<circle cx="54" cy="{y + 38:g}" r="21" fill="{fill_}" stroke="{look.hue}" stroke-width="2"{dash}/>'
    yield f'<text x="54" y="{y + 44:g}" font-size="16" font-weight="700" text-anchor="middle" fill="{ink}">{escape(look.label)}</text>'
    yield from _member_words(member, board, y, role)
    partitions = board.owned_by(member.name)
    room = width - HEAD - 8
    across = max(3, len(partitions))
    each = min(160.0, (room - 9 * (across - 1)) / across)
    if each < 24:
        yield _text(
            16 + HEAD, y + 44, f"{len(partitions)} partitions, {len(member.fetching)} flow", 14, role["ink"]
        )
        return
    for column, partition in enumerate(partitions):
        yield from _token(partition, 16 + HEAD + column * (each + 9), y + 11, each, look, role, board)


def _member_words(member: MemberView, board: BoardState, y: float, role: Mapping[str, str]) -> Iterable[str]:
    """Name, doing, and what runs with the clock: the session of a dead member, else its generation or epoch."""
    silent = member.state.life in {"crashed", "died", "frozen"}
    room = 16 + HEAD - 90 - 6
    yield _fitted(90, y + 26, member.name, 14, role["ink"], room, bold=True)
    yield _fitted(90, y + 45, member.state.doing, 12.5, role["alert"] if silent else role["ink"], room)
    if silent and member.session_ends_ms is not None:
        left = seconds(member.session_ends_ms - board.at_ms)
        yield _fitted(90, y + 62, f"session ends in {left}", 11.5, role["ink2"], room)
    elif member.state.generation is not None and member.state.life == "alive":
        number = "epoch" if member.state.protocol == "consumer" else "generation"
        yield _text(90, y + 62, f"{number} {member.state.generation}", 11.5, role["ink2"])


def _token(
    partition: PartitionView,
    x: float,
    y: float,
    width: float,
    look: Look | None,
    role: Mapping[str, str],
    board: BoardState,
) -> Iterable[str]:
    word = partition.state.word
    bad, loose = PARTITION_WORDS[word].alerting, partition.state.owner is None
    hue = look.hue if look else role["ink"]
    edge = role["ink"] if loose else role["alert"] if bad else hue
    dash = (
        ' stroke-dasharray="2 4"'
        if loose
        else ' stroke-dasharray="6 4"'
        if word in {"give up", "was leaving"}
        else ""
    )
    ground = look.tint if look and not bad else role["surface"]
    yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="54" rx="7" fill="{ground}" stroke="{edge}" stroke-width="1.6"{dash}/>'
    yield f'<rect x="{x:g}" y="{y + 4:g}" width="{3 if loose else 7}" height="46" fill="{hue}"/>'
    if width < 70:
        yield _text(x + 12, y + 32, partition.name.rpartition("-")[2], 14, role["ink"], bold=True)
        return
    room = width - 21
    yield _fitted(x + 17, y + 22, partition.name, 13, role["ink"], room, bold=True)
    since = (
        "" if partition.stopped_since_ms is None else f" {seconds(board.at_ms - partition.stopped_since_ms)}"
    )
    yield _fitted(x + 17, y + 43, word + since, 12, role["alert"] if bad else role["ink2"], room, bold=bad)


def _rail(
    orphans: tuple[PartitionView, ...],
    height: float,
    seen: dict[str, Look],
    role: Mapping[str, str],
    board: BoardState,
) -> Iterable[str]:
    x = WIDTH - 16 - RAIL
    yield f'<rect x="{x}" y="130" width="{RAIL}" height="{height - 146:g}" rx="10" fill="{role["sunk"]}"/>'
    yield _text(x + 12, 154, f"No owner{f': {len(orphans)}' if orphans else ''}", 15, role["ink"], bold=True)
    room = int((height - 146 - 40) // 62)
    for row, partition in enumerate(orphans[:room]):
        look = seen.get(partition.state.last_owner or "")
        yield from _token(partition, x + 10, 166 + row * 62, RAIL - 20, look, role, board)
