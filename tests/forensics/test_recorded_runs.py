"""What real Kafka wrote: the tables against the counts and the steps that lie beside the logs."""

from __future__ import annotations

import json

import pytest

from rebalance_kit.recordings import folder
from rebalance_kit.recordings.expected import expectations, judge
from rebalance_kit.recordings.folder import read_file, run_names

#: Issue and truth agree when at least this share of the runs is explained without a mistake.
REQUIRED_SHARE = 0.95


@pytest.fixture(scope="session")
def described(runs_folder):
    return {name: json.loads((runs_folder / name / "run.json").read_text("utf-8")) for name in run_names()}


def test_every_run_and_group_counts_what_its_raw_text_counts(recorded, described):
    told, counted = {}, {}
    for name, run in described.items():
        for group, counts in run["summary"]["groups"].items():
            counted[name, group] = {
                "generations": [generation for generation, _ in counts["stabilized"]],
                "epochs": counts["epochs"],
                "targets": len(counts["targets"]),
                "expired": counts["failed"] + counts["fenced"],
                "preparing": counts["preparing"],
            }
    for key, record in recorded.items():
        told[key] = {name: record[name] for name in ("generations", "epochs", "targets", "expired")}
        told[key]["preparing"] = sum(row["protocol"] == "classic" for row in record["rebalances"])
    assert told == counted


def test_every_run_and_group_equals_the_published_table(recorded):
    rows = {
        (row["run"], row["group"]): (
            row["stabilized"],
            row["epoch_bumps"],
            row["last_epoch"],
            row["targets"],
            row["expired"],
        )
        for row in folder.table()
    }
    told = {
        key: (
            len(record["generations"]),
            len(record["epochs"]),
            record["epochs"][-1] if record["epochs"] else None,
            record["targets"],
            record["expired"],
        )
        for key, record in recorded.items()
    }
    assert told == rows


def test_cause_and_culprit_are_named_right_for_nearly_every_run(recorded, described):
    mistakes = {}
    for name, run in described.items():
        (record,) = (record for (run_name, _), record in recorded.items() if run_name == name)
        mistakes[name] = judge(run, record)
        steps = "; ".join(one.step for one in expectations(run)) or "nothing done to it"
        print(f"{'ok ' if not mistakes[name] else 'BAD'} {name}: {steps} {' | '.join(mistakes[name])}")
    right = sum(not wrong for wrong in mistakes.values())
    assert right / len(mistakes) >= REQUIRED_SHARE, {name: wrong for name, wrong in mistakes.items() if wrong}


def _unread_ms(run, steps):
    """Unread partition-ms by the members' own callbacks, and by the moments when they were killed or frozen."""
    rows = map(json.loads, read_file(run, "truth.jsonl").splitlines())
    told = [(row["t"], 1, row["by"], row["kind"], row.get("partitions", ())) for row in rows]
    told += [(step["t"], 0, step.get("member"), step["do"], ()) for step in steps]
    owners, free, unread = {}, {}, 0
    for at, _, member, what, partitions in sorted(told, key=lambda one: one[:2]):
        if what == "assigned":
            unread += sum(at - free.pop(partition, at) for partition in partitions)
            owners.update(dict.fromkeys(partitions, member))
        gone = what in {"kill", "freeze", "died", "closed"}
        if gone or what in {"revoked", "lost"}:
            for partition in [one for one, owner in owners.items() if owner == member]:
                if gone or partition in partitions:
                    del owners[partition]
                    free[partition] = at
    return unread


def test_unread_time_is_the_truth_or_says_on_which_side_of_it_it_lies(recorded, described):
    wrong, exact = {}, 0
    for (run, _), record in recorded.items():
        truth, told = _unread_ms(run, described[run]["steps"]), record["unread"]
        allowed = max(500, 0.05 * truth)
        near = abs(told["unread_ms"] - truth) <= allowed
        exact += near
        bounded = (told["at_least"] and told["unread_ms"] < truth) or (
            told["at_most"] and told["unread_ms"] > truth
        )
        # librdkafka's lines name no partitions: there is no gap to tell of, and the screen says so.
        if not (near or bounded or (run.startswith("rd-") and not record["gaps"])):
            wrong[run] = (told, truth)
    assert wrong == {}
    assert exact >= 0.7 * len(recorded)


def test_no_line_of_a_real_log_is_lost_or_rejected(table, runs_folder):
    books = table("lines", runs_folder)
    assert all(row["parsed"] + row["ignored"] + row["rejected"] == row["lines"] for row in books)
    assert len(books) > 300
    # A traceback of a binding that refused to start stands in a file of its own; nothing is rejected.
    assert sum(row["rejected"] for row in books) == 0


def test_a_second_layout_gives_the_same_table_as_the_first(recorded):
    # In crash.* member c2 writes Spring Boot's layout and the others Kafka's default.
    record = recorded["crash.cooperative.4.3.1", "orders-app"]
    assert record["expired_members"] == ["c3"]
    assert {name for row in record["rebalances"] for name in (row["culprit"], *row["joined"])} == {
        "c1",
        "c2",
        "c3",
    }


def test_a_frozen_member_and_a_dead_one_are_told_apart(recorded):
    frozen = [
        row
        for row in recorded["freeze.eager.4.3.1", "orders-app"]["rebalances"]
        if row["trigger"] == "session_expired"
    ]
    dead = [
        row
        for row in recorded["crash.eager.4.3.1", "orders-app"]["rebalances"]
        if row["trigger"] == "session_expired"
    ]
    assert [("process lived on" in row["cause"], row["culprit"]) for row in frozen] == [(True, "c1")]
    assert [("process had ended" in row["cause"], row["culprit"]) for row in dead] == [(True, "c3")]


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_member_that_stops_polling_is_no_plain_leaver(recorded, protocol):
    rows = recorded[f"poll-timeout.{protocol}.4.3.1", "orders-app"]["rebalances"]
    assert [row["culprit"] for row in rows if row["trigger"] == "poll_timeout"] == ["c2"]


def test_every_finding_shows_its_line_and_where_to_read_on(recorded):
    findings = [finding for record in recorded.values() for finding in record["findings"]]
    assert len({finding["finding"] for finding in findings}) >= 15
    for finding in findings:
        assert finding["file"], finding
        assert finding["line"] > 0, finding
        assert finding["evidence"], finding
        assert finding["do"], finding
        assert finding["source"], finding
        assert "{" not in finding["sentence"].replace("{}", ""), finding


def test_the_pack_holds_what_the_recording_wrote():
    assert len(run_names()) == 90
    assert b"Successfully joined group" in read_file("crash.eager.4.3.1", "c1.log")


def test_a_dead_owners_partitions_rest_and_a_kept_partition_never_does(table, runs_folder):
    pauses = [row for row in table("gaps", runs_folder) if row["run"] == "crash-2x4.cooperative.4.3.1"]
    # c1 was killed; c2 took its two partitions over and kept its own throughout.
    assert {(row["owner_before"], row["owner_after"], row["known_by"]) for row in pauses} == {
        ("c1", "c2", "expired")
    }
    assert len({row["partition"] for row in pauses}) == 2


def test_eager_pauses_every_partition_that_cooperative_keeps(table, runs_folder):
    rested = {}
    for row in table("gaps", runs_folder):
        rested.setdefault(row["run"], set()).add(row["partition"])
    assert len(rested["join.eager.4.3.1"]) == 6
    assert len(rested["join.cooperative.4.3.1"]) < 6


def test_the_life_of_each_member_ends_as_the_run_ended_it(table, runs_folder):
    rows = table("members", runs_folder)
    crash = sorted((row["client"], row["end"]) for row in rows if row["run"] == "crash.consumer.4.3.1")
    assert crash == [("c1", "left"), ("c2", "left"), ("c3", "expired"), ("c3", "left")]
    static = {(row["client"], row["end"]) for row in rows if row["run"] == "static-restart.eager.4.3.1"}
    assert {("c2", "replaced"), ("c1", "expired"), ("c3", None)} <= static
