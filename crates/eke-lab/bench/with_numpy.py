"""NumPy's and SciPy's floating-point samplers: what is fast and must not be used, for scale."""

import numpy as np
from scipy.special import lambertw
from timing import Way, serve

rng = np.random.default_rng(1)


def gaussian(task):
    values = np.array(task.integers("integers"))
    deviation = task["deviation"]

    def run(n):
        return values[:n] + np.rint(rng.normal(0.0, deviation, n)).astype(np.int64)

    return [Way("normal, rounded; unsafe", len(values), run, lambda out: np.std(out - values[: len(out)]))]


def laplace(task):
    values = np.array(task.integers("integers"))
    chance = 1.0 - np.exp(-1.0 / task["scale"])

    def run(n):
        return values[:n] + rng.geometric(chance, n) - rng.geometric(chance, n)

    return [Way("two geometrics; unsafe", len(values), run, lambda out: np.mean(np.abs(out - values[: len(out)])))]


def pick(task):
    scores = np.array(task.integers("scores"))
    scale = 1.0 / task["rate"]

    def run(n):
        return int(np.argmax(scores + rng.gumbel(0.0, scale, len(scores))))

    return [Way("Gumbel noise; unsafe", 1, run, lambda at: scores.max() - scores[at], whole=True)]


def points(task):
    x, y = np.array(task.integers("east")), np.array(task.integers("north"))
    rate = task["rate"]

    def run(n):
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        radius = -(lambertw((rng.uniform(size=n) - 1.0) / np.e, -1).real + 1.0) / rate
        return x[:n] + radius * np.cos(angle), y[:n] + radius * np.sin(angle)

    def result(out):
        n = len(out[0])
        return np.mean(np.hypot(out[0] - x[:n], out[1] - y[:n]))

    return [Way("Lambert's W (SciPy); unsafe", len(x), run, result)]


serve(["numpy", "scipy"], {"gaussian": gaussian, "laplace": laplace, "pick": pick, "points": points})
