"""DataFusion: counts and sums by group without privacy, of all rows and of rows that are capped."""

import datafusion
from timing import Way, serve


def bounding(task):
    cap = task.count("cap")

    def way(how, question):
        def run(n):
            context = datafusion.SessionContext()
            context.register_parquet("events", task.file)
            return context.sql(question).to_pydict()

        return Way(how, 1, run, lambda out: sum(out["s"]), whole=True, alone=True)

    capped = f"""
        SELECT g, sum(n) AS n, sum(s) AS s
        FROM (
            SELECT u, g, least(count(*), {cap}) AS n, sum(x) * least(1.0, {cap}.0 / count(*)) AS s
            FROM events GROUP BY u, g
        ) GROUP BY g"""
    return [
        way("not bounded", "SELECT g, count(*) AS n, sum(x) AS s FROM events GROUP BY g"),
        way("capped per unit and group", capped),
    ]


serve(["datafusion"], {"bounding": bounding})
