"""``plan-deploy``: what files say of pods, how a controller replaces them, and what is answered and refused."""

from __future__ import annotations

import io
import json

import pytest

from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.whatif.deploy import Given, events, read_plan, run_plan_deploy, scenario_of
from rebalance_kit.whatif.workload import Workload, drain, read_workload, rollout, scale_out

DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: orders}
spec:
  replicas: 4
  minReadySeconds: 5
  strategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}
  template:
    spec:
      containers:
      - name: app
        env:
        - {name: KAFKA_SESSION_TIMEOUT_MS, value: "15000"}
"""


def written(folder, name, text):
    (folder / name).write_text(text, "utf-8")
    return folder / name


def most_and_least(work, steps):
    """The most pods that run or start, and the fewest that are available, at any moment of a rolling deploy."""
    moments = sorted({step.at_ms + add for step in steps for add in (0, -work.start_ms, work.min_ready_ms)})
    counted = []
    for at_ms in moments:
        gone = sum(step.do == "stop" and step.at_ms <= at_ms for step in steps)
        fresh = [step.at_ms for step in steps if step.do == "start"]
        made = sum(start - work.start_ms <= at_ms for start in fresh)
        ready = sum(start + work.min_ready_ms <= at_ms for start in fresh)
        counted.append((work.replicas - gone + made, work.replicas - gone + ready))
    return max(total for total, _ in counted), min(available for _, available in counted)


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "bounds"),
    [(4, "25%", "25%", (1, 1)), (3, "25%", "25%", (1, 0)), (10, "25%", "25%", (3, 2)), (4, "0", "1", (0, 1)), (4, "100%", "0", (4, 0))],
)  # fmt: skip
def test_a_deployment_stays_within_its_bounds_and_ends_with_new_pods(replicas, surge, unavailable, bounds):
    work = Workload(replicas=replicas, surge=surge, unavailable=unavailable, min_ready_ms=3_000)
    assert work.bounds == bounds  # Kubernetes rounds a share of surge up, one of unavailable down
    steps = rollout(work)
    assert sorted(step.pod for step in steps if step.do == "stop") == sorted(
        f"pod-{n}" for n in range(1, replicas + 1)
    )
    assert sum(step.do == "start" for step in steps) == replicas
    most, least = most_and_least(work, steps)
    assert (most, least) == (replicas + bounds[0], replicas - bounds[1])


def test_a_stateful_set_replaces_one_pod_after_the_other_from_the_last():
    steps = rollout(Workload(kind="StatefulSet", replicas=3))
    assert [(step.do, step.pod) for step in steps] == [
        (do, f"pod-{number}") for number in (3, 2, 1) for do in ("stop", "start")
    ]
    assert [step.at_ms for step in steps] == sorted(step.at_ms for step in steps)


def test_pods_of_a_stateful_set_keep_their_names_and_those_of_a_deployment_do_not():
    assert {step.pod for step in drain(Workload(kind="StatefulSet"), 1)} == {"pod-3"}
    assert {step.pod for step in drain(Workload(), 1)} == {"pod-3", "pod-3-new"}
    assert [step.at_ms for step in scale_out(Workload(kind="StatefulSet"), 2)] == [10_000, 20_000]
    assert [step.at_ms for step in scale_out(Workload(), 2)] == [10_000, 10_000]


def test_a_manifest_says_pods_strategy_and_settings_with_their_places(tmp_path):
    path = written(tmp_path, "d.yaml", DEPLOYMENT)
    work, group = read_plan([path], Given())
    assert (work.kind, work.name, work.replicas, work.bounds, work.min_ready_ms) == (
        "Deployment",
        "orders",
        4,
        (1, 0),
        5_000,
    )
    assert group.configs == {"session.timeout.ms": 15_000}
    assert f"{path}:13: session.timeout.ms=15000" in group.said
    assert any("16 partitions" in sentence for sentence in group.assumed)


@pytest.mark.parametrize(
    ("name", "text", "pods", "consumers"),
    [
        ("values.yaml", "replicaCount: 5\n", 5, 1),
        ("values.yaml", "worker:\n  replicas: 2\n", 2, 1),
        ("application.yml", "spring: {kafka: {listener: {concurrency: 3}}}\n", 3, 3),
        ("application.properties", "spring.kafka.listener.concurrency=2\n", 3, 2),
        ("d.yaml", "kind: Deployment\nspec: {}\n", 1, 1),
    ],
)
def test_pods_and_their_consumers_are_found_where_people_write_them(tmp_path, name, text, pods, consumers):
    work = read_workload([written(tmp_path, name, text)])
    assert (work.replicas, work.consumers) == (pods, consumers)


def test_one_of_several_workloads_is_chosen_by_its_name(tmp_path):
    two = "".join(
        f"kind: Deployment\nmetadata: {{name: {name}}}\nspec: {{replicas: {n}}}\n---\n"
        for name, n in (("a", 2), ("b", 5))
    )
    path = written(tmp_path, "two.yaml", two)
    assert read_workload([path], "b").replicas == 5
    with pytest.raises(DataError, match=r"named 'c'; expected one of a, b"):
        read_workload([path], "c")


def test_each_event_is_a_scenario_of_the_pods(tmp_path):
    work, group = read_plan([written(tmp_path, "d.yaml", DEPLOYMENT)], Given(kills=True))
    deploy, node, more = (scenario_of(work, group, event) for event in events(work, Given()))
    assert len(deploy.members) == 8
    assert [action.do for action in node.actions] == ["crash", "crash", "start", "start"]
    assert [action.do for action in more.actions] == ["start", "start"]
    assert all(spec.configs["session.timeout.ms"] == 15_000 for spec in deploy.members)


def test_the_command_answers_each_event_on_the_screen_as_json_and_for_a_plan(tmp_path):
    path = written(tmp_path, "d.yaml", DEPLOYMENT)
    out = io.StringIO()
    given = Given(
        draws=2, seconds=0.1, partitions=8, markdown=tmp_path / "plan.md", target="longest gap < 60 s"
    )
    assert run_plan_deploy([str(path)], given, out) == 0
    told = out.getvalue()
    assert "Rolling deploy: all 4 pods, maxSurge 1, maxUnavailable 0" in told
    assert "met as it is" in told
    assert "as it was" not in told + (tmp_path / "plan.md").read_text("utf-8")
    again = io.StringIO()
    assert run_plan_deploy([str(path)], Given(draws=2, seconds=0.1, partitions=8, as_json=True), again) == 0
    answer = json.loads(again.getvalue())
    assert [event["event"] for event in answer["events"]] == ["Rolling deploy", "Node drain", "Scale-out"]
    names = {one["name"] for one in answer["events"][0]["alternatives"]}
    assert {"KIP-848", "surge 1", "StatefulSet, static members"} - names == {"surge 1"}  # it has that surge


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind: Deployment\nspec: {replicas: many}\n", r"spec.replicas is 'many'; expected a whole number from 1"),
        ("kind: Deployment\nspec: {replicas: 9999}\n", r"expected at most 500 pods"),
        ("kind: Deployment\nspec: {strategy: {rollingUpdate: {maxSurge: lots}}}\n", r"maxSurge is 'lots'; expected a number of pods"),
        ("kind: Deployment\n---\nkind: StatefulSet\n", r"describe 2 workloads; expected one, chosen by --workload: consumer, consumer"),
        ("kind: Deployment\nspec:\n  replicas: {{ .Values.replicas }}\n", r"d.yaml:3: a template .*expected what `helm template` writes"),
        ("a: &a [1, 1]\n" + "".join(f"{n}: &{n} [{', '.join([f'*{p}'] * 20)}]\n" for p, n in zip("abcd", "bcde", strict=False)), r"aliases stand for more than 50000"),
        ("a: &a\n  b: *a\n", r"aliases stand for more"),
        ("kind: Deployment\nspec: [", r"d.yaml"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_names_file_value_and_what_was_expected(tmp_path, text, message):
    with pytest.raises(RebalanceKitError, match=message):
        read_plan([written(tmp_path, "d.yaml", text)], Given())


@pytest.mark.parametrize(
    "given",
    [Given(pods=0), Given(partitions=0), Given(start_s=-1.0), Given(rate_per_s=-1.0), Given(on_a_node=0)],
)
def test_a_number_that_cannot_be_is_refused(tmp_path, given):
    path = written(tmp_path, "a.properties", "session.timeout.ms=10000\n")
    with pytest.raises(DataError, match="expected"):
        events(read_plan([path], given)[0], given)


def test_connect_is_said_not_to_be_simulated(tmp_path):
    work, _ = read_plan(
        [written(tmp_path, "c.yaml", "kind: KafkaConnect\nspec: {replicas: 2}\n")], Given(pods=2)
    )
    assert "which is not simulated" in work.left_out[0]


def test_a_file_given_to_the_plan_of_a_study_is_answered_with_the_other_command(capsys):
    assert main(["plan", "deployment.yaml"]) == 2
    assert "rebalance-kit plan-deploy deployment.yaml" in capsys.readouterr().err


PODS = """\
kind: Deployment
metadata: {name: orders}
spec:
  replicas: &count 4
  template:
    spec:
      terminationGracePeriodSeconds: 60
      containers:
      - &app
        name: app
        lifecycle: {preStop: {exec: {command: [sh, -c, sleep 15]}}}
        readinessProbe: {initialDelaySeconds: 20}
      initContainers: [*app]
---
kind: PodDisruptionBudget
spec: {minAvailable: 75%}
"""


def test_a_pod_reads_on_while_its_hook_sleeps_and_is_killed_when_its_grace_is_over(tmp_path):
    path = written(tmp_path, "pods.yaml", PODS)
    work, group = read_plan([path], Given(partitions=8))
    assert (work.replicas, work.pre_stop_ms, work.grace_ms, work.ready_ms) == (4, 15_000, 60_000, 20_000)
    deploy = events(work, Given())[0]
    stops = [step.at_ms for step in rollout(work) if step.do == "stop"]
    closes = [action for action in scenario_of(work, group, deploy).actions if action.do == "close"]
    assert [action.at_ms - 30_000 for action in closes] == [at_ms + 15_000 for at_ms in stops]
    assert {action.args["timeout_ms"] for action in closes} == {30_000}
    path.write_text(PODS.replace("Seconds: 60", "Seconds: 10"), "utf-8")
    work, group = read_plan([path], Given(partitions=8))
    killed = scenario_of(work, group, deploy).actions
    assert {action.do for action in killed} == {"crash", "start"}
    assert min(action.at_ms - 30_000 for action in killed if action.do == "crash") == 10_000


def test_a_budget_lets_a_drain_stop_one_pod_after_the_other(tmp_path):
    work, _ = read_plan([written(tmp_path, "pods.yaml", PODS)], Given())
    assert work.at_once == 1
    first, second = (step.at_ms for step in drain(work, 2) if step.do == "stop")
    assert (first, second) == (0, 20_001)  # the replacement is ready
    assert [step.at_ms for step in drain(Workload(replicas=4), 2) if step.do == "stop"] == [0, 0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: KafkaConnect\nspec:\n  replicas: 1\n", "a group of Connect workers, which is not simulated; .*no pods and no setting"),
        ("server:\n  port: 80\n", "no pods and no setting of a consumer group; expected a Deployment"),
    ],
)  # fmt: skip
def test_a_file_that_says_nothing_of_a_consumer_is_no_plan(tmp_path, text, words):
    path = tmp_path / "some.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(DataError, match=words):
        read_plan([path], Given())
    assert read_plan([path], Given(pods=2))[0].replicas == 2
