"""The cause of a rebalance: its trigger as a sentence, with what else is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.triggers import sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.history.rebalance import Rebalance

_RESTARTING = ": no topic was changed, but a broker was starting and its metadata were not yet whole"


class Causes:
    """Puts causes into words, one rebalance after the other; remembers who caused or joined one before, and when last."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str], int] = {}

    def name(self, rebalances: Iterable[Rebalance]) -> None:
        """Add ``cause``."""
        for row in rebalances:
            waited = ""
            if row.waited_for is not None:
                waited = f"; everybody waited {(row.waited_ms or 0) / 1000:,.1f} s for {row.waited_for}"
            known_by = _known_by(row)
            more = _more(row, again=not row.shares_name and not self._seen.keys().isdisjoint(known_by))
            told = row.known if row.trigger == "unseen" else None
            if row.trigger == "unseen" and row.only_its_end and told is None:
                told = "who began it stands before these lines"
            row.cause = (
                (told or sentence(row.trigger, row.named or row.culprit)) + more + _meanwhile(row) + waited
            )
            self._seen.update(dict.fromkeys(known_by | _joined_with(row), row.start_ms))

    def forget(self, before_ms: int) -> None:
        """Forget who caused and joined none since."""
        self._seen = {key: at_ms for key, at_ms in self._seen.items() if at_ms >= before_ms}


def _known_by(row: Rebalance) -> set[tuple[str, str]]:
    """What makes its culprit the same as an earlier one: the name, where a coordinator tells it; else name and file."""
    if row.culprit is None:
        return set()
    return {(row.culprit, "" if row.culprit_member is not None else row.file)}


def _joined_with(row: Rebalance) -> set[tuple[str, str]]:
    """Who joined in the same rebalance, where a coordinator tells it."""
    return {(name, "") for name in row.joined} if row.culprit_member is not None else set()


def _more(row: Rebalance, *, again: bool) -> str:
    if row.only_its_end:
        return f"; it ended here at {'epoch' if row.protocol == 'consumer' else 'generation'} {row.after}, and its beginning is not in these logs"
    if row.trigger == "session_expired" and row.stalled:
        return "; it had exceeded max.poll.interval.ms"
    if row.words is not None:
        return row.words
    if row.topics is not None:
        return f": {row.topics}"
    if row.restarting:
        return _RESTARTING
    if row.trigger == "enforced" and row.said is not None and row.said != "rebalance enforced by user":
        return f": {row.said}"
    return " again" if row.trigger == "join" and again else ""


def _meanwhile(row: Rebalance) -> str:
    """Who else joined, left, expired or subscribed anew in the same rebalance, in words; empty for nobody."""
    told = []
    for names, verb in ((row.joined, "joined"), (row.left, "left"), (row.expired, "expired")):
        others = [name for name in names if name != (row.culprit or "")]
        if others:
            told.append(f"{', '.join(others)} {verb} meanwhile")
    if row.resubscribed:
        told.append(f"{', '.join(row.resubscribed)} changed its subscription meanwhile")
    fates = "".join(f"; {lost.name}: {(lost.words or '')[2:]}" for lost in row.others)
    return (f"; {', '.join(told)}" if told else "") + fates
