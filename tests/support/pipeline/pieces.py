"""Recorded logs that are not whole: they begin or end in the middle of a rebalance, or are there twice."""

from __future__ import annotations

import gzip

RUN = "crash.eager.4.3.1"


def write(top, runs):
    """A folder a piece, each with a broker's log of ``RUN``."""
    text = (
        gzip.decompress((runs / RUN / "broker.log.gz").read_bytes()).decode("utf-8").splitlines(keepends=True)
    )
    begun = [place for place, line in enumerate(text) if "Preparing to rebalance" in line]
    pieces = {
        # the first rebalance that is told of had begun before
        "late": {"broker.log": text[begun[1] + 1 :]},
        # the last one never ends
        "early": {"broker.log": text[: begun[2] + 1]},
        "twice": {"broker.log": text, "copy of broker.log": text},
        "backwards": {"broker.log": text[begun[2] :] + text[: begun[2]]},
    }
    for name, files in pieces.items():
        for file, lines in files.items():
            (top / name).mkdir(exist_ok=True)
            (top / name / file).write_text("".join(lines), "utf-8")
