"""The answer to a look: what is printed, in which form, and with which status the command ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.happenings import Happening, set_beside_findings, set_beside_rebalances
from rebalance_kit.forensics.answer.last_words import add_last_words
from rebalance_kit.forensics.answer.selected import Selected, check_names
from rebalance_kit.forensics.answer.verdict import NOTHING_WRONG, verdict
from rebalance_kit.forensics.answer.wishes import Wishes

if TYPE_CHECKING:
    from typing import TextIO

    from rebalance_kit.forensics.tables import Tables

#: One screen, the whole report, JSON lines, a table as CSV, a postmortem as a file.
FORMS = ("screen", "report", "json", "csv", "markdown")


@dataclass(frozen=True, slots=True)
class Answer:
    """What is wanted of the answer; ``strict``: what is wrong, or not understood, is in the status."""

    form: str = "screen"
    wishes: Wishes = field(default_factory=Wishes)
    books: bool = False
    table: str = "findings"
    target: Path | None = None
    strict: bool = True
    happenings: tuple[Happening, ...] = ()

    def tell(self, result: Tables, out: TextIO) -> int:
        """Print the answer; returns the status."""
        check_names(result, self.wishes)
        chosen = Selected(result, self.wishes)
        set_beside_rebalances(chosen, self.happenings)
        said = verdict(chosen)
        add_last_words(chosen, said.cards)
        set_beside_findings(chosen, self.happenings)
        status = said.status(self.wishes.fail_on) if self.strict else NOTHING_WRONG
        if self.form == "json":
            from rebalance_kit.forensics.answer.as_json import print_lines

            print_lines(chosen, said, status, out, self.happenings)
        elif self.form == "csv":
            from rebalance_kit.forensics.answer.as_json import print_csv

            print_csv(chosen, self.table, out)
        elif self.form == "report":
            from rebalance_kit.forensics.report import print_report

            print_report(chosen, out, self.books)
        else:
            from rebalance_kit.forensics.answer.screen import screen

            if self.target is not None:
                from rebalance_kit.forensics.answer.as_markdown import write_postmortem

                write_postmortem(chosen, said, self.target, self.happenings)
            out.write(screen(chosen, said, self.wishes, self.happenings))
        return status
