"""A vote in a classroom: the poll, and each learner's ballot.

A vote in a classroom: vote, discuss with a neighbour, vote again, see what the discussion moved, hear the answer.

What a screen shows (``page``) has the number of votes and nothing of their split before ``show``, and nothing of the
key before ``reveal``. Every step is kept, so that a killed kernel comes back to it until the answer was revealed.

A learner's vote: a short code to paste into a chat, or a file in a shared folder.

A code is data with a digest that is made with the room's word, which a poll draws and the screen shows. A code of another
room, or one that was guessed, is refused. Who reads the code can read the vote: a poll is no exam. A drawn word cannot be
searched for from a code: ten of 31 letters, 2 to the power of 49, and 2 to the power of 14 digests per try make 63 bits of work.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from hmac import compare_digest
from pathlib import Path
from secrets import choice, token_hex
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Choice, Item, Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import Answer, grade, unanswered
from rebalance_kit.quiz.sittings.page import public, question_lines
from rebalance_kit.quiz.sittings.progress import Replay, replays
from rebalance_kit.quiz.sittings.store import Store

VERSION = "rkv2"
ROUNDS = (1, 2)
SUFFIX = ".vote"
ROOM = re.compile(r"[0-9A-Za-z-]{1,20}")
"""A room's word: what a poll draws, or an instructor chooses."""
_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"
_DRAWN = 10
_DIGESTS_PER_TRY = 2**14
LONGEST = 300
CODE = re.compile(rf"\b{VERSION}\.[0-9a-f]{{10}}\.[A-Za-z0-9_-]{{1,{LONGEST}}}")
VOTER = re.compile(r"[0-9a-f]{4,16}")


@dataclass(frozen=True, slots=True)
class Ballot:
    """One vote: for which question (``item`` or ``item~seed``), in which round (1, or 2 after the discussion), whose, what."""

    poll: str
    round: int
    voter: str
    answer: str


def asked_in_poll(item: Item, seed: int, book: RunBook | None = None) -> Choice:
    """The question of a poll; raises ``DataError`` for a kind without one right option to vote for."""
    variant: Question = question(item, seed, book)
    if not isinstance(variant, Choice) or variant.many:
        raise DataError(
            f"{item.head.id} is of the kind {variant.kind}; expected a question with one right option (single, log or picture)"
        )
    return variant


def cast(question: Choice, answer: Answer, voter: str, *, again: bool = False) -> Ballot:
    """A vote for an option, in the second round with ``again``; tells nothing of right or wrong. Raises ``DataError``."""
    (option,) = grade(question, answer).given
    return Ballot(question.head.id, 2 if again else 1, voter, option)


def voter_of(store: Store) -> str:
    """The learner's own voter number, drawn once and kept: both votes of one learner carry it, no name does."""
    voter = store.kept("voter").get("me", {}).get("id")
    if isinstance(voter, str) and VOTER.fullmatch(voter):
        return voter
    drawn = token_hex(4)
    store.keep("voter", "me", {"id": drawn})
    return drawn


def draw_room() -> str:
    """A word for the polls of a session, short enough to type and, with the work of each try, long enough not to be searched for."""
    return "".join(choice(_LETTERS) for _ in range(_DRAWN))


def known_room(room: str) -> str:
    """The room's word as it was given; raises ``DataError`` for one that no poll can have."""
    if not ROOM.fullmatch(room):
        raise DataError(f"room {room[:40]!r} received, expected 1 to 20 letters, digits or dashes")
    return room


def write_code(ballot: Ballot, room: str) -> str:
    """The vote as a code of letters, digits, dots and dashes, bound to the room's word.

    >>> read_code(write_code(Ballot("eager-crash", 1, "0a1b2c3d", "b"), "k2m4p"), "k2m4p").answer
    'b'
    """
    plain = f"{ballot.poll}/{ballot.round}/{ballot.voter}/{ballot.answer}"
    packed = base64.urlsafe_b64encode(plain.encode()).rstrip(b"=").decode("ascii")
    return f"{VERSION}.{_digest(packed, room)}.{packed}"


def read_code(code: str, room: str) -> Ballot:
    """The vote that a code of this room holds; raises ``DataError`` for any other, without a word of the vote in it."""
    if not CODE.fullmatch(code):
        raise DataError(f"{code[:24]!r} is no vote; expected {VERSION}, a digest and data, with dots between")
    _, digest, packed = code.split(".")
    if not compare_digest(_digest(packed, room), digest):
        raise DataError(
            f"the vote {code[:15]}… is damaged or of another room; expected the whole code of a Vote with the room on the screen"
        )
    try:
        plain = base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=b"-_", validate=True).decode()
        poll, number, voter, answer = plain.split("/")
    except (binascii.Error, ValueError) as error:
        raise DataError(f"the vote {code[:15]}… holds no vote; expected one made by Vote") from error
    if number not in {"1", "2"} or not VOTER.fullmatch(voter) or not 0 < len(answer) <= 4:
        raise DataError(f"the vote {code[:15]}… holds no vote; expected one made by Vote")
    return Ballot(poll, int(number), voter, answer)


def _digest(packed: str, room: str) -> str:
    return hashlib.blake2b(packed.encode("ascii"), digest_size=5, key=_key(room)).hexdigest()


@lru_cache(maxsize=256)
def _key(room: str) -> bytes:
    """The key of a room's codes, slow to make so that words are slow to try."""
    key = room.encode("ascii")
    for _ in range(_DIGESTS_PER_TRY):
        key = hashlib.blake2b(key, digest_size=32, person=b"rebalance-kit").digest()
    return key


def write_file(ballot: Ballot, room: str, folder: str | Path) -> Path:
    """Put the vote into a shared folder, in place of an earlier one of the same round; raises ``DataError``."""
    name = f"{re.sub('[^a-z0-9-]', '-', ballot.poll)}-{ballot.voter}-{ballot.round}{SUFFIX}"
    target = Path(folder) / name
    return write_atomically(
        target, write_code(ballot, room) + "\n", "a folder that is shared with the instructor"
    )


STEPS = ("vote", "discuss", "revote", "closed")
"""Where a poll is: the first round is open, closed for the discussion, the second is open, closed."""
MOST_TEXT = 1_000_000
MOST_FILES = 2000
MOST_VOTERS = 1000
"""Voters of one round; a room has fewer, and a flood of made-up ones more."""
SESSION_S = 12 * 3600
"""Seconds for which one room word holds: a day of teaching, and not the evening before it."""
LARGEST_FILE = 2000
MOST_TOLD = 5


def session_room(store: Store, *, new: bool = False, now_s: float | None = None) -> str:
    """The room word of this session: one for all polls of a day, drawn anew after twelve hours or when asked."""
    now = time.time() if now_s is None else now_s
    kept = store.kept("room").get("session", {})
    room, since = kept.get("room"), kept.get("since")
    if not new and isinstance(room, str) and isinstance(since, int | float) and 0 <= now - since < SESSION_S:
        return room
    room = draw_room()
    store.keep("room", "session", {"room": room, "since": now})
    return room


class PollCount:
    """One question put to a room. ``item`` is an id of the bank; raises ``DataError`` for one without options to vote for.

    ``room`` is the word that votes have to carry: that of the session, unless the instructor names one. Votes of another
    session, such as the trial of the evening before, are forgotten.
    """

    def __init__(
        self,
        item: str,
        seed: int = 1,
        *,
        store: Store | None = None,
        folder: str | Path | None = None,
        bank: Bank | None = None,
        room: str | None = None,
    ) -> None:
        self._named_room = None if room is None else known_room(room)
        self.item = (bank or read_bank()).item(item)
        self.seed = seed
        self.folder = None if folder is None else Path(folder)
        self._book = RunBook()
        self.asked = asked_in_poll(self.item, seed, self._book)
        self._store = Store.given(store)
        self._refused: list[str] = []
        self._shown = False
        self._begin(self._store.kept("poll").get(self.asked.head.id, {}))
        self._keep()

    def _begin(self, state: Mapping[str, Any]) -> None:
        """Go on with what was kept, or begin when nothing fits."""
        options = {option.id for option in self.asked.options}
        self._votes: dict[int, dict[str, str]] = {number: {} for number in ROUNDS}
        self._hands: dict[int, dict[str, int]] = {number: {} for number in ROUNDS}
        self._roads: dict[int, dict[str, str]] = {number: {} for number in ROUNDS}
        self._revealed = False
        self.room = self._named_room or session_room(self._store)
        if state.get("room") != self.room:
            state = {}
        step = str(state.get("step"))
        self._step = step if not state.get("revealed") and step in STEPS else STEPS[0]
        if state.get("revealed"):
            return
        for number in ROUNDS:
            votes = state.get("votes", {}).get(str(number), {})
            self._votes[number] = {str(who): what for who, what in votes.items() if what in options}
            roads = state.get("roads", {}).get(str(number), {})
            self._roads[number] = {who: str(roads.get(who, "")) for who in self._votes[number]}
            hands = state.get("hands", {}).get(str(number), {})
            self._hands[number] = {what: int(many) for what, many in hands.items() if what in options}

    def _keep(self) -> None:
        state = {
            "step": self._step,
            "revealed": self._revealed,
            "votes": self._votes,
            "roads": self._roads,
            "hands": self._hands,
            "room": self.room,
        }
        self._store.keep("poll", self.asked.head.id, state)

    # --- votes -------------------------------------------------------------------------------
    @property
    def round(self) -> int:
        """1, or 2 from the second vote on."""
        return 1 if STEPS.index(self._step) < 2 else 2

    @property
    def is_open(self) -> bool:
        """Whether votes are taken now."""
        return self._step in {"vote", "revote"}

    def take(self, text: str) -> int:
        """Count the codes in a pasted text and return how many were taken; ``refused`` says why others were not.

        A learner's later vote of a round replaces the earlier one that came the same way.
        """
        if len(text) > MOST_TEXT:
            raise DataError(f"a text of {len(text)} characters received, expected at most {MOST_TEXT}")
        codes = CODE.findall(text)
        self._refused = (
            [] if codes or not text.strip() else ["no code in it; expected codes that begin with rkv2"]
        )
        taken = sum(self._count(code, "pasted") for code in codes)
        self._keep()
        return taken

    def collect(self) -> int:
        """Count the votes in the shared folder and return how many there are; raises ``DataError`` without a folder."""
        if self.folder is None:
            raise DataError("no folder to collect from; expected Poll(..., folder=...)")
        self._refused = []
        taken = sum(self._count(code, "folder") for code in self._files())
        self._keep()
        return taken

    def _files(self) -> Iterator[str]:
        assert self.folder is not None
        try:
            files = sorted(file for file in self.folder.iterdir() if file.suffix == SUFFIX and file.is_file())
        except OSError as error:
            raise DataError(
                f"{self.folder}: cannot be read ({error.strerror}); expected a folder of votes"
            ) from error
        for file in files[:MOST_FILES]:
            try:
                with file.open(encoding="ascii") as stream:
                    yield from CODE.findall(stream.read(LARGEST_FILE))
            except (OSError, UnicodeDecodeError):
                self._refused.append(f"{file.name[:60]} cannot be read")

    def _count(self, code: str, road: str) -> bool:
        """Take one vote, or remember why not; the reason never tells what was voted."""
        try:
            self._enter(read_code(code, self.room), road)
        except DataError as error:
            self._refused.append(str(error))
            return False
        return True

    def vote_of(self, voter: str) -> str | None:
        """The option that a voter chose in this round, for the voter's own page; None without one."""
        return self._votes[self.round].get(voter)

    def enter(self, ballot: Ballot, road: str) -> None:
        """Count one vote that came by ``road``; raises ``DataError`` where it cannot count, without a word of what was voted."""
        self._enter(ballot, road)
        self._keep()

    def _enter(self, ballot: Ballot, road: str) -> None:
        self._admit(ballot, road)
        self._votes[ballot.round][ballot.voter] = ballot.answer
        self._roads[ballot.round][ballot.voter] = road

    def _admit(self, ballot: Ballot, road: str) -> None:
        if ballot.poll != self.asked.head.id:
            raise DataError(f"a vote for {ballot.poll[:60]} received, expected one for {self.asked.head.id}")
        if ballot.answer not in {option.id for option in self.asked.options}:
            raise DataError(f"the vote of {ballot.voter} names no option of this question")
        if self._votes[ballot.round].get(ballot.voter) == ballot.answer:
            return  # read from the folder once more
        if ballot.round != self.round or not self.is_open:
            which = "the first vote" if ballot.round == 1 else "the vote after the discussion"
            raise DataError(f"the vote of {ballot.voter} is of {which}, which is not open")
        first = self._roads[ballot.round].get(ballot.voter)
        if first not in {None, road}:
            raise DataError(f"the vote of {ballot.voter} came another way before ({first}); that one counts")
        if first is None and len(self._votes[ballot.round]) >= MOST_VOTERS:
            raise DataError(f"{MOST_VOTERS:,} have voted; no further voter counts")

    def hands(self, **counts: int) -> None:
        """Raised hands, where no codes can be sent: ``poll.hands(a=4, b=11)``. Replaces the hands of this round."""
        ids = [option.id for option in self.asked.options]
        if not set(counts) <= set(ids) or not all(_is_count(number) for number in counts.values()):
            raise DataError(f"hands {counts!r} received, expected numbers from 0 on for {', '.join(ids)}")
        if not self.is_open:
            raise DataError("no vote is open; expected revote() first")
        self._hands[self.round] = dict(counts)
        self._keep()

    @property
    def refused(self) -> tuple[str, ...]:
        """Why codes of the last text or folder were not taken."""
        return tuple(self._refused)

    # --- steps -------------------------------------------------------------------------------
    def end_round(self) -> None:
        """End the round that is open; the first is followed by the discussion. Files that lie in the folder still count."""
        if not self.is_open:
            return
        if self.folder is not None:
            self.collect()
        self._step = STEPS[STEPS.index(self._step) + 1]
        self._keep()

    def revote(self) -> None:
        """Open the second round; the split of the first is hidden again."""
        if self._step == "vote":
            self.end_round()
        if self._step != "discuss":
            raise DataError("the second vote is open or over; expected a poll in its first round")
        self._step, self._shown = "revote", False
        self._keep()

    def show(self) -> None:
        """Let the screen show the split; the round that is open ends, so that nobody follows the crowd."""
        self.end_round()
        self._shown = True

    def reveal(self) -> None:
        """Let the screen show split, key and reasons. The poll is over; the next ``PollCount`` of this question is a new one."""
        self.end_round()
        self._step, self._shown, self._revealed = "closed", True, True
        self._keep()

    def restart(self) -> None:
        """Forget all votes and begin anew."""
        self._shown = False
        self._begin({})
        self._keep()

    # --- what came of it ---------------------------------------------------------------------
    def counts(self, number: int) -> dict[str, int]:
        """Votes an option in a round, hands included."""
        cast = Counter(self._votes[number].values())
        return {
            option.id: cast[option.id] + self._hands[number].get(option.id, 0)
            for option in self.asked.options
        }

    def moves(self) -> dict[tuple[str, str], int]:
        """How many went from one option to another between the rounds; hands have no name and are left out."""
        both = sorted(self._votes[1].keys() & self._votes[2].keys())
        changes = Counter((self._votes[1][who], self._votes[2][who]) for who in both)
        return dict(sorted(changes.items()))

    def replays(self) -> tuple[Replay, ...]:
        """The runs that decide the question, once it is revealed."""
        return replays(self.item, self.seed, self._book) if self._revealed else ()

    def page(self) -> dict[str, Any]:
        """The projected screen as plain JSON."""
        shown: dict[str, Any] = {
            "question": public(self.asked),
            "step": self._step,
            "round": self.round,
            "votes": sum(self.counts(self.round).values()),
            "before": sum(self.counts(1).values()),
            "call": f'import rebalance_kit as rk; rk.Vote("{self.item.head.id}"{f", {self.seed}" if self.seed != 1 else ""}, room="{self.room}")',
            "folder": str(self.folder or ""),
            "refused": list(self._refused[:MOST_TOLD]),
            "refused_more": max(0, len(self._refused) - MOST_TOLD),
            "notice": self._store.notice or "",
            "shown": self._shown,
            "revealed": self._revealed,
        }
        if self._shown:
            shown["split"] = [self.counts(number) for number in ROUNDS[: self.round]]
            shown["moves"] = [[first, second, many] for (first, second), many in self.moves().items()]
        if self._revealed:
            shown["verdict"] = asdict(unanswered(self.asked))
            shown["replays"] = [replay.name for replay in self.replays()]
        return shown

    def text(self) -> str:
        """The poll in words, with no more than the screen shows."""
        page = self.page()
        lines = [*question_lines(self.asked, 1), f"{_SAID[self._step]} {page['votes']} votes."]
        if self._shown:
            lines += shift_lines(self.counts(1), self.counts(2) if self.round == 2 else None, self.moves())
        return "\n".join([*lines, str(unanswered(self.asked))] if self._revealed else lines)


def _is_count(number: object) -> bool:
    """Whether a notebook's argument is a number of hands, whatever its annotation promises."""
    return isinstance(number, int) and number >= 0


_SAID = {
    "vote": "The first vote is open:",
    "discuss": "Discuss. The first vote had",
    "revote": "The second vote is open:",
    "closed": "The vote is over:",
}


def shift_lines(
    before: Mapping[str, int], after: Mapping[str, int] | None, moves: Mapping[tuple[str, str], int]
) -> list[str]:
    r"""The shift chart in characters: a bar per round and option, then who moved where.

    >>> print(*shift_lines({"a": 3, "b": 1}, {"a": 0, "b": 4}, {("a", "b"): 3}), sep="\n")
    a  before ###    3
       after         0
    b  before #      1
       after  ####   4
    3 went from a to b
    """
    most = max([*before.values(), *(after or {}).values(), 1])
    unit = max(1.0, most / 40)
    wide = round(most / unit)
    rows = []
    for option, number in before.items():
        rows.append(f"{option}  before {'#' * round(number / unit):<{wide}} {number:>3}")
        if after is not None:
            rows.append(f"   after  {'#' * round(after[option] / unit):<{wide}} {after[option]:>3}")
    return rows + [
        f"{many} went from {first} to {second}" for (first, second), many in moves.items() if first != second
    ]
