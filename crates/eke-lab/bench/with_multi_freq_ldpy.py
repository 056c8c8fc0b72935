"""multi-freq-ldpy: subset selection, compiled by Numba, user by user."""

import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from timing import Way, serve


def local(task):
    values = task.integers("categories")
    categories, epsilon = task.count("categories"), task["epsilon"]

    def run(n):
        reports = [SS_Client(value, categories, epsilon) for value in values[:n]]
        return n, SS_Aggregator_MI(reports, categories, epsilon)

    def result(out):
        n, estimates = out
        truth = np.bincount(values[:n], minlength=categories) / n
        return np.sqrt(np.mean((np.array(estimates) - truth) ** 2) * n)

    return [Way("subset selection (Numba); doubles", len(values), run, result)]


serve(["multi-freq-ldpy", "numba"], {"local": local})
