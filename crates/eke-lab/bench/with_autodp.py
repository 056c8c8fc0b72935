"""autodp: mechanisms as functions of the Renyi order."""

import warnings

from autodp.mechanism_zoo import zCDP_Mechanism
from autodp.transformer_zoo import Composition
from timing import Way, serve

warnings.simplefilter("ignore")


def convert(task):
    rhos = task.floats("rhos")

    def run(n):
        return [zCDP_Mechanism(rho, 0).get_approxDP(task["delta"]) for rho in rhos[:n]]

    return [Way("zCDP_Mechanism", len(rhos), run, lambda out: sum(out) / len(out))]


def compose(task):
    rhos = task.floats("charges")

    def run(n):
        together = Composition()([zCDP_Mechanism(rho, 0) for rho in rhos], [1] * len(rhos))
        return together.get_approxDP(task["delta"])

    return [Way("Composition", 1, run, lambda epsilon: epsilon, whole=True)]


serve(["autodp"], {"convert": convert, "compose": compose})
