"""OpenDP: exact noise, conversions, selection, and counts by group through Polars."""

import warnings

import opendp.prelude as dp
from timing import Way, absolute, deviation, off, serve

warnings.simplefilter("ignore")
dp.enable_features("contrib", "honest-but-curious")


def gaussian(task):
    values = task.integers("integers")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l2_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=task["deviation"])
    return [Way("make_gaussian; exact", len(values), lambda n: noise(values[:n]), lambda out: deviation(out, values))]


def laplace(task):
    values = task.integers("integers")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.l1_distance(T=dp.i64)
    noise = dp.m.make_laplace(*space, scale=task["scale"])
    return [Way("make_laplace; exact", len(values), lambda n: noise(values[:n]), lambda out: absolute(out, values))]


def release(rho):
    space = dp.atom_domain(T=dp.i64), dp.absolute_distance(T=dp.i64)
    return dp.m.make_gaussian(*space, scale=(0.5 / rho) ** 0.5)


def convert(task):
    rhos = task.floats("rhos")
    delta = task["delta"]
    releases = [dp.c.make_zCDP_to_approxDP(release(rho)) for rho in rhos]

    def run(n):
        return [one.map(1).epsilon(delta) for one in releases[:n]]

    return [Way("make_zCDP_to_approxDP", len(rhos), run, lambda out: sum(out) / len(out))]


def compose(task):
    rhos = task.floats("charges")
    releases = [release(rho) for rho in rhos]

    def run(n):
        together = dp.c.make_composition(releases)
        return dp.c.make_zCDP_to_approxDP(together).map(1).epsilon(task["delta"])

    return [Way("make_composition", 1, run, lambda epsilon: epsilon, whole=True)]


def pick(task):
    scores = task.integers("scores")
    space = dp.vector_domain(dp.atom_domain(T=dp.i64)), dp.linf_distance(T=dp.i64, monotonic=True)

    def run(n):
        return dp.m.make_noisy_max(*space, dp.max_divergence(), scale=1.0 / task["rate"])(scores)

    return [Way("make_noisy_max, exponential; exact", 1, run, lambda at: max(scores) - scores[at], whole=True)]


def group_by(task):
    import polars as pl

    truth = task.truth()
    keys = pl.LazyFrame({"city": list(truth)})

    def run(n):
        context = dp.Context.compositor(
            data=pl.scan_csv(task.path("trips.csv")),
            privacy_unit=dp.unit_of(contributions=1, identifier="who"),
            privacy_loss=dp.loss_of(rho=task["rho"]),
            split_evenly_over=1,
        )
        # Groups by a hash (keep="sample") fail with this Polars when they have one column.
        query = (
            context.query()
            .truncate_per_group(task.count("max_rows"), by=["city"])
            .truncate_num_groups(task.count("max_groups"), by=["city"], keep="first")
            .group_by("city")
            .agg(dp.len())
            .with_keys(keys)
        )
        return dict(query.release().collect().rows())

    return [Way("Polars, bounded; no ledger", 1, run, lambda out: off(out, truth), whole=True)]


serve(
    ["opendp", "polars"],
    {
        "gaussian": gaussian,
        "laplace": laplace,
        "convert": convert,
        "compose": compose,
        "pick": pick,
        "group-by": group_by,
    },
)
