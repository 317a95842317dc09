"""Scenario files: what is read, what is written, what is refused and how."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_kit import scenarios
from rebalance_kit.model.errors import ConfigError, RebalanceKitError, ScenarioError
from rebalance_kit.simulation.kernel import Chance, Latencies, Spread, Uniform
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import (
    PROTOCOLS,
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    ReplayPins,
    Scenario,
    TopicSpec,
    with_protocol,
)
from rebalance_kit.simulation.scenario.yaml_file import read_scenario, write_scenario
from rebalance_kit.simulation.scenario.yaml_nodes import parse_time

STRATEGY = "partition.assignment.strategy"
BASE = """\
scenario: demo
end: 60s
topics: {orders: 4}
members:
  - {name: consumer-1, topics: [orders]}
  - name: consumer-2
    topics: [orders]
    configs:
      session.timeout.ms: 10000
actions:
  - {at: 20s, do: crash, member: consumer-1}
"""


def changed(old, new):
    assert old in BASE
    return BASE.replace(old, new, 1)


def test_a_file_becomes_the_scenario_it_says(tmp_path):
    path = tmp_path / "demo.yaml"
    path.write_text(BASE, encoding="utf-8")
    scenario = read_scenario(path)
    assert scenario == read_scenario(str(path)) == read_scenario(BASE)
    assert (
        scenario.name == "demo" and scenario.end_ms == 60_000 and scenario.topics == (TopicSpec("orders", 4),)
    )
    assert scenario.members[1] == MemberSpec("consumer-2", ("orders",), {"session.timeout.ms": 10_000})
    assert scenario.actions == (Action(20_000, "crash", "consumer-1", {}),)


def test_the_name_is_the_files_where_none_is_given(tmp_path):
    path = tmp_path / "evening.yaml"
    path.write_text(BASE.replace("scenario: demo\n", ""), encoding="utf-8")
    assert read_scenario(path).name == "evening"


def test_a_count_makes_members_numbered_and_staggered():
    text = changed(
        "  - {name: consumer-1, topics: [orders]}",
        "  - {count: 3, prefix: w-, topics: orders, start: 1s, every: 500ms, instance_prefix: pod-}",
    ).replace("consumer-1", "w-3")
    made = read_scenario(text).members[:3]
    assert [(one.name, one.start_ms, one.configs["group.instance.id"]) for one in made] == [
        ("w-1", 1000, "pod-1"),
        ("w-2", 1500, "pod-2"),
        ("w-3", 2000, "pod-3"),
    ]
    assert {one.topics for one in made} == {("orders",)}


def test_configs_of_the_scenario_are_shared_and_a_members_own_win():
    scenario = read_scenario(
        changed("members:", "configs: {session.timeout.ms: 9000, max.poll.records: 10}\nmembers:")
    )
    assert scenario.members[0].configs == {"session.timeout.ms": 9_000, "max.poll.records": 10}
    assert scenario.members[1].configs == {"session.timeout.ms": 10_000, "max.poll.records": 10}


def test_the_protocol_shorthand_switches_every_member():
    for name in PROTOCOLS:
        scenario = read_scenario(changed("end:", f"protocol: {name}\nend:"))
        assert scenario == with_protocol(read_scenario(BASE), name) and scenario.protocol == name


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("0", 0),
        ("250", 250),
        ("12s", 12_000),
        ("1m30s", 90_000),
        ("500ms", 500),
        ("1.5s", 1_500),
        ("2h", 7_200_000),
    ],
)
def test_times_are_milliseconds_or_have_units(text, ms):
    assert parse_time(text) == ms
    assert (
        read_scenario(
            changed("end: 60s", "end: 2h\nlatencies: {coordinator_retry_ms: 5}\nseed: 3").replace(
                "at: 20s", f"at: {text}"
            )
        )
        .actions[0]
        .at_ms
        == ms
    )


@pytest.mark.parametrize("text", ["-1", "-5s", "1:30", "soon", "5 s", "1e3", "12S", "", "0.0001s", "٣"])
def test_what_is_no_time_is_none(text):
    assert parse_time(text) is None


# change of BASE, line it must name, words it must say
REFUSED = [
    ("scenario: demo", "scenaro: demo", 1, ["unknown key 'scenaro'", "did you mean 'scenario'"]),
    ("topics: [orders]}", "topcs: [orders]}", 5, ["unknown key 'topcs'", "did you mean 'topics'"]),
    ("topics: [orders]}", "topics: [order]}", 5, ["'order' never exists", "did you mean 'orders'"]),
    (
        "session.timeout.ms: 10000",
        "sesion.timeout.ms: 10000",
        9,
        ["'sesion.timeout.ms'", "did you mean 'session.timeout.ms'"],
    ),
    (
        "session.timeout.ms: 10000",
        "session.timeout.ms: abc",
        9,
        ["Invalid value abc for configuration session.timeout.ms: Not a number of type INT"],
    ),
    (
        "session.timeout.ms: 10000",
        "session.timeout.ms: 5:00",
        9,
        ["Invalid value 5:00 for configuration session.timeout.ms"],
    ),
    (
        "session.timeout.ms: 10000",
        "session.timeout.ms: 10s",
        9,
        ["Invalid value 10s for configuration session.timeout.ms"],
    ),
    (
        "session.timeout.ms: 10000",
        "session.timeout.ms: 2000",
        9,
        ["Heartbeat must be set lower than the session timeout", "2000"],
    ),
    (
        "session.timeout.ms: 10000",
        "session.timeout.ms: 5000",
        9,
        [
            "The session timeout is not within the range allowed by the broker (as configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
            "INVALID_SESSION_TIMEOUT",
            "5000",
            "6000 to 1800000",
        ],
    ),
    (
        "session.timeout.ms: 10000",
        "partition.assignment.strategy: cooperative-sticky\n  - {name: c3, topics: [orders], configs: {partition.assignment.strategy: range}}",
        10,
        [
            "The group member's supported protocols are incompatible with those of existing members",
            "INCONSISTENT_GROUP_PROTOCOL",
            "range",
        ],
    ),
    (
        "session.timeout.ms: 10000",
        "group.protocol: consumer\n      group.remote.assignor: best",
        10,
        [
            "ServerAssignor best is not supported. Supported assignors: uniform, range.",
            "UNSUPPORTED_ASSIGNOR",
        ],
    ),
    ("name: consumer-2", "name: consumer-1", 6, ["'consumer-1' is named twice"]),
    ("name: consumer-2", "name: coordinator", 6, ["'coordinator' cannot name a member"]),
    ("do: crash", "do: crahs", 11, ["'crahs' is unknown", "did you mean 'crash'"]),
    ("member: consumer-1}", "member: consumer-3}", 11, ["no member is named 'consumer-3'", "consumer-1"]),
    ("member: consumer-1}", "for: 3s}", 11, ["unknown key 'for'"]),
    ("at: 20s", "at: -20s", 11, ["'-20s'", "milliseconds or a time such as 12s", "not below 0"]),
    ("at: 20s", "at: 70s", 11, ["70000 ms", "at most the end, 60000 ms"]),
    ("do: crash", "do: stall, for: -3", 11, ["'-3'"]),
    ("do: crash", "do: stall", 11, ["stall needs for_ms"]),
    ("do: crash", "do: thaw", 11, ["consumer-1 is not frozen"]),
    ("do: crash", "do: duplicate, as: twin", 11, ["consumer-1 has no group.instance.id"]),
    (
        "do: crash",
        "do: reconfigure, configs: {heartbeat.interval.ms: 50000}",
        11,
        ["Heartbeat must be set lower than the session timeout"],
    ),
    (
        "{at: 20s, do: crash, member: consumer-1}",
        "{at: 20s, do: add_partitions, topic: orders, partitions: 3}",
        11,
        ["currently has 4 partitions", "only grows"],
    ),
    ("{at: 20s, do: crash, member: consumer-1}", "{at: 20s, do: broker_up}", 11, ["the broker is up"]),
    ("{orders: 4}", "{orders: 0}", 3, ["partitions 0", "1 to"]),
    (
        "{orders: 4}",
        "{or ders: 4}",
        3,
        ["'or ders' contains one or more characters other than ASCII alphanumerics"],
    ),
    ("{orders: 4}", "{orders: {partitions: 4, rate_per_s: -1}}", 3, ["rate_per_s -1", "0 to"]),
    ("{orders: 4}", "{orders: 4, orders: 5}", 3, ["'orders' is given twice"]),
    ("end: 60s", "end: 60s\nend_ms: 5", 3, ["both end and end_ms"]),
    ("end: 60s", "end: 60s\nkafka_version: 12.1", 3, ["Kafka 12.1 is not modelled"]),
    ("end: 60s", "end: 60s\nprotocol: cooperativ", 3, ["'cooperativ'", "did you mean 'cooperative'"]),
    ("end: 60s", "end: 60s\nseed: one", 3, ["'one'", "a whole number"]),
    (
        "end: 60s",
        "end: 60s\nbroker: {group.consumer.session.timeout.ms: 10000}",
        3,
        [
            "group.consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms"
        ],
    ),
    ("end: 60s", "end: 60s\nbroker: {group.max.siz: 10000}", 3, ["did you mean 'group.max.size'"]),
    ("end: 60s", "end: 60s\nlatencies: {one_way: [5, 4, 3, 2, 1]}", 3, ["five rising numbers"]),
    ("end: 60s", "end: 60s\nlatencies: {deleted_topic_noticed: [2, 1]}", 3, ["two rising numbers", "[2, 1]"]),
    ("end: 60s", "end: 60s\nlatencies: {soon_after_commit: 101}", 3, ["0 to 100", "101"]),
    ("end: 60s", "end: 60s\nlatencies: {first_sync_there_percent: 0}", 3, ["1 to 100"]),
    ("end: 60s", "end: 60s\nexpect: [NOPE]", 3, ["'NOPE'"]),
    ("end: 60s", "end: [60s", 3, ["not YAML"]),
    ("end: 60s", "end: &a 60s\ntitle: *a", 2, ["anchors and aliases are refused"]),
    ("end: 60s", "end: !!python/object/apply:os.system [ls]", 2, ["got a list"]),
    ("end: 60s", "end: 60s\n? [a, b]\n: c", 3, ["expected a word"]),
    ("members:", "membrs:", 4, ["did you mean 'members'"]),
]


@pytest.mark.parametrize(("old", "new", "line", "words"), REFUSED, ids=[one[1][:50] for one in REFUSED])
def test_a_fault_is_refused_with_file_line_value_and_what_was_expected(old, new, line, words):
    with pytest.raises(RebalanceKitError) as caught:
        read_scenario(changed(old, new), "evening.yaml")
    message = str(caught.value)
    assert isinstance(caught.value, ScenarioError | ConfigError)
    assert message.startswith(f"evening.yaml:{line}: ")
    for word in words:
        assert word in message


def test_kafkas_own_refusals_are_config_errors():
    with pytest.raises(ConfigError):
        read_scenario(changed("session.timeout.ms: 10000", "session.timeout.ms: 5000"))
    with pytest.raises(ConfigError):
        read_scenario(changed("session.timeout.ms: 10000", "session.timeout.ms: abc"))


def test_a_member_whom_kafka_will_refuse_is_let_in_where_that_is_what_the_scenario_shows():
    text = (
        changed("session.timeout.ms: 10000", "session.timeout.ms: 5000")
        + "expect: [INVALID_SESSION_TIMEOUT]\n"
    )
    scenario = read_scenario(text)
    assert scenario.members[1].configs["session.timeout.ms"] == 5_000
    assert read_scenario(write_scenario(scenario)) == scenario


def test_members_that_are_never_there_together_need_no_common_assignor():
    text = changed(
        "      session.timeout.ms: 10000",
        "      partition.assignment.strategy: cooperative-sticky\n    start: 30s",
    )
    text = text.replace(
        "{name: consumer-1, topics: [orders]}",
        "{name: consumer-1, topics: [orders], configs: {partition.assignment.strategy: range}}",
    )
    read_scenario(text)
    with pytest.raises(ConfigError, match="INCONSISTENT_GROUP_PROTOCOL"):
        read_scenario(text.replace("start: 30s", "start: 10s"))


def test_the_protocol_shorthand_and_a_members_own_strategy_are_not_both_accepted():
    text = changed("session.timeout.ms: 10000", "partition.assignment.strategy: range").replace(
        "end:", "protocol: cooperative\nend:"
    )
    with pytest.raises(ScenarioError, match=r":10: protocol: cooperative sets partition.assignment.strategy"):
        read_scenario(text)


def test_huge_deep_and_explosive_files_are_refused_at_once(tmp_path):
    bomb = "a: &a [x,x]\n" + "".join(f"b{n}: &b{n} [*a,*a]\n" for n in range(30))
    for text, word in (
        (bomb, "alias"),
        ("x: " + "[" * 5000 + "\n", "deeper|nesting depth"),  # PyYAML 6.0.4 refuses it itself
        ("scenario: " + "x" * 600_000 + "\n", "bytes"),
        ("\n", "empty"),
        ("- a\n- b\n", "expected a mapping"),
        ("a: 1\n---\nb: 2\n", "not YAML"),
    ):
        with pytest.raises(ScenarioError, match=word):
            read_scenario(text)
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * 600_000)
    with pytest.raises(ScenarioError, match="expected at most"):
        read_scenario(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ScenarioError, match=r"nowhere\.yaml: cannot be read"):
        read_scenario(tmp_path / "nowhere.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00x")
    with pytest.raises(ScenarioError, match=r"binary\.yaml: byte 0 is not UTF-8"):
        read_scenario(tmp_path / "binary.yaml")


def test_every_part_of_a_scenario_survives_writing_and_reading():
    scenario = Scenario(
        "full",
        (TopicSpec("orders", 4, 2.5, (-1, 7)), TopicSpec("audits", 1)),
        (
            MemberSpec(
                "a",
                ("orders",),
                {"enable.auto.commit": False, "partition.assignment.strategy": ["range", "sticky"]},
                start_ms=None,
                commit="revoked",
            ),
            MemberSpec(
                "b",
                pattern="ord.*",
                start_ms=1_234,
                client="librdkafka",
                callback="wrong",
                processing_ms=0.25,
                callback_ms=6_000,
                lives=(ReplayPins(first_request_ms=5, member_id="x"), ReplayPins()),
            ),
        ),
        (
            Action(5_000, "start", "a", {"topics": ("orders",), "configs": {"client.id": "yes"}}),
            Action(6_000, "delay_next", "b", {"api": "SyncGroup", "by_ms": 750}),
            Action(9_000, "scale_to", None, {"members": 3}),
        ),
        90_001,
        7,
        "Title: with colon",
        "Two sentences. One\nbreak.",
        "4.0.0",
        "g",
        {"group.max.size": 5},
        None,
        Latencies(
            one_way=Spread(1, 1, 1, 1, 2),
            poll_step_ms=50,
            first_sync_there_percent=30,
            soon_after_commit=Chance(0),
            poll_overdue_noticed=Uniform(1, 2),
        ),
        False,
    )
    assert read_scenario(write_scenario(scenario)) == scenario


@pytest.mark.parametrize("name", scenarios.names())
def test_the_kits_scenarios_survive_writing_and_reading_in_every_protocol(name):
    scenario = scenarios.load(name)
    assert read_scenario(write_scenario(scenario)) == scenario
    assigns = any({STRATEGY, "group.protocol"} & set(one.args.get("configs", {})) for one in scenario.actions)
    native = {one.client for one in scenario.members} == {"librdkafka"}
    wanted = [one for one in PROTOCOLS if not (native and one == "sticky")]  # which librdkafka has not
    for protocol in () if assigns else wanted:  # a change of assignor is no scenario for another protocol
        switched = with_protocol(scenario, protocol)
        assert read_scenario(write_scenario(switched)) == switched


_NAMES = st.text("abc-_.123", min_size=1, max_size=6).filter(lambda name: name not in {".", ".."})
_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30).map(
    str.strip
)


@st.composite
def drawn_scenarios(draw):
    topics = tuple(
        TopicSpec(name, draw(st.integers(1, 50)), draw(st.sampled_from([10.0, 0.5, 3])))
        for name in draw(st.lists(_NAMES, min_size=1, max_size=3, unique=True))
    )
    names = [topic.name for topic in topics]
    members = []
    for name in draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True)):
        configs = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "session.timeout.ms": st.integers(6_000, 99_999),
                    "group.instance.id": _NAMES,
                    "client.id": _TEXT,
                    "enable.auto.commit": st.booleans(),
                },
            )
        )
        members.append(
            MemberSpec(
                name,
                tuple(draw(st.lists(st.sampled_from(names), unique=True))),
                configs,
                start_ms=draw(st.none() | st.integers(0, 60_000)),
            )
        )
    who = st.sampled_from([one.name for one in members])
    actions = st.one_of(
        st.builds(
            Action,
            st.integers(0, 60_000),
            st.sampled_from(["crash", "close", "start", "enforce_rebalance"]),
            who,
        ),
        st.builds(
            lambda at, member, ms: Action(at, "stall", member, {"for_ms": ms}),
            st.integers(0, 60_000),
            who,
            st.integers(1, 99_999),
        ),
    )
    return Scenario(
        draw(_NAMES),
        topics,
        tuple(members),
        tuple(draw(st.lists(actions, max_size=4))),
        seed=draw(st.integers(-5, 5)),
        title=draw(_TEXT),
        story=draw(_TEXT),
    )


@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(drawn_scenarios(), st.sampled_from([None, *THREE_PROTOCOLS]))
def test_any_scenario_survives_writing_and_reading(scenario, protocol):
    scenario = replace(
        scenario,
        members=tuple(replace(one, name=f"m{one.name}") for one in scenario.members),
        actions=tuple(replace(one, member=f"m{one.member}") for one in scenario.actions),
    )
    if protocol is not None:
        scenario = with_protocol(scenario, protocol)
    try:
        check(scenario)
    except RebalanceKitError:
        return
    assert read_scenario(write_scenario(scenario)) == scenario


@settings(max_examples=max(settings.default.max_examples // 3, 1))
@given(
    st.integers(0, len(BASE) - 1),
    st.sampled_from([*list("{}[]:,-&*!|>'\"%@`0x\n\t "), "~", "null", "-1", "1e9"]),
    st.integers(0, 12),
)
def test_any_damage_to_a_file_is_read_or_refused_and_never_crashes(at, piece, length):
    refusal = None
    try:
        read_scenario(BASE[:at] + piece + BASE[at + length :] + "\n")
    except RebalanceKitError as error:
        refusal = str(error)
    assert refusal is None or refusal.startswith("<scenario>")
