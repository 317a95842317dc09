from pyspark.sql import functions as F


def counted(lines, stabilized=None, generation=None, expired=None):
    text = F.col("text")
    stabilized = text.contains("Stabilized group ") if stabilized is None else stabilized
    number = F.regexp_extract("text", r"generation (\d+)", 1).try_cast("int")
    either = text.contains("Stabilized group ") | text.contains(" is now empty")
    return lines.groupBy("run").agg(
        F.count_if(text.contains("Preparing to rebalance group ")).alias("preparing"),
        F.count_if(stabilized).alias("stabilized"),
        (F.max(F.when(either, number)) if generation is None else generation).alias("last_generation"),
        F.count_if(
            text.contains(" has failed, removing it from the group") if expired is None else expired
        ).alias("expired"),
    )


def wrong_only_four_point_three(lines):
    """Kafka 3.9 writes"""
    return counted(
        lines, stabilized=F.col("text").rlike(r"Stabilized group \S+ generation \d+ with \d+ members\.")
    )


def wrong_text_is_compared(lines):
    """as text, '9' is greater than '12'"""
    either = F.col("text").contains("Stabilized group ") | F.col("text").contains(" is now empty")
    text = F.when(either, F.regexp_extract("text", r"generation (\d+)", 1))
    return counted(lines, generation=F.max(text).cast("int"))


def wrong_emptied_groups_forgotten(lines):
    """Group ... with generation N is now empty"""
    number = F.regexp_extract("text", r"generation (\d+)", 1).try_cast("int")
    return counted(lines, generation=F.max(F.when(F.col("text").contains("Stabilized group "), number)))


def wrong_leavers_have_expired(lines):
    """A member that leaves"""
    return counted(
        lines,
        expired=F.col("text").contains("removing it from the group")
        | F.col("text").contains("has left group"),
    )
