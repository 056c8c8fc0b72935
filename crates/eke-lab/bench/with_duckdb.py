"""DuckDB: the same counts and sums without privacy, for scale."""

import duckdb
from timing import Way, off, serve


def group_by(task):
    truth = task.truth()

    def run(n):
        question = f"SELECT city, count(*) FROM read_csv('{task.path('trips.csv')}') GROUP BY city"
        return dict(duckdb.sql(question).fetchall())

    return [Way("not private, not bounded", 1, run, lambda out: off(out, truth), whole=True)]


def bounding(task):
    kept, cap = task.count("kept"), task.count("cap")
    events = f"read_parquet('{task.file}')"

    def way(how, question):
        def run(n):
            return duckdb.sql(question).fetchall()

        return Way(how, 1, run, lambda out: sum(s for _, _, s in out), whole=True, alone=True)

    bounded = f"""
        SELECT g, sum(n), sum(s)
        FROM (
            SELECT u, g, least(count(*), {cap}) AS n, sum(x) * least(1, {cap} / count(*)) AS s
            FROM {events} GROUP BY u, g
            QUALIFY row_number() OVER (PARTITION BY u ORDER BY hash(u, g)) <= {kept}
        ) GROUP BY g"""
    return [
        way("not bounded", f"SELECT g, count(*), sum(x) FROM {events} GROUP BY g"),
        way(f"bounded: at most {kept} groups a unit", bounded),
    ]


serve(["duckdb"], {"group-by": group_by, "bounding": bounding})
