#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The group-sequential boundary against paths of our own: what it spends at each look, and where it lies.

Schedules are as jobs really run them: ABBA order, unequal times, boots that were replaced at the end of their look, up to
60 pairs and seven looks. Each path is a job without an effect, tested by an ordinary least squares fit at each look.
"""

import math
import random

from oracle import Comparison, ask, need_modules, numbers, vector

need_modules("numpy", "scipy")

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

SCHEDULES = 100
PATHS = 40000       # of ours
DRIVER_PATHS = 200000
SIGMAS = 4.5        # some 1000 comparisons
LOOKS = (4, 6, 8, 10, 14, 20)
rng = random.Random(2024)
check = Comparison()
scores = {}         # look -> in how many standard deviations each schedule's spending is off there


def spent(alpha, fraction):
    """Lan and DeMets' function like Pocock's."""
    return alpha * math.log(1 + (math.e - 1) * fraction)


def make_schedule(index):
    """Arms (1 patched) and start times of boots in the order of looks, how many boots each look sees, and its fraction."""
    most = rng.choice([5, 6, 8, 10, 12, 20, 20, 30, 60])
    pairs = [b for b in LOOKS if b < most] + [most]
    begin = rng.choice([[0, 1, 1, 0], [1, 0, 0, 1]])
    arms, times, boots, clock = [], [], [], 0
    for k, last in enumerate(pairs):
        first = pairs[k - 1] if k else 0
        planned = [begin[i % 4] for i in range(2 * first, 2 * last)]
        for again in [i for i in range(len(planned)) if rng.random() < .08]:  # failed, and made again
            planned.append(planned.pop(again))
        for arm in planned:
            clock += rng.randint(8, 20) if rng.random() < .97 else rng.randint(300, 4000)
            arms.append(arm)
            times.append(clock)
        boots.append(len(arms))
    if index % 10 == 0:
        times = [7] * len(times)  # no trend to adjust for
    return np.array(arms), np.array(times, float), boots, [b / most for b in pairs]


def p_values(arms, times, boots):
    """One row a path, one column a look: the p of the patched arm's coefficient."""
    y = np.random.default_rng(rng.randrange(2 ** 32)).standard_normal((PATHS, len(arms)))
    columns = []
    for n in boots:
        design = [np.ones(n), arms[:n] - arms[:n].mean()]
        if np.ptp(times[:n]) > 0:
            design.append((times[:n] - times[:n].mean()) / np.ptp(times[:n]))
        x = np.column_stack(design)
        inverse = np.linalg.inv(x.T @ x)
        beta = y[:, :n] @ x @ inverse
        rest = y[:, :n] - beta @ x.T
        df = n - x.shape[1]
        t = beta[:, 1] / np.sqrt((rest ** 2).sum(axis=1) / df * inverse[1, 1])
        columns.append(2 * stats.t.sf(abs(t), df))
    return np.column_stack(columns)


def own_boundary(p, wanted):
    """At each look as many of the paths that are left cross as there is error rate to spend."""
    left, crossed, boundary = np.ones(len(p), bool), 0, []
    for k, goal in enumerate(wanted):
        ordered = np.sort(p[left, k])
        count = int(goal * len(p)) - crossed
        boundary.append((ordered[count - 1] + ordered[count]) / 2 if count > 0 else 0)
        crossed += max(count, 0)
        left &= ~(p[:, k] <= boundary[-1])
    return boundary


def slope(p, boundary, k):
    """How many more paths cross at look k for a boundary there that is higher by so much."""
    left = ~(p[:, :k] <= np.array(boundary[:k])).any(axis=1)
    near = left & (abs(p[:, k] - boundary[k]) <= .3 * boundary[k])
    return max(near.mean() / (.6 * boundary[k]), .05)


def compare(name, alpha, got, p, fractions):
    wanted = [spent(alpha, f) for f in fractions]
    mine = own_boundary(p, wanted)
    crossed = np.zeros(len(p), bool)
    for k, goal in enumerate(wanted):
        sd = math.sqrt(goal * (1 - goal) * (1 / PATHS + 1 / DRIVER_PATHS))
        crossed |= p[:, k] <= got[k]
        check.near(f"{name}, spent by look {k + 1}", crossed.mean(), goal, 0, SIGMAS * sd)
        scores.setdefault(k, []).append((crossed.mean() - goal) / sd)
        check.near(f"{name}, boundary of look {k + 1}", got[k], mine[k], 0, SIGMAS * sd / slope(p, mine, k) + 1 / PATHS)


schedules, questions = [], []
for i in range(SCHEDULES):
    arms, times, boots, fractions = schedule = make_schedule(i)
    alpha = rng.choice([.05, .05, .05, .1, .2])
    schedules.append((alpha, schedule))
    questions.append(f"boundary {i + 1} {DRIVER_PATHS} {alpha} 2 {vector(boots)} {vector(fractions)} {vector(arms)} "
                     f"{vector(times * 1e9)}")
for i, answer in enumerate(ask(questions)):
    alpha, (arms, times, boots, fractions) = schedules[i]
    got = numbers(answer)
    p = p_values(arms, times, boots)
    for j in (0, 1):
        compare(f"schedule {i}, alpha {alpha}/{j + 1}", alpha / (j + 1), got[j * len(boots):(j + 1) * len(boots)], p, fractions)
# what no single schedule can show, all together do; the two alphas of a schedule share its paths
for k, values in scores.items():
    check.near(f"all schedules, spent by look {k + 1}", np.mean(values), 0, 0, SIGMAS / math.sqrt(len(values) / 2))
check.finish()
