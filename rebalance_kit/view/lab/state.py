"""State of the lab: a scenario, the deeds done in it, and the run that follows; values, no widget.

An action never changes a running simulation: it is added to the scenario at the cursor's time and
everything is simulated again. Undo and redo walk the same list. What was done is a list of deeds
(plain values), so it travels in a link and is checked when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.expansion import drawn
from rebalance_kit.simulation.scenario.scenario import (
    ACTIONS,
    PROTOCOLS,
    Action,
    LeftOut,
    MemberSpec,
    Scenario,
    TopicSpec,
    left_out,
    with_protocol,
)
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.marks import action_words
from rebalance_kit.view.board.states import MemberState
from rebalance_kit.view.lab.playing.horizons import horizon_ms
from rebalance_kit.view.lab.settings import apply_settings, settings_words
from rebalance_kit.view.lab.stepping.group_size import is_size, with_sizes
from rebalance_kit.view.words.phrases import PROTOCOL_WORDS, seconds

ASSIGNORS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "eager": MappingProxyType({"range": "eager", "roundrobin": "roundrobin", "sticky": "sticky"}),
        "cooperative": MappingProxyType({"cooperative-sticky": "cooperative"}),
        "consumer": MappingProxyType({"uniform": "consumer", "range": "consumer-range"}),
    }
)
EAGER = "eager"
MOST_WORK = 250_000
"""(members + partitions / 10) x seconds that the lab plays: about ten seconds of simulation."""
LATE_MS = 6_500
"""From when on a member that starts is what a scenario is about."""
SMALL = 24
"""Up to so many partitions a run is simulated under all protocols to find where to open."""
MOST_FROZEN_MS = 3_600_000
MENDS: Mapping[str, str] = MappingProxyType(
    {"thaw": "freeze", "heal_network": "cut_network", "broker_up": "broker_down"}
)
"""What mends a fault, and the fault."""
ABSENT = {"crashed": "has crashed", "died": "has died", "closed": "has left", "absent": "has not started"}


def first_lesson() -> Scenario:
    """Two consumers share four partitions; nothing has happened yet."""
    configs = {"auto.offset.reset": "earliest"}
    members = tuple(MemberSpec(f"consumer-{number}", ("orders",), configs=configs) for number in (1, 2))
    return Scenario(
        "two-consumers",
        (TopicSpec("orders", 4),),
        members,
        end_ms=40_000,
        title="Two consumers, four partitions",
    )


@dataclass(frozen=True, slots=True)
class LabStep:
    """One thing done in the lab: its words, its action, a member it brings with it, or changed settings."""

    words: str
    actions: tuple[Action, ...] = ()
    member: MemberSpec | None = None
    settings: Mapping[str, Any] | None = None

    @property
    def at_ms(self) -> int:
        """When it happens; settings hold from the start."""
        return self.actions[0].at_ms if self.actions else 0

    @property
    def deed(self) -> dict[str, Any]:
        """The step as plain values, from which ``LabState.with_deed`` makes it again."""
        if self.settings is not None:
            return {"do": "set", "settings": dict(self.settings)}
        action = self.actions[0]
        plain: dict[str, Any] = {"do": "add" if self.member else action.do, "at": action.at_ms}
        if action.member is not None:
            plain["member"] = action.member
        if action.args:
            plain["args"] = dict(action.args)
        if len(self.actions) > 1:
            plain["args"] = {"for_ms": self.actions[1].at_ms - action.at_ms}
        return plain


@dataclass(frozen=True)
class LabState:
    """The lab between two clicks. ``simulate`` makes a trace of a scenario and a seed (None: its own)."""

    base: Scenario
    protocol: str | None
    assignor: str | None
    simulate: Callable[[Scenario, int | None], Trace]
    done: tuple[LabStep, ...] = ()
    undone: tuple[LabStep, ...] = field(default=())
    seed: int | None = None
    prepared: Boards | None = field(default=None, compare=False)
    """The run that follows, where somebody has simulated it already (``prefetch``)."""

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario with everything that was done, under the chosen protocol."""
        if self.protocol is None:
            return self._as_set
        return with_protocol(self._as_set, protocol_key(self.protocol, self.assignor))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Settings of the clients that the chosen protocol refuses; they are not in ``scenario``."""
        chosen = None if self.protocol is None else protocol_key(self.protocol, self.assignor)
        return left_out(self._as_set, chosen)

    @cached_property
    def _as_set(self) -> Scenario:
        """The scenario with everything that was done, before a protocol is chosen."""
        made = self._sized(drawn(self.base, self.seed))
        for step in self.done:
            if step.member is not None:
                made = replace(made, members=(*made.members, step.member))
            for action in step.actions:
                made = made.with_action(action)
        if self.done:
            made = _without_idle(made, [action for step in self.done for action in step.actions])
        for step in self.done:
            if step.settings is not None:
                made = apply_settings(made, step.settings)
        ends = [action.at_ms + horizon_ms(made, action) for step in self.done for action in step.actions]
        return replace(made, end_ms=max([made.end_ms, *ends]))

    def _sized(self, made: Scenario) -> Scenario:
        """With the members and partitions that the settings say it begins with."""
        settings = {name: value for step in self.done for name, value in (step.settings or {}).items()}
        if not any(is_size(name) for name in settings):
            return made
        added = [step.member.name for step in self.done if step.member is not None]
        deeds = [*made.actions, *(action for step in self.done for action in step.actions)]
        done_to = {
            action.member: action_words(action.do, action.member, action.args)
            for action in deeds
            if action.member is not None
        }
        return with_sizes(made, settings, done_to, added)

    @cached_property
    def boards(self) -> Boards:
        """The run that follows, ready to be asked for any moment; raises ``ScenarioError`` for one too large to play."""
        if self.prepared is not None:
            return self.prepared
        check_size(self.scenario)
        return Boards(self.simulate(self.scenario, self.seed))

    def with_boards(self, boards: Boards) -> LabState:
        """The same state with its run already simulated."""
        return replace(self, prepared=boards)

    def _changed(self, **changes: Any) -> LabState:
        """A state whose run is another one, so nothing of it is prepared."""
        return replace(self, prepared=None, **changes)

    def with_protocol(self, protocol: str, assignor: str | None = None) -> LabState:
        """The same history under another protocol; raises ``ScenarioError`` for one that does not exist."""
        protocol_key(protocol, assignor)
        return self._changed(protocol=protocol, assignor=assignor)

    def with_settings(self, settings: Mapping[str, Any]) -> LabState:
        """The same history with other settings from the start; raises ``ConfigError`` in Kafka's words.

        Where the last step set the same keys, it is corrected: the two are one step.
        """
        apply_settings(self.scenario, settings)
        return self._set(settings)

    def _set(self, settings: Mapping[str, Any]) -> LabState:
        step = LabStep(settings_words(settings), settings=MappingProxyType(dict(settings)))
        corrects = bool(self.done) and (self.done[-1].settings or {}).keys() == settings.keys()
        state = self._changed(done=(*self.done[: -1 if corrects else None], step), undone=())
        state.scenario  # noqa: B018 - made here, so that sizes which cannot be are refused
        return state

    def lasting(self, end_ms: int) -> LabState:
        """The same history in a run that lasts at least so long; itself where it does already."""
        if self.scenario.end_ms >= end_ms:
            return self
        return self._changed(base=replace(self.base, end_ms=end_ms))

    def with_seed(self, seed: int | None) -> LabState:
        """The same history with other chances; None gives the scenario's own seed back."""
        return self._changed(seed=seed)

    def with_deed(self, deed: Mapping[str, Any]) -> LabState:
        """One more step from plain values, as a link holds it; raises ``ScenarioError`` for what means nothing."""
        do, at_ms, member, args = deed.get("do"), deed.get("at", 0), deed.get("member"), deed.get("args", {})
        if do == "set" and isinstance(deed.get("settings"), Mapping):
            apply_settings(
                self._as_set, deed["settings"]
            )  # it may have been set before the protocol was chosen
            return self._set(deed["settings"])
        if not (isinstance(do, str) and type(at_ms) is int and at_ms >= 0 and isinstance(args, Mapping)):
            raise ScenarioError(
                f"the deed {dict(deed)!r} means nothing; expected do, at (ms), and member and args where it needs them"
            )
        if do == "add":
            step = self._added(at_ms)
        elif do in ACTIONS:
            step = _step_of(do, member, at_ms, dict(args))
        else:
            raise ScenarioError(
                f"the deed {do!r} is unknown; expected add, set or one of {', '.join(ACTIONS)}"
            )
        return self._changed(done=(*self.done, step), undone=())

    def until(self, at_ms: int) -> LabState:
        """The history as it was before anything later than ``at_ms`` was done."""
        return self._changed(done=tuple(step for step in self.done if step.at_ms <= at_ms), undone=())

    def acted(
        self, do: str, member: str | None, at_ms: int, args: Mapping[str, Any] | None = None
    ) -> LabState:
        """The history with one more deed at ``at_ms``; raises ``ScenarioError`` when it cannot be done then."""
        if not at_ms >= 0:
            raise ScenarioError(f"cannot act at {at_ms} ms; expected a moment from 0 ms on")
        step = self._added(at_ms) if do == "add" else self._step(do, member, at_ms, dict(args or {}))
        return self._changed(done=(*self.done, step), undone=())

    def _step(self, do: str, member: str | None, at_ms: int, args: dict[str, Any]) -> LabStep:
        do = "close" if do == "leave" else do
        if member is not None:
            self.scenario.member(member)
            do, args = self._possible(do, member, at_ms, args)
        return _step_of(do, member, at_ms, args)

    def _possible(self, do: str, member: str, at_ms: int, args: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        state = self.member_state(member, at_ms)
        if do == "restart":
            if state.life in ABSENT:
                return "start", args
            return "restart", {"after_ms": 1000, **args}
        if do == "thaw" and state.life != "frozen":
            raise ScenarioError(f"{member} is not frozen at {at_ms / 1000:.1f} s: nothing to thaw")
        if do in {"crash", "close", "freeze", "stall"} and state.life in ABSENT:
            raise ScenarioError(f"{member} {ABSENT[state.life]}. Restart it first.")
        if do in {"close", "freeze"} and state.life == "frozen":
            raise ScenarioError(f"{member} is frozen. Thaw it first.")
        if do == "start" and state.life not in ABSENT:
            raise ScenarioError(f"Nothing to start: {member} runs.")
        return do, args

    def _added(self, at_ms: int) -> LabStep:
        first = (
            self.base.members[0]
            if self.base.members
            else MemberSpec("consumer-0", tuple(topic.name for topic in self.base.topics))
        )
        known = {spec.name for spec in self.scenario.members}
        stem = first.name.rpartition("-")[0] or first.name
        number = next(count for count in range(len(known) + 1, 10_000) if f"{stem}-{count}" not in known)
        configs = {key: value for key, value in first.configs.items() if key != "group.instance.id"}
        member = replace(first, name=f"{stem}-{number}", configs=configs, start_ms=None, lives=())
        return LabStep(f"{member.name} is added", (Action(at_ms, "start", member.name),), member)

    def member_state(self, name: str, at_ms: int) -> MemberState:
        """The state of a member at a moment of the run."""
        track = self.boards.members.get(name)
        return track.at(at_ms) if track is not None else MemberState()

    def undo(self) -> LabState:
        """One step back; the same state when there is none."""
        if not self.done:
            return self
        return self._changed(done=self.done[:-1], undone=(self.done[-1], *self.undone))

    def redo(self) -> LabState:
        """One undone step forward again; the same state when there is none."""
        if not self.undone:
            return self
        return self._changed(done=(*self.done, self.undone[0]), undone=self.undone[1:])

    def opening_ms(self) -> int:
        """Where to open: one second before the first action or late member.

        Without any, soon after all partitions flow and have a committed offset, under the protocol where that is last.
        """
        acts = [action.at_ms for action in self.scenario.actions if action.do != "start"]
        acts = acts or [
            spec.start_ms for spec in self.scenario.members if spec.start_ms and spec.start_ms >= LATE_MS
        ]
        if acts:
            return max(0, min(acts) - 1000)
        runs = [self.boards]
        if self.protocol in PROTOCOL_WORDS and not self.done and len(self.boards.partitions) <= SMALL:
            others = [name for name in PROTOCOL_WORDS if name != self.protocol]
            runs += [self.with_protocol(name).boards for name in others]
        calm = [each.calm_ms() for each in runs]
        begun = [at_ms for at_ms in calm if at_ms is not None]
        return min(self.boards.end_ms, -(-(max(begun) + 1000) // 1000) * 1000) if begun else 0


def _without_idle(made: Scenario, deeds: list[Action]) -> Scenario:
    """The scenario without a thaw, heal or start of its own that finds nothing to mend any more, because a deed came before."""
    broken: set[tuple[str, str | None]] = set()
    idle: list[Action] = []
    for action in sorted(made.actions, key=lambda each: each.at_ms):
        fault = (MENDS.get(action.do, action.do), action.member)
        if action.do in MENDS.values():
            broken.add(fault)
        elif action.do in MENDS and fault not in broken and not any(action is deed for deed in deeds):
            idle.append(action)
        else:
            broken.discard(fault)
        if action.do == "crash":
            broken.discard(("freeze", action.member))
    kept = tuple(action for action in made.actions if not any(action is each for each in idle))
    return replace(made, actions=kept) if idle else made


def _step_of(do: str, member: str | None, at_ms: int, args: dict[str, Any]) -> LabStep:
    """A deed as a step; a member that freezes for so long is thawed afterwards."""
    for_ms = args.get("for_ms")
    if do != "freeze" or for_ms is None:
        return LabStep(action_words(do, member, args), (Action(at_ms, do, member, args),))
    if type(for_ms) is not int or not 1 <= for_ms <= MOST_FROZEN_MS:
        raise ScenarioError(f"a freeze of {for_ms!r} ms cannot be; expected 1 to {MOST_FROZEN_MS:,}")
    both = (Action(at_ms, "freeze", member), Action(at_ms + for_ms, "thaw", member))
    return LabStep(f"{member} freezes for {seconds(for_ms)}", both)


def protocol_key(protocol: str, assignor: str | None) -> str:
    """The engine's name for a protocol and an assignor; raises ``ScenarioError`` naming what exists.

    >>> protocol_key("eager", "sticky"), protocol_key("consumer", None)
    ('sticky', 'consumer')
    """
    known = ASSIGNORS.get(protocol)
    if known is None:
        if protocol in PROTOCOLS and assignor is None:
            return protocol
        raise ScenarioError(f"protocol {protocol!r} is unknown; expected one of {', '.join(ASSIGNORS)}")
    if assignor is None:
        return next(iter(known.values()))
    if assignor not in known:
        raise ScenarioError(
            f"assignor {assignor!r} does not run {protocol}; expected one of {', '.join(known)}"
        )
    return known[assignor]


def topics_of(scenario: Scenario) -> list[list[Any]]:
    """Topics with their partitions: those at the start, then those that an action creates."""
    topics = {topic.name: topic.partitions for topic in scenario.topics}
    for action in scenario.actions:
        if action.do == "create_topic":
            topics.setdefault(str(action.args["topic"]), int(action.args["partitions"]))
    return [list(pair) for pair in topics.items()]


def check_size(scenario: Scenario) -> None:
    """Raise ``ScenarioError`` for a scenario that would keep the kernel for longer than about ten seconds."""
    grown = [
        int(action.args.get("partitions", 0))
        for action in scenario.actions
        if action.do in {"add_partitions", "create_topic"}
    ]
    scaled = [int(action.args.get("members", 0)) for action in scenario.actions if action.do == "scale_to"]
    partitions = sum(topic.partitions for topic in scenario.topics) + sum(grown)
    members = max([len(scenario.members), *scaled])
    if (members + partitions / 10) * scenario.end_ms / 1000 > MOST_WORK:
        raise ScenarioError(
            f"{members:,} members with {partitions:,} partitions for {scenario.end_ms / 1000:,.0f} s are more than the lab plays; "
            "expected a smaller or a shorter scenario. The terminal and the sweep run it."
        )


def opened(base: Scenario, protocol: str | None, assignor: str | None, seed: int | None) -> LabState:
    """A scenario under a protocol, before anything is done in it."""
    state = LabState(base, protocol, assignor, simulated, seed=seed)
    return state if protocol is None else state.with_protocol(protocol, assignor)


def own_protocol(base: Scenario, otherwise: str = EAGER) -> str | None:
    """None where the scenario itself says which protocol its members speak."""
    return None if base.chooses_protocol() else otherwise


def known_scenario(chosen: Scenario | str | None) -> Scenario:
    """A scenario, that of the kit with this name, or for None the first lesson."""
    if chosen is None:
        return first_lesson()
    if isinstance(chosen, Scenario):
        return chosen
    from rebalance_kit.scenarios import scenario

    return scenario(chosen)


def simulated(scenario: Scenario, seed: int | None) -> Trace:
    """The run of a scenario; None takes its own seed."""
    from rebalance_kit.simulation.simulate import simulate

    return simulate(scenario, seed)
