from pyspark.sql import functions as F


def in_buckets(requests, bucket, add=F.sum):
    parts = requests.groupBy("run", "api", bucket.alias("bucket")).agg(F.count("*").alias("part"))
    return parts.groupBy("run", "api").agg(
        add("part").alias("requests"), F.max("part").alias("largest_bucket")
    )


def wrong_not_split(requests):
    """one task still counts it all"""
    return requests.groupBy("run", "api").agg(
        F.count("*").alias("requests"), F.count("*").alias("largest_bucket")
    )


def wrong_split_by_member(requests):
    """as skewed as they are"""
    return in_buckets(requests, F.when(F.col("member") == "consumer-1", 1).otherwise(0))


def wrong_buckets_counted(requests):
    """counting *rows* (buckets)"""
    return in_buckets(requests, F.col("seq") % 8, add=F.count)


def wrong_not_added_up(requests):
    """the buckets are not added up"""
    rows = requests.groupBy("run", "api", F.col("seq") % 8).agg(F.count("*").alias("requests"))
    return rows.withColumn("largest_bucket", F.col("requests"))
