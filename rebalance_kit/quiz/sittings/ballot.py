"""A learner's vote: a short code to paste into a chat, or a file in a shared folder.

A code is data with a digest that is made with the room's word, which a poll draws and the screen shows. A code of another
room, or one that was guessed, is refused. Who reads the code can read the vote: a poll is no exam. A drawn word cannot be
searched for from a code: ten of 31 letters, 2 to the power of 49, and 2 to the power of 14 digests per try make 63 bits of work.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from hmac import compare_digest
from pathlib import Path
from secrets import choice, token_hex

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.quiz.items.item import Choice, Item, Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import Answer, grade
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
