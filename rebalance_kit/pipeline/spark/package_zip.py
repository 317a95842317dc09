"""Ship the kit to Spark's workers: the whole package as one zip, for ``--py-files`` and the like."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.model.files import draft_of, scratch_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import SparkSession

_KIT = "rebalance_kit.zip"

_HOME = Path(__file__).resolve().parents[2]

#: Endings of the files that a worker may need: code, scenarios, tables.
_SHIPPED = frozenset({".py", ".yaml", ".json", ".gz", ".typed"})

#: Every entry gets this time, so that the same kit gives the same bytes.
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


def write_kit_zip(path: str | os.PathLike[str]) -> Path:
    """Write the installed package to ``path`` as a zip and return the path; an existing file is replaced whole.

    ``spark-submit --py-files KIT.zip job.py`` then runs a job that imports ``rebalance_kit`` on a cluster
    without the kit (its Python needs pyarrow and PyYAML).  Raises ``EnvironmentProblem`` when the package
    itself was imported from such a zip.
    """
    target, home = Path(path), _HOME
    if not home.is_dir():
        raise EnvironmentProblem(
            f"the kit was imported from {home.parent}; expected an installed package to pack: copy that file instead"
        )
    with draft_of(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(home.rglob("*")):
            if file.suffix in _SHIPPED and "__pycache__" not in file.parts:
                entry = zipfile.ZipInfo(str(Path(home.name) / file.relative_to(home)), _ENTRY_TIME)
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def ship_kit(spark: SparkSession) -> None:
    """Send the kit to the workers of a running session; a second call changes nothing."""
    if not _HOME.is_dir():
        return  # imported from a zip, which the workers have too
    context = getattr(spark, "_sc", None)
    if context is None:
        with scratch_for("kit") as folder:
            spark.addArtifacts(str(write_kit_zip(folder / _KIT)), pyfile=True)
    elif not any(path.endswith(_KIT) for path in context._python_includes):  # noqa: SLF001 - there is no public way to ask
        # A worker fetches the file for its first task, so it must stay: the context's own folder keeps it.
        context.addPyFile(str(write_kit_zip(Path(context._temp_dir) / _KIT)))  # noqa: SLF001 - removed with the context


def connected(address: str, settings: Mapping[str, str]) -> SparkSession:
    """A session on a Spark Connect server (``sc://host:15002``).

    Raises ``EnvironmentProblem`` when this PySpark was installed without its Connect client.
    """
    from pyspark.sql import SparkSession

    # The silver plans nest deeper than the hundred messages that protobuf's C parser accepts.
    os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    try:
        import grpc  # type: ignore[import-untyped,unused-ignore]  # noqa: F401 - only its presence matters
        import grpc_status  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
    except ImportError as problem:
        raise EnvironmentProblem(
            f"{address} is a Spark Connect server, and this PySpark came without the client for it ({problem}); "
            "expected: pip install 'pyspark[connect]'"
        ) from problem
    session: SparkSession = SparkSession.builder.remote(address).getOrCreate()
    for key, value in settings.items():
        if key.startswith("spark.sql."):  # the rest is the server's own
            session.conf.set(key, value)
    ship_kit(session)
    return session
