"""Reading a recorded run: whole, damaged, and what is said of the damage."""

from __future__ import annotations

import gzip
import json
import shutil

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.folder import (
    MORE,
    RECORDED,
    parse_line,
    read_file,
    read_run,
    run_names,
    table,
    unpack,
)
from rebalance_kit.recordings.repeat import repeat

RUN = "crash.eager.4.3.1"


@pytest.fixture
def folder(recorded_folders, tmp_path):
    """A copy that may be damaged."""
    return shutil.copytree(recorded_folders[RUN], tmp_path / RUN)


def test_a_whole_run_is_read_with_nothing_left_out(recorded_folders):
    run = read_run(recorded_folders[RUN])
    assert (run.name, run.scenario, run.protocol, run.kafka, run.left_out) == (
        RUN,
        "crash",
        "eager",
        "4.3.1",
        (),
    )
    assert sorted(run.members) == ["c1", "c2", "c3"] and run.begin < run.stop
    assert all(run.members.values()) and len(run.truth) > 100
    assert run.steps[0]["t"] == run.begin
    assert [step["t"] for step in run.steps if step.get("line") == "stop"] == [run.stop]


def test_all_three_layouts_become_lines_with_their_time(recorded_folders):
    run = read_run(recorded_folders[RUN])
    assert any(
        "Joining group" in line.text or "(Re-)joining group" in line.text for line in run.members["c2"]
    ), "Spring Boot's layout"
    native = read_run(recorded_folders["rd-leave.eager.4.3.1"])
    lines = next(iter(native.members.values()))
    assert any(line.text.startswith("CGRPSTATE ") for line in lines)
    for lines in (*run.members.values(), *native.members.values()):
        assert all(run.begin - 86_400_000 < line.t for line in lines)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[2026-11-21 02:15:18,894] INFO hello (a.B)", (1795227318894, "INFO", "hello (a.B)")),
        (
            "2026-11-21T02:15:18.894Z  WARN 1 --- [           main] a.B                                      : hello",
            (1795227318894, "WARN", "hello"),
        ),
        (
            "%7|1795227318.894|JOIN|c1#consumer-1| [thrd:main]: hello",
            (1795227318894, "7", "JOIN [thrd:main]: hello"),
        ),
        ("[2026-13-21 02:15:18,894] INFO hello (a.B)", None),
        ("\tat org.apache.kafka.Thing", None),
        ("", None),
    ],
)
def test_a_physical_line_is_one_of_three_layouts_or_goes_with_the_one_before(text, expected):
    line = parse_line(text)
    assert (None if line is None else (line.t, line.level, line.text)) == expected


def test_further_physical_lines_belong_to_the_event_before(folder):
    (folder / "broker.log.gz").unlink()
    (folder / "broker.log").write_text(
        "[2026-11-21 02:15:18,894] ERROR bad (a.B)\nException: no\n\tat x\n[2026-11-21 02:15:19,000] INFO on (a.B)\n",
        "utf-8",
    )
    assert [line.text for line in read_run(folder).broker] == ["bad (a.B)\nException: no\n\tat x", "on (a.B)"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.unlink(),
        lambda path: path.write_text("", "utf-8"),
        lambda path: path.write_text("{", "utf-8"),
        lambda path: path.write_text("[]", "utf-8"),
        lambda path: path.write_text("{}", "utf-8"),
        lambda path: path.write_text('{"steps": []}', "utf-8"),
        lambda path: path.write_text('{"steps": [{"do": "start"}]}', "utf-8"),
        lambda path: path.write_text('{"steps": 5}', "utf-8"),
        lambda path: path.write_bytes(b"\xff\xfe\x00"),
    ],
)
def test_without_a_readable_run_json_a_folder_is_no_run(folder, damage):
    damage(folder / "run.json")
    with pytest.raises(DataError, match=r"not a recorded run: expected run\.json"):
        read_run(folder)


def test_a_folder_that_is_not_there_is_no_run(tmp_path):
    with pytest.raises(DataError, match="not a recorded run"):
        read_run(tmp_path / "nowhere")


def test_a_step_that_cannot_be_read_is_left_out_and_said(folder):
    described = json.loads((folder / "run.json").read_text("utf-8"))
    steps = len(described["steps"])
    moment = described["steps"][0]["t"]
    described["steps"][2:2] = [
        {"do": "start"},
        "kill c1",
        {"t": "soon", "do": "kill"},
        {"t": moment, "do": "kill"},
        {"t": moment, "do": "admin", "line": "topic orders many"},
        {"t": moment, "do": "start", "member": "c1", "topics": "orders", "configs": None},
    ]
    (folder / "run.json").write_text(json.dumps(described), "utf-8")
    run = read_run(folder)
    assert len(run.steps) == steps and len(run.left_out) == 6
    assert "step kill c1 left out: expected an object with t (ms), do" in run.left_out[1]


def test_a_step_of_an_unknown_kind_is_said_and_nothing_is_done_for_it(folder):
    described = json.loads((folder / "run.json").read_text("utf-8"))
    described["steps"].insert(1, {"t": described["steps"][0]["t"], "do": "sing", "line": "an aria"})
    (folder / "run.json").write_text(json.dumps(described), "utf-8")
    run = read_run(folder)
    (note,) = run.left_out
    assert run.steps[1]["do"] == "sing" and "step 'sing' is of an unknown kind" in note
    assert not [action for action in repeat(run).scenario.actions if action.do == "sing"]


def test_a_byte_of_run_json_that_is_no_text_does_not_hide_the_run(folder):
    text = (folder / "run.json").read_bytes()
    (folder / "run.json").write_bytes(text.replace(b'"eager"', b'"eag\xffer"', 1))
    assert len(read_run(folder).steps) == len(json.loads(text)["steps"])


def test_a_missing_log_is_said_and_the_rest_is_read(folder):
    (folder / "broker.log.gz").unlink()
    run = read_run(folder)
    assert (
        run.broker == ()
        and len(run.left_out) == 1
        and "broker.log: left out from line 1 on" in run.left_out[0]
    )
    assert run.members["c1"]


@pytest.mark.parametrize("name", ["broker.log.gz", "c1.log.gz", "truth.jsonl.gz"])
def test_a_file_that_breaks_off_is_read_as_far_as_it_goes(folder, name):
    whole = read_run(folder)
    path = folder / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    run = read_run(folder)
    (note,) = [one for one in run.left_out if "left out from line" in one]
    assert name in note and int(note.split("line ")[1].split()[0]) > 1
    kept = {"broker.log.gz": run.broker, "c1.log.gz": run.members["c1"], "truth.jsonl.gz": run.truth}[name]
    all_of_it = {
        "broker.log.gz": whole.broker,
        "c1.log.gz": whole.members["c1"],
        "truth.jsonl.gz": whole.truth,
    }[name]
    assert 0 < len(kept) < len(all_of_it) and kept[:-1] == all_of_it[: len(kept) - 1]


def test_a_file_that_is_not_gzip_is_left_out_whole(folder):
    (folder / "c1.log.gz").write_bytes(b"no gzip at all")
    run = read_run(folder)
    assert run.members["c1"] == () and any(
        "c1.log.gz: left out from line 1 on" in note for note in run.left_out
    )


def test_rows_of_the_truth_that_are_no_rows_are_left_out_one_by_one(folder):
    truth = gzip.decompress((folder / "truth.jsonl.gz").read_bytes()).decode().splitlines()
    at = json.loads(truth[10])["t"]
    bad = [
        "{",
        "[]",
        "7",
        '{"t": "x", "kind": "start", "by": "c1"}',
        '{"t": 5, "kind": "start"}',
        "",
        *(
            json.dumps({"t": at, "by": "c1", **row})
            for row in (
                {"kind": "assigned"},
                {"kind": "revoked", "partitions": ["orders"]},
                {"kind": "lost", "partitions": 7},
                {"kind": "records", "records": {"orders-1": [3]}},
                {"kind": "records", "records": {"orders": [3, 4]}},
                {"kind": "describe", "members": []},
                {"kind": "describe", "members": {"c1/x": {"target": ["?"]}}},
                {"kind": "command", "line": "stall long"},
                {"kind": "command", "line": None},
            )
        ),
        json.dumps({"t": 5, "by": "c1", "kind": "closed"}),
    ]
    (folder / "truth.jsonl.gz").write_bytes(
        gzip.compress("\n".join([*truth[:10], *bad, *truth[10:]]).encode())
    )
    run = read_run(folder)
    assert len(run.truth) == len(truth) and len(run.left_out) == len(bad)
    assert [f"truth.jsonl.gz:{number}:" in note for number, note in enumerate(run.left_out, start=11)] == [
        True
    ] * len(bad)


def test_a_clock_that_goes_backwards_is_said_and_nothing_dropped(folder):
    truth = [
        json.loads(line)
        for line in gzip.decompress((folder / "truth.jsonl.gz").read_bytes()).decode().splitlines()
    ]
    truth[20]["t"] -= 60_000
    (folder / "truth.jsonl.gz").write_bytes(
        gzip.compress("\n".join(json.dumps(row) for row in truth).encode())
    )
    run = read_run(folder)
    (note,) = run.left_out
    assert "truth.jsonl.gz:21: the clock goes backwards by" in note and len(run.truth) == len(truth)


# --- the pack ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("folder", "least"), [(RECORDED, 80), (MORE, 12)])
def test_a_pack_holds_every_run_of_its_table(folder, least):
    names = run_names(folder)
    assert names == tuple(dict.fromkeys(row["run"] for row in table(folder))) and len(names) >= least
    assert len({read_file(name, "run.json", folder) for name in (names[0], names[-1])}) == 2


def test_what_is_unpacked_is_what_is_packed(tmp_path):
    (folder,) = unpack(tmp_path, ["enforce.eager.4.3.1"])
    assert gzip.decompress((folder / "c1.log.gz").read_bytes()) == read_file("enforce.eager.4.3.1", "c1.log")
    assert (folder / "run.json").read_bytes() == read_file("enforce.eager.4.3.1", "run.json")
    assert not [one for one in folder.iterdir() if one.name.startswith(".")]


def test_runs_come_in_the_order_in_which_they_were_asked_for(tmp_path):
    asked = ["enforce.eager.4.3.1", "crash.eager.4.3.1", "crash.consumer.4.3.1"]
    assert [folder.name for folder in unpack(tmp_path, asked)] == asked != sorted(asked)
    assert [folder.name for folder in unpack(tmp_path, set(asked))] == sorted(asked)


def test_a_run_or_file_that_is_not_packed_is_named(tmp_path):
    with pytest.raises(DataError, match="no recorded run 'nothing'; expected one of"):
        unpack(tmp_path, ["nothing"])
    with pytest.raises(DataError, match=r"no file 'c9\.log' of run"):
        read_file(RUN, "c9.log")
    with pytest.raises(DataError):
        table(tmp_path)
