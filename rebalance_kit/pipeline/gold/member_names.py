"""Who is who: member ids as the names people know.

A broker writes member ids.  A client's own lines give both its ``client.id`` and its member id; so
does the broker up to 3.9 when a member leaves.  Failing these, an id made by a classic coordinator
begins with the client's name (or, for a static member, with its instance id).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_UUID_TAIL = r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_GIVEN_ID = r"with the given member-id: (.*)$"

#: What librdkafka writes for a member id that it does not have.
_NO_ID = ("", "(not-set)")


def member_names(events: DataFrame) -> DataFrame:
    """One row a member id: path, member, ``client`` and ``instance`` where any line tells them."""
    told = F.coalesce(F.nullif(F.regexp_extract("reason", _GIVEN_ID, 1), F.lit("")), F.col("member"))
    known = events.select("path", told.alias("member"), "client", "instance")
    # A static member that only the broker mentions goes by the one client that uses its instance id.
    owners = (
        known.filter(F.col("client").isNotNull() & F.col("instance").isNotNull())
        .groupBy("path", "instance")
        .agg(F.collect_set("client").alias("owners"))
        .filter(F.size("owners") == 1)
        .select("path", "instance", F.get("owners", F.lit(0)).alias("owner"))
    )
    return (
        known.filter(F.col("member").isNotNull() & ~F.col("member").isin(*_NO_ID))
        .filter(F.col("client").isNotNull() | F.col("instance").isNotNull())
        .groupBy("path", "member")
        .agg(F.max("client").alias("client"), F.max("instance").alias("instance"))
        .join(owners, ["path", "instance"], "left")
        .select("path", "member", F.coalesce("client", "owner").alias("client"), "instance")
    )


def with_name(rows: DataFrame, names: DataFrame, member: str, into: str) -> DataFrame:
    """Add ``into``: the client's name of the member id (or instance id) in column ``member``; null where that is null."""
    by_member = names.select("path", F.col("member").alias(member), F.col("client").alias("_client"))
    # An instance id that several clients use (one after the other, or by mistake) names them all.
    by_instance = (
        names.filter(F.col("instance").isNotNull() & F.col("client").isNotNull())
        .groupBy("path", F.col("instance").alias(member))
        .agg(F.array_join(F.sort_array(F.collect_set("client")), " or ").alias("_clients"))
    )
    return (
        rows.join(F.broadcast(by_member), ["path", member], "left")
        .join(F.broadcast(by_instance), ["path", member], "left")
        .withColumn(into, F.coalesce("_client", "_clients", bare_name(F.col(member))))
        .drop("_client", "_clients")
    )


def bare_name(member: Column) -> Column:
    """A classic member id without its random tail; another id as it is."""
    return F.regexp_replace(member, _UUID_TAIL, "")
