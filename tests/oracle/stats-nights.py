#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Change points against scipy's t-test on ranks and permutations by numpy; the posterior of a bisect against the same
model fitted by numpy's least squares."""

import math
import random

from oracle import Comparison, ask, need_modules, numbers, vector

need_modules("numpy", "scipy")

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

SEGMENT = 5
PERMUTATIONS = 4000
rng = random.Random(12)
check = Comparison()


def largest_t2(ranks):
    n = len(ranks)
    best = (0, 0.0)
    for split in range(SEGMENT, n - SEGMENT + 1):
        t = stats.ttest_ind(ranks[:split], ranks[split:]).statistic
        best = max(best, (split, t * t), key=lambda pair: pair[1])
    return best


def share(ranks):
    """r-squared of all permutations at once: rows of ranks."""
    n = ranks.shape[1]
    around = ranks - ranks.mean(axis=1, keepdims=True)
    before = np.cumsum(around, axis=1)[:, SEGMENT - 1:n - SEGMENT]
    k = np.arange(SEGMENT, n - SEGMENT + 1)
    return (before ** 2 * n / (k * (n - k))).max(axis=1) / (around ** 2).sum(axis=1)


def series(i):
    n = rng.choice([10, 17, 30, 50])
    values = [rng.gauss(0, 1) + (rng.choice([0, 1, 3]) if j >= n // 3 else 0) for j in range(n)]
    return [round(x) for x in values] if i % 4 == 3 else values


sets = [series(i) for i in range(40)]
draws = np.random.default_rng(5)
for values, answer in zip(sets, ask([f"scan {vector(x)}" for x in sets])):
    split, r2, p = numbers(answer)
    ranks = stats.rankdata(values)
    n = len(values)
    wanted_split, t2 = largest_t2(ranks)
    check.near(f"r2 of {n}", r2, 1.0 if math.isinf(t2) else t2 / (t2 + n - 2), 1e-9)
    null = share(draws.permuted(np.tile(ranks, (PERMUTATIONS, 1)), axis=1))
    wanted = (null >= r2 * (1 - 1e-9)).mean()
    check.near(f"p of {n} with r2 {r2}", p, wanted, 0, 4.5 * math.sqrt(max(wanted, 1e-3) * (1 - wanted) / PERMUTATIONS) + .03 * wanted)


def posterior(last, commits, y):
    logs = []
    for k in range(1, last + 1):
        design = np.column_stack([np.ones(len(y)), (commits >= k).astype(float)])
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        logs.append(-.5 * np.linalg.slogdet(design.T @ design)[1] - (len(y) - 2) / 2 * math.log(rest @ rest))
    p = np.exp(np.array(logs) - max(logs))
    return p / p.sum()


cases = []
for _ in range(60):
    last = rng.choice([4, 30])
    commits = np.array([0, last, last, 0] + [rng.randint(0, last) for _ in range(rng.randint(3, 20))])
    y = np.array([rng.gauss(1 if c > last / 3 else 0, .8) for c in commits])
    cases.append((last, commits, y))
for (last, commits, y), answer in zip(cases, ask([f"bisect {last} {vector(c)} {vector(y)}" for last, c, y in cases])):
    for k, (got, wanted) in enumerate(zip(numbers(answer), posterior(last, commits, y)), 1):
        check.near(f"P(first bad = {k} of {last})", got, wanted, 1e-8)

check.finish()
