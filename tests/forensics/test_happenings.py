"""``logs --events``: what happened beside Kafka stands beside rebalances and findings; a damaged file is refused by line."""

import io
import json

import pytest

from rebalance_kit.cli import main
from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.happenings import read_happenings
from rebalance_kit.forensics.look import look
from rebalance_kit.model.errors import DataError
from tests.support.pipeline.kafka_lines import adding, preparing, stabilized

#: The small log begins at 02:15:25.032 of that day.
LOG = preparing(10, 3, adding("c2")) + stabilized(12, 4, 2)


@pytest.fixture
def at(tmp_path):
    """The moment of the small log's rebalance, as text."""
    (tmp_path / "broker.log").write_text(LOG)
    (row,) = look([tmp_path / "broker.log"]).rows("rebalances")
    from rebalance_kit.forensics.report import clock

    return clock(row["start_ms"] - 5_000).replace(" ", "T")[:19] + "Z"


FORMS = {
    "csv": lambda at: f"time,text\n{at},deploy payments v42\n",
    "bare csv": lambda at: f'{at},"deploy payments v42"\n',
    "json lines": lambda at: json.dumps({"time": at, "text": "deploy payments v42"}) + "\n",
    "kubectl": lambda at: json.dumps(
        {
            "items": [
                {
                    "lastTimestamp": at,
                    "reason": "Killing",
                    "involvedObject": {"kind": "Pod", "name": "p-1"},
                    "message": "deploy payments v42",
                }
            ]
        },
        indent=1,
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_event_is_set_beside_the_rebalance_that_follows_it(form, at, tmp_path):
    (tmp_path / "events").write_text(FORMS[form](at))
    happenings = tuple(read_happenings(tmp_path / "events"))
    out = io.StringIO()
    Answer(happenings=happenings, target=tmp_path / "post.md").tell(look([tmp_path / "broker.log"]), out)
    assert "s before it" in out.getvalue()
    assert "deploy payments v42" in out.getvalue()
    assert "deploy payments v42" in (tmp_path / "post.md").read_text()
    assert "stroke-dasharray" in (tmp_path / "post.svg").read_text()


def test_an_event_long_before_is_no_cause(at, tmp_path):
    (tmp_path / "events").write_text(f"2001{at[4:]},deploy payments v42\n")
    out = io.StringIO()
    Answer(happenings=tuple(read_happenings(tmp_path / "events"))).tell(look([tmp_path / "broker.log"]), out)
    assert "before it" not in out.getvalue()
    assert "0 of 1 event within these logs" in out.getvalue()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2026-11-21T02:00:00Z,a\nnoon,b\n", r"events:2: no time in 'noon'"),
        ('{"time": "2026-11-21T02:00:00Z", "text": "a"}\n{oops\n', r"events:2: no JSON"),
        ('["a"]', r"events:1: 'a'; expected an object"),
        ("", "holds no event"),
    ],
)
def test_a_damaged_file_is_refused_by_its_line(text, said, tmp_path):
    (tmp_path / "events").write_text(text)
    with pytest.raises(DataError, match=said):
        read_happenings(tmp_path / "events")


def test_the_command_takes_the_file_and_json_holds_the_events(at, tmp_path, capsys):
    (tmp_path / "events").write_text(f"{at},deploy\n")
    assert main(["logs", "--json", "--events", str(tmp_path / "events"), str(tmp_path / "broker.log")]) in {
        0,
        1,
        3,
    }
    *_, last = capsys.readouterr().out.splitlines()
    assert [one["text"] for one in json.loads(last)["events"]] == ["deploy"]
