"""Rules of the exam's form: four options, premises that the stem names, at most two items per fact, plain words.

Each rule is a function from the bank's items to problems, as in ``lint``; docs/items.md tells why it exists.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.item import Choice, Drawn, Generated, Item, Matching, Ordering
from rebalance_kit.quiz.items.reading import Problem

OPTIONS = 4
"""Options of a single-choice item; another number needs the item's own reason (``options_note``)."""
PER_FACT = 2
"""Items of one kind that may ask one fact."""
FEW_PROMPTS = 2
"""Prompts of a matching item that may be answered in the order of its options."""

PROTOCOL_TAGS = frozenset(
    "assignors callbacks clocks comparison consumer cooperative crash-cost eager eager-costs kip-848 migration static "
    "three-protocols timeouts triggers".split()
)
"""Themes in which the answer differs between the protocols."""
CLIENT_TAGS = frozenset("callbacks clocks librdkafka timeouts".split())
"""Themes in which Java and librdkafka differ."""

_NAMES_PROTOCOL = re.compile(
    r"\b([Cc]lassic|eager|cooperative|KIP-(848|932|1071)|share groups?|streams groups?|(rebalance|group) protocols?"
    r"|group\.protocol|group\.consumer|\w*Assignor|cooperative-sticky|JoinGroup|SyncGroup|[Gg]eneration|MockConsumer"
    r"|PreparingRebalance|Connect|Streams|sink|SubscriptionPattern|assign\(\)|heartbeat\.interval\.ms|[Rr]ange)"
)
_DEFAULT_JAVA = re.compile(r"\bJava\b.*\bdefault\b|\bdefault\b.*\bJava\b", re.DOTALL)
"""Java clients with default settings run the classic protocol with range: whoever is asked has to know that."""
_NAMES_CLIENT = re.compile(
    r"\b(Java|JVM|librdkafka|Python|MockConsumer|Connect|Streams|coordinator|broker|ConsumerRebalanceListener|onPartitions\w+|KafkaConsumer|kafka-consumer-groups)\b"
)
_NAMES_VERSION = re.compile(r"\b\d\.\d+\b")
_RELEASE_RANGE = re.compile(r"^\d+\.\d+-\d+\.\d+$")

_FABLE = re.compile(
    r"\b(thrown? out|throws? (?:it|them|one|members?) out|kicked|goodbye|d(?:ies|ied) of|deals? \w+ out|dealt out|deals out|in peace|for ever"
    r"|seldom|taken? out|takes? (?:it|them) out|shares? out|shared out|stranger|good standing|anew|at its ease)\b",
    re.IGNORECASE,
)
_FOR_BECAUSE = re.compile(
    r", for (?:it|they|he|she|there|this|that|the|an?) (?:\w+ ){0,3}(?:is|are|was|were|has|have|had|does|do|can|will)\b"
)


def option_counts(items: Sequence[Item]) -> Iterator[Problem]:
    """A single-choice item has four options, or says why not."""
    for item in items:
        number = 0
        if isinstance(item, Choice) and not item.many:
            number = len(item.options)
        elif isinstance(item, Generated) and item.form == "single":
            number = len(item.distractors) + 1
        if number and number != OPTIONS and not item.head.options_note:
            yield _problem(item, "options", f"{number} options, expected {OPTIONS} or an options_note")


def pairs_in_order(items: Sequence[Item]) -> Iterator[Problem]:
    """Answers of a matching item do not stand in the order of its prompts; two prompts may."""
    for item in items:
        if isinstance(item, Matching) and len(item.prompts) > FEW_PROMPTS:
            keys = [prompt.key for prompt in item.prompts]
            if keys == [letter for letter, _ in item.options][: len(keys)]:
                yield _problem(
                    item,
                    "pairs",
                    f"the options stand in the order of the prompts ({' '.join(keys)}), expected another order",
                )


def premises(items: Sequence[Item]) -> Iterator[Problem]:
    """Protocol, client and version stand in the question where the theme makes them matter."""
    for item in items:
        text, tags = question_text(item), set(item.head.tags)
        if tags & PROTOCOL_TAGS and not (_NAMES_PROTOCOL.search(text) or _DEFAULT_JAVA.search(text)):
            yield from _premise(item, "protocol", "classic, eager, cooperative, KIP-848 or an assignor")
        if tags & CLIENT_TAGS and not _NAMES_CLIENT.search(text):
            yield from _premise(item, "client", "Java or librdkafka")
        by_version = "versions" in tags or bool(_RELEASE_RANGE.match(item.head.versions))
        if by_version and not _NAMES_VERSION.search(text):
            yield from _premise(item, "version", f"a release of {item.head.versions}")


def _premise(item: Item, premise: str, wanted: str) -> Iterator[Problem]:
    if premise not in item.head.regardless:
        yield _problem(
            item,
            "premise",
            f"the stem names no {premise}, expected {wanted}, or regardless: [{premise}] where it changes nothing",
        )


def facts(items: Sequence[Item]) -> Iterator[Problem]:
    """No fact is asked by more than two items of one kind, and enemies are items of these files or of the kit's own bank."""
    known = {item.head.id for item in items}
    if any(enemy not in known for item in items for enemy in item.head.enemies):
        known |= {item.head.id for item in read_bank().items}
    asked: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        asked[item.head.fact or item.head.id, item.kind].append(item)
        for enemy in item.head.enemies:
            if enemy not in known:
                yield _problem(item, "fact", f"the enemy {enemy} is no item, expected an id of the bank")
    for (fact, kind), group in asked.items():
        for item in group[PER_FACT:]:
            yield _problem(
                item,
                "fact",
                f"{len(group)} items of kind {kind} ask {fact}, expected at most {PER_FACT}: {', '.join(each.head.id for each in group)}",
            )


def evidence(items: Sequence[Item]) -> Iterator[Problem]:
    """A diagnose item shows what is diagnosed: lines, a table, code or a picture."""
    for item in items:
        if item.head.difficulty == "diagnose" and item.head.exhibit is None and not isinstance(item, Drawn):
            yield _problem(
                item, "evidence", "no exhibit, expected evidence to diagnose, or another difficulty"
            )


def vocabulary(items: Sequence[Item]) -> Iterator[Problem]:
    """The words of the field: no fable words, and *because* instead of *for*."""
    for item in items:
        text = question_text(item) + " " + " ".join(_reasons(item))
        for rule in (_FABLE, _FOR_BECAUSE):
            if word := rule.search(text):
                yield _problem(
                    item,
                    "vocabulary",
                    f"{text[max(0, word.start() - 25) : word.end() + 15]!r}: {word[0]!r} received, expected the field's own words",
                )


def question_text(item: Item) -> str:
    """What a learner reads before answering: stem, written exhibit, options, prompts, steps."""
    parts = [item.head.stem, item.head.exhibit if isinstance(item.head.exhibit, str) else ""]
    if isinstance(item, Choice):
        parts += [option.text for option in item.options]
    elif isinstance(item, Matching):
        parts += [prompt.text for prompt in item.prompts] + [text for _, text in item.options]
    elif isinstance(item, Ordering):
        parts += [step.text for step in item.steps]
    return "\n".join(parts)


def _reasons(item: Item) -> list[str]:
    if isinstance(item, Choice):
        return [option.why for option in item.options]
    if isinstance(item, Drawn):
        return [mark.why for mark in item.marks] + [item.other]
    if isinstance(item, Matching):
        return [prompt.why for prompt in item.prompts]
    if isinstance(item, Generated):
        return [made.why for made in (item.key, *item.distractors)]
    steps = [step.why for step in item.steps] if isinstance(item, Ordering) else []
    return [item.why, *steps, *(wrong.why for wrong in item.wrong)]


def _problem(item: Item, rule: str, message: str) -> Problem:
    return Problem(item.head.where, rule, message, item.head.id)
