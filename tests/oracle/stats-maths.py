#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The statistics' building blocks against scipy, statsmodels and NIST's certified values."""

import glob
import math
import os
import random
import re
import warnings

from oracle import Comparison, ask, need_modules, numbers, vector

need_modules("numpy", "scipy", "statsmodels")

import numpy as np  # noqa: E402
import scipy  # noqa: E402
import statsmodels.api as sm  # noqa: E402
from scipy import stats  # noqa: E402
from statsmodels.stats.multitest import multipletests  # noqa: E402
from statsmodels.stats.power import TTestIndPower  # noqa: E402

warnings.simplefilter("ignore", RuntimeWarning)  # scipy's noncentral t far out, which is left out below

SETS = 300
rng = random.Random(20240611)
check = Comparison()


def values(kind, n):
    """Random data: smooth, with ties, with zeros, near-constant, or far from zero."""
    if kind == "smooth":
        return [rng.lognormvariate(3, 0.2) for _ in range(n)]
    if kind == "ties":
        return [float(rng.randint(1, 4)) for _ in range(n)]
    if kind == "zeros":
        return [rng.choice([0.0, 0.0, rng.random()]) for _ in range(n)]
    if kind == "near-constant":
        return [22.9 + rng.choice([0, 0, 0, 1]) * 1e-9 for _ in range(n)]
    return [1e6 + rng.gauss(0, 1) for _ in range(n)]


KINDS = ["smooth", "ties", "zeros", "near-constant", "far"]


def difference(x, y, axis=-1):
    """Rounded, because scipy takes sums that differ in the last bit for different."""
    return np.round(np.abs(np.mean(x, axis=axis) - np.mean(y, axis=axis)), 10)


def permutation():
    sets = []
    for i in range(SETS):
        kind = KINDS[i % len(KINDS)]
        sets.append((kind, values(kind, rng.randint(2, 6)), values(kind, rng.randint(2, 6))))
    answers = ask([f"permutation {vector(a)} {vector(b)}" for _, a, b in sets])
    for (kind, a, b), answer in zip(sets, answers):
        # values far from zero are brought near first, for the same reason
        low = min(a + b)
        scale = max(max(a + b) - low, 1e-300)
        x, y = (np.round((np.array(v) - low) / scale, 12) for v in (a, b))
        wanted = stats.permutation_test((x, y), difference, vectorized=True, n_resamples=np.inf, alternative="greater")
        check.near(f"permutation of {kind} {a} {b}", numbers(answer)[0], wanted.pvalue)


def drawn_permutation():
    sets = [(values("smooth", 20), [x * 1.05 for x in values("smooth", 24)]) for _ in range(12)]
    answers = ask([f"permutation {vector(a)} {vector(b)}" for a, b in sets])
    for (a, b), answer in zip(sets, answers):
        p, exact = numbers(answer)
        wanted = stats.permutation_test((a, b), difference, vectorized=True, n_resamples=40000, alternative="greater",
                                        random_state=1).pvalue
        check.equal("drawn, not counted", exact, 0)
        check.near("drawn permutation", p, wanted, 0, 5 * (wanted * (1 - wanted) / 20000) ** .5 + 1e-4)


def trend():
    sets = []
    for i in range(SETS):
        n = rng.randint(5, 24)
        arm = [i % 4 in (1, 2) for i in range(n)]
        rng.shuffle(arm)
        if len(set(arm)) < 2:
            arm[0] = not arm[1]
        time = sorted(rng.randint(0, 10**12) for _ in range(n))
        scale = 10 ** rng.uniform(-6, 0)
        y = [3 + .1 * a + scale * rng.gauss(0, 1) + scale * t / 10**12 for a, t in zip(arm, time)]
        sets.append((y, arm, time))
    answers = ask([f"trend {vector(y)} {vector(a)} {vector(t)}" for y, a, t in sets])
    for (y, arm, time), answer in zip(sets, answers):
        t = np.array(time, float)
        t = (t - t.min()) / (t.max() - t.min()) - .5
        fit = sm.OLS(np.array(y), np.column_stack([np.ones(len(y)), np.array(arm, float), t])).fit()
        beta, se, df, p, drift, drift_p, half = numbers(answer)
        check.near("beta", beta, fit.params[1], 1e-8, 1e-13)
        check.near("se", se, fit.bse[1], 1e-6)
        check.near("df", df, fit.df_resid)
        check.near("p", p, fit.pvalues[1], 1e-6)
        check.near("drift", drift, fit.params[2], 1e-7, 1e-13)
        check.near("drift p", drift_p, fit.pvalues[2], 1e-6)
        check.near("interval", beta + half, fit.conf_int(.05)[1][1], 1e-7, 1e-12)


def several_tests():
    sets = [[10 ** rng.uniform(-6, 0) for _ in range(rng.randint(1, 12))] for _ in range(SETS)]
    for name, method in (("holm", "holm"), ("bh", "fdr_bh")):
        answers = ask([f"{name} 0.05 {vector(p)}" for p in sets])
        for p, answer in zip(sets, answers):
            wanted = multipletests(p, .05, method)[1]
            for got, value in zip(numbers(answer), wanted):
                check.near(name, got, value, 1e-12)


def fisher():
    tables = []
    for _ in range(SETS):
        n, m = rng.randint(1, 40), rng.randint(1, 40)
        tables.append((rng.randint(0, n), n, rng.randint(0, m), m))
    for table, answer in zip(tables, ask(["fisher %d %d %d %d" % t for t in tables])):
        a, n, b, m = table
        check.near(f"fisher {table}", numbers(answer)[0], stats.fisher_exact([[a, n - a], [b, m - b]])[1])


def power():
    cases = [(rng.uniform(.05, 6), rng.randint(2, 60), 10 ** rng.uniform(-4, -1)) for _ in range(SETS)]
    answers = ask([f"power {e!r} {n} {a!r} 2" for e, n, a in cases])
    for (e, n, a), answer in zip(cases, answers):
        check.near(f"power {e} {n} {a}", numbers(answer)[0], TTestIndPower().power(e, n, a), 1e-6, 1e-8)
    answers = ask([f"power {e!r} {n} {a!r} 3" for e, n, a in cases])
    for (e, n, a), answer in zip(cases, answers):
        critical, centre = stats.t.isf(a / 2, 2 * n - 3), e * (n / 2) ** .5
        wanted = stats.nct.sf(critical, 2 * n - 3, centre) + stats.nct.cdf(-critical, 2 * n - 3, centre)
        if np.isfinite(wanted):
            check.near(f"power with a trend {e} {n} {a}", numbers(answer)[0], wanted, 1e-6, 1e-8)


def signed_rank():
    sets = [[rng.gauss(.3, 1) for _ in range(rng.randint(3, 20))] for _ in range(SETS)]
    for d, answer in zip(sets, ask([f"signed-rank {vector(d)}" for d in sets])):
        check.near("signed rank", numbers(answer)[0], stats.wilcoxon(d, mode="exact").pvalue, 1e-12)


def nested_anova():
    """Mean squares of boots, of runs in boots, of passes in runs."""
    sets = []
    for _ in range(SETS // 4):
        shape = rng.randint(2, 12), rng.randint(2, 6), rng.randint(2, 8)
        boots, runs = np.array([rng.gauss(0, 2) for _ in range(shape[0])]), np.array([rng.gauss(0, 1) for _ in range(shape[1])])
        noise = np.array([rng.gauss(0, .5) for _ in range(math.prod(shape))]).reshape(shape)
        sets.append(3 + boots[:, None, None] + runs[None, :, None] + noise)
    for y, answer in zip(sets, ask([f"anova {' '.join(map(str, y.shape))} {vector(y.ravel())}" for y in sets])):
        boots, runs, passes = y.shape
        by_run, by_boot = y.mean(axis=2), y.mean(axis=(1, 2))
        wanted = (runs * passes * by_boot.var(ddof=1), passes * by_run.var(axis=1, ddof=1).mean(),
                  y.var(axis=2, ddof=1).mean())
        for name, got, value in zip(("boots", "runs", "passes"), numbers(answer), wanted):
            check.near(f"mean square of {name}", got, value, 1e-10)


def nist():
    """The certified one-way analyses of variance, as scipy's tests carry them."""
    folder = os.path.join(os.path.dirname(scipy.stats.__file__), "tests", "data", "nist_anova")
    files = sorted(glob.glob(os.path.join(folder, "*.dat")))
    digits = {"SmLs07": 2, "SmLs08": 2, "SmLs09": 2}  # 1e12 + .4 keeps 4 digits of the .1 that vary, in any program
    for path in files:
        name = os.path.basename(path)[:-4]
        with open(path, encoding="ascii") as file:
            lines = file.read().splitlines()
        between, within = [re.search(r"(Between|Within) \w+ +\d+ +(\S+) +(\S+)(?: +(\S+))?$", line) for line in lines
                           if re.match(r"(Between|Within) ", line)]
        data = [line.split() for line in lines[60:] if line.strip()]
        groups = {}
        for group, value in data:
            groups.setdefault(group, []).append(float(value))
        size = {len(group) for group in groups.values()}
        assert len(size) == 1, name
        y = [value for group in groups.values() for value in group]
        boot_ms, run_ms, *_ = numbers(ask([f"anova {len(groups)} {size.pop()} 1 {vector(y)}"])[0])
        precision = 10.0 ** -digits.get(name, 8.5)
        check.near(f"{name} between", boot_ms, float(between[3]), precision)
        check.near(f"{name} within", run_ms, float(within[3]), precision)
        check.near(f"{name} F", boot_ms / run_ms, float(between[4]), precision)
    check.equal("sets of NIST's", len(files) in (0, 11), True)


for part in (permutation, drawn_permutation, trend, several_tests, fisher, power, signed_rank, nested_anova, nist):
    part()
check.finish()
