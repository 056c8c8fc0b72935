"""Polars: the same counts and sums without privacy, for scale."""

import polars as pl
from timing import Way, off, serve


def group_by(task):
    truth = task.truth()

    def run(n):
        return dict(pl.scan_csv(task.path("trips.csv")).group_by("city").len().collect().rows())

    return [Way("not private, not bounded", 1, run, lambda out: off(out, truth), whole=True)]


def bounding(task):
    kept, cap = task.count("kept"), task.count("cap")
    counts = pl.len().alias("n"), pl.col("x").sum().alias("s")

    def way(how, question):
        def run(n):
            return question(pl.scan_parquet(task.file)).collect()

        return Way(how, 1, run, lambda out: out["s"].sum(), whole=True, alone=True)

    def plain(events):
        return events.group_by("g").agg(*counts)

    def bounded(events):
        scale = pl.min_horizontal(pl.lit(1.0), cap / pl.col("n"))
        place = pl.struct("u", "g").hash().rank("ordinal").over("u")
        each = events.group_by("u", "g").agg(*counts).filter(place <= kept)
        each = each.select("g", pl.min_horizontal("n", pl.lit(cap)).alias("n"), pl.col("s") * scale)
        return each.group_by("g").agg(pl.col("n", "s").sum())

    return [way("not bounded", plain), way(f"bounded: at most {kept} groups a unit", bounded)]


serve(["polars"], {"group-by": group_by, "bounding": bounding})
