"""Requests of the page, one function per kind; each answers with plain values and buffers.

Requests come from a browser, so nothing in them is taken for granted: what means nothing is refused in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.collector import uncollected
from rebalance_kit.model.errors import RebalanceKitError, ScenarioError
from rebalance_kit.simulation.permalink import LinkError
from rebalance_kit.simulation.scenario.yaml_file import write_scenario
from rebalance_kit.view.figures.board_svg import still
from rebalance_kit.view.lab.comparing import MOST_COLUMNS, Comparing, choice_words
from rebalance_kit.view.lab.costs import at_a_glance, cost, packed, preview
from rebalance_kit.view.lab.guide import guide_of
from rebalance_kit.view.lab.lessons import lesson_rows
from rebalance_kit.view.lab.page import page, style
from rebalance_kit.view.lab.playing.horizons import nothing_follows
from rebalance_kit.view.lab.playing.playback import film_bytes
from rebalance_kit.view.lab.playing.prefetch import is_large
from rebalance_kit.view.lab.predictions import marks, questions, summary
from rebalance_kit.view.lab.run_report import report_html
from rebalance_kit.view.lab.session import LabSession
from rebalance_kit.view.lab.settings import fields
from rebalance_kit.view.lab.state import EAGER, LabState, LabStep, known_scenario, opened, own_protocol
from rebalance_kit.view.lab.stepping import drags
from rebalance_kit.view.lab.tabs.contents import tab
from rebalance_kit.view.words.phrases import PROTOCOL_WORDS, plainly

Message = Mapping[str, object]
Answer = tuple[dict[str, object], list[bytes]]


def handled(
    lab: LabSession, message: Message, send: Callable[[dict[str, object], list[bytes]], None]
) -> bool:
    """Do what a page asks and ``send`` it the answer, or a refusal in words; tells whether it was done.

    Cycles are collected when the page has its answer.
    """
    with uncollected():
        try:
            if message.get("type") != "drag":
                lab.finish()
            reply, buffers = answer(lab, message)
        except RebalanceKitError as refusal:
            words = plainly(str(getattr(refusal, "kafka_message", refusal)))
            keys = list(getattr(refusal, "keys", ()))
            refused: dict[str, object] = {"type": "refused", "id": message.get("id"), "words": words}
            send({**refused, **({"keys": keys} if keys else {})}, [])
            return False
        send({"type": "done", "id": message.get("id"), "serial": lab.serial, **reply}, buffers)
        if not reply.get("stepping"):
            lab.finish()
        return True


def answer(lab: LabSession, message: Message) -> Answer:
    """Do what the page asks; raises ``ScenarioError`` for what it may not."""
    run = REQUESTS.get(str(message.get("type")))
    if run is None:
        raise ScenarioError(
            f"the lab was asked for {message.get('type')!r}; expected one of {', '.join(REQUESTS)}"
        )
    return run(lab, message)


# --- what changes the run ----------------------------------------------------------------------
def _act(lab: LabSession, message: Message) -> Answer:
    lab.at(_moment(lab, message))
    before, at_ms = _without_later(lab.history.state, lab.cursor_ms), lab.cursor_ms
    lab.act_soon(_word(message, "do"), _member(message), _args(message))
    now = lab.history.state
    new = now.done[-1].member
    reply: dict[str, object] = {
        "play": message.get("play") is not False,
        "select": new.name if new else message.get("member"),
    }
    if not is_large(now):
        reply |= cost(before, now, at_ms)
        reply["nothing"] = nothing_follows(now.scenario, now.boards, now.done[-1].actions[0])
    return reply, []


def _undo(lab: LabSession, _message: Message) -> Answer:
    before, words = lab.history.state, lab.controls["undo"]
    lab.undo()
    gone = before.done[-1:] if len(lab.history.state.done) < len(before.done) else ()
    return _walked(lab, gone, f"Taken back: {words}." if words else "There is nothing to take back.")


def _redo(lab: LabSession, _message: Message) -> Answer:
    before, words = lab.history.state, lab.controls["redo"]
    lab.redo()
    back = lab.history.state.done[-1:] if len(lab.history.state.done) > len(before.done) else ()
    return _walked(lab, back, f"Done again: {words}." if words else "There is nothing to do again.")


def _walked(lab: LabSession, steps: Sequence[LabStep], told: str) -> Answer:
    """The answer to undo and redo: the cursor stands where the deed was; settings, which hold from the start, leave it."""
    if not steps or not steps[0].actions:
        return {"play": False, "told": told}, []
    lab.at(steps[0].at_ms)
    return {"play": False, "told": told, "seek": lab.cursor_ms}, []


def _set(lab: LabSession, message: Message) -> Answer:
    name, value = message.get("name"), message.get("value")
    if name == "protocol":
        before = lab.history.state
        lab.protocol = str(value)
        return {"play": False, "told": choice_words(before, lab.history.state)}, []
    if name == "assignor":
        lab.assignor = str(value)
    elif name == "seed" and (value is None or type(value) is int):
        lab.reseed(value)
    else:
        raise ScenarioError(f"{name!r} cannot be set; expected protocol, assignor or seed")
    return {"play": False}, []


def _settings(lab: LabSession, message: Message) -> Answer:
    values = message.get("values")
    if not isinstance(values, dict) or not all(isinstance(value, str) for value in values.values()):
        raise ScenarioError(f"got {str(values)[:60]} as settings; expected names with texts")
    lab.finish()
    lab.at(_moment(lab, message))
    before = lab.history.state
    lab.set(**values)
    now = lab.history.state
    return {"play": False, "dragged": cost(before, now, lab.cursor_ms)}, [packed(_fields_of(now))]


def _drag(lab: LabSession, message: Message) -> Answer:
    """A step of a number that is dragged, its end, or its way back."""
    number, how, value = message.get("number"), message.get("how"), message.get("value")
    if type(number) is not int:
        raise ScenarioError(f"the drag is {number!r}; expected its number")
    if how == "back":
        drags.give_back(lab, number)
        return {"play": False}, []
    if how not in {"step", "keep"} or not isinstance(value, str):
        raise ScenarioError(
            f"got {str(how)[:20]!r} to {str(value)[:20]!r}; expected step, keep or back, and a text"
        )
    values = {_word(message, "name"): value}
    lab.at(_moment(lab, message))
    return {"play": False, **(drags.step if how == "step" else drags.keep)(lab, number, values)}, []


def _preset(lab: LabSession, message: Message) -> Answer:
    lab.load(_word(message, "name"))
    return {"play": False, "seek": lab.cursor_ms}, []


def _open(lab: LabSession, message: Message) -> Answer:
    try:
        lab.play_link(_word(message, "token"))
    except LinkError:
        raise
    except RebalanceKitError as error:
        raise ScenarioError(f"The link cannot be played: {error}") from error
    return {"play": False, "seek": lab.cursor_ms}, []


def _fork(lab: LabSession, message: Message) -> Answer:
    lab.at(_moment(lab, message))
    lab.fork()
    return {"play": False}, []


def _branch(lab: LabSession, message: Message) -> Answer:
    number = message.get("number")
    if type(number) is not int:
        raise ScenarioError(f"there is no branch {number!r}; expected its number")
    if message.get("do") == "rename":
        lab.take(lab.history.renamed(number, _word(message, "name")))
    elif message.get("do") == "delete":
        lab.delete_branch(number)
    else:
        lab.take(lab.history.at_branch(number))
    return {"play": False}, []


# --- what is only looked at ---------------------------------------------------------------------
def _tab(lab: LabSession, message: Message) -> Answer:
    content = tab(lab.boards, _word(message, "tab"), _moment(lab, message), _member(message))
    return {"tab": message["tab"]}, [packed(content)]


def _alive(_lab: LabSession, _message: Message) -> Answer:
    return {}, []


def _guide(lab: LabSession, _message: Message) -> Answer:
    return {}, [packed(guide_of(lab.history.state))]


def _presets(_lab: LabSession, _message: Message) -> Answer:
    return {}, [packed(lesson_rows())]


def _fields(lab: LabSession, _message: Message) -> Answer:
    return {}, [packed(_fields_of(lab.history.state))]


def _fields_of(state: LabState) -> list[dict[str, Any]]:
    """The fields of Settings, with what the lesson itself has set told apart from what was changed since."""
    return fields(state.scenario, replace(state, done=(), prepared=None).scenario)


def _link(lab: LabSession, message: Message) -> Answer:
    lab.at(_moment(lab, message))
    return {"token": lab.link}, []


def _preview(lab: LabSession, message: Message) -> Answer:
    """What a deed would come to, in words and as a film; a large group is not simulated for a look."""
    at_ms = _moment(lab, message)
    now = _without_later(lab.history.state, at_ms)
    if is_large(now):
        return {"words": at_a_glance(now, _member(message), at_ms)}, []
    then = _then(lab, message)
    foreseen = {**preview(now, then, at_ms), "would": then.done[-1].words}
    return foreseen, [film_bytes(then.boards, then.boards.end_ms, level=1)]


def _compare(lab: LabSession, message: Message) -> Answer:
    """The labels, then a film per column as they are asked for, then the table: the page says how far it is."""
    wanted, column, lesson = message.get("branches"), message.get("column"), message.get("lesson")
    key = (lab.history, tuple(wanted) if isinstance(wanted, list) else wanted, lesson)
    if lab.comparing is None or lab.comparing[0] != key:
        lab.comparing = (key, Comparing(_columns(lab, wanted, lesson)))
    comparing = lab.comparing[1]
    if column is None:
        return {"labels": comparing.labels}, [packed(comparing.table())]
    if type(column) is not int or not 0 <= column < len(comparing.labels):
        raise ScenarioError(f"got column {column!r}; expected 0 to {len(comparing.labels) - 1}")
    return {"labels": comparing.labels}, [comparing.film(column)]


def _draws(lab: LabSession, _message: Message) -> Answer:
    if lab.comparing is None:
        raise ScenarioError("nothing is compared; expected a comparison to draw for")
    comparing = lab.comparing[1]
    comparing.draw_on()
    return {}, [packed(comparing.drawn())]


def _columns(lab: LabSession, wanted: object, lesson: object = None) -> list[tuple[str, LabState]]:
    if isinstance(lesson, str):
        return _with_lesson(lab.history.state, lesson)
    if wanted is None:
        return _by_protocol(lab.history.state)
    if not isinstance(wanted, list) or not 2 <= len(wanted) <= MOST_COLUMNS:
        raise ScenarioError(f"got {str(wanted)[:60]} to compare; expected two or three branches by number")
    return [(branch.name, branch.state) for branch in map(lab.history.branch, wanted)]


def _with_lesson(state: LabState, name: str) -> list[tuple[str, LabState]]:
    """The run that is shown beside another lesson under the same protocol, as far as that lesson leaves it open."""
    base = known_scenario(name)
    if base.name == state.base.name and not state.done:
        raise ScenarioError(f"{base.title} is shown already; expected another lesson to compare with")
    protocol = own_protocol(base, state.protocol or EAGER)
    other = opened(base, protocol, state.assignor if protocol == state.protocol else None, state.seed)
    return [(_titled(state), state), (base.title or base.name, other)]


def _titled(state: LabState) -> str:
    title = state.base.title or state.base.name
    return f"{title}, changed" if state.done else title


def _by_protocol(state: LabState) -> list[tuple[str, LabState]]:
    """The same deeds under each protocol; a lesson that mixes protocols beside those under which it can run at all."""
    if state.protocol is not None and not state.base.chooses_protocol():
        return [
            (words, state if name == state.protocol else state.with_protocol(name))
            for name, words in PROTOCOL_WORDS.items()
        ]
    mixed = replace(state, protocol=None, assignor=None, prepared=None)
    columns, why = [("As the lesson says", mixed)], ""
    for name, words in PROTOCOL_WORDS.items():
        try:
            under = state.with_protocol(name)
            under.boards  # noqa: B018 - simulated here, to know whether it can be
        except RebalanceKitError as error:
            why = why or str(getattr(error, "kafka_message", error))
        else:
            columns.append((words, under))
    if len(columns) < 2:
        raise ScenarioError(
            "This lesson mixes protocols: each of its members says which one it speaks, so it cannot run under one alone "
            f"({why}). Compare branches of it instead (H)."
        )
    return columns[:MOST_COLUMNS]


def _predict(lab: LabSession, message: Message) -> Answer:
    at_ms = _moment(lab, message)
    lab.asked = questions(lab.history.state, _then(lab, message), at_ms)
    return {"questions": [question.asked() for question in lab.asked], "kept": summary(lab.predictions)}, []


def _answers(lab: LabSession, message: Message) -> Answer:
    if not lab.asked:
        raise ScenarioError("nothing was asked; expected a prediction to begin with")
    result = marks(lab.asked, message.get("answers"))
    lab.asked = ()
    title = str(lab.controls.get("title", ""))
    lab.predictions.append({"title": title, "at_ms": lab.cursor_ms, **result})
    return {**result, "kept": summary(lab.predictions)}, []


def _export(lab: LabSession, message: Message) -> Answer:
    name, data = exported(lab, _word(message, "what"))
    return {"file": name}, [data]


REQUESTS: Mapping[str, Callable[[LabSession, Message], Answer]] = MappingProxyType(
    {
        "act": _act,
        "undo": _undo,
        "redo": _redo,
        "set": _set,
        "settings": _settings,
        "drag": _drag,
        "preset": _preset,
        "open": _open,
        "fork": _fork,
        "branch": _branch,
        "tab": _tab,
        "alive": _alive,
        "guide": _guide,
        "presets": _presets,
        "fields": _fields,
        "link": _link,
        "preview": _preview,
        "compare": _compare,
        "draws": _draws,
        "predict": _predict,
        "answers": _answers,
        "export": _export,
    }
)


def _without_later(state: LabState, at_ms: int) -> LabState:
    """The run that goes on from a moment if nothing is done: later deeds of its branch do not count."""
    return state.until(at_ms) if any(step.at_ms > at_ms for step in state.done) else state


_FAR_MS = 1e15
"""Beyond any run; NaN is not below it either."""


# --- reading a request --------------------------------------------------------------------------
def _moment(lab: LabSession, message: Message) -> int:
    value = message.get("at_ms", lab.cursor_ms)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _FAR_MS:
        raise ScenarioError(f"the moment is {value!r}; expected milliseconds")
    return max(0, min(int(value), lab.boards.end_ms))


def _word(message: Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ScenarioError(f"{key} is {value!r}; expected a word")
    return value


def _member(message: Message) -> str | None:
    value = message.get("member")
    return value if isinstance(value, str) else None


def _args(message: Message) -> dict[str, Any]:
    value = message.get("args") or {}
    if not isinstance(value, dict) or not {str(key) for key in value}.isdisjoint({"action", "member"}):
        raise ScenarioError(f"the arguments are {str(value)[:60]}; expected names with values")
    return value


def _then(lab: LabSession, message: Message) -> LabState:
    """The state that a deed would lead to; kept, so that doing it costs nothing more."""
    return lab.ahead(_word(message, "do"), _member(message), _moment(lab, message), _args(message))


def _trace(lab: LabSession) -> tuple[str, str]:
    return "trace.jsonl", "\n".join(lab.trace.jsonl()) + "\n"


def _report(lab: LabSession) -> tuple[str, str]:
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
