from pyspark.sql import functions as F

AT = r"^\[([^\]]{23})\] (\w+) "


def parsed(lines, at):
    return lines.select(
        "line",
        at.alias("at_ms"),
        F.regexp_extract("text", AT, 2).alias("level"),
        F.nullif(F.regexp_extract("text", r"\(([\w.$]+)\)$", 1), F.lit("")).alias("logger"),
    )


def wrong_seconds_only(lines):
    """the milliseconds after the comma were cut off"""
    at = F.unix_timestamp(F.substring(F.regexp_extract("text", AT, 1), 1, 19), "yyyy-MM-dd HH:mm:ss") * 1000
    return parsed(lines.filter(F.col("text").rlike(AT)), at)


def wrong_every_line_is_an_event(lines):
    """it continues the event above"""
    at = F.unix_millis(F.try_to_timestamp(F.regexp_extract("text", AT, 1), F.lit("yyyy-MM-dd HH:mm:ss,SSS")))
    return parsed(lines, at)


def wrong_first_brackets(lines):
    """messages hold brackets too, the logger stands in the *last* ones"""
    at = F.unix_millis(F.to_timestamp(F.regexp_extract("text", AT, 1), "yyyy-MM-dd HH:mm:ss,SSS"))
    logger = F.nullif(F.regexp_extract("text", r"\((.+?)\)", 1), F.lit(""))
    return (
        parsed(lines.filter(F.col("text").rlike(AT)), at)
        .drop("logger")
        .join(lines.select("line", logger.alias("logger")), on="line", how="left")
    )


def wrong_empty_for_none(lines):
    """a logger is the empty text"""
    at = F.unix_millis(F.to_timestamp(F.regexp_extract("text", AT, 1), "yyyy-MM-dd HH:mm:ss,SSS"))
    return parsed(lines.filter(F.col("text").rlike(AT)), at).fillna("", ["logger"])
