"""Prints the exact Gaussian curve on a grid of rho and epsilon: ln delta at 20 digits."""

import mpmath as mp

mp.mp.dps = 400  # the difference of the two tails cancels almost all of it for small rho


def ln_delta(rho, epsilon):
    mu = mp.sqrt(2 * rho)
    tail = lambda x: mp.erfc(x / mp.sqrt(2)) / 2
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    return mp.log(tail(near) - mp.exp(epsilon) * tail(far))


print("rho,epsilon,ln_delta")
for exponent in range(-24, 16):
    rho = mp.mpf(10.0 ** (exponent / 2))
    for deviations in ("0.01", "0.5", "1", "2", "4", "8", "16", "30", "36"):
        epsilon = mp.mpf(float(rho + mp.mpf(deviations) * mp.sqrt(2 * rho)))
        print(f"{mp.nstr(rho, 17)},{mp.nstr(epsilon, 17)},{mp.nstr(ln_delta(rho, epsilon), 20)}")
    epsilon = mp.mpf(float(rho / 3))
    print(f"{mp.nstr(rho, 17)},{mp.nstr(epsilon, 17)},{mp.nstr(ln_delta(rho, epsilon), 20)}")
