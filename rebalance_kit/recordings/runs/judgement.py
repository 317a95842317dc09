"""Judge what the pipeline says of a recorded run by what was done in it (``run.json``).

Every expectation of ``expected`` must be met, with the member that it was done to; and nobody may be
blamed for what nobody did.
"""

from __future__ import annotations

from typing import Any

from rebalance_kit.recordings.runs.expected import Expected, expectations

#: What blames the topics: none of these may be said of a run in which no topic and no broker changed.
_BLAMING_TOPICS = {"metadata_changed", "regex_changed", "subscription_changed"}

#: Rebalances that a member began by coming or going; only they may name others beside their cause.
_COMINGS_AND_GOINGS = {"join", "leave", "poll_timeout", "session_expired", "admin_removal", "follow_up"}

#: What blames somebody: none of these may name a member to whom nothing was done.
_BLAMING = {
    "session_expired",
    "poll_timeout",
    "admin_removal",
    "enforced",
    "rebalance_timeout",
    "sync_timeout",
}

#: How a trigger shows beside another cause: the list of a rebalance that names the member.
_BESIDE = {"join": "joined", "leave": "left", "session_expired": "expired", "poll_timeout": "left"}

#: Steps that may make a member miss its session, be removed or be late.
_HARM = {"kill", "freeze", "tell", "admin"}

#: Clocks of a coordinator and of the steps agree this closely.
_EARLY_MS = 100


def judge(run: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """What is wrong in a record (one JSON line of the pipeline) about a run; empty when all is right.

    A rebalance answers for one step only, and only for one before it.
    """
    expected = expectations(run)
    wrong = _unmet(expected, record)
    said = [(row["trigger"], row["culprit"]) for row in record["rebalances"]]
    harmed = {step.get("member") for step in run["steps"] if step["do"] in _HARM}
    harmed |= {one.who for one in expected}
    wrong += [f"nobody did {word} to {who}" for word, who in said if word in _BLAMING and who not in harmed]
    # A broker that comes up may show its members less than all topics for a moment.
    changed = any(set(one.answers) & (_BLAMING_TOPICS | {"coordinator_lost"}) for one in expected)
    changed = changed or any(step.get("line", "").startswith("subscribe") for step in run["steps"])
    wrong += [f"no topic changed, but: {word}" for word, _ in said if word in _BLAMING_TOPICS and not changed]
    wrong += [f"{word} explains nothing" for word, _ in said if word in {None, "other"}]
    return wrong + _wrong_fates(run, record)


def _unmet(expected: list[Expected], record: dict[str, Any]) -> list[str]:
    unused = list(record["rebalances"])
    findings = [(row["finding"], row["who"]) for row in record["findings"]]
    wrong = []
    for one in expected:
        hit = next((row for row in unused if _answers(one, row)), None)
        if hit is not None:
            unused.remove(hit)
        elif not any(word in one.answers and one.who in {None, who} for word, who in findings) and not _aside(
            one, record
        ):
            wrong.append(f"{one.step}: expected {'/'.join(one.answers)} by {one.who}")
    return wrong


def _wrong_fates(run: dict[str, Any], record: dict[str, Any]) -> list[str]:
    """Expiries whose fate (frozen, died) is not what was done to the member last before."""
    wrong = []
    for row in record["rebalances"]:
        if row["trigger"] != "session_expired" or row.get("fate") not in {"frozen", "restarted", "gone"}:
            continue
        done = [
            step["do"]
            for step in run["steps"]
            if step.get("member") == row["culprit"]
            and step["do"] in {"kill", "freeze"}
            and step["t"] <= row["start_ms"] + _EARLY_MS
        ]
        was_frozen = row["fate"] == "frozen"
        if done and was_frozen != (done[-1] == "freeze") and "freeze" not in done:
            wrong.append(f"{row['culprit']} suffered {done[-1]}, but is called {row['fate']}")
    return wrong


def _answers(one: Expected, row: dict[str, Any]) -> bool:
    return (
        row["trigger"] in one.answers
        and one.who in {None, row["culprit"]}
        and row["start_ms"] >= one.at_ms - _EARLY_MS
    )


def _aside(one: Expected, record: dict[str, Any]) -> bool:
    """Whether a rebalance that somebody else began names the member beside its cause, as it should."""
    lists = [_BESIDE[answer] for answer in one.answers if answer in _BESIDE]
    return any(
        one.who in (row[name] or ()) and (row["end_ms"] or row["start_ms"]) >= one.at_ms - _EARLY_MS
        for row in record["rebalances"]
        if row["trigger"] in _COMINGS_AND_GOINGS
        for name in lists
    )
