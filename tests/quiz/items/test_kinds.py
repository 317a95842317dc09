"""Kinds of items beyond choice and number: reading, grading, drawing from runs, and what the check finds in them."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import home, read_beliefs
from rebalance_kit.quiz.items.item import Choice, GanttChart, Matching, Ordering, PictureRow, Short
from rebalance_kit.quiz.items.reading import Context, read_items
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.proof.verify import contradictions
from rebalance_kit.quiz.sittings.grade import grade
from rebalance_kit.quiz.sittings.page import picture_lines, public, question_lines, shuffled

HEAD = """\
items:
  - id: an-item
    kind: {kind}
    tags: [t]
    topics: [A3]
    objective: An objective of some length
    domains: [CCDAK Fundamentals]
    versions: 2.4+
    difficulty: apply
    stem: A stem that is long enough to be one?
    source: [KIP-429]
"""
CRASH = "{scenario: crash, protocol: eager}"
WHY = "why: Because the rule says so and no other."
SHORT = (
    HEAD.format(kind="short")
    + f"""\
    accept: [UNKNOWN_MEMBER_ID]
    {WHY}
    wrong:
      - {{text: ILLEGAL_GENERATION, misconception: commit-failed-retry, why: It is another error of the group.}}
      - {{text: NOT_COORDINATOR, misconception: kip848-is-instant, why: It is an error about the broker.}}
    verify: {{runs: {{run: {CRASH}}}, value: removed("consumer-2")}}
"""
)
MATCHING = (
    HEAD.format(kind="matching")
    + f"""\
    options: [{{id: a, text: "4"}}, {{id: b, text: "12"}}]
    prompts:
      - {{text: eager, key: b, why: An eager survivor gives up its own., beliefs: {{a: cooperative-is-default}}}}
      - {{text: cooperative, key: a, why: A cooperative one reads on.}}
    verify:
      runs: {{e: {CRASH}, c: {{scenario: crash, protocol: cooperative}}}}
      claims: {{1: count(e.unread()), 2: count(c.unread())}}
"""
)
ORDERING = (
    HEAD.format(kind="ordering")
    + f"""\
    steps:
      - {{id: c, text: it stops, why: The kill comes before everything else.}}
      - {{id: a, text: it is removed, why: Its session has to run out first.}}
      - {{id: b, text: it is replaced, why: Another member reads its partitions.}}
    {WHY}
    wrong: [{{order: [a, c, b], misconception: crash-is-noticed-at-once, why: Nobody notices the kill at once.}}]
    verify:
      runs: {{run: {CRASH}}}
      claims: {{c: first_ms("fetch_stopped"), a: removed_ms("consumer-2"), b: first_ms("fetch_resumed")}}
"""
)
LOG = (
    HEAD.format(kind="log")
    + f"""\
    exhibit: {{run: {CRASH}, show: broker, since: 31s}}
    other: This line is a consequence of another one.
    options:
      - {{id: a, match: has failed, right: true, why: The coordinator heard nothing for a session.}}
      - {{id: b, match: Preparing, misconception: one-line-one-rebalance, why: It says that a rebalance begins.}}
      - {{id: c, match: Stabilized, misconception: stabilized-means-consuming, why: It ends the join phase alone.}}
    verify:
      runs: {{run: {CRASH}}}
      claims: {{a: removed("consumer-2") == "session", b: generations() == 9, c: generations() == 8}}
"""
)
PICTURE = (
    HEAD.format(kind="picture")
    + f"""\
    picture: {{run: {CRASH}, show: gantt, since: 10s, until: 27s}}
    other: Some other partition is the one that moves.
    options:
      - {{id: a, match: orders-4, right: true, why: Its owner was killed so it moves.}}
      - {{id: b, match: orders-0, misconception: range-is-sticky, why: It stays with the first member.}}
      - {{id: c, match: orders-8, misconception: rebalance-stops-everyone, why: It stays with the third member.}}
    verify:
      runs: {{run: {CRASH}}}
      claims: {{a: '"orders-4" in moved()', b: '"orders-0" in moved()', c: '"orders-8" in moved()'}}
"""
)


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "items.yaml"
        path.write_text(text, encoding="utf-8")
        return read_items(path, Context(read_beliefs(home() / "misconceptions.yaml")))

    return read


@pytest.fixture
def made(read, book):
    def made(text):
        items, problems = read(text)
        assert problems == []
        return question(items[0], 1, book)

    return made


# --- reading ---------------------------------------------------------------------------------
@pytest.mark.parametrize("text", [MATCHING, ORDERING, LOG, PICTURE])
def test_a_good_item_of_each_kind_is_read_and_the_engine_agrees(read, book, text):
    items, problems = read(text)
    assert problems == [] and [str(one) for one in contradictions(items[0], book)] == []


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (MATCHING, "key: b", "key: f", "'f' received, expected one of a, b"),
        (MATCHING, "key: b", "key: a", "every prompt has the same option"),
        (MATCHING, "{1: count", "{3: count", "claims for 3, 2 received, expected one for each of 1, 2"),
        (ORDERING, "order: [a, c, b]", "order: [c, a, b]", "expected another order of"),
        (ORDERING, "{id: c, text: it stops", "{id: d, text: it stops", "expected the letters from a on"),
        (LOG, "match: Preparing, ", "", "missing, expected a text of the line"),
        (LOG, "    other: This line is a consequence of another one.\n", "", "items[0].other: missing"),
        (PICTURE, "match: orders-0, ", "", "expected match, the name of a row"),
        (SHORT, "accept: [UNKNOWN_MEMBER_ID]", "accept: []", "expected at least 1 entries"),
        (SHORT, 'removed("consumer-2")', "removed(", "'(' was never closed"),
        (LOG, "since: 31s", "since: 31 s seconds", "'31 s seconds' makes no sense"),
    ],
)
def test_a_broken_item_of_a_kind_says_what_was_expected(read, text, old, new, expected):
    assert old in text
    items, problems = read(text.replace(old, new, 1))
    assert items == [] and any(expected in str(problem) for problem in problems), [
        str(one) for one in problems
    ]
    assert all("items.yaml:" in str(problem) for problem in problems)


def test_a_path_as_an_id_is_refused(read):
    items, problems = read(SHORT.replace("id: an-item", "id: ../../etc/passwd"))
    assert items == [] and "expected text matching" in str(problems[0])


def test_an_option_that_is_in_no_line_is_a_finding(read, book):
    items, _ = read(LOG.replace("match: has failed", "match: has vanished"))
    assert "is in 0 of" in str(next(contradictions(items[0], book)))


def test_a_log_of_somebody_who_has_none_is_a_finding(read, book):
    items, _ = read(LOG.replace("show: broker", "show: consumer-9"))
    assert "'consumer-9' has no log in the run; expected broker, consumer-1" in str(
        next(contradictions(items[0], book))
    )


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (MATCHING, "1: count(e.unread())", "1: count(c.unread())", "prompt 1 has the option b"),
        (
            ORDERING,
            'c: first_ms("fetch_stopped")',
            "c: 200s",
            "step c stands before a, but happens at 200000 ms",
        ),
        (ORDERING, 'c: first_ms("fetch_stopped")', 'c: removed("consumer-2")', "expected two times"),
        (SHORT, "accept: [UNKNOWN_MEMBER_ID]", "accept: [LEAVE]", "the key is LEAVE, but removed"),
        (
            PICTURE,
            "right: true, why: Its owner was killed so it moves.}",
            "misconception: range-is-sticky, why: Its owner was killed so it moves.}",
            "0 right options",
        ),
    ],
)
def test_a_key_that_the_run_contradicts_is_found(read, book, text, old, new, expected):
    assert old in text
    items, problems = read(text.replace(old, new, 1))
    found = [*map(str, problems), *(str(one) for item in items for one in contradictions(item, book))]
    assert any(expected in one for one in found), found


# --- grading ---------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "given", ["unknown member id", "`UNKNOWN_MEMBER_ID`.", "UnknownMemberId", "  unknown_member_id "]
)
def test_a_short_answer_is_right_in_any_spelling(made, given):
    assert grade(made(SHORT), given).right


def test_a_short_answer_of_a_believer_names_the_belief(made):
    verdict = grade(made(SHORT), "illegal generation")
    assert (verdict.right, verdict.misconceptions) == (False, ("commit-failed-retry",))


@pytest.mark.parametrize(
    ("given", "right", "credit"),
    [("1b 2a", True, 1.0), ("b a", True, 1.0), ("1a, 2a", False, 0.5), ({"1": "b", "2": "b"}, False, 0.5)],
)
def test_matching_is_credited_by_the_share_of_right_pairs(made, given, right, credit):
    verdict = grade(made(MATCHING), given)
    assert (verdict.right, verdict.credit) == (right, credit)


def test_a_wrong_pair_names_its_belief_and_the_verdict_says_what_was_chosen(made):
    verdict = grade(made(MATCHING), "1a 2a")
    assert verdict.misconceptions == ("cooperative-is-default",)
    assert "eager: 12 (you: 4)" in str(verdict)


@pytest.mark.parametrize(
    ("given", "credit"), [("c a b", 1.0), ("cab", 1.0), ("a c b", 2 / 3), ("b a c", 0.0)]
)
def test_ordering_is_credited_by_pairs_in_the_right_order(made, given, credit):
    assert grade(made(ORDERING), given).credit == pytest.approx(credit)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (SHORT, "..."),
        (SHORT, "x" * 300),
        (MATCHING, "1b"),
        (MATCHING, "1b 1a"),
        (MATCHING, "1z 2a"),
        (ORDERING, "c a"),
        (ORDERING, "c a a"),
        (LOG, "0"),
        (LOG, ""),
    ],
)
def test_what_is_no_answer_is_refused(made, text, given):
    with pytest.raises(DataError, match="expected"):
        grade(made(text), given)


def test_the_culprit_line_is_the_answer_and_other_lines_have_a_reason_too(made):
    asked = made(LOG)
    assert isinstance(asked, Choice) and asked.kind == "log" and len(asked.options) >= 4
    key = asked.key[0]
    assert (
        "has failed" in asked.options[int(key) - 1].text
        and grade(asked, key).right
        and grade(asked, int(key)).right
    )
    plain = next(option for option in asked.options if option.misconception is None and not option.right)
    assert plain.why == "This line is a consequence of another one."


def test_a_picture_has_a_row_for_each_partition_and_says_nothing_after_its_end(made):
    asked = made(PICTURE)
    assert asked.picture.until_ms == 27_000 and len(asked.picture.rows) == len(asked.options) == 12
    assert all(last <= 27_000 for row in asked.picture.rows for _, last, _ in row.spans)
    assert asked.options[int(asked.key[0]) - 1].text == "orders-4"


# --- what is shown ---------------------------------------------------------------------------
@pytest.mark.parametrize("text", [SHORT, MATCHING, ORDERING, LOG, PICTURE])
def test_the_page_of_a_kind_tells_no_key(made, text):
    asked = made(text)
    shown = json.dumps(public(asked))
    assert not any(
        f'"{word}"' in shown
        for word in ("why", "right", "key", "accept", "misconception", "beliefs", "wrong")
    )
    if isinstance(asked, Short):
        assert asked.key not in shown
    if isinstance(asked, Ordering):
        assert [step["id"] for step in public(asked)["steps"]] == ["a", "b", "c"]
    assert "Because the rule" not in "\n".join(question_lines(asked, 1))


def test_a_picture_in_characters_shows_who_reads_and_who_does_not(made):
    lines = picture_lines(made(PICTURE).picture)
    assert lines[0].startswith("orders-0 ") and set(lines[0].split()[1]) <= {".", "1"}
    assert "1 consumer-1, 2 consumer-2, 3 consumer-3, . nobody" in lines[-1]


def test_a_picture_in_characters_shows_the_shortest_gap_and_no_gap_where_two_read():
    rows = (
        PictureRow("a-0", ((0, 310, "c1"), (311, 640, "c2"))),
        PictureRow("a-1", ((0, 310, "c1"), (310, 640, "c2"))),
        PictureRow("a-2", ((0, 400, "c1"), (310, 330, "c2"), (390, 640, "c2"))),
    )
    signs = [line.split()[1] for line in picture_lines(GanttChart(rows, 0, 640))[:3]]
    assert [sign.count(".") for sign in signs] == [1, 0, 0]
    assert signs[0] == "1" * 31 + "." + "2" * 32


def test_a_shuffled_question_keeps_its_key_its_claims_and_its_letters(single, bank, book):
    places = set()
    for seed in range(20):
        mixed = shuffled(single, seed)
        assert [option.id for option in mixed.options] == ["a", "b", "c"]
        assert next(option.text for option in mixed.options if option.right) == "four"
        places.add(mixed.key)
    assert len(places) == 3
    item = shuffled(bank.item("eager-crash-which-unread"), 5)
    assert list(contradictions(item, book)) == []


def test_shuffled_pairs_keep_their_texts_their_beliefs_and_their_proof(bank, book):
    item = bank.item("match-protocol-requests")
    texts = dict(item.options)
    answers = set()
    for seed in range(20):
        mixed = shuffled(item, seed)
        there = dict(mixed.options)
        assert list(there) == list(texts)
        for before, after in zip(item.prompts, mixed.prompts, strict=True):
            assert there[after.key] == texts[before.key]
            assert {there[letter]: name for letter, name in after.beliefs.items()} == {
                texts[letter]: name for letter, name in before.beliefs.items()
            }
        answers.add(mixed.key)
    assert len(answers) > 5
    assert list(contradictions(shuffled(bank.item("match-duplicate-instance"), 5), book)) == []


def test_numbers_and_lines_are_not_shuffled(single, made):
    numbers = replace(
        single,
        options=tuple(replace(option, text=f"{place} s") for place, option in enumerate(single.options)),
    )
    assert shuffled(numbers, 3) is numbers
    asked = made(LOG)
    assert shuffled(asked, 3) is asked


def test_the_same_seed_draws_the_same_lines_and_another_seed_another_run(bank):
    item = bank.item("log-crash-culprit")
    assert question(item, 2, RunBook()) == question(item, 2, RunBook())
    assert question(item, 2, RunBook()) != question(item, 1, RunBook())


def test_matching_of_the_bank_has_no_prompt_without_explanation(bank):
    assert all(
        len(prompt.why) >= 20 for item in bank.items if isinstance(item, Matching) for prompt in item.prompts
    )
