"""PipelineDP on its local backend, and the mechanisms of Google's C++ library that it draws with (PyDP)."""

import csv

import pipeline_dp
from pydp.algorithms import numerical_mechanisms
from timing import Way, absolute, deviation, off, serve


def gaussian(task):
    values = task.integers("integers")
    noise = numerical_mechanisms.GaussianMechanism.create_from_standard_deviation(task["deviation"])

    def run(n):
        return [noise.add_noise(value) for value in values[:n]]

    return [Way("Google's C++ (PyDP)", len(values), run, lambda out: deviation(out, values))]


def laplace(task):
    values = task.integers("integers")
    noise = numerical_mechanisms.LaplaceMechanism(1.0 / task["scale"], 1.0)

    def run(n):
        return [noise.add_noise(value) for value in values[:n]]

    return [Way("Google's C++ (PyDP)", len(values), run, lambda out: absolute(out, values))]


def group_by(task):
    truth = task.truth()

    def run(n):
        with open(task.path("trips.csv"), newline="") as file:
            lines = csv.reader(file)
            next(lines)
            rows = [tuple(line) for line in lines]
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=task["epsilon"], total_delta=task["delta"])
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        bounds = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.GAUSSIAN,
            metrics=[pipeline_dp.Metrics.COUNT],
            max_partitions_contributed=task.count("max_groups"),
            max_contributions_per_partition=task.count("max_rows"),
        )
        columns = pipeline_dp.DataExtractors(
            privacy_id_extractor=lambda row: row[0],
            partition_extractor=lambda row: row[1],
            value_extractor=lambda row: 0,
        )
        counts = engine.aggregate(rows, bounds, columns, public_partitions=list(truth))
        accountant.compute_budgets()
        return {city: metrics.count for city, metrics in counts}

    return [Way("local backend, bounded; no ledger", 1, run, lambda out: off(out, truth), whole=True)]


serve(["pipeline-dp", "python-dp"], {"gaussian": gaussian, "laplace": laplace, "group-by": group_by})
