"""The run as a file: trace, report, animation that needs no kernel, scenario, and the page's style for its picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.scenario.yaml_file import write_scenario
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.lab.guide.content import guide_of
from rebalance_kit.view.lab.page import page, style
from rebalance_kit.view.lab.session import LabSession


def _trace(lab: LabSession) -> tuple[str, str]:
    return "trace.jsonl", "\n".join(lab.trace.jsonl()) + "\n"


def _report(lab: LabSession) -> tuple[str, str]:
    from rebalance_kit.view.lab.run_report import report_html

    return "report.html", report_html([lab.trace])


def _animation(lab: LabSession) -> tuple[str, str]:
    controls = {**lab.controls, "guide": guide_of(lab.history.state), "link": lab.link}
    return "animation.html", page(lab.film, controls, lab.cursor_ms, lab.theme, f"{lab.text}\n\n{lab.story}")


def _scenario(lab: LabSession) -> tuple[str, str]:
    return "scenario.yaml", write_scenario(lab.scenario)


def _board(lab: LabSession) -> tuple[str, str]:
    return f"{lab.cursor_ms}ms.svg", still(lab.boards.at(lab.cursor_ms), lab.theme)


def _style(_lab: LabSession) -> tuple[str, str]:
    return "lab.css", style()


EXPORTS: Mapping[str, Callable[[LabSession], tuple[str, str]]] = MappingProxyType(
    {
        "trace": _trace,
        "report": _report,
        "animation": _animation,
        "scenario": _scenario,
        "svg": _board,
        "style": _style,
    }
)


def exported(lab: LabSession, what: str) -> tuple[str, bytes]:
    """A file's name and content; raises ``ScenarioError`` naming what can be exported."""
    if what not in EXPORTS:
        raise ScenarioError(f"{what!r} cannot be exported; expected one of {', '.join(EXPORTS)}")
    end, text = EXPORTS[what](lab)
    return f"{lab.scenario.name}-{lab.trace.label}-{end}", text.encode("utf-8")
