"""Prices of lines and maxima where doubles are of little help, at forty digits: python3 make_hard.py > hard.json"""

import json

from mpmath import erfc, exp, log, mp, mpf, nstr, pi, sqrt

mp.dps = 50


def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def ln_mean(factors):
    """ln E prod Phi(slope x + offset)^power, x standard normal."""

    def ln(x):
        return -x * x / 2 + sum(n * log(cdf(a * x + b)) for a, b, n in factors)

    def slope(x):
        hazard = lambda u: exp(-u * u / 2) / sqrt(2 * pi) / cdf(u)
        return -x + sum(n * a * hazard(a * x + b) for a, b, n in factors)

    # The logarithm is concave: the mode by bisection, then outwards until nothing is left.
    low, high = mpf(-1), mpf(1)
    while slope(low) < 0:
        low *= 2
    while slope(high) > 0:
        high *= 2
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    mode, top = low, ln(low)
    ends = []
    for side in (-1, 1):
        reach = mpf(1) / 1000
        while top - ln(mode + side * reach) < 110:
            reach *= mpf("1.3")
        ends.append(reach)
    last = None
    nodes = 200
    while True:
        step = (ends[0] + ends[1]) / nodes
        total = sum(exp(ln(mode - ends[0] + k * step) - top) for k in range(nodes + 1)) * step
        if last is not None and abs(total / last - 1) < mpf(10) ** -32:
            return top + log(total) - log(2 * pi) / 2
        last, nodes = total, nodes * 2


def line(t, rho, sigma, delta, halts, a=0, b=1):
    rho, sigma, delta = mpf(rho), mpf(sigma), mpf(delta)
    unit, slope = sqrt(3) * sigma, 1 / sqrt(mpf(3))

    def factors(shift):
        others = (slope, (rho - b + shift) / unit, t - 1 if halts else t)
        hit = (-slope, (a - rho + shift) / unit, 1)
        return [f for f in ([others, hit] if halts else [others]) if f[2] > 0]

    return ln_mean(factors(delta)) - ln_mean(factors(mpf(0)))


def noisy_max(d, sigma, delta):
    sigma, delta = mpf(sigma), mpf(delta)
    at = lambda shift: ln_mean([(1, (shift - 1) / sigma, d - 1)])
    return at(2 * delta) - at(mpf(0))


def entries():
    for sigma in ["0.005", "0.04", "0.5"]:
        for delta in ["1e-9", "1e-3", "1"]:
            for t in [2, 1000, 1000000]:
                for halts in [True, False]:
                    name = "line_halting" if halts else "line_stopped"
                    inputs = {"t": t, "rho": "0.5", "sigma_X": sigma, "Delta": delta}
                    yield name, inputs, line(t, "0.5", sigma, delta, halts)
            for d in [3, 1000000]:
                yield "noisy_max", {"d": d, "sigma": sigma, "Delta": delta}, noisy_max(d, sigma, delta)


rows = []
for name, inputs, value in entries():
    inputs = {key: str(given) for key, given in inputs.items()}
    rows.append(json.dumps({"name": name, "inputs": inputs, "value": nstr(value, 22)}))
print("[\n" + ",\n".join(rows) + "\n]")
