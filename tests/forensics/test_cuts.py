"""Windows cut out of recorded runs: nothing is said of them that their lines, or the run's truth, contradict."""

from __future__ import annotations

import io

import pytest

from rebalance_kit.forensics.answer.answer import Answer
from tests.support.pipeline import cuts
from tests.support.pipeline.kafka_lines import (
    GROUP,
    adding,
    broker,
    client,
    finished,
    joined,
    member,
    native,
    preparing,
    received,
    stabilized,
)
from tests.support.thinning import LONG

#: So many cuts a seed.
CUTS = 150

#: What is known to be wrong and is left: so many cuts of one seed fail a check at most, measured over the seeds below.
LEFT = {}


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=LONG) for seed in range(2, 7))])
def test_no_more_is_said_of_a_cut_than_it_proves(seed, runs_folder, tmp_path):
    runs = [path for path in runs_folder.iterdir() if path.is_dir()]
    found = {name: [] for name in cuts.CHECKS}
    for cut in cuts.cuts(runs, seed, CUTS):
        told = cuts.tell(cut.write(tmp_path / cut.name))
        for name, what in cuts.violations(cut, told).items():
            found[name].append((cut.name, what))
    assert {name: wrong for name, wrong in found.items() if len(wrong) > LEFT.get(name, 0)} == {}


def test_two_seeds_cut_otherwise_and_one_seed_the_same(runs_folder):
    runs = [path for path in runs_folder.iterdir() if path.is_dir()]
    first, again, other = ([cut.name for cut in cuts.cuts(runs, seed, 20)] for seed in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.fixture
def told(tmp_path):
    """The rebalances, and the kinds of findings, of files written here."""

    def read(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.log").write_text(text)
        result = cuts.look([tmp_path])
        return result.rows("rebalances"), {row["finding"] for row in result.rows("findings")}

    return read


def bump(seconds, epoch, hash_=None):
    how = "" if hash_ is None else f" with metadata hash {hash_}"
    return broker(seconds, f"[GroupId {GROUP}] Bumped group epoch to {epoch}{how}.")


def test_a_bump_with_which_a_log_begins_blames_no_topics(told):
    rows, findings = told(broker=bump(0, 8, 77))
    assert [(row["trigger"], row["cause"]) for row in rows] == [
        ("unseen", "the group epoch became 8; no line that was read tells why")
    ]
    assert "topic_changed" not in findings


def test_a_bump_whose_line_is_missing_has_the_hash_of_the_one_before(told):
    rows, findings = told(broker=bump(0, 8, 77) + bump(20, 9, 77))
    assert [row["trigger"] for row in rows] == ["unseen", "unseen"]
    assert "topic_changed" not in findings


def test_a_bump_with_another_hash_is_of_changed_topics(told):
    rows, findings = told(broker=bump(0, 8, 77) + bump(20, 9, -5))
    assert [row["trigger"] for row in rows] == ["unseen", "metadata_changed"]
    assert "topic_changed" in findings


def test_a_hash_of_nothing_is_of_members_that_went(told):
    rows, _ = told(broker=bump(0, 8, 77) + bump(20, 9, 0))
    assert [row["trigger"] for row in rows] == ["unseen", "unseen"]


def test_where_no_hash_is_written_a_bump_may_be_of_a_member_whose_line_is_missing(told):
    rows, _ = told(broker=bump(0, 3) + bump(20, 4) + bump(40, 7))
    assert [row["trigger"] for row in rows] == ["unseen", "unseen", "unseen"]


def test_who_came_for_one_of_two_epochs_is_not_told_as_the_others_cause(told):
    came = broker(20, f"[GroupId {GROUP}] Member {M1} joins the consumer group using the consumer protocol.")
    rows, _ = told(broker=bump(0, 3, 77) + came + bump(20.1, 5, -5))
    assert [(row["trigger"], row["culprit"], row["after"]) for row in rows][1:] == [("unseen", None, 5)]


def test_who_has_given_up_partitions_asks_for_another_rebalance(told):
    given_up = "Request joining group due to: need to revoke partitions [orders-7] as indicated by the current assignment and re-join"
    rows, _ = told(c1=joined(0, "c1", 3) + client(0.1, "c1", given_up))
    assert [(row["trigger"], row["before"], row["after"]) for row in rows][1:] == [("follow_up", 3, None)]


def test_a_cooperative_generation_is_final_where_none_follows_at_once(told):
    first = joined(0, "c1", 2).replace("range", "cooperative-sticky") + finished(
        0, 2, "orders-0, orders-1", ""
    )
    assert "idle_members" not in told(c1=first)[1]
    assert "idle_members" not in told(c1=first + joined(3, "c1", 3))[1]
    assert "idle_members" in told(c1=first + joined(60, "c1", 3))[1]


@pytest.mark.parametrize("asked_s", [0.1, 0], ids=["later", "in the millisecond of the join before it"])
def test_a_second_step_is_told_by_the_reason_that_its_member_gives(told, asked_s):
    rows, _ = told(
        c1=joined(0, "c1", 3)
        + client(asked_s, "c1", "Request joining group due to: need to revoke partitions [orders-7] as indicated by the current assignment and re-join")
        + client(0.2, "c1", "(Re-)joining group")
        + joined(0.3, "c1", 4)
    )  # fmt: skip
    assert [(row["after"], row["trigger"]) for row in rows] == [(3, "unseen"), (4, "follow_up")]


def transition(seconds, epoch, before, after):
    return client(seconds, "c1", f"Member M1 with epoch {epoch} transitioned from {before} to {after}.")


def reconciled(seconds, epoch, *, gives=None, gets="[]"):
    text = transition(seconds, epoch, "STABLE", "RECONCILING")
    if gives:
        text += client(seconds, "c1", f"Revoke previously assigned partitions {gives}")
    text += client(seconds + 0.1, "c1", f"Adding newly assigned partitions: {gets}")
    text += transition(seconds + 0.1, epoch, "RECONCILING", "ACKNOWLEDGING")
    return text + transition(seconds + 0.1, epoch, "ACKNOWLEDGING", "STABLE")


def test_what_a_member_gives_up_later_does_not_explain_the_epoch_that_it_had_acknowledged(told):
    rows, _ = told(c1=reconciled(0, 9, gets="[orders-1]") + reconciled(10, 9, gives="[orders-5]"))
    assert rows[0]["after"] == 9
    assert "by the shares" not in rows[0]["cause"]


def test_a_client_that_waits_for_its_first_metadata_joins(told):
    group = f'Group "{GROUP}"'
    rows, findings = told(
        c1=native(0, "c1", "REJOIN", f"{group}: Rejoining group without an assignment: Metadata for subscribed topic(s) has changed")
        + native(0.01, "c1", "JOIN", f'127.0.0.1:9092/1: Joining group "{GROUP}" with 1 subscribed topic(s) and member id ""')
    )  # fmt: skip
    assert [row["trigger"] for row in rows] == ["join"]
    assert "topic_changed" not in findings


def test_ids_that_come_and_go_in_turn_are_no_scaler(told):
    text = ""
    for turn in range(8):
        text += broker(20 * turn, f"[GroupId {GROUP}] Member {turn:022d} left the consumer group.")
        text += bump(20 * turn, 2 * turn + 2, 77)
        text += broker(
            20 * turn + 8,
            f"[GroupId {GROUP}] Member {turn + 50:022d} joins the consumer group using the consumer protocol.",
        )
        text += bump(20 * turn + 8, 2 * turn + 3, 77)
    _, findings = told(broker=text)
    assert "scaling_to_and_fro" not in findings


def lengths(rows):
    return [(row["after"], row["duration_ms"], row["at_least"]) for row in rows]


MEMBER = member("c1")
BEGUN = preparing(0, 1, adding("c1"))


@pytest.mark.parametrize(
    ("lines", "length"),
    [
        (BEGUN + stabilized(8, 2) + received(9, 2), (2, 9_000, False)),
        (BEGUN + stabilized(8, 2), (2, 8_000, True)),
        (BEGUN + stabilized(8, 2) + received(9, 3), (2, 8_000, True)),
        (stabilized(8, 2) + received(9, 2), (2, 1_000, True)),
        (BEGUN, (None, None, None)),
    ],
)
def test_a_classic_rebalance_took_at_least_what_is_told_unless_its_coordinator_tells_both_ends(
    told, lines, length
):
    rows, _ = told(broker=lines)
    assert lengths(rows) == [length]


def test_what_members_alone_tell_of_a_rebalance_is_the_least_that_it_took(told):
    rows, _ = told(c1=client(0, "c1", "(Re-)joining group") + joined(7, "c1", 3))
    assert lengths(rows) == [(3, 7_000, True)]


M1, M2 = "1" * 22, "2" * 22


def joins(seconds, member, epoch):
    come = broker(
        seconds, f"[GroupId {GROUP}] Member {member} joins the consumer group using the consumer protocol."
    )
    return come + bump(seconds, epoch, 77) + target(seconds, epoch)


def target(seconds, epoch):
    return broker(
        seconds,
        f"[GroupId {GROUP}] Computed a new target assignment for epoch {epoch} with 'uniform' assignor in 0ms.",
    )


def steps(member, *moves):
    """What a member writes of its states: when, with which epoch, and to which state."""
    before, text = "UNSUBSCRIBED", ""
    for seconds, epoch, state in moves:
        text += client(
            seconds, member, f"Member {member} with epoch {epoch} transitioned from {before} to {state}."
        )
        before = state
    return text


ONE = steps(M1, (-1, 0, "JOINING"), (0.5, 2, "RECONCILING"), (1, 2, "ACKNOWLEDGING"), (1, 2, "STABLE"), (13, 3, "RECONCILING"), (14, 3, "ACKNOWLEDGING"), (14, 3, "STABLE"))  # fmt: skip
TWO = steps(M2, (9, 0, "JOINING"), (10, 3, "RECONCILING"), (10, 3, "ACKNOWLEDGING"), (10, 3, "STABLE"), (16, 3, "RECONCILING"), (17, 3, "ACKNOWLEDGING"), (17, 3, "STABLE"))  # fmt: skip
BOTH_CAME = joins(0, M1, 2) + joins(10, M2, 3)


@pytest.mark.parametrize(
    ("files", "proved"),
    [
        ({"broker": BOTH_CAME, "c1": ONE, "c2": TWO}, [(2, 1_000, False), (3, 7_000, False)]),
        ({"broker": BOTH_CAME, "c1": ONE}, [(2, 1_000, False), (3, 4_000, True)]),
        ({"broker": BOTH_CAME, "c2": TWO}, [(2, 0, True), (3, 7_000, True)]),
        ({"broker": BOTH_CAME}, [(2, 0, True), (3, 0, True)]),
        # The first member is not told of: the second one's lines are not all.
        ({"broker": joins(10, M2, 3), "c2": TWO}, [(3, 7_000, True)]),
        # One of a member's lines is missing, and its first lines are.
        ({"broker": joins(0, M1, 2), "c1": "".join(ONE.splitlines(True)[:4:2])}, [(2, 0, True)]),
        ({"broker": BOTH_CAME, "c1": "".join(ONE.splitlines(True)[4:]), "c2": TWO}, [(2, 0, True), (3, 7_000, True)]),
    ],
)  # fmt: skip
def test_an_epoch_took_what_is_told_where_every_member_tells_that_it_reached_it(told, files, proved):
    rows, _ = told(**files)
    assert lengths(rows) == proved


def test_a_static_member_that_is_back_ends_no_rebalance_that_was_over(told):
    back = f"[GroupId {GROUP}] Static member with instance id pod-1 re-joins the consumer group using the consumer protocol. Created a new member {M2} to replace the existing member {M1}."
    again = steps(M2, (30, 0, "JOINING"), (31, 2, "RECONCILING"), (31, 2, "ACKNOWLEDGING"), (31, 2, "STABLE"))
    rows, _ = told(
        broker=joins(0, M1, 2) + broker(30, back), c1="".join(ONE.splitlines(True)[:4]), again=again
    )
    assert lengths(rows) == [(2, 1_000, False)]


def test_every_form_says_that_a_rebalance_took_at_least_so_long(tmp_path):
    (tmp_path / "broker.log").write_text(BEGUN + stabilized(8, 2))
    said, page = cuts.tell([tmp_path]), tmp_path / "said.md"
    assert "(it took at least 8.0 s)" in said.screen
    assert said.json[0]["rebalances"][0]["at_least"] is True
    told = io.StringIO()
    for form in (Answer("report"), Answer("csv", table="rebalances"), Answer("markdown", target=page)):
        form.tell(said.result, told)
    assert "  at least 8.0 s  " in told.getvalue()
    assert ",8000,True," in told.getvalue()
    assert "(at least 8.0 s)" in page.read_text()


def test_an_end_whose_own_line_is_missing_is_not_that_of_the_next_rebalance(told):
    lines = BEGUN + stabilized(30, 3)
    rows, _ = told(broker=lines)
    assert lengths(rows) == [(None, None, None), (3, 0, True)]
    rows, _ = told(broker=BEGUN + received(9, 2) + stabilized(30, 3))
    assert lengths(rows) == [(2, 9_000, False), (3, 0, True)]


def test_a_target_of_a_later_epoch_is_no_end_of_one_whose_lines_may_be_missing(told):
    rows, _ = told(broker=bump(0, 5, 77) + bump(9, 6, 77) + target(9, 6))
    assert lengths(rows) == [(5, None, None), (6, 0, True)]


def test_an_epoch_that_a_member_is_given_first_may_be_another_ones(told):
    rows, _ = told(
        c1=steps(M1, (0, 0, "JOINING"), (3, 8, "RECONCILING"), (4, 8, "ACKNOWLEDGING"), (4, 8, "STABLE"))
    )
    assert [(row["trigger"], row["before"], row["duration_ms"]) for row in rows] == [("join", None, 1_000)]
    assert rows[0]["cause"] == f"{M1} joined the group; epoch 8 is the first that it was given"


def test_a_member_that_went_and_is_back_made_an_epoch_that_it_never_reached(told):
    gone = client(10, "c1", f"Member {M1} with epoch 4 transitioned from STABLE to PREPARE_LEAVING.")
    back = steps(
        M1, (11, 0, "JOINING"), (12, 6, "RECONCILING"), (12, 6, "ACKNOWLEDGING"), (12, 6, "STABLE")
    ).replace(f"clientId={M1}", "clientId=c1")
    rows, _ = told(
        c1=client(0, "c1", f"Member {M1} with epoch 4 transitioned from ACKNOWLEDGING to STABLE.")
        + gone
        + back
    )
    assert [(row["trigger"], row["before"], row["after"]) for row in rows][1:] == [("leave", None, 6)]


def test_what_a_member_gave_up_in_an_unknown_epoch_explains_no_later_one(told):
    rows, _ = told(c1=reconciled(0, 2, gives="[orders-1, orders-2]") + reconciled(20, 8, gets="[orders-1]"))
    assert [(row["before"], row["after"], row["duration_ms"]) for row in rows] == [(2, 8, 0)]
    assert "by the shares" not in rows[0]["cause"]


def test_a_rejoin_without_a_reason_is_nobodys_doing_where_no_other_member_learnt_of_it_later(told):
    rows, _ = told(c1=joined(0, "c1", 3) + client(10, "c1", "(Re-)joining group") + joined(12, "c1", 4))
    assert [(row["trigger"], row["culprit"]) for row in rows] == [("unseen", None)] * 2
    assert rows[1]["cause"] == "c1 asked to join again, and no line tells why"


def test_a_rejoin_after_a_refused_sync_follows_what_others_began(told):
    refused = "Request joining group due to: rebalance failed due to 'The group is rebalancing, so a rejoin is needed.' (RebalanceInProgressException)"
    again = client(10, "c1", refused) + client(10, "c1", "(Re-)joining group")
    rows, _ = told(c1=joined(0, "c1", 3) + again + joined(12, "c1", 4))
    assert (rows[1]["trigger"], rows[1]["culprit"]) == ("unseen", None)
    assert rows[1]["cause"].startswith("c1 was told that the group was rebalancing")


def test_when_a_member_wrote_that_it_joined_is_no_end_where_its_coordinator_had_gone_on(told):
    late = f"SyncGroup failed: The coordinator is not aware of this member. Need to re-join the group. Sent generation was Generation{{generationId=3, memberId='{MEMBER}', protocol='range'}}"
    rows, _ = told(c1=client(0, "c1", "(Re-)joining group") + joined(20, "c1", 3) + client(20, "c1", late))
    assert lengths(rows) == [(3, 0, True)]


def test_a_static_member_may_have_taken_its_place_without_a_rebalance(told):
    def static(seconds, text):
        return client(seconds, "c3", text).replace(
            "[Consumer clientId", "[Consumer instanceId=pod-2, clientId"
        )

    came = static(0, "Subscribed to topic(s): orders") + static(1, "(Re-)joining group")
    rows, _ = told(
        c3=came + joined(2, "c3", 1).replace("[Consumer clientId", "[Consumer instanceId=pod-2, clientId")
    )
    assert [(row["before"], row["after"]) for row in rows] == [(None, 1)]
    assert "it is static, and whether it began a rebalance by that is not in these lines" in rows[0]["cause"]


def test_who_is_refused_an_instance_id_is_not_the_one_that_has_it(told):
    has = broker(
        0,
        f"[GroupId {GROUP}] Static member {M1} with instance id pod-2 joins the consumer group using the consumer protocol.",
    ) + bump(0, 2, 77)
    refused = f"ConsumerGroupHeartbeatRequest failed due to unreleased instance id pod-2: Static member {M2} with instance id pod-2 cannot join the group because the instance id is owned by member {M1}."
    own = client(9, "c3", refused, "ERROR").replace(
        "[Consumer clientId", "[Consumer instanceId=pod-2, clientId"
    )
    rows, _ = told(broker=has, c3=own)
    assert [row["culprit"] for row in rows] == [M1]


def test_a_group_in_which_someone_has_to_give_up_first_has_no_idle_member(told):
    given = finished(0, 2, "orders-0, orders-1", "").rstrip("\n") + "\n"
    block = client(0, "c1", "Updating assignment with").replace(
        " (org",
        "\n\tAssigned partitions: [orders-0, orders-1]\n\tRevoked partitions (owned - assigned): [orders-2]\n (org",
    )
    assert "idle_members" not in told(c1=joined(0, "c1", 2) + given + block)[1]
    assert "idle_members" in told(c1=joined(0, "c1", 2) + given)[1]


def test_what_the_next_generation_gives_was_kept_back_before(told):
    first, then = finished(0, 2, "orders-0", ""), finished(3, 3, "orders-0", "orders-1")
    assert "idle_members" not in told(c1=joined(0, "c1", 2) + first + joined(3, "c1", 3) + then)[1]


def test_metadata_for_which_a_new_client_waits_are_no_change_of_topics(told):
    waits = native(
        0,
        "c1",
        "REJOIN",
        f'Group "{GROUP}" (re)joining in join-state wait-metadata with 0 assigned partition(s): Metadata for subscribed topic(s) has changed',
    )
    rows, findings = told(
        c1=waits
        + native(
            0,
            "c1",
            "REJOIN",
            f'Group "{GROUP}": Rejoining group without an assignment: Metadata for subscribed topic(s) has changed',
        )
    )
    assert "topic_changed" not in findings
    assert "metadata_changed" not in {row["trigger"] for row in rows}


def test_a_rebalance_of_which_no_line_tells_why_makes_no_wave_beside_one(told):
    def storm(first):
        text = bump(-2, 2, 77) if first else ""
        for turn in range(3):
            text += broker(
                20 * turn,
                f"[GroupId {GROUP}] Member {M1} joins the consumer group using the consumer protocol.",
            ) + bump(20 * turn, 2 * turn + 3, 77)
            text += broker(20 * turn + 10, f"[GroupId {GROUP}] Member {M1} left the consumer group.") + bump(
                20 * turn + 10, 2 * turn + 4, 77
            )
        return told(broker=text)[1]

    assert "rebalance_storm" not in storm(True)


def test_a_member_that_left_in_between_joins_later_than_what_its_leave_began(told):
    timeout = "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages."
    gone = client(10, "c1", timeout, "WARN") + client(14, "c1", "(Re-)joining group")
    rows, _ = told(c1=joined(0, "c1", 3) + gone + joined(16, "c1", 5))
    assert [(row["trigger"], row["before"], row["after"]) for row in rows][1:] == [("poll_timeout", None, 5)]
    assert rows[1]["duration_ms"] <= 2_000


def test_a_line_that_explains_an_epoch_explains_no_second_one(told):
    came = broker(0, f"[GroupId {GROUP}] Member {M1} joins the consumer group using the consumer protocol.")
    rows, _ = told(broker=bump(-9, 2, 77) + came + target(0.1, 3) + bump(0.2, 4, 77))
    assert [(row["trigger"], row["after"]) for row in rows] == [("unseen", 2), ("join", 3), ("unseen", 4)]
