"""DuckDB: the same count without privacy, for scale."""

import duckdb
from timing import Way, off, serve


def group_by(task):
    truth = task.truth()

    def run(n):
        question = f"SELECT city, count(*) FROM read_csv('{task.path('trips.csv')}') GROUP BY city"
        return dict(duckdb.sql(question).fetchall())

    return [Way("not private, not bounded", 1, run, lambda out: off(out, truth), whole=True)]


serve(["duckdb"], {"group-by": group_by})
