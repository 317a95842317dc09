"""The kit's own bank: the engine agrees with every key, and would notice if a key were wrong."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from textwrap import dedent

import pytest
import yaml

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import BELIEFS, SCENARIOS, Bank, home, read_bank
from rebalance_kit.quiz.items.check import check, run_items_check
from rebalance_kit.quiz.items.form import facts
from rebalance_kit.quiz.items.item import (
    Choice,
    Drawn,
    Generated,
    Item,
    Matching,
    Numeric,
    Ordering,
    RunSpec,
    Short,
    Shown,
    WrongNumber,
    beliefs_of,
)
from rebalance_kit.quiz.items.lint import LINTS
from rebalance_kit.quiz.items.reading import Problem
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.proof.verify import contradictions, is_verified


def test_the_bank_has_no_finding(bank, book):
    assert [str(finding) for finding in check(bank, book).findings] == []


def test_most_items_about_groups_are_decided_by_the_engine(bank):
    """What a group only touches (line D) rests on sources: brokers' replicas, quotas and registries are not simulated."""
    groups = [item for item in bank.items if set(item.head.topics) != {"D"}]
    assert len(groups) >= 450 and sum(map(is_verified, groups)) / len(groups) >= 0.65
    assert len(bank.items) >= 600 and all(item.head.source for item in bank.items)
    assert sum(isinstance(item, Generated) for item in bank.items) >= 30


def test_each_file_of_the_bank_can_be_checked_alone(bank):
    """Enemies may stand in another file of the bank; a name that stands in none is still found."""
    files = sorted(file for file in home().glob("*.yaml") if file.name not in {BELIEFS, SCENARIOS})
    found = {
        file.name: [str(problem) for rule in LINTS for problem in rule(read_bank([file]).items)]
        for file in files
    }
    assert not {name: problems for name, problems in found.items() if problems}
    alone = read_bank([files[0]]).items[:1]
    stranger = replace(alone[0], head=replace(alone[0].head, enemies=("nobody-asks-this",)))
    assert [problem.rule for problem in facts([stranger])] == ["fact"]


def test_an_exhibit_begins_at_the_margin(bank):
    """YAML keeps what stands before a block's shortest line; a reader sees it as an odd indent."""
    texts = {item.head.id: item.head.exhibit for item in bank.items if isinstance(item.head.exhibit, str)}
    assert len(texts) > 50
    assert not [name for name, text in texts.items() if text != dedent(text)]


@pytest.mark.parametrize("tag", ["eager", "cooperative", "consumer", "three-protocols"])
def test_each_notebook_has_questions_enough(bank, tag):
    assert len(bank.tagged(tag)) >= 5


def swapped(item: Item) -> list[Item]:
    """The item with its key exchanged for each wrong answer in turn."""
    if isinstance(item, Numeric):
        return [
            replace(
                item,
                key=wrong.value,
                wrong=tuple(
                    WrongNumber(item.key, one.misconception, one.why) if one is wrong else one
                    for one in item.wrong
                ),
            )
            for wrong in item.wrong
        ]
    if isinstance(item, Short):
        return [
            replace(item, accept=(wrong.text,), wrong=(replace(wrong, text=item.key),))
            for wrong in item.wrong
        ]
    if isinstance(item, Matching):
        letters = [letter for letter, _ in item.options]
        return [
            replace(
                item,
                prompts=tuple(replace(one, key=letter) if one is prompt else one for one in item.prompts),
            )
            for prompt in item.prompts
            for letter in letters
            if letter != prompt.key
        ]
    if isinstance(item, Ordering):
        by_id = {step.id: step for step in item.steps}
        return [replace(item, steps=tuple(by_id[letter] for letter in wrong.order)) for wrong in item.wrong]
    name = "marks" if isinstance(item, Drawn) else "options"
    held = getattr(item, name)
    right = next(one.id for one in held if one.right)
    wrong_ids = [one.id for one in held if not one.right]
    return [
        replace(
            item,
            **{
                name: tuple(
                    replace(one, right=not one.right) if one.id in {right, wrong} else one for one in held
                )
            },
        )
        for wrong in wrong_ids
    ]


def caught(item: Item, book: RunBook) -> bool:
    """Whether the check finds anything; it is asked no further than that."""
    return next(contradictions(item, book), None) is not None


def test_a_key_swapped_with_any_wrong_answer_is_caught_in_every_verified_item(bank, book):
    verified = [item for item in bank.items if is_verified(item) and not isinstance(item, Generated)]
    missed = [item.head.id for item in verified for mutant in swapped(item) if not caught(mutant, book)]
    assert len(verified) >= 100 and {item.kind for item in verified} >= {
        "single",
        "multiple",
        "numeric",
        "short",
        "matching",
        "ordering",
        "log",
        "picture",
    }
    assert missed == []


def test_a_wrong_option_that_the_run_bears_out_is_caught_in_every_item(bank, book):
    missed = []
    for item in bank.items:
        if not isinstance(item, Choice) or item.proof is None:
            continue
        right = item.proof.claims[item.key[0]]
        for wrong in (option.id for option in item.options if not option.right):
            proof = replace(item.proof, claims={**item.proof.claims, wrong: right})
            if not any(
                f"option {wrong} is called wrong" in str(found)
                for found in contradictions(replace(item, proof=proof), book)
            ):
                missed.append(f"{item.head.id} {wrong}")
    assert missed == []


def test_a_recipe_whose_key_is_exchanged_for_a_wrong_answer_is_caught_by_its_proof(bank, book):
    missed = []
    for item in bank.items:
        if isinstance(item, Generated) and item.proof is not None and "value" in str(item.proof):
            mutant = replace(
                item,
                key=replace(item.distractors[0], misconception=None),
                distractors=(replace(item.key, misconception="x"), *item.distractors[1:]),
            )
            if not list(contradictions(mutant, book)):
                missed.append(item.head.id)
    assert missed == []


def test_every_belief_that_an_answer_names_is_known_and_twenty_are_named_three_times(bank):
    named = Counter(belief for item in bank.items for belief in beliefs_of(item))
    assert set(named) <= set(bank.beliefs)
    assert sum(times >= 3 for times in named.values()) >= 20


def test_every_domain_of_both_blueprints_has_items(bank):
    from rebalance_kit.quiz.items.blueprint import blueprint

    held = {domain for item in bank.items for domain in item.head.domains}
    assert {f"{name} {domain}" for name in ("CCDAK", "CCAAK") for domain in blueprint(name).weights} == held


# --- the command -------------------------------------------------------------------------------------------
BROKEN = """\
items:
  - id: wrong-key
    kind: numeric
    tags: [t]
    topics: [A3]
    objective: Count the partitions that were unread
    domains: [CCDAK Fundamentals]
    versions: 2.4+
    difficulty: apply
    stem: Two members have two partitions each under eager. One crashes. How many rest?
    key: 2
    unit: partitions
    why: A wrong key, which the engine has to notice.
    wrong:
      - {value: 4, misconception: rebalance-stops-everyone, why: This is what really happens here.}
      - {value: 0, misconception: crash-is-noticed-at-once, why: Nobody notices a crash at once.}
    source: [KIP-429]
    verify:
      runs: {run: {scenario: crash, protocol: eager}}
      seeds: [1]
      value: count(unread())
"""


def run(paths, as_json):
    out = io.StringIO()
    return run_items_check(paths, as_json, out), out.getvalue().splitlines()


def test_a_wrong_key_is_a_finding_and_the_last_line_is_json(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text(BROKEN, encoding="utf-8")
    status, lines = run([path], True)
    assert status == 1
    assert (
        lines[0]
        == f"{path}:2: wrong-key: the key is 2 partitions (± 0), but count(unread()) is 4 in the run with seed 1 [verify]"
    )
    assert json.loads(lines[-1]) == {"findings": 1, "items": 1, "generators": 0, "verified": 1}


def test_a_right_key_is_no_finding_and_the_status_is_zero(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text(BROKEN.replace("key: 2", "key: 4").replace("value: 4", "value: 2"), encoding="utf-8")
    status, lines = run([tmp_path], False)
    assert status == 0
    assert lines[0].startswith("0 findings in 1 items")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("scenario: crash", "scenario: no-such-run", "cannot be made"),
        ("count(unread())", "count(unred())", "did you mean unread?"),
        ("count(unread())", "unread()", "expected a number"),
    ],
)
def test_a_proof_that_cannot_be_run_is_a_finding_that_says_why(tmp_path, old, new, expected):
    path = tmp_path / "items.yaml"
    path.write_text(BROKEN.replace(old, new), encoding="utf-8")
    status, lines = run([path], False)
    assert status == 1 and expected in lines[0]


def test_a_missing_path_is_an_error_of_its_own():
    with pytest.raises(DataError, match=r"^nowhere\.yaml: does not exist"):
        run(["nowhere.yaml"], True)


def test_findings_of_reading_do_not_hide_the_engines(tmp_path):
    path = tmp_path / "items.yaml"
    path.write_text(
        BROKEN + BROKEN.partition("\n")[2].replace("wrong-key", "bad-item").replace("apply", "hard"),
        encoding="utf-8",
    )
    report = check(read_bank([path]))
    assert [finding.rule for finding in report.findings] == ["schema", "verify"]


def test_an_empty_bank_is_checked_without_complaint():
    report = check(Bank((), (), {}))
    assert (report.findings, report.items, report.verified) == ((), 0, 0)
    assert str(Problem("f:1", "schema", "m")) == "f:1: m [schema]"


@pytest.mark.parametrize("scenario", ["crash", "join", "leave-of-three"])
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_facts_and_metrics_count_the_same(scenario, protocol, book):
    """Two readers of one trace, written apart."""
    spec = RunSpec(
        yaml.safe_load((home() / "scenarios.yaml").read_text(encoding="utf-8"))[scenario], protocol
    )

    def ask(text):
        return book.work_out(text, {"run": spec}, 2)

    assert ask("count(unread())") == ask('metric("partitions_unread")')
    assert ask("count(moved())") == ask('metric("partitions_moved")')
    assert ask("longest_gap() / 1000") == ask('metric("longest_gap_s")')
    assert ask("generations()") == ask('metric("generations")')
    assert ask("epochs()") == ask('metric("epochs")')


def test_a_run_twice_made_gives_the_same_facts(bank):
    item = bank.item("three-join-longest-gap")
    values = [
        RunBook().work_out("eager.longest_gap() + cooperative.longest_gap()", item.proof.runs, 3)
        for _ in range(2)
    ]
    assert values[0] == values[1] > 0


def test_a_refused_scenario_is_a_fact_with_kafkas_words(bank, book):
    item = bank.item("kip848-client-session-timeout")
    assert "cannot be set when group.protocol=CONSUMER" in book.work_out("refusal()", item.proof.runs, 1)
    assert book.work_out("refusal()", {"run": RunSpec("two-consumers-crash")}, 1) is None


def test_a_scenario_that_does_not_exist_is_no_refusal(book):
    with pytest.raises(DataError, match="no scenario of the kit is called 'no-such-run'"):
        book.work_out("refusal()", {"run": RunSpec("no-such-run")}, 1)


def test_tickets_show_what_a_run_wrote_and_version_traps_name_their_versions(bank):
    tickets = bank.tagged("tickets")
    drawn = [item for item in tickets if isinstance(item, Drawn) or isinstance(item.head.exhibit, Shown)]
    assert len(drawn) >= 40
    assert len(bank.tagged("versions")) >= 30
