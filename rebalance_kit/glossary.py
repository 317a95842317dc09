"""The words of consumer groups, each in one to three sentences; config keys are answered from Kafka's own tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import all_keys
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.key_types import ACTS, ConfigKey
from rebalance_kit.model.versions import PREFERRED


@dataclass(frozen=True, slots=True)
class Entry:
    """One explained term; ``str()`` of it is what a terminal shows."""

    term: str
    text: str
    source: str
    versions: str = ""
    also: tuple[str, ...] = ()
    see: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.term, f"  {self.text}"]
        notes = (
            ("versions", self.versions),
            ("source", self.source),
            ("also", ", ".join(self.also)),
            ("see", ", ".join(self.see)),
        )
        lines += [f"  {name}: {value}" for name, value in notes if value]
        return "\n".join(lines)


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """All terms by name, in the order of the file; config keys are not among them."""
    from importlib.resources import files

    import yaml

    listed: list[dict[str, Any]] = yaml.safe_load(
        files("rebalance_kit").joinpath("glossary.yaml").read_text(encoding="utf-8")
    )
    made = (
        Entry(
            listed_entry["term"],
            listed_entry["text"],
            listed_entry["source"],
            listed_entry.get("versions", ""),
            tuple(listed_entry.get("also", ())),
            tuple(listed_entry.get("see", ())),
        )
        for listed_entry in listed
    )
    return MappingProxyType({entry.term: entry for entry in made})


def lookup(term: str, kafka_version: str = PREFERRED) -> Entry:
    """Explain a term, an error, a state or a config key, however it is capitalised.

    Raises ``DataError`` naming the nearest known terms.
    """
    wanted = _plain(term)
    for entry in entries().values():
        if wanted in {_plain(entry.term), *map(_plain, entry.also)}:
            return entry
    for name, key in all_keys().items():
        if wanted == _plain(name):
            return explain_config(key, kafka_version)
    raise DataError(f"{term!r} is not explained here; expected a term such as {', '.join(_near(wanted))}")


def explain_config(key: ConfigKey, kafka_version: str = PREFERRED) -> Entry:
    """A config key as a glossary entry: help, type and range, default and its history."""
    where = {"client": "consumer", "broker": "broker", "group": "group"}[key.scope]
    now = show(key.default(kafka_version)) if key.exists(kafka_version) else "none"
    history = [f"{since} {show(value)}" for since, value in key.history]
    changes = f"; defaults by version: {', then '.join(history)}" if len(history) > 1 else ""
    until = f", gone in {key.until}" if key.until else ""
    text = f"{key.help} Config of a {where}: {key.allowed()}; default in {kafka_version}: {now}. {ACTS[key.acts]}"
    return Entry(
        key.name,
        text.rstrip(),
        key.source or ("ConsumerConfig" if key.scope == "client" else "GroupCoordinatorConfig"),
        f"since {key.since}{until}{changes}",
    )


def show(value: object) -> str:
    """A config value as people write it.

    >>> show(("range", "sticky")), show(True), show(None), show("")
    ('range,sticky', 'true', 'unset', 'empty')
    """
    if value is None:
        return "unset"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ",".join(value) or "empty"
    return str(value) or "empty"


def _plain(term: str) -> str:
    return " ".join(term.replace("_", " ").replace("-", " ").lower().split())


def _near(wanted: str) -> list[str]:
    from difflib import get_close_matches

    spelled = {_plain(name): name for name in all_keys()}
    for entry in entries().values():
        spelled |= {_plain(name): name for name in (entry.term, *entry.also)}
    close = get_close_matches(wanted, list(spelled), n=3, cutoff=0.5)
    inside = [name for plain, name in spelled.items() if wanted and wanted in plain]
    return list(dict.fromkeys([*(spelled[term] for term in close), *inside]))[:5] or [
        "generation",
        "group epoch",
        "session.timeout.ms",
    ]
