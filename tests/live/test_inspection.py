"""What two looks at a cluster's groups mean: each trouble staged as a client would see it, and its near miss."""

from __future__ import annotations

import io
import json
import re
from copy import deepcopy

import pytest

from rebalance_kit.cli import main
from rebalance_kit.live.inspection import look as looking
from rebalance_kit.live.inspection.command import History
from rebalance_kit.live.inspection.look import (
    RULES,
    findings,
    groups_of,
    look,
    native,
    read_configs,
    scenario_of,
)
from rebalance_kit.live.jars import LiveError
from rebalance_kit.simulation.permalink import read_link
from rebalance_kit.simulation.simulate import simulate


def member(number, owned, **more):
    name = f"app-{number}"
    return {
        "id": f"{name}-id",
        "client": name,
        "host": "/h",
        "instance": None,
        "owned": owned,
        "target": None,
    } | more


def healthy():
    """Two members of a KIP-848 group that keeps up; both looks alike."""
    parts = [f"orders-{n}" for n in range(4)]
    group = {
        "type": "consumer",
        "state": "stable",
        "assignor": "uniform",
        "coordinator": 1,
        "members": [member(1, parts[:2], target=parts[:2]), member(2, parts[2:], target=parts[2:])],
        "committed": dict.fromkeys(parts, 100),
        "offsets_error": None,
    }
    one = {"groups": {"app": group}, "topics": {"orders": {str(n): [0, 100] for n in range(4)}}, "errors": []}
    looks = [deepcopy(one) | {"at_ms": 0}, deepcopy(one) | {"at_ms": 6000}]
    return {"cluster": {"brokers": {"1": "h:9092"}, "configs": {}}, "looks": looks}


def both(answer):
    return [shown["groups"]["app"] for shown in answer["looks"]]


def stage_nobody(answer):
    for group in both(answer):
        group |= {"state": "empty", "members": [], "committed": {"orders-0": 40}}


def stage_rebalance(answer):
    for group in both(answer):
        group["state"] = "preparing_rebalancing"


def stage_change(answer):
    both(answer)[1]["members"][0]["id"] = "another"


def stage_idle(answer):
    for group in both(answer):
        group["members"].append(member(3, [], target=[]))


def stage_unowned(answer):
    for group in both(answer):
        group["members"][1]["owned"] = group["members"][1]["target"] = ["orders-2"]


def stage_skew(answer):
    for group in both(answer):
        for one, owned in zip(
            group["members"], (["orders-0", "orders-1", "orders-2"], ["orders-3"]), strict=True
        ):
            one["owned"] = one["target"] = owned


def stage_eager(answer):
    for group in both(answer):
        group |= {"type": "classic", "assignor": "range"}


def stage_behind(answer):
    for group in both(answer):
        group["members"][0]["target"] = ["orders-0"]


def stage_growing(answer):
    answer["looks"][1]["topics"]["orders"]["0"] = [0, 160]


def stage_out_of_range(answer):
    for shown in answer["looks"]:
        shown["topics"]["orders"]["0"] = [101, 101]


def stage_beyond(answer):
    for shown in answer["looks"]:
        shown["topics"]["orders"]["0"] = [0, 50]


def stage_never(answer):
    for group in both(answer):
        group["committed"]["orders-0"] = None


def stage_hot(answer):
    for shown in answer["looks"]:
        shown["topics"]["orders"]["0"] = [0, 5_000]


def stage_mixed(answer):
    for group in both(answer):
        group["members"][0]["instance"] = "pod-1"


def stage_same(answer):
    for group in both(answer):
        group["members"][0]["client"] = group["members"][1]["client"]


def stage_refused(answer):
    for shown in answer["looks"]:
        shown["groups"]["app"] = {"error": "Group authorization failed."}


STAGED = {
    "empty-with-lag": stage_nobody,
    "long-rebalance": stage_rebalance,
    "members-change": stage_change,
    "idle-members": stage_idle,
    "unowned-partitions": stage_unowned,
    "skew": stage_skew,
    "eager": stage_eager,
    "behind-its-target": stage_behind,
    "lag-grows": stage_growing,
    "commit-before-log": stage_out_of_range,
    "commit-beyond-log": stage_beyond,
    "never-committed": stage_never,
    "hot-partition": stage_hot,
    "static-and-dynamic": stage_mixed,
    "same-client-id": stage_same,
    "not-described": stage_refused,
}


def test_nothing_is_found_in_a_group_that_keeps_up():
    assert findings(groups_of(healthy())) == []


@pytest.mark.parametrize("rule", STAGED)
def test_a_staged_trouble_is_found_alone(rule):
    answer = healthy()
    STAGED[rule](answer)
    (found,) = findings(groups_of(answer))
    assert found.rule == rule
    assert found.do.endswith(".")


def test_every_rule_has_a_stage():
    assert len(STAGED) == len(RULES) + 1  # one rule tells two things


@pytest.mark.parametrize(
    ("stage", "undo"),
    [
        (stage_growing, lambda answer: answer["looks"][1].update(at_ms=2000)),
        (stage_rebalance, lambda answer: both(answer)[1].update(state="stable")),
        (stage_behind, lambda answer: both(answer)[0]["members"][0].update(target=["orders-0", "orders-1"])),
    ],
)
def test_what_both_looks_do_not_show_is_not_said(stage, undo):
    answer = healthy()
    stage(answer)
    undo(answer)
    assert findings(groups_of(answer)) == []


@pytest.mark.parametrize(
    ("stage", "fail_on", "status"),
    [
        (stage_unowned, "error", 1),
        (stage_skew, "error", 0),
        (stage_skew, "warning", 1),
        (stage_eager, "note", 1),
        (stage_unowned, "never", 0),
        (stage_refused, "error", 3),
    ],
)
def test_the_status_is_the_gravest_finding(stage, fail_on, status, monkeypatch):
    answer = healthy()
    stage(answer)
    monkeypatch.setattr(looking, "look", lambda *_: answer)
    out = io.StringIO()
    assert main(["inspect", "--bootstrap-server", "h:9092", "--fail-on", fail_on], out) == status
    assert "1 groups on 1 broker (h:9092)" in out.getvalue()
    out = io.StringIO()
    main(["inspect", "--bootstrap-server", "h:9092", "--json"], out)
    (line,) = out.getvalue().splitlines()
    assert json.loads(line)["findings"][0]["group"] == "app"


def test_configs_are_read_as_kafkas_tools_take_them(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text(
        "# for inspect\nsecurity.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        'sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="p=1";\n',
        "utf-8",
    )
    read = read_configs(file)
    assert (read["sasl.username"], read["sasl.password"]) == ("me", "p=1")
    assert "sasl.jaas.config" not in read


def test_a_line_that_is_none_is_named_and_not_shown(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("security.protocol=SSL\nhush-hush\n", "utf-8")
    with pytest.raises(LiveError, match=r"client\.properties:2") as told:
        read_configs(file)
    assert "hush" not in str(told.value)


def test_stores_of_java_are_refused_with_what_to_write():
    with pytest.raises(LiveError, match=r"ssl\.ca\.location"):
        native({"ssl.truststore.location": "x.jks"}, "f")


def test_a_config_that_the_client_refuses_is_told_with_the_address_and_without_a_secret():
    with pytest.raises(LiveError, match=r"127\.0\.0\.1:1: .*nonsense\.key"):
        look("127.0.0.1:1", {"nonsense.key": "1"}, seconds=0)
    assert looking._hidden("bad p4ss", {"sasl.password": "p4ss"}) == "bad ***"


@pytest.mark.parametrize("seconds", [-1.0, 1e9])
def test_seconds_have_bounds(seconds):
    with pytest.raises(LiveError, match="expected 0 to 600"):
        look("h:1", seconds=seconds)


def test_openmetrics_hold_lag_members_states_and_findings(monkeypatch):
    answer = healthy()
    stage_hot(answer)
    both(answer)[1]["members"][0]["client"] = "x"
    monkeypatch.setattr(looking, "look", lambda *_: answer)
    out = io.StringIO()
    main(["inspect", "--bootstrap-server", "h:9092", "--openmetrics"], out)
    lines = out.getvalue().splitlines()
    assert 'kafka_group_lag{group="app",partition="orders-0"} 4900' in lines
    assert 'kafka_group_members{group="app"} 2' in lines
    assert 'kafka_group_findings{group="app",gravity="warning"} 1' in lines
    assert lines[-1] == "# EOF"
    families = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert all(line.startswith("#") or line.split("{")[0] in families for line in lines)


def test_watching_tells_each_change_once_and_counts_rebalances():
    history = History()
    assert history.see(healthy()) == []
    answer = healthy()
    stage_rebalance(answer)
    answer["looks"][0] = healthy()["looks"][0]
    (line,) = history.see(answer)
    assert line == "00:00:06 UTC  app: stable to preparing_rebalancing"
    after = healthy()
    for shown in after["looks"]:
        shown["groups"]["app"]["members"][1] = member(3, ["orders-2", "orders-3"])
    (line,) = history.see(after)
    assert "preparing_rebalancing to stable; came: app-3; went: app-2; 1 of 2 members" in line
    assert history.summary().startswith("rebalances seen: app 1 ")
    assert History().summary().startswith("rebalances seen: none")


def test_watch_looks_as_often_as_asked(monkeypatch):
    times = []
    monkeypatch.setattr(looking, "look", lambda *_: times.append(1) or healthy())
    assert main(["inspect", "--bootstrap-server", "h:9092", "--watch", "3"], io.StringIO()) == 0
    assert len(times) == 4


# --- the group's shape in the lab ---------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "assignor", "protocol"),
    [
        ("consumer", "uniform", "consumer"),
        ("classic", "range", "classic"),
        ("classic", "cooperative-sticky", "classic"),
        ("classic", "house-made", None),
    ],
)
def test_one_group_becomes_a_scenario_of_its_shape(kind, assignor, protocol, monkeypatch):
    answer = healthy()
    for group in both(answer):
        group |= {"type": kind, "assignor": assignor}
        group["members"][1]["instance"] = "pod-2"
    (seen,) = groups_of(answer)
    made = scenario_of(seen)
    monkeypatch.setattr(looking, "look", lambda *_: answer)
    out = io.StringIO()
    main(["inspect", "--bootstrap-server", "h:9092", "--seconds", "0", "--fail-on", "never"], out)
    link = re.search(r"rebalance-kit lab (\S+)", out.getvalue())
    if protocol is None:
        assert made is None and link is None
        return
    assert [(spec.partitions, spec.name) for spec in made.topics] == [(4, "orders")]
    assert [spec.configs.get("group.instance.id") for spec in made.members] == [None, "pod-2"]
    read = read_link(link[1]).scenario
    assert len(simulate(read).meta["members"]) == 2
    assert {row.protocol for row in simulate(read).of("member_state")} == {protocol}


def test_a_group_without_members_or_with_too_many_makes_no_scenario():
    answer = healthy()
    for group in both(answer):
        group["members"] = [member(number, []) for number in range(51)]
    assert scenario_of(groups_of(answer)[0]) is None
    for group in both(answer):
        group["members"] = []
    assert scenario_of(groups_of(answer)[0]) is None
