"""Keys are asked of draws: a key that hangs on the second of a crash is found, one that does not is not."""

import pytest

from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.proof.run_book import scenario_of
from rebalance_kit.quiz.proof.verify import DrawnBook, contradictions_in_draws, is_drawn, is_timed, with_phase

ITEM = """\
items:
  - id: crash-again
    kind: numeric
    tags: [crash-cost]
    topics: [A2]
    objective: Tell how many records are processed again
    domains: [CCDAK Fundamentals]
    versions: 2.4+
    difficulty: apply
    stem: One of two consumers that commit every five seconds dies. How many records are processed again?
    unit: records
    tolerance: TOLERANCE
    key: 50
    why: What came since the last commit.
    wrong:
      - {value: 400, misconception: downtime-is-redelivered, why: The gap repeats nothing.}
      - {value: 300, misconception: downtime-is-redelivered, why: The session repeats nothing.}
    source: [KIP-429]
    verify:
      value: redelivered()
      runs:
        run:
          scenario:
            topics: {orders: 4}
            members:
              - {name: consumer-1, topics: [orders]}
              - {name: consumer-2, topics: [orders]}
            actions:
              - {at: 30s, do: crash, member: consumer-1}
            end: 100s
          protocol: eager
"""


def written(tmp_path, tolerance, stem="How many", moments=""):
    path = tmp_path / "items.yaml"
    text = ITEM.replace("TOLERANCE", str(tolerance)).replace("How many records", f"{stem} records")
    path.write_text(text.replace("            end:", f"            {moments}\n            end:"), "utf-8")
    bank = read_bank([path])
    assert not bank.problems
    return bank.items


def test_a_key_that_holds_in_some_phases_only_is_found_with_how_many(tmp_path):
    (problem,) = contradictions_in_draws(written(tmp_path, 30), 12)
    assert "draws of the phases; first: the key is 50 records (± 30), but redelivered() is" in problem.message
    failed = int(problem.message.partition(" of 12 draws")[0].rpartition(" ")[2])
    assert 0 < failed < 12


def test_a_key_that_holds_in_every_phase_is_no_finding(tmp_path):
    assert list(contradictions_in_draws(written(tmp_path, 60), 12)) == []


def test_a_stem_that_says_about_may_fail_in_one_draw_of_twenty(tmp_path):
    strict, loose = written(tmp_path, 48), written(tmp_path, 48, "About how many")
    (problem,) = contradictions_in_draws(strict, 40)
    failed = int(problem.message.partition(" of 40 draws")[0].rpartition(" ")[2])
    assert 0 < failed <= 2 and list(contradictions_in_draws(loose, 40)) == []


def test_a_scenario_whose_moments_matter_is_not_drawn(tmp_path):
    (item,) = written(tmp_path, 30, moments="moments: The crash comes right before a commit.")
    scenario = scenario_of(item.proof.runs["run"])
    assert with_phase(scenario, 7) == (scenario, 0)
    assert with_phase(scenario_of(written(tmp_path, 30)[0].proof.runs["run"]), 7)[1] > 0


def test_facts_of_a_draw_count_from_its_phase(tmp_path):
    (item,) = written(tmp_path, 30)
    answers = {
        DrawnBook(number, {}).work_out('first_ms("action")', item.proof.runs, 1) for number in range(1, 5)
    }
    assert answers == {30_000}
    detected = {
        DrawnBook(number, {}).work_out('removed_ms("consumer-1")', item.proof.runs, 1)
        for number in range(1, 5)
    }
    assert len(detected) == 4 and all(72_000 <= at_ms <= 75_000 for at_ms in detected)


def test_timed_keys_are_known_by_their_claims(bank):
    assert is_timed(bank.item("two-means-against-duplicates")) and is_drawn(
        bank.item("two-means-against-duplicates")
    )
    assert not is_timed(bank.item("two-server-assignors"))


@pytest.mark.parametrize("draws", [3])
def test_the_keys_of_the_bank_hold_in_draws(bank, draws):
    assert [str(problem) for problem in contradictions_in_draws(bank.items, draws)] == []
