"""Polars: the same count without privacy, for scale."""

import polars as pl
from timing import Way, off, serve


def group_by(task):
    truth = task.truth()

    def run(n):
        return dict(pl.scan_csv(task.path("trips.csv")).group_by("city").len().collect().rows())

    return [Way("not private, not bounded", 1, run, lambda out: off(out, truth), whole=True)]


serve(["polars"], {"group-by": group_by})
