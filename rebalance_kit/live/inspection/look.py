"""``rebalance-kit inspect``: two looks at a cluster through a client in a process of its own, told in words or as JSON."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

from rebalance_kit.live.inspection.findings import GRAVITIES, Finding, Group, as_json, findings, groups_of
from rebalance_kit.live.jars import LiveError
from rebalance_kit.model.errors import to_install

FAIL_ON = (*GRAVITIES, "never")
MOST_S = 600.0
_PASSED = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "KRB5_CONFIG",
    "KRB5CCNAME",
    "PYTHONPATH",
)


def read_configs(file: Path) -> dict[str, str]:
    """A file of client configs, ``key=value`` per line as Kafka's own tools take it; raises ``LiveError`` naming the line."""
    try:
        lines = file.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise LiveError(
            f"{file}: {getattr(error, 'strerror', None) or error}; expected a file of client configs"
        ) from error
    configs: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise LiveError(
                f"{file}:{number}: expected key=value (the line is not shown, as it may hold a secret)"
            )
        configs[key.strip()] = value.strip()
    return native(configs, str(file))


def native(configs: Mapping[str, str], where: str) -> dict[str, str]:
    """Configs of a Java client as librdkafka takes them: ``sasl.jaas.config`` becomes user and password, JKS stores are refused."""
    made = dict(configs)
    jaas = made.pop("sasl.jaas.config", None)
    if jaas is not None:
        for option, key in (("username", "sasl.username"), ("password", "sasl.password")):
            _, found, rest = jaas.partition(f"{option}=")
            if not found or not rest.startswith(('"', "'")):
                raise LiveError(
                    f'{where}: sasl.jaas.config names no {option}="…"; expected a login module with user and password'
                )
            made.setdefault(key, rest[1:].partition(rest[0])[0])
    for key in made:
        if key.endswith((".truststore.location", ".truststore.password", ".truststore.type")):
            raise LiveError(
                f"{where}: {key} is of Java's stores; expected ssl.ca.location=FILE.pem (write it with keytool -exportcert -rfc)"
            )
    return made


def look(
    bootstrap: str,
    configs: Mapping[str, str] | None = None,
    groups: Sequence[str] = ("*",),
    seconds: float = 6.0,
) -> Mapping[str, Any]:
    """Look twice, ``seconds`` apart, at the groups that fit the patterns; raises ``LiveError`` with what to do."""
    if not 0 <= seconds <= MOST_S:
        raise LiveError(f"seconds={seconds:g}: expected 0 to {MOST_S:g}")
    if importlib.util.find_spec("confluent_kafka") is None:
        raise LiveError(f"confluent-kafka is not installed; expected: {to_install('clients')}")
    wish: dict[str, Any] = {
        "bootstrap": bootstrap,
        "configs": dict(configs or {}),
        "groups": list(groups),
        "seconds": seconds,
    }
    environment = {key: value for key, value in os.environ.items() if key in _PASSED}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "rebalance_kit.live.inspection.child"],
            input=json.dumps(wish),
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds + 120,
            env=environment,
        )
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired as error:
        raise LiveError(
            f"{bootstrap} did not answer within {seconds + 120:g} s; expected a reachable cluster"
        ) from error
    except ValueError as error:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise LiveError(
            f"the client at {bootstrap} ended without an answer: {_hidden(last, wish['configs'])}"
        ) from error
    if "error" in answer:
        raise LiveError(f"{bootstrap}: {_hidden(str(answer['error']), wish['configs'])}; {_advice(answer)}")
    return dict(answer)


def _advice(answer: Mapping[str, Any]) -> str:
    words = f"{answer['error']} {answer['code']}".lower()
    if "authentication" in words or "sasl" in words:
        return "expected sasl.username and sasl.password that this cluster knows, and its sasl.mechanism"
    if "ssl" in words or "certificate" in words:
        return "expected security.protocol=SSL or SASL_SSL with ssl.ca.location=FILE.pem in --command-config"
    if "authorization" in words:
        return "expected Describe on the cluster, its topics and its groups for this principal"
    return "expected a reachable cluster: check the address, and whether it wants TLS or SASL (--command-config FILE)"


def _hidden(words: str, configs: Mapping[str, str]) -> str:
    """Words without any value of the security settings."""
    for key, value in configs.items():
        if (
            value
            and key.startswith(("sasl.", "ssl."))
            and ("password" in key or "secret" in key or "key" in key)
        ):
            words = words.replace(value, "***")
    return words


def inspect(
    bootstrap: str,
    command_config: Path | None,
    groups: Sequence[str],
    seconds: float,
    fail_on: str,
    *,
    json_lines: bool,
    out: TextIO,
) -> int:
    """Print groups and findings; 1 when a finding is as grave as ``fail_on``, 3 when a group could not be seen."""
    if command_config is not None and command_config.exists():
        mode = command_config.stat().st_mode
        if mode & (stat.S_IRGRP | stat.S_IROTH):
            sys.stderr.write(f"{command_config} can be read by others; expected chmod 600\n")
    configs = {} if command_config is None else read_configs(command_config)
    answer = look(bootstrap, configs, tuple(groups) or ("*",), seconds)
    seen = groups_of(answer)
    found = findings(seen)
    lines = _as_json(seen, found) if json_lines else _words(answer, seen, found)
    for line in lines:
        print(line, file=out)
    grave = {gravity for gravity in GRAVITIES[: FAIL_ON.index(fail_on) + 1] if fail_on != "never"}
    if any(one.gravity in grave for one in found):
        return 1
    return 3 if any("error" in group.now for group in seen) else 0


def _as_json(groups: Sequence[Group], found: Sequence[Finding]) -> Iterator[str]:
    for group in groups:
        kept = {key: value for key, value in group.now.items() if key != "committed"}
        about = {"group": group.name, **kept, "lag": group.lag(), "lag_before": group.lag(before=True)}
        yield json.dumps({**about, "findings": [as_json(one) for one in found if one.group == group.name]})


def _words(answer: Mapping[str, Any], groups: Sequence[Group], found: Sequence[Finding]) -> Iterator[str]:
    brokers = answer["cluster"]["brokers"]
    yield f"{len(groups)} groups on {len(brokers)} broker{'' if len(brokers) == 1 else 's'} ({', '.join(brokers.values())})"
    yield ""
    yield f"  {'group':32} {'kind':28} {'state':22} {'members':>7} {'lag':>12} {'change':>9}"
    for group in groups:
        lag, before = sum(group.lag().values()), sum(group.lag(before=True).values())
        state = group.now.get("state", "not described")
        yield f"  {group.name[:32]:32} {group.shown()[:28]:28} {state[:22]:22} {len(group.members):7} {lag:12,} {lag - before:+9,}"
    for one in found:
        yield ""
        yield f"  {one.gravity.upper():8} {one.group}: {one.seen}"
        yield f"  {'':8} {one.do}"
    if not found:
        yield ""
        yield "  nothing was found to be wrong"
