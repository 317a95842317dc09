"""The flow animation: who reads which partition, how many are unread, and since when; one to three runs under one clock.

The canned form of the lab for notebooks, reports and slides. Positions are small typed arrays, the slider is linear in
time, and playing lingers where something changes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import wrap
from typing import NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import ABSENT, BoardState, MemberView, PartitionState
from rebalance_kit.view.figures import flow_layout
from rebalance_kit.view.figures.gantt import gantt_figure
from rebalance_kit.view.style.showing import Figure, base_layout, packed
from rebalance_kit.view.style.theme import ROLES, looks
from rebalance_kit.view.words.descriptions import describe_flow
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import fill, length, seconds

FRAMES = 120
"""The slider has so many places, evenly over the run; changes between them are played too."""
CHANGES = 60
LINGER = 5
"""Playing rests so many pictures where a partition changed."""
MOST_MEMBERS = 12
MOST_RUNS = 3
FLOWS, STOPPED, WAITS = 1, 30, 2
"""Plotly's square, square with a cross, and (open) diamond: the shapes of a partition that is read, unread though owned, without owner."""
GONE_MARK = 100
"""A hollow disc: no process, or not in the group."""
MOVING_DOT, MOST_DOT = 5, 15
STEPS_OF_A_RECORD = (9, 0, -9)
PARTITIONS_UP_TO = 2048
"""What tells one record from the next of its partition: a new one does not fly back."""
JUMP_MS = 20
"""A jump takes the place of the move under way only where it is a move itself: without a duration that one goes on and ends where it was going."""
CAUSE_LINES = 3
MOST_DOING = 15
AROUND_MS, AROUND = 1_000, 0.25
"""What is shown before the first event and after the last change: at least so long, or this share of what lies between."""


class _Frame(NamedTuple):
    """What one picture shows of all runs."""

    x: list[int]
    y: list[int]
    shapes: list[int]
    hues: list[int]
    dots: list[int]
    dots_y: list[int]
    dot_sizes: list[int]
    dot_ids: list[int]
    discs: list[int]
    disc_hues: list[str]
    doing: list[str]
    counts: list[str]
    all_read: list[bool]
    causes: list[str]


def flow_figure(
    runs: Trace | Sequence[Trace], theme: str = "light", frames: int = FRAMES, group: str | None = None
) -> Figure:
    """A plotly figure (plain values) that plays a run, or two or three beside each other under one slider.

    What is shown begins shortly before the first event and ends shortly after its last effect (``shown_ms``). The slider is
    linear in time, with ``frames`` places; every change of a partition is a picture of its own, and playing
    lingers there. More members than ``MOST_MEMBERS`` cannot be followed: they get the Gantt of the first run, whose title
    says why. Raises ``ValueError`` on no run, or more than ``MOST_RUNS``.
    """
    traces = [runs] if isinstance(runs, Trace) else list(runs)
    if not 1 <= len(traces) <= MOST_RUNS:
        raise ValueError(f"a flow shows one to {MOST_RUNS} runs; got {len(traces)}")
    every = [Boards(trace, group) for trace in traces]
    members = max(len(boards.names) for boards in every)
    if members > MOST_MEMBERS:
        return _chart_instead(traces[0], theme, group, members)
    since_ms, until_ms = shown_ms(every)
    places = max(frames, 2)
    even = [since_ms + step * (until_ms - since_ms) // (places - 1) for step in range(places)]
    times = sorted({*even, *changes(every, since_ms, until_ms)})
    grid = flow_layout.flow_grid(every, (since_ms, until_ms))
    pictures = _pictures(every, times, grid, theme)
    layout = base_layout(theme, _title(traces), "\n\n".join(map(describe_flow, traces)), grid.height)
    static = flow_layout.static_parts(every, grid, theme)
    layout |= static.layout | _controls(times, even, theme)
    layout["margin"] = {"l": 10, "r": 10, "t": 60, "b": 84}
    layout["title"] |= {"y": 0.985, "yanchor": "top", "yref": "container"}
    steps: list[Figure] = [
        {"name": name_of(at_ms), "data": _moved(picture, at_ms, theme), "traces": list(range(8))}
        for at_ms, picture in zip(times, pictures, strict=True)
    ]
    drawn = [_merged(fixed, moved) for fixed, moved in zip(static.moving, steps[0]["data"], strict=True)]
    return {"data": [*drawn, *static.still], "layout": layout, "frames": steps}


def too_many(trace: Trace, group: str | None = None) -> bool:
    """Whether a run has more members than an animation can show."""
    return len(Boards(trace, group).names) > MOST_MEMBERS


def shown_ms(every: Sequence[Boards]) -> tuple[int, int]:
    """The stretch that is shown: around the first event after the group was formed and its last effect; else the whole run."""
    end_ms = max(boards.end_ms for boards in every)
    events = [mark.at_ms for boards in every for mark in boards.marks if mark.kind in flow_layout.EVENT_KINDS]
    events = [at for at in events if at >= min(boards.watched_from_ms for boards in every)]
    if not events:
        return 0, end_ms
    last = max([*events, *(at for at in _changed(every) if at <= end_ms)])
    around = max(AROUND_MS, round(AROUND * (last - min(events))))
    return max(0, min(events) - around), min(end_ms, last + around)


def _changed(every: Sequence[Boards]) -> list[int]:
    """Moments at which a partition was taken, given up, or read again."""
    return sorted({at for boards in every for track in boards.partitions.values() for at in track.times})


def changes(every: Sequence[Boards], since_ms: int, until_ms: int) -> list[int]:
    """At most ``CHANGES`` moments at which a partition was taken, given up, or read again; all of them where they fit."""
    found = [at for at in _changed(every) if since_ms <= at <= until_ms]
    if len(found) <= CHANGES:
        return found
    return [found[step * (len(found) - 1) // (CHANGES - 1)] for step in range(CHANGES)]


def deciding_moment(boards: Boards) -> int:
    """The moment, after the group was formed, at which most partitions are unread; the first of several."""
    times = [at for at in boards.change_times if at >= boards.watched_from_ms] or [0]
    unread = {board.at_ms: len(board.partitions) - board.flowing for board in boards.walk(times)}
    return max(times, key=lambda at: unread.get(at, 0))


def name_of(at_ms: int) -> str:
    """The name of the picture of a moment: changes a millisecond apart have names of their own."""
    return f"{at_ms / 1000:.3f}"


def _chart_instead(trace: Trace, theme: str, group: str | None, members: int) -> Figure:
    figure = gantt_figure(trace, theme, group=group)
    why = f"{members} members are too many to follow as moving squares (at most {MOST_MEMBERS}): the same run as a chart."
    title = figure["layout"]["title"]
    title["text"] += f"<br><span style='font-size:13px'>{why}</span>"
    return figure


def _title(traces: Sequence[Trace]) -> str:
    meta = traces[0].meta
    name = str(meta.get("title") or meta.get("scenario") or traces[0].run_id)
    return name if len(traces) > 1 else f"{name} · {traces[0].label}"


# --- pictures -------------------------------------------------------------------------------------
def _pictures(
    every: Sequence[Boards], times: Sequence[int], grid: flow_layout.FlowGrid, theme: str
) -> list[_Frame]:
    hues = [[(look.hue, look.on_hue) for look in looks(boards.names, theme).values()] for boards in every]
    walks = zip(*([boards.at(min(at_ms, boards.end_ms)) for at_ms in times] for boards in every), strict=True)
    return [_frame(every, boards, grid, hues, step) for step, boards in enumerate(walks)]


def _frame(
    every: Sequence[Boards],
    now: Sequence[BoardState],
    grid: flow_layout.FlowGrid,
    hues: Sequence[Sequence[tuple[str, str]]],
    step: int,
) -> _Frame:
    frame = _Frame(*([] for _ in _Frame._fields))
    number = 0
    for panel, (boards, board) in enumerate(zip(every, now, strict=True)):
        views = {view.name: view for view in board.partitions}
        held: dict[str | None, int] = {}
        order = {name: place for place, name in enumerate(boards.names)}
        for name, track in boards.partitions.items():
            state = track.at(board.at_ms)
            place = held.get(state.owner, 0)
            held[state.owner] = place + 1
            x, y = grid.place(panel, order.get(state.owner or "", -1), place)
            absent = state.word == ABSENT.word
            lag = views[name].lag if name in views else 0
            place_now = (x, flow_layout.OUT_OF_SIGHT if absent else y)
            _add_tile(frame, place_now, state, order)
            _add_record(frame, place_now, (number, step, lag, state.flows))
            number += 1
        for member, (hue, on_hue) in zip(board.members, hues[panel], strict=True):
            alive = member.state.life == "alive"
            frame.discs.append(0 if alive else GONE_MARK)
            frame.disc_hues.append(on_hue if alive else hue)
            frame.doing.append(_doing(member, board.at_ms))
        frame.all_read.append(board.flowing == len(board.partitions))
        frame.counts.append(f"{board.flowing} of {len(board.partitions)} read")
        frame.causes.append(_cause(board, grid.letters))
    return frame


def _add_tile(frame: _Frame, place: tuple[int, int], state: PartitionState, order: dict[str, int]) -> None:
    frame.x.append(place[0])
    frame.y.append(place[1])
    frame.shapes.append(_shape(state))
    frame.hues.append(
        order[state.owner] if state.flows and state.owner in order else -1 if state.owner is None else -2
    )


def _add_record(frame: _Frame, place: tuple[int, int], record: tuple[int, int, int, bool]) -> None:
    """A record below its tile: it travels to the reader and another comes; unread, records pile up where they enter."""
    number, step, lag, flows = record
    phase = step % len(STEPS_OF_A_RECORD) if flows else 0
    frame.dots.append(place[0] + STEPS_OF_A_RECORD[phase])
    frame.dots_y.append(place[1] - flow_layout.FlowGrid.record_below)
    frame.dot_sizes.append(MOVING_DOT if flows else min(MOST_DOT, MOVING_DOT + round(lag**0.5 / 2)))
    frame.dot_ids.append(number + PARTITIONS_UP_TO * (step // len(STEPS_OF_A_RECORD) % 15 if flows else 0))


def _shape(state: PartitionState) -> int:
    if state.owner is None:
        return WAITS
    return FLOWS if state.flows else STOPPED


def _doing(member: MemberView, at_ms: int) -> str:
    doing = member.state.doing
    if member.state.life in {"crashed", "closed", "died", "frozen"}:
        doing = f"{doing} {length(max(0, at_ms - member.since_ms))}"
    return "<br>".join(wrap(doing, MOST_DOING)[:2])


def _cause(board: BoardState, letters: int) -> str:
    """The sentence of the moment without the settings in brackets, in as many lines as there is room for."""
    words = re.sub(r" \([^)]*\)", "", fill(sentence(board).cause, board.at_ms))
    return "<br>".join(wrap(words, letters, max_lines=CAUSE_LINES, placeholder=" …"))


# --- plotly ---------------------------------------------------------------------------------------
def _moved(frame: _Frame, at_ms: int, theme: str) -> list[Figure]:
    """What changes from picture to picture, in the order of the figure's first traces."""
    role = ROLES[theme]
    return [
        {
            "x": packed(frame.x, "i2"),
            "y": packed(frame.y, "i2"),
            "marker": {"symbol": packed(frame.shapes), "color": packed(frame.hues)},
        },
        {
            "x": packed(frame.dots, "i2"),
            "y": packed(frame.dots_y, "i2"),
            "ids": packed(frame.dot_ids, "i2"),
            "marker": {"size": packed(frame.dot_sizes)},
        },
        {"marker": {"symbol": packed(frame.discs)}, "textfont": {"color": frame.disc_hues}},
        {"text": frame.doing},
        {
            "text": frame.counts,
            "textfont": {"color": [role["ink"] if one else role["alert"] for one in frame.all_read]},
        },
        {"text": frame.causes},
        {"x": [at_ms / 1000] * 2},
        {"x": [at_ms / 1000], "text": [seconds(at_ms)]},
    ]


def _merged(fixed: Figure, moved: Figure) -> Figure:
    """A trace with what its first picture sets."""
    inner = {
        key: {**fixed.get(key, {}), **value} for key, value in moved.items() if key in {"marker", "textfont"}
    }
    return {**fixed, **moved, **inner}


def paced(times: Sequence[int], even: Sequence[int]) -> list[int]:
    """The order of playing: each place of the slider once, each change between them for ``LINGER`` pictures.

    >>> paced([0, 10, 20, 23, 30], [0, 10, 20, 30])
    [0, 10, 20, 23, 23, 23, 23, 23, 30]
    """
    quiet = set(even)
    return [at_ms for at_ms in times for _ in range(1 if at_ms in quiet else LINGER)]


def _controls(times: Sequence[int], even: Sequence[int], theme: str) -> Figure:
    """Play, pause, and a slider that is linear in time."""
    role = ROLES[theme]
    style = {"bgcolor": role["surface"], "bordercolor": role["control"], "font": {"color": role["ink"]}}
    jump = {
        "mode": "immediate",
        "frame": {"duration": JUMP_MS, "redraw": False},
        "transition": {"duration": JUMP_MS, "easing": "linear"},
    }
    tick_ms = max(40, min(100, 12_000 // len(even)))
    play = {
        "fromcurrent": True,
        "mode": "immediate",
        "frame": {"duration": tick_ms, "redraw": False},
        "transition": {"duration": tick_ms * 3 // 4, "easing": "linear"},
    }
    order = [name_of(at_ms) for at_ms in paced(times, even)]
    buttons = {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "pad": {"t": 34, "l": 2},
        **style,
        "buttons": [
            {"label": "▶ Play", "method": "animate", "args": [order, play]},
            {"label": "Pause", "method": "animate", "args": [[None], jump]},
        ],
    }
    slider = {
        "active": 0,
        "x": flow_layout.FlowGrid.strip_left,
        "len": 1 - flow_layout.FlowGrid.strip_left,
        "y": 0,
        "pad": {"t": 26, "l": 0, "r": 0},
        "ticklen": 0,
        "minorticklen": 0,
        "font": {"color": role["surface"], "size": 1},
        "bgcolor": role["sunk"],
        "bordercolor": role["control"],
        "currentvalue": {"visible": False},
        "steps": [
            {"label": name, "method": "animate", "args": [[name], jump]} for name in map(name_of, even)
        ],
    }
    return {"updatemenus": [buttons], "sliders": [slider]}
