"""The account of the steps of a run, and what follows from an action.

Why: a plain account of the steps of a run, each with the rule of Kafka that caused it and where that rule stands.

What follows from an action, and the setting that decides how long it lasts, with the value that holds in the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.analysis.deliveries import TWICE
from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.simulation.scenario.scenario import ACTIONS
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.marks import told_action
from rebalance_kit.view.lab.tabs.explanations import (
    ACCOUNTS,
    ACKNOWLEDGES,
    FLOWS_AGAIN,
    FOLLOW_UP,
    RECORDS,
    REMOVED,
    follows_up,
    who_of,
)
from rebalance_kit.view.words.causes import places_words
from rebalance_kit.view.words.phrases import listing, seconds

Rule = Callable[[Boards, TraceRow], tuple[str, str]]
ELSE = ("This was done to the group; everything else follows from it.", "the scenario")
EXPIRY = "GroupMetadataManager.expireClassicGroupMemberHeartbeat, scheduleConsumerGroupSessionTimeout"


def action_rule(boards: Boards, row: TraceRow) -> tuple[str, str]:
    """The rule that decides what follows from an action and when, and where it stands."""
    rule = RULES.get(row.detail["do"])
    return ELSE if rule is None else rule(boards, row)


def _setting(boards: Boards, member: str | None, key: str) -> str:
    """``key (45.0 s)``: the member's value, else the default of its version."""
    version = str(boards.trace.meta.get("kafka_version", PREFERRED))
    value = CLIENT_KEYS[key].default(version)
    for row in boards.trace.of("process_started"):
        if member in {None, row.actor}:
            value = row.detail.get("configs", {}).get(key, value)
    return f"{key} ({seconds(int(value))})"


def _session(boards: Boards, row: TraceRow) -> str:
    name = row.detail["member"]
    protocol = boards.members[name].at(row.at_ms).protocol if name in boards.members else "classic"
    key = "group.consumer.session.timeout.ms" if protocol == "consumer" else "session.timeout.ms"
    return f"{key} ({seconds(boards.session_ms(name, protocol))})"


def _renewing(boards: Boards, row: TraceRow) -> str:
    """Requests of the member that renew its session."""
    name = row.detail["member"]
    consumer = name in boards.members and boards.members[name].at(row.at_ms).protocol == "consumer"
    return "heartbeat" if consumer else "heartbeat, JoinGroup, SyncGroup or commit"


def _silent(boards: Boards, row: TraceRow) -> tuple[str, str]:
    return (
        f"The coordinator is told nothing. It keeps the member and its partitions until {_session(boards, row)} has passed "
        f"since the last {_renewing(boards, row)} that arrived; that is how long this lasts.",
        EXPIRY,
    )


def _closed(boards: Boards, row: TraceRow) -> tuple[str, str]:
    state = (
        boards.members[row.detail["member"]].at(row.at_ms) if row.detail["member"] in boards.members else None
    )
    if state is not None and state.instance_id is not None:
        return (
            f"A static member is expected back, so its partitions wait for it until {_session(boards, row)} has passed.",
            "KIP-345",
        )
    return (
        "close() commits, runs the callback and tells the coordinator (LeaveGroup, or a heartbeat with epoch -1), so no "
        "session has to end; the others hear of it with their next heartbeat.",
        "AbstractCoordinator.maybeLeaveGroup, KIP-848",
    )


def _stalled(boards: Boards, row: TraceRow) -> tuple[str, str]:
    limit = _setting(boards, row.detail["member"], "max.poll.interval.ms")
    return (
        f"Heartbeats go on from a thread of their own. The member leaves once it has not called poll() for {limit}; a "
        "rebalance meanwhile waits for it.",
        "KIP-62; AbstractCoordinator.HeartbeatThread",
    )


def _metadata(boards: Boards, _row: TraceRow) -> tuple[str, str]:
    age = _setting(boards, None, "metadata.max.age.ms")
    return (
        f"Members of a classic group see it with their next metadata, at the latest after {age}; the coordinator of a "
        "KIP-848 group sees it at once.",
        "Metadata.timeToNextUpdate; GroupMetadataManager.onMetadataUpdate",
    )


def _started(boards: Boards, row: TraceRow) -> tuple[str, str]:
    beat = _setting(boards, row.detail["member"], "heartbeat.interval.ms")
    return (
        f"A process that starts has no member id and asks for one. The others hear of the rebalance with their next "
        f"heartbeat, at the latest after {beat}.",
        "KIP-394; AbstractCoordinator.sendHeartbeatRequest",
    )


def _later(boards: Boards, row: TraceRow) -> tuple[str, str]:
    limit = _setting(boards, row.detail["member"], "max.poll.interval.ms")
    return (
        f"Callbacks run inside poll() and only in a rebalance; a join phase waits for them for at most {limit}.",
        "ConsumerRebalanceListenerInvoker; ClassicGroup.rebalanceTimeoutMs",
    )


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(("crash", "freeze", "cut_network"), _silent),
        "close": _closed,
        **dict.fromkeys(("stall", "slow_down"), _stalled),
        **dict.fromkeys(("add_partitions", "create_topic", "delete_topic"), _metadata),
        **dict.fromkeys(("start", "restart", "reconfigure", "scale_to", "rolling_restart"), _started),
        "slow_callback": _later,
    }
)


TOGETHER_MS = 60
"""Steps of one kind that follow each other within this time are told as one."""
NAMED = 4
NAMED_AFTER = 2
"""So many members that do the same as the first are named, more are counted."""
LONG_COMMIT_MS = 1_000
RENEWING: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "classic": frozenset({"Heartbeat", "JoinGroup", "SyncGroup", "OffsetCommit"}),
        "consumer": frozenset({"ConsumerGroupHeartbeat"}),
    }
)
"""Requests whose arrival or answer begins the session of a member anew, by protocol of the group."""

SPLIT: Mapping[str, tuple[str, ...]] = {
    "callback_begin": ("callback assigned", "callback revoked", "callback lost"),
    "join_prepared": ("gives up all", "keeps all"),
    "member_reconciled": ("told to give up", "reconciled"),
    "rejoin_requested": ("rejoin_requested", "joins once more"),
}
"""Rows of one kind that are steps of several."""
STEP_KINDS = (
    *(f"action {do}" for do in ACTIONS),
    *(f"removed {how}" for how in REMOVED),
    *(kind for row in ACCOUNTS for kind in SPLIT.get(row, (row,))),
    *(kind for kind in RECORDS if ":" not in kind),
    "flows again",
)
"""Every kind of step that a run may have; a lesson's beat names one of them."""


class Step(NamedTuple):
    """A step of a run: its kind (``action crash``, ``callback revoked``, ``generation``), a sentence per member, the rule and its source."""

    at_ms: int
    kind: str
    sentences: tuple[str, ...]
    rule: str
    source: str

    @property
    def words(self) -> str:
        """The sentences as one text; above a handful the rest is counted."""
        return joined(self.sentences, NAMED)


def joined(sentences: tuple[str, ...], most: int) -> str:
    """Up to ``most`` sentences; of more the first, and how many follow.

    >>> joined(("C1 joins.", "C2 joins.", "C3 joins."), 1)
    'C1 joins. So do C2 and C3.'
    >>> joined(("C1 joins.", "C2 leaves.", "C3 joins."), 1)
    'C1 joins. So do 2 more.'
    """
    distinct = tuple(dict.fromkeys(sentences))
    if len(distinct) <= most:
        return " ".join(distinct)
    rest = [sentence.partition(" ") for sentence in distinct[1:]]
    alike = all(words == distinct[0].partition(" ")[2] for _, _, words in rest)
    named = alike and len(distinct) == len(sentences) and len(rest) <= NAMED_AFTER
    others = listing([name for name, _, _ in rest]) if named else f"{len(sentences) - 1} more"
    return f"{sentences[0]} So {'does' if len(sentences) == 2 else 'do'} {others}."


def why_entries(boards: Boards) -> list[list[object]]:
    """The account of a run as the page reads it: [ms, sentence, rule, source] a step."""
    return [[step.at_ms, step.words, step.rule, step.source] for step in steps(boards)]


def steps(boards: Boards) -> list[Step]:
    """The account of a run; what many members do at once is one step."""
    account: list[Step] = []
    for row in boards.trace.rows:
        step = _told(row, boards)
        if step is None:
            continue
        last = account[-1] if account else None
        if last and last.kind == step.kind and step.at_ms - last.at_ms <= TOGETHER_MS:
            account[-1] = last._replace(sentences=last.sentences + step.sentences)
        else:
            account.append(step)
    return sorted([*account, *_of_records(boards), *_flowing_again(boards)], key=lambda step: step.at_ms)


def _of_records(boards: Boards) -> Iterator[Step]:
    """Records that come twice or are skipped, a step per moment and kind."""
    for mark in boards.marks:
        if mark.kind in RECORDS:
            told = [
                each
                for each in boards.deliveries
                if (each.at_ms, each.kind, each.member) == (mark.at_ms, mark.kind, mark.member)
            ]
            by = "read" if mark.kind == TWICE else "passed over"
            words = f"{mark.words}: {places_words(told)}, {by} by {mark.member}."
            rule = RECORDS.get(f"{mark.kind}: {told[0].cause}", RECORDS[mark.kind])
            yield Step(mark.at_ms, mark.kind, (words,), *rule)


def _flowing_again(boards: Boards) -> Iterator[Step]:
    """The moments at which nothing is unread any more, with the unread partition-seconds since the last such moment."""
    edges = sorted(
        edge
        for gaps in boards.gaps.values()
        for gap in gaps
        for edge in ((gap.from_ms, 1, 0), (gap.to_ms, -1, gap.within(boards.watched_from_ms)))
    )
    unread = total_ms = 0
    for place, (at_ms, by, length_ms) in enumerate(edges):
        unread += by
        total_ms += length_ms
        together = place + 1 < len(edges) and edges[place + 1][0] == at_ms
        if unread == 0 and not together and at_ms < boards.end_ms:
            words = f"Every partition is read again, after {total_ms / 1000:,.1f} unread partition-seconds."
            yield Step(at_ms, "flows again", (words,), *FLOWS_AGAIN)
            total_ms = 0


def _told(row: TraceRow, boards: Boards) -> Step | None:
    if row.detail.get("group", boards.group_name) != boards.group_name:
        return None
    if row.kind == "member_removed":
        return _removed(row, boards)
    if row.kind == "action":
        words = told_action(boards.trace, row)
        return Step(row.at_ms, f"action {row.detail['do']}", (f"{words}.",), *action_rule(boards, row))
    account = FOLLOW_UP if follows_up(row) else ACCOUNTS.get(row.kind)
    sentence = account.say(row) if account is not None else None
    if account is None or sentence is None:
        return None
    if row.kind == "join_prepared":
        sentence += _committing(row, boards)
    rule = f"{account.rule} {ACKNOWLEDGES}" if _acknowledged(row, boards) else account.rule
    return Step(row.at_ms, _kind(row), (f"{sentence}.",), rule, account.source)


def _acknowledged(row: TraceRow, boards: Boards) -> bool:
    """Whether a KIP-848 member gives up partitions in this callback, of which the coordinator hears afterwards."""
    if row.kind != "callback_begin" or row.detail["callback"] != "revoked":
        return False
    return boards.members[row.actor].at(row.at_ms).protocol == "consumer"


def _removed(row: TraceRow, boards: Boards) -> Step:
    how = row.detail.get("how", "")
    words, rule, source = REMOVED.get(
        how, ("{who} was removed", "The coordinator took it out.", "GroupMetadataManager")
    )
    said = words.format(who=who_of(row), reason=row.detail.get("reason"))
    if how == "session":
        consumer, session = row.speaks() == "consumer", boards.session_ms(who_of(row), row.speaks())
        key = "group.consumer.session.timeout.ms" if consumer else "session.timeout.ms"
        renewing = "a heartbeat" if consumer else "a heartbeat, JoinGroup, SyncGroup or commit"
        rule = rule.format(renewing=renewing, timeout=f"{key} ({seconds(session)})")
        said += _renewed(row, boards, row.at_ms - session)
    return Step(row.at_ms, f"removed {how}", (f"{said}.",), rule, source)


def _renewed(row: TraceRow, boards: Boards, at_ms: int) -> str:
    """What the coordinator received or answered at ``at_ms``, from where the session was counted; empty where rows do not say."""
    for each in boards.trace.of("request", "response", "group_loaded"):
        if each.kind == "group_loaded" and each.at_ms == at_ms:
            return (
                f": sessions began anew at {seconds(at_ms)}, when a coordinator read the group from its log"
            )
        if each.member_id != row.member_id:
            continue
        came = each.detail.get("arrives_ms") if each.kind == "request" else each.at_ms
        if came == at_ms and each.detail["api"] in RENEWING[row.speaks()]:
            return f" ({seconds(row.at_ms - at_ms)} after its {each.detail['api']} at {seconds(at_ms)})"
    for each in boards.trace.of("generation"):
        if each.at_ms == at_ms and row.member_id in each.detail["members"]:
            return f" ({seconds(row.at_ms - at_ms)} after the join phase that it missed ended at {seconds(at_ms)}: every session began anew)"
    return ""


def _kind(row: TraceRow) -> str:
    """What is told together: rows of one kind, apart by what they do to partitions."""
    if row.kind == "callback_begin":
        return f"callback {row.detail['callback']}"
    if row.kind == "join_prepared":
        return "gives up all" if row.detail.get("revokes") else "keeps all"
    if row.kind == "member_reconciled":
        return "told to give up" if row.detail.get("pending_revocation") else "reconciled"
    return "joins once more" if follows_up(row) else row.kind


def _committing(row: TraceRow, boards: Boards) -> str:
    """How long the commit before the join lasts, where it is tried again and again."""
    later = (each for each in boards.trace.of("member_state", "process_ended", "callback_begin"))
    ended = next(
        (each.at_ms for each in later if each.actor == row.actor and each.at_ms > row.at_ms), boards.end_ms
    )
    if not row.detail.get("revokes") or ended - row.at_ms < LONG_COMMIT_MS:
        return ""
    return (
        f". Before that it commits, and for {seconds(ended - row.at_ms)} the commit fails and is tried again "
        "(at most max.poll.interval.ms): it sends no JoinGroup meanwhile"
    )
