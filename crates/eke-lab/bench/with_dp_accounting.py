"""Google's dp-accounting: Renyi accountants."""

import dp_accounting
from dp_accounting import rdp
from timing import Way, serve


def convert(task):
    rhos = task.floats("rhos")

    def run(n):
        epsilons = []
        for rho in rhos[:n]:
            accountant = rdp.RdpAccountant()
            accountant.compose(dp_accounting.ZCDpEvent(rho))
            epsilons.append(accountant.get_epsilon(task["delta"]))
        return epsilons

    return [Way("RdpAccountant, its usual orders", len(rhos), run, lambda out: sum(out) / len(out))]


def compose(task):
    rhos = task.floats("charges")

    def run(n):
        accountant = rdp.RdpAccountant()
        for rho in rhos:
            accountant.compose(dp_accounting.ZCDpEvent(rho))
        return accountant.get_epsilon(task["delta"])

    return [Way("RdpAccountant, its usual orders", 1, run, lambda epsilon: epsilon, whole=True)]


serve(["dp-accounting"], {"convert": convert, "compose": compose})
