"""Figures are plain values that plotly accepts, light enough to send, and the same every time."""

from __future__ import annotations

import base64
import json
import re
from html import escape, unescape
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from rebalance_kit.analysis.draws import draw, draws_table, verdict
from rebalance_kit.analysis.metrics import MEASURES
from rebalance_kit.model.errors import DataError
from rebalance_kit.notebook import chart, flow
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.figures.comparison import comparison_figure, comparison_html, draws_html
from rebalance_kit.view.figures.flow import (
    FLOWS,
    LINGER,
    STOPPED,
    WAITS,
    changes,
    deciding_moment,
    flow_figure,
    name_of,
)
from rebalance_kit.view.figures.flow_svg import GLIDE, LEFT, PLAYS, TOP, flow_svg
from rebalance_kit.view.figures.gantt import ROWS_SHOWN, gantt_figure, gantt_rows, gantt_svg
from rebalance_kit.view.lab.run_report import Drawn, report_html, write_report
from rebalance_kit.view.style.showing import PLOTLY_MIME, as_plotly, show
from rebalance_kit.view.style.theme import ROLES, look

SVG = "{http://www.w3.org/2000/svg}"
_LEFT_TEXTS = re.compile(
    r'<text x="([\d.]+)" y="([\d.]+)" font-size="([\d.]+)" fill="[^"]+"( font-weight="700")?>([^<]*)</text>'
)


def unpacked(values):
    return list(memoryview(base64.b64decode(values["bdata"])).cast({"i1": "b", "i2": "h"}[values["dtype"]]))


def frame_at(figure, at_s):
    names = [float(one["name"]) for one in figure["frames"]]
    return figure["frames"][max(place for place, name in enumerate(names) if name <= at_s)]


def test_plotly_itself_accepts_every_figure(crash_runs):
    graph_objects = pytest.importorskip("plotly.graph_objects", reason="plotly is not installed")
    for figure in (flow_figure(crash_runs[0]), gantt_figure(crash_runs[0]), comparison_figure(crash_runs)):
        graph_objects.Figure({key: figure[key] for key in ("data", "layout", "frames") if key in figure})


def test_the_animation_moves_orphans_down_to_no_owner_and_up_to_the_survivor(by_hand):
    figure = flow_figure(by_hand.trace)
    rows = {at_s: unpacked(frame_at(figure, at_s)["data"][0]["y"]) for at_s in (9, 20, 54.5, 58)}
    upper, lower = rows[9][0], rows[9][2]
    assert rows[9] == [upper, upper, lower, lower]
    assert upper > lower
    assert rows[20] == rows[9]
    assert rows[54.5][2:] == [lower, lower]
    assert rows[54.5][0] == rows[54.5][1] < lower
    assert rows[58] == [lower] * 4
    assert unpacked(frame_at(figure, 20)["data"][0]["marker"]["symbol"]) == [STOPPED, STOPPED, FLOWS, FLOWS]


def test_a_pause_of_milliseconds_has_a_frame_of_its_own(by_hand):
    assert "55.010" in [one["name"] for one in flow_figure(by_hand.trace)["frames"]]


def test_no_two_squares_ever_stand_on_the_same_place(make_group):
    from rebalance_kit.simulation.scenario.scenario import Action

    scenario = make_group(5, 40, 90_000)
    for at_ms, do, member in (
        (12_000, "close", "consumer-2"),
        (22_000, "crash", "consumer-4"),
        (80_000, "start", "consumer-2"),
    ):
        scenario = scenario.with_action(Action(at_ms, do, member))
    for protocol in ("eager", "cooperative", "consumer"):
        figure = flow_figure(simulate(scenario, protocol=protocol))
        for frame in figure["frames"]:
            places = list(zip(*(unpacked(frame["data"][0][axis]) for axis in "xy"), strict=True))
            assert len(set(places)) == len(places), (protocol, frame["name"])


def test_the_slider_is_linear_in_time_and_playing_rests_at_every_change(crash_runs):
    figure = flow_figure(crash_runs)
    (slider,) = figure["layout"]["sliders"]
    moments = [float(step["label"]) for step in slider["steps"]]
    steps = [after - before for before, after in pairwise(moments)]
    assert max(steps) - min(steps) <= 0.002
    assert figure["layout"]["xaxis2"]["range"] == [moments[0], moments[-1]]
    play = figure["layout"]["updatemenus"][0]["buttons"][0]["args"][0]
    order = [float(name) for name in play]
    assert order == sorted(order)
    assert list(dict.fromkeys(play)) == [frame["name"] for frame in figure["frames"]]
    changed = {name_of(at) for trace in crash_runs for at in changes([Boards(trace)], 0, trace.end_ms)}
    between = changed & set(play) - {step["label"] for step in slider["steps"]}
    assert between
    assert all(play.count(name) == LINGER for name in between)


def test_every_run_stands_in_a_panel_of_its_own_with_its_counts_and_its_strip(crash_runs):
    figure = flow_figure(crash_runs)
    for frame in figure["frames"]:
        boards = [Boards(trace).at(round(1000 * float(frame["name"]))) for trace in crash_runs]
        assert frame["data"][4]["text"] == [
            f"{board.flowing} of {len(board.partitions)} read" for board in boards
        ]
        alert = [colour == ROLES["light"]["alert"] for colour in frame["data"][4]["textfont"]["color"]]
        assert alert == [board.flowing < len(board.partitions) for board in boards]
    strips = [trace for trace in figure["data"] if trace.get("fill") == "tonexty"]
    assert len(strips) == len(crash_runs)
    for place, trace in enumerate(crash_runs):
        boards = Boards(trace)
        for at_s, height in zip(strips[place]["x"], strips[place]["y"], strict=True):
            board = boards.at(min(round(1000 * at_s), boards.end_ms))
            unread = len(board.partitions) - board.flowing
            assert (height - (len(crash_runs) - 1 - place)) * len(board.partitions) == pytest.approx(
                0.78 * unread
            )
    with pytest.raises(ValueError, match="one to 3 runs; got 4"):
        flow_figure([*crash_runs, crash_runs[0]])


def test_a_tile_says_who_reads_it_from_when_to_when_and_events_stand_on_the_axis(by_hand):
    figure = flow_figure(by_hand.trace)
    first = figure["data"][0]["hovertext"][0]
    assert first.startswith("orders-0")
    assert "read by consumer-1" in first
    assert "unread" in first
    said = [one["text"] for one in figure["layout"]["annotations"]]
    assert any("consumer-1 crashes, 10.0 s" in words for words in said)


def test_more_than_twelve_members_get_a_chart_that_says_why(make_group):
    few, many = (simulate(make_group(count, 2 * count, 20_000), protocol="eager") for count in (12, 13))
    assert flow_figure(few)["frames"]
    chart = flow_figure(many)
    assert chart["data"] == gantt_figure(many)["data"]
    assert (
        "13 members are too many to follow as moving squares (at most 12)" in chart["layout"]["title"]["text"]
    )


def test_where_no_script_runs_the_animation_plays_as_a_picture(crash_runs):
    bundle = flow(*crash_runs)._repr_mimebundle_()
    svg = ET.fromstring(bundle["image/svg+xml"])  # noqa: S314 - our own picture
    assert len(bundle["image/svg+xml"]) < 300_000
    assert len(json.dumps(bundle[PLOTLY_MIME])) < 600_000
    assert "<script" not in bundle["image/svg+xml"]
    moving = [one for one in svg.iter() if one.tag.startswith(f"{SVG}animate")]
    assert {one.get("begin") for one in moving} == {f"0s;{svg.get('id')}.click"}
    assert int(moving[0].get("repeatCount")) == PLAYS
    for one in moving:
        if one.get("keyTimes"):
            times = [float(at) for at in one.get("keyTimes").split(";")]
            assert times == sorted(times)
            assert (times[0], len(times)) == (0, len(one.get("values").split(";")))


def test_the_title_names_the_protocol_of_one_run_and_none_of_several(crash_runs):
    titles = [flow(*runs).figure["layout"]["title"]["text"] for runs in (crash_runs, crash_runs[2:])]
    assert titles == [crash_runs[0].meta["title"], f"{crash_runs[0].meta['title']} · KIP-848"]


def placed_tiles(svg):
    """The group of each tile, with its moves."""
    return [one for one in svg.iter(f"{SVG}g") if one.find(f"{SVG}circle") is not None]


def test_a_tile_of_the_picture_that_plays_stands_at_each_moment_where_the_figure_has_it(crash_runs):
    figure = flow_figure(crash_runs)
    svg = ET.fromstring(flow_svg(crash_runs))  # noqa: S314 - our own picture
    order = figure["layout"]["updatemenus"][0]["buttons"][0]["args"][0]
    tiles = placed_tiles(svg)
    assert len(tiles) == 3 * 4
    for frame in figure["frames"]:
        ends = (len(order) - 1 - order[::-1].index(frame["name"]) + 1) / len(order)
        if order.count(frame["name"]) < GLIDE:
            continue  # on its way still
        xs, ys = (unpacked(frame["data"][0][axis]) for axis in "xy")
        for tile, x, y in zip(tiles, xs, ys, strict=True):
            move = tile.find(f"{SVG}animateTransform")
            if move is None:
                place = tile.get("transform").removeprefix("translate(").removesuffix(")")
            else:
                keys = zip(move.get("keyTimes").split(";"), move.get("values").split(";"), strict=True)
                place = [value for at, value in keys if float(at) <= ends - 0.0001][-1]
            assert place == f"{LEFT + x} {TOP - y}"


def test_what_does_not_play_stands_at_the_moment_with_most_unread(crash_runs):
    boards = Boards(crash_runs[0])
    at_ms = deciding_moment(boards)
    assert at_ms >= boards.watched_from_ms
    least = min(boards.at(at).flowing for at in boards.change_times if at >= boards.watched_from_ms)
    assert boards.at(at_ms).flowing == least
    svg = ET.fromstring(flow_svg(crash_runs[:1]))  # noqa: S314 - our own picture
    shown = {
        text.text
        for group in svg.iter(f"{SVG}g")
        if group.get("visibility") == "visible"
        for text in group.iter(f"{SVG}text")
    }
    assert f"{least} of 4 read" in shown


def test_a_chart_has_a_picture_of_the_stretch_that_it_shows(crash_runs):
    bundle = chart(crash_runs[0], since_s=10, until_s=20)._repr_mimebundle_()
    svg = ET.fromstring(bundle["image/svg+xml"])  # noqa: S314 - our own picture
    bars = [one for one in svg.iter(f"{SVG}rect") if one.find(f"{SVG}title") is not None]
    assert bars
    begins = [float(one.get("x")) for one in bars]
    ends = [float(one.get("x")) + float(one.get("width")) for one in bars]
    assert max(ends) <= 1000 - 16 + 0.7
    assert len({round(begin) for begin in begins if begin == min(begins)}) == 1
    axis = {one.text for one in svg.iter(f"{SVG}text") if one.get("text-anchor") == "middle"}
    assert {"10 s", "20"} <= axis


def test_the_gantt_of_a_large_group_is_one_screen_high_and_hatches_only_what_is_unread():
    for protocol in ("eager", "cooperative", "consumer"):
        trace = simulate(load("fifty-by-five-hundred"), protocol=protocol)
        rows = gantt_rows(Boards(trace))
        assert len(rows) <= ROWS_SHOWN
        labels = [re.match(r"(\d+) alike|\S+ and (\d+) more", label) for label in rows]
        counts = [int(one[1] or int(one[2]) + 1) if one else 1 for one in labels]
        assert sum(counts) == 500
        of_the_one = [bars for bars in rows.values() if any(bar.owner == "consumer-17" for bar in bars)]
        assert of_the_one, "the member that restarts has rows of its own"
        figure = gantt_figure(trace)
        assert figure["layout"]["height"] <= 820
        hatched = {one["name"] for one in figure["data"] if "pattern" in one["marker"]}
        assert hatched <= {
            "no owner",
            "callback or hand-over",
            "new, no record yet",
            "owner dead, frozen or busy",
        }


def test_a_shape_says_whether_a_partition_is_read_and_owned(crash_runs):
    for trace in crash_runs:
        boards = Boards(trace)
        for frame in flow_figure(trace)["frames"]:
            shapes = unpacked(frame["data"][0]["marker"]["symbol"])
            states = [track.at(round(1000 * float(frame["name"]))) for track in boards.partitions.values()]
            assert shapes == [
                FLOWS if state.flows else WAITS if state.owner is None else STOPPED for state in states
            ]


def test_the_gantt_gives_each_owner_its_colour_and_each_standstill_its_pattern(by_hand):
    traces = {one["name"]: one for one in gantt_figure(by_hand.trace)["data"]}
    assert traces["consumer-1"]["marker"]["color"] == look("consumer-1", 1).hue
    assert traces["owner dead, frozen or busy"]["marker"]["pattern"]["shape"] == "x"
    dead = traces["owner dead, frozen or busy"]
    assert (dead["y"], dead["base"], dead["x"]) == (["orders-0", "orders-1"], [10.0, 10.0], [44.0, 44.0])


def test_only_draws_that_differ_say_what_is_least(crash_runs):
    assert 'class="least"' not in comparison_html(crash_runs), "one run each"
    drawn = draw(load("join"), {"eager": "eager", "consumer": "consumer"}, 4)
    rows = {
        unescape(row.partition('"row">')[2].partition("<")[0]): row for row in draws_html(drawn).splitlines()
    }
    for each in MEASURES:
        least = verdict(drawn, each).least
        assert (least is not None) == ('class="least"' in rows.get(each.words, "")), each.words
    assert any('class="least"' in row for row in rows.values())
    assert sum('class="least"' in row for row in rows.values()) < len(rows)


def test_the_report_shows_the_draws_and_what_was_left_out(crash_runs):
    drawn = draw(load("crash"), {"eager": "eager", "consumer": "consumer"}, 3)
    page = report_html(crash_runs, drawn=Drawn(("consumer: a key is left out.",), "3 draws:", drawn))
    assert "<h2>Draws</h2>" in page and "3 draws:" in page and "a key is left out." in page
    assert escape(draws_table(drawn)) in page


def test_show_displays_the_bundle_and_prints_its_twin(by_hand, capsys, monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append((bundle, raw)))
    show(gantt_figure(by_hand.trace))
    (bundle, raw), printed = shown[0], capsys.readouterr().out
    assert raw
    assert bundle[PLOTLY_MIME]["config"]["showSendToCloud"] is False
    assert bundle[PLOTLY_MIME]["config"]["displaylogo"] is False
    assert printed.startswith("by-hand, eager")
    assert bundle["text/plain"] + "\n" == printed


def test_the_report_holds_everything_and_asks_no_network(tmp_path, crash_runs):
    target = write_report(tmp_path / "report.html", crash_runs)
    page = target.read_text(encoding="utf-8")
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert page.count('<script type="module">') == 1
    assert page.count("data-rebalance-run=") == len(crash_runs)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//|@import|url\(http", page)
    for word in ("Comparison", "Eager", "Cooperative", "Consumer", "Unread: 4 of 4 partitions"):
        assert word in page


@pytest.mark.parametrize("name", ["two-consumers-crash", "fifty-by-five-hundred"])
def test_a_report_of_three_protocols_is_at_most_1_5_megabytes(name):
    traces = [simulate(load(name), protocol=each) for each in ("eager", "cooperative", "consumer")]
    assert len(report_html(traces).encode("utf-8")) <= 1_500_000


def test_a_report_that_fails_leaves_what_was_there(tmp_path):
    target = tmp_path / "report.html"
    target.write_text("before", encoding="utf-8")
    with pytest.raises(DataError, match="at least one trace"):
        write_report(target, [])
    assert target.read_text(encoding="utf-8") == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]


def test_data_can_not_close_the_script_it_stands_in(by_hand):
    from dataclasses import replace

    trace = replace(by_hand.trace, meta={**by_hand.trace.meta, "title": "</script><b>x"})
    page = report_html([trace])
    assert "</script><b>x" not in page


def test_the_chart_without_plotly_has_the_same_bars_each_in_its_place(by_hand):
    growing = simulate(load("partitions-added"), protocol="eager")
    for trace in (by_hand.trace, simulate(load("two-consumers-crash"), protocol="eager"), growing):
        svg = ET.fromstring(gantt_svg(Boards(trace)).svg)  # noqa: S314 - our own picture
        drawn = [
            (one.find(f"{SVG}title").text, float(one.get("x")), float(one.get("width")))
            for one in svg.iter(f"{SVG}rect")
            if one.find(f"{SVG}title") is not None
        ]
        figure = gantt_figure(trace)
        wanted = {
            f"{label}: {words.split('<br>')[0]}, {words.split('<br>')[1]}": (base, x)
            for one in figure["data"]
            for label, words, base, x in zip(one["y"], one["hovertext"], one["base"], one["x"], strict=True)
        }
        assert {words for words, _, _ in drawn} == set(wanted)
        left = min(x for _, x, _ in drawn)
        each_s = (1000 - 16 - left) / (trace.end_ms / 1000)
        for words, x, width in drawn:
            base, length = wanted[words]
            assert abs(x - left - base * each_s) < 0.2
            assert abs(width - max(0.6, length * each_s)) < 0.2


def test_words_in_the_chart_without_plotly_do_not_cover_each_other():
    boards = Boards(simulate(load("scale-out"), protocol="eager"))
    svg = ET.fromstring(gantt_svg(boards).svg)  # noqa: S314 - our own picture
    texts = [one for one in svg.iter(f"{SVG}text") if one.get("font-size") == "11.5"]
    rows = {}
    for one in texts:
        x = float(one.get("x"))
        rows.setdefault(one.get("y"), []).append((x, x + 6 * len(one.text)))
    assert len(texts) >= 3
    for boxes in rows.values():
        boxes.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(boxes))


def test_labels_of_the_chart_stand_in_rows_in_which_they_do_not_cover_each_other():
    figure = gantt_figure(simulate(load("crash"), protocol="cooperative"))
    labels = [one for one in figure["layout"]["annotations"] if one["text"]]
    close = [one for one in labels if 70 < one["x"] < 76]
    assert len(close) >= 4
    assert len({one["yshift"] for one in close}) == len(close)
    assert figure["layout"]["margin"]["t"] >= 40 + max(one["yshift"] for one in labels) + 16


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
@pytest.mark.parametrize("name", ["crash-in-hand-over", "slow-callback", "freeze"])
def test_no_words_of_the_lab_s_picture_leave_their_room(name, protocol):
    boards = Boards(simulate(load(name), protocol=protocol))
    for at_ms in range(20_000, boards.end_ms, 4_000):
        texts = [
            (float(x), float(y), float(size), "bold" if bold else "", unescape(words))
            for x, y, size, bold, words in _LEFT_TEXTS.findall(still(boards.at(at_ms)))
        ]
        assert texts
        for x, y, size, bold, words in texts:
            room = 236 + 16 - 90 if x == 90 else 1000 - x - (130 if y == 26 else 16)
            assert len(words) * size * (0.66 if bold else 0.58) <= room, words


def test_the_lab_s_picture_counts_only_members_that_are_there():
    board = Boards(simulate(load("slow-callback"), protocol="eager")).at(46_000)
    assert len(board.members) == 3
    assert "more member" not in still(board)


def test_figures_are_the_same_every_time(crash_runs):
    for make in (flow_figure, gantt_figure):
        assert json.dumps(make(crash_runs[1])) == json.dumps(make(crash_runs[1]))


def test_the_configuration_of_a_figure_is_kept_beside_the_kits_own():
    assert as_plotly({"data": [], "config": {"scrollZoom": True}})["config"] == {
        "displaylogo": False,
        "showSendToCloud": False,
        "responsive": True,
        "plotlyServerURL": "",
        "scrollZoom": True,
    }
