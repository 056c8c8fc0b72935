"""Tumult Analytics on Spark, on this machine alone. Starting Java is not counted."""

import os
import sys

# Spark's workers need this environment, too.
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable

from pyspark.sql import SparkSession
from timing import Way, off, serve
from tmlt.analytics import (
    AddRowsWithID,
    KeySet,
    MaxGroupsPerID,
    MaxRowsPerGroupPerID,
    QueryBuilder,
    RhoZCDPBudget,
    Session,
)


def group_by(task):
    truth = task.truth()
    spark = (
        SparkSession.builder.master("local[*]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", task.path("spark"))
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")

    def run(n):
        rows = spark.read.csv(task.path("trips.csv"), header=True)
        budget = RhoZCDPBudget(task["rho"])
        session = Session.from_dataframe(
            privacy_budget=budget,
            source_id="trips",
            dataframe=rows,
            protected_change=AddRowsWithID(id_column="who"),
        )
        question = (
            QueryBuilder("trips")
            .enforce(MaxGroupsPerID("city", task.count("max_groups")))
            .enforce(MaxRowsPerGroupPerID("city", task.count("max_rows")))
            .groupby(KeySet.from_dict({"city": list(truth)}))
            .count()
        )
        return {row["city"]: row["count"] for row in session.evaluate(question, budget).collect()}

    return [Way("Spark, bounded; no ledger", 1, run, lambda out: off(out, truth), whole=True, cpu=False)]


serve(["tmlt.analytics", "tmlt.core", "pyspark"], {"group-by": group_by})
