#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a calibration says of a host: the dip against R's diptest, drift against scipy, autocorrelation against
statsmodels, the ledger's limits against scipy's binomial distribution."""

import random
import subprocess
import sys

from oracle import Comparison, ask, need, need_modules, numbers, vector

need("Rscript")
need_modules("numpy", "scipy", "statsmodels")

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402
from statsmodels.stats.diagnostic import acorr_ljungbox  # noqa: E402

SETS = 300
SCRIPT = r"""
if (!requireNamespace("diptest", quietly = TRUE)) { cat("missing\n"); quit() }
library(diptest)
for (line in readLines(file("stdin"))) {
    f <- strsplit(line, " ")[[1]]
    x <- as.numeric(f[-(1:2)])
    cat(sprintf("%.17g", if (f[1] == "p") dip.test(x, simulate.p.value = TRUE, B = 2000)$p.value else dip(x)), "\n")
}
"""
rng = random.Random(11)
check = Comparison()


def r(lines):
    run = subprocess.run(["Rscript", "--vanilla", "-e", SCRIPT], capture_output=True, text=True, timeout=600,
                         input="\n".join(lines) + "\n")
    if run.stdout.startswith("missing"):
        print("the R package diptest is not installed")
        sys.exit(77)
    if run.returncode:
        sys.exit(run.stderr[-2000:])
    return [float(x) for x in run.stdout.split()]


def shape(kind, n):
    if kind == 0:
        return [rng.gauss(0, 1) for _ in range(n)]
    if kind == 1:
        return [rng.random() for _ in range(n)]
    if kind == 2:
        return [rng.gauss(rng.choice([0, 6]), 1) for _ in range(n)]
    if kind == 3:
        return [float(rng.randint(1, 6)) for _ in range(n)]
    return [1e6 + rng.choice([0, 0, 1e-3]) for _ in range(n)]


def dips():
    sets = [shape(i % 5, rng.randint(4, 60)) for i in range(SETS)]
    for x, got, wanted in zip(sets, ask([f"dip {vector(x)}" for x in sets]), r([f"dip {vector(x)}" for x in sets])):
        check.near(f"dip of {x}", numbers(got)[0], wanted, 1e-9)


def steadiness():
    sets = []
    for i in range(SETS):
        n = rng.randint(5, 60)
        time = sorted(rng.sample(range(10**12), n))
        noise = shape(i % 3, n)
        sets.append(([3 + .01 * e + .02 * t / 10**12 for e, t in zip(noise, time)], time))
    for (y, time), answer in zip(sets, ask([f"steady {vector(y)} {vector(t)}" for y, t in sets])):
        drift, drift_p, sd, lag1, lag1_p, _ = numbers(answer)
        t = np.array(time, float)
        t = (t - t[0]) / (t[-1] - t[0])
        fit = stats.linregress(t, y)
        residuals = np.array(y) - fit.intercept - fit.slope * t
        box = acorr_ljungbox(residuals, lags=[1], return_df=True)
        q, q_p = float(box["lb_stat"].iloc[0]), float(box["lb_pvalue"].iloc[0])
        check.near("drift", drift, fit.slope, 1e-7, 1e-12)
        check.near("drift p", drift_p, fit.pvalue, 1e-6)
        check.near("sd", sd, (sum(residuals ** 2) / (len(y) - 2)) ** .5, 1e-8)
        n = len(y)
        check.near("autocorrelation", n * (n + 2) * lag1 ** 2 / (n - 1), q, 1e-6, 1e-9)
        check.near("Ljung and Box", lag1_p, q_p, 1e-6)


def dip_p():
    """Both draw; they agree within four standard deviations of the two."""
    time = list(range(1, 41))
    sets = []
    for kind in (0, 1, 2, 0, 1, 2):
        x = shape(kind, 40)
        fit = stats.linregress(time, x)
        sets.append([v - fit.intercept - fit.slope * t for v, t in zip(x, time)])
    answers = ask([f"steady {vector(x)} {vector(time)}" for x in sets])
    wanted = r([f"p {vector(x)}" for x in sets])
    for got, p in zip(answers, wanted):
        check.near("p of the dip", numbers(got)[5], p, 0, 4 * (2 * p * (1 - p) / 2000) ** .5 + 1e-3)


def limits():
    counts = [1, 2, 5, 20, 40, 60, 80, 100, 150, 200, 400]
    for n, answer in zip(counts, ask([f"limit {n}" for n in counts])):
        check.equal(f"limit of {n}", int(numbers(answer)[0]), int(stats.binom.isf(.05, n, .05)))


for part in (dips, steadiness, dip_p, limits):
    part()
check.finish()
