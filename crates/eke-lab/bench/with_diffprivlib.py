"""diffprivlib: mechanisms that are called value by value."""

from diffprivlib import mechanisms
from timing import Way, absolute, deviation, serve


def gaussian(task):
    values = task.integers("integers")
    # Its noise follows from epsilon and delta; for the same noise as everybody its scale is set.
    noise = mechanisms.GaussianDiscrete(epsilon=0.5, delta=1e-6, sensitivity=1)
    noise._scale = float(task["deviation"])

    def run(n):
        return [noise.randomise(value) for value in values[:n]]

    return [Way("GaussianDiscrete; doubles", len(values), run, lambda out: deviation(out, values))]


def laplace(task):
    values = task.integers("integers")
    noise = mechanisms.Geometric(epsilon=1.0 / task["scale"], sensitivity=1)

    def run(n):
        return [noise.randomise(value) for value in values[:n]]

    return [Way("Geometric; doubles", len(values), run, lambda out: absolute(out, values))]


def pick(task):
    scores = [float(score) for score in task.integers("scores")]
    # Of monotone scores, so that epsilon is the rate.
    numbers = {"epsilon": task["rate"], "sensitivity": 1.0, "utility": scores, "monotonic": True}

    def exponential(n):
        return mechanisms.Exponential(**numbers).randomise()

    def flip(n):
        return mechanisms.PermuteAndFlip(**numbers).randomise()

    def result(at):
        return max(scores) - scores[at]

    return [
        Way("Exponential; doubles", 1, exponential, result, whole=True),
        Way("PermuteAndFlip; doubles", 1, flip, result, whole=True),
    ]


serve(["diffprivlib"], {"gaussian": gaussian, "laplace": laplace, "pick": pick})
