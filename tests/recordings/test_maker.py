"""Made logs: any size, any layout, the same bytes for the same seed, and text that hangs together over all repetitions."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rebalance_kit import scenarios
from rebalance_kit.forensics.grammar.table import CONFIG_KEYS, parse_message
from rebalance_kit.logs.blocks import PRINTERS, utc
from rebalance_kit.logs.noise import noise_of
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.maker import Recipe, for_version, make_logs
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec

MEMBERS = tuple(
    MemberSpec(name, ("orders",), {"auto.offset.reset": "earliest"}, start_ms=200 * place)
    for place, name in enumerate(("c1", "c2"))
)
SCENARIO = Scenario(
    "made",
    (TopicSpec("orders", 4),),
    MEMBERS,
    (Action(15_000, "restart", "c2", {"after_ms": 3_000}),),
    30_000,
)


def make(tmp_path, name="logs", scenario=SCENARIO, protocol="cooperative", **options):
    made = make_logs(
        scenario, tmp_path / name, protocol=protocol, truth=tmp_path / f"{name}.jsonl", **options
    )
    return made, {path.name: text(path) for path in made.files}


def text(path):
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def truth(tmp_path, name="logs"):
    return [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]


def test_one_incident_gives_a_brokers_log_and_one_a_member(tmp_path):
    made, texts = make(tmp_path)
    assert sorted(texts) == ["broker.log", "c1.log", "c2.log"]
    assert (made.incidents, made.lines) == (1, sum(one.count("\n") for one in texts.values()))
    assert sorted(path.name for path in (tmp_path / "logs").iterdir()) == sorted(
        texts
    )  # no truth among the logs, no draft


def test_the_same_arguments_give_the_same_bytes_and_another_seed_others(tmp_path):
    first, again, other = (
        make(tmp_path, name, lines=2_000, seed=seed, recipe=Recipe(packed=True))
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    assert [path.read_bytes() for path in first[0].files] == [path.read_bytes() for path in again[0].files]
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert first[1] != other[1]


@pytest.mark.parametrize("lines", [1, 700, 5_000])
def test_a_size_is_reached_by_whole_incidents(tmp_path, lines):
    made, texts = make(tmp_path, lines=lines)
    assert made.lines == sum(one.count("\n") for one in texts.values()) >= lines
    assert made.incidents == len({row["incident"] for row in truth(tmp_path)})
    assert made.lines - lines < 2_500  # an incident with the start of a broker


def test_hours_are_filled(tmp_path):
    _, texts = make(tmp_path, hours=2)
    stamps = re.findall(r"^\[(\S+ \d\d:\d\d)", texts["broker.log"], re.MULTILINE)
    begins, ends = (
        datetime.strptime(one, "%Y-%m-%d %H:%M").replace(tzinfo=UTC) for one in (stamps[0], stamps[-1])
    )
    assert 1.7 <= (ends - begins).total_seconds() / 3600 <= 2.3


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_generations_go_on_where_the_last_incident_left_them(tmp_path, protocol):
    _, texts = make(tmp_path, lines=8_000, protocol=protocol)
    told = re.findall(
        r"(?:Stabilized group orders-app generation|Group orders-app with generation) (\d+)",
        texts["broker.log"],
    )
    assert [int(one) for one in told] == list(range(1, len(told) + 1))
    assert len(told) > 12


def test_group_epochs_go_on_where_the_last_incident_left_them(tmp_path):
    _, texts = make(tmp_path, lines=8_000, protocol="consumer")
    told = [int(one) for one in re.findall(r"Bumped group epoch to (\d+)", texts["broker.log"])]
    assert told == list(range(2, len(told) + 2))
    assert len(told) > 12
    joins = set(re.findall(r"with epoch (-?\d+) transitioned from UNSUBSCRIBED to JOINING", texts["c1.log"]))
    assert joins == {"0"}  # a join is always sent with epoch 0


@pytest.mark.parametrize("protocol", ["cooperative", "consumer"])
def test_every_incident_has_member_ids_of_its_own_in_all_files(tmp_path, protocol):
    _, texts = make(tmp_path, lines=4_000, protocol=protocol)
    lives = [(row["incident"], row["member"]) for row in truth(tmp_path) if row["what"] == "life"]
    assert len({member for _, member in lives}) == len(lives)
    for _, member in lives:
        assert member in texts["broker.log"]
        assert any(member in texts[name] for name in ("c1.log", "c2.log"))


def test_only_the_first_incident_finds_no_committed_offset_and_offsets_only_grow(tmp_path):
    _, texts = make(tmp_path, lines=5_000)
    log = texts["c1.log"]
    first_end = log.index("App info kafka.consumer")
    assert "Found no committed offset" in log[:first_end]
    assert "Found no committed offset" not in log[first_end:]
    offsets = [
        int(one)
        for one in re.findall(r"partition orders-0 to the committed offset FetchPosition\{offset=(\d+)", log)
    ]
    assert offsets == sorted(offsets)
    assert offsets[-1] > offsets[0]


def test_times_never_go_back_inside_a_file(tmp_path):
    _, texts = make(tmp_path, lines=6_000)
    for name, log in texts.items():
        stamps = re.findall(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", log, re.MULTILINE)
        assert stamps == sorted(stamps), name


def test_no_mark_of_the_maker_is_left_in_any_layout(tmp_path):
    native = replace(SCENARIO, members=(MEMBERS[0], replace(MEMBERS[1], client="librdkafka")))
    for layout in PRINTERS:
        _, texts = make(tmp_path, layout, native, "eager", lines=1_500, recipe=Recipe(layout=layout))
        assert all(
            "\ue000" not in one and "\ue001" not in one
            for one in [*texts.values(), (tmp_path / f"{layout}.jsonl").read_text()]
        )
        assert "%7|" in texts["c2.log"], layout


def test_json_lines_are_json_and_container_prefixes_stand_before_every_line(tmp_path):
    _, texts = make(tmp_path, "json", recipe=Recipe(layout="json"))
    assert all(
        {"@timestamp", "level", "message"} <= set(json.loads(line))
        for one in texts.values()
        for line in one.splitlines()
    )
    _, texts = make(tmp_path, "docker", recipe=Recipe(layout="docker"))
    assert all(
        re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z ", line)
        for one in texts.values()
        for line in one.splitlines()
    )


def test_rotated_files_together_are_the_log_and_break_between_events(tmp_path):
    _, whole = make(tmp_path, "whole", lines=3_000)
    made, parts = make(tmp_path, "parts", lines=3_000, recipe=Recipe(rotate=250))
    names = [path.name for path in made.files if path.name.startswith("c1.log")]
    assert names == [f"c1.log.{number}" for number in range(len(names) - 1, 0, -1)] + ["c1.log"]
    assert "".join(parts[name] for name in names) == whole["c1.log"]
    assert len(names) > 2
    assert all(parts[name].startswith("[") for name in names)


def test_the_truth_tells_faults_rebalances_lives_and_rests_in_wall_clock_time(tmp_path):
    make(tmp_path, lines=2_500, recipe=Recipe(begins=utc("2026-03-01T10:00:30Z")))
    rows = truth(tmp_path)
    assert {row["what"] for row in rows} == {"fault", "rebalance", "life", "rest"}
    begins = utc("2026-03-01T10:00:30Z").timestamp() * 1000
    first = [row["at_ms"] for row in rows if row["what"] == "fault" and row["incident"] == 0]
    assert first[0] == begins + 15_000
    assert all(row["end_ms"] > row["start_ms"] >= begins for row in rows if row["what"] == "rebalance")


def test_a_member_says_its_own_configuration_when_it_starts(tmp_path):
    _, texts = make(tmp_path, protocol="cooperative")
    block = texts["c1.log"].partition("ConsumerConfig values:")[2].partition("\n (")[0]
    values = dict(line.strip().split(" =", 1) for line in block.strip().splitlines())
    assert {
        key: values[key].strip()
        for key in ("client.id", "group.id", "group.protocol", "partition.assignment.strategy")
    } == {
        "client.id": "c1",
        "group.id": "orders-app",
        "group.protocol": "classic",
        "partition.assignment.strategy": "[org.apache.kafka.clients.consumer.CooperativeStickyAssignor]",
    }
    of_clients = {key for key in CONFIG_KEYS if not key.startswith("group.consumer.")}
    assert of_clients <= set(values)


@pytest.mark.parametrize("version", ["2.8", "3.5.1", "3.9.1", "4.0.0", "4.3.1"])
def test_noise_tells_nothing_of_a_group(version):
    noise = noise_of(version)
    assert len(noise.boot) > 100 and noise.broker and noise.client
    for said in [
        *(line.message for line in noise.boot),
        *(kind.text for kind in (*noise.broker, *noise.client)),
    ]:
        assert parse_message(said) is None, said


def test_more_noise_makes_more_lines_but_no_more_events(tmp_path):
    def events(texts):
        return sum(len(re.findall(r"rebalance group|Stabilized|generation", one)) for one in texts.values())

    sizes, told = [], []
    for ratio in (0, 0.5, 4):
        made, texts = make(tmp_path, f"noise-{ratio}", recipe=Recipe(noise=ratio))
        sizes.append(made.lines)
        told.append(events(texts))
    assert sizes[0] < sizes[1] < sizes[2]
    assert len(set(told)) == 1
    assert "ConsumerConfig values" not in (tmp_path / "noise-0" / "c1.log").read_text()


def test_a_cluster_from_before_kip_848_gets_no_setting_of_it(tmp_path):
    _, texts = make(tmp_path, scenario=scenarios.load("crash"), protocol="eager", kafka_version="2.8")
    assert "[GroupCoordinator 1]: Preparing to rebalance" in texts["broker.log"]
    assert "group.protocol" not in texts["consumer-1.log"].partition("auto.offset.reset")[0]
    with pytest.raises(DataError, match=r"Kafka 2\.8 knows no consumer protocol"):
        for_version(
            replace(
                SCENARIO,
                members=tuple(replace(one, configs={"group.protocol": "consumer"}) for one in MEMBERS),
            ),
            "2.8",
        )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lines": 0}, "0 lines cannot be written"),
        ({"hours": -1}, "-1 hours cannot be written"),
        ({"lines": 5, "hours": 1}, "both lines and hours"),
    ],
)
def test_a_size_that_means_nothing_is_refused(tmp_path, options, said):
    with pytest.raises(DataError, match=said):
        make(tmp_path, **options)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"layout": "yaml"}, "layout 'yaml' is unknown"),
        ({"noise": -1}, "noise -1"),
        ({"rotate": 0}, "rotate 0"),
    ],
)
def test_a_recipe_that_means_nothing_is_refused(recipe, said):
    with pytest.raises(DataError, match=said):
        Recipe(**recipe)


def test_a_folder_that_holds_files_is_left_alone(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "mine.txt").write_text("mine")
    with pytest.raises(DataError, match="holds files already"):
        make(tmp_path)
    assert [path.name for path in (tmp_path / "logs").iterdir()] == ["mine.txt"]


def test_an_interrupted_job_leaves_no_half_written_log(tmp_path):
    def stop(done, wanted):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(tmp_path, lines=50_000, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_the_terminal_makes_logs_and_says_what_it_made(tmp_path, capsys):
    from rebalance_kit.cli import main

    assert (
        main(
            ["make-logs", "storm", "--size", "3000", "--layout", "spring-boot", "--out", str(tmp_path / "s")]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert re.search(
        r"^3,\d{3} lines in 4 files in .*/s \(storm, \d+ times\); the truth is in .*/s\.truth\.jsonl$",
        said.strip(),
    )
    assert main(["make-logs", "random", "--seed", "4", "--out", str(tmp_path / "r")]) == 0
    assert main(["make-logs", "crash", "--layout", "yaml", "--out", str(tmp_path / "x")]) == 2
    assert "layout 'yaml' is unknown; expected one of kafka" in capsys.readouterr().err
