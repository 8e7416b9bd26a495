#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The looks of a sequential job against a second implementation: given the boundary, each decision follows exactly.

Jobs are random: several parameter sets, effects of any size, boots that were made again, boots that one set alone lost,
boots that do not differ at all. Ours walks the looks: fits, steps Holm's procedure down, stops a comparison that is decided,
stops the job. Compared are when and why, at which level, the interval, and the verdict.
"""

import json
import math
import os
import random
import tempfile

from oracle import Comparison, ask, need_modules, numbers, vector

need_modules("numpy", "scipy")

import numpy as np  # noqa: E402
from scipy import stats  # noqa: E402

JOBS = 150
PATHS = 20000
LOOKS = (4, 6, 8, 10, 14, 20)
SIMULATED = 16      # schedules of one look; a comparison beyond goes by the level that holds for any schedule
FUTILE = .05
HEADER = "job,arm,boot,pair,host,clock,benchmark,params,run,pass,metric,unit,better,value,boot_start_ns,valid,reason"
rng = random.Random(7)
check = Comparison()


def spent(alpha, fraction):
    return alpha * math.log(1 + (math.e - 1) * fraction)


class Job:
    def __init__(self, index):
        self.index = index
        self.many = index % 25 == 24        # more schedules at a look than are simulated
        self.most = 10 if self.many else rng.choice([5, 6, 8, 10, 14, 20, 20, 30, 60])
        self.delta = rng.choice([.5, 1, 2])
        self.alpha = rng.choice([.05, .05, .01, .1])
        self.sd = 0 if index % 15 == 1 and self.most <= 10 else rng.choice([.002, .005, .01, .02, .05])
        self.pairs = [b for b in LOOKS if b < self.most] + [self.most]
        count = 20 if self.many else rng.randint(1, 5)
        self.sets = [f"nproc={i + 1};lru=mglru" for i in range(count)]
        effects = [rng.choice([0, 0, .005, .01, .02, .05, -.1]) for _ in self.sets]
        self.boots = {params: [] for params in self.sets}   # (arm, pair, start, ln value), in the order of their starts
        self.rows = []
        self.make(effects)

    def make(self, effects):
        begin, start, number = rng.choice([[0, 1, 1, 0], [1, 0, 0, 1]]), 0, 0
        for k, last in enumerate(self.pairs):
            planned = [(begin[i % 4], i // 2, True) for i in range(2 * (self.pairs[k - 1] if k else 0), 2 * last)]
            for failing in [i for i in range(len(planned)) if rng.random() < .05]:
                arm, pair, _ = planned[failing]
                planned[failing] = (arm, pair, False)
                planned.append((arm, pair, True))
            for arm, pair, good in planned:
                start += rng.randint(8, 20) * 10 ** 9
                self.boot(arm, pair, good, start, number, effects)
                number += 1

    def boot(self, arm, pair, good, start, number, effects):
        for i, params in enumerate(self.sets):
            log = math.log(30) + (rng.gauss(0, self.sd) if self.sd else 0) + (math.log1p(effects[i]) if arm else 0)
            lost = number in (i % 12, (5 * i + i // 12 + 3) % 12) if self.many else rng.random() < .01  # this set alone
            text = "" if lost else repr(math.exp(log))
            self.rows.append([self.index + 1, "patched" if arm else "base", number, pair, "lab1", "tcg", "aging", params, 1, 1,
                              "time", "ms", "lower", text, 1764540000 * 10 ** 9 + start, int(good), "" if good else "panic"])
            if good and not lost:
                self.boots[params].append((arm, pair, start, math.log(float(text))))

    def schedule(self, params, look):
        """The boots of a set in the order of looks, and the looks that it can be tested at: (boots, fraction)."""
        boots, looks = [], []
        for k in range(look + 1):
            first = self.pairs[k - 1] if k else 0
            boots += [b for b in self.boots[params] if first <= b[1] < self.pairs[k]]
            if min(sum(b[0] == arm for b in boots) for arm in (0, 1)) >= 4:
                looks.append((len(boots), self.pairs[k] / self.most))
        return boots, looks


def question(job, seed, params, look):
    boots, looks = job.schedule(params, look)
    return (f"boundary {seed} {PATHS} {job.alpha!r} {len(job.sets)} {vector(n for n, _ in looks)} {vector(f for _, f in looks)} "
            f"{vector(b[0] for b in boots)} {vector(b[2] - boots[0][2] for b in boots)}")


class Fit:
    """The change of a set in the boots seen, adjusted for a linear drift."""

    def __init__(self, boots):
        x, t, y = (np.array([b[i] for b in boots], float) for i in (0, 2, 3))
        t = (t - t.mean()) / np.ptp(t)
        design = np.column_stack([np.ones(len(x)), x - x.mean(), t])
        solution = np.linalg.lstsq(design, y - y.mean(), rcond=None)[0]
        rest = y - y.mean() - design @ solution
        self.n, self.df, self.beta = len(x), len(x) - 3, solution[1]
        sd = math.sqrt((rest ** 2).sum() / self.df)
        self.zero = sd <= 1e-12 * max(1, abs(y).max())
        self.equal = len(set(y)) == 1
        self.se = sd * math.sqrt(np.linalg.inv(design.T @ design)[1, 1])
        if self.zero:   # the exact permutation test: one arrangement, or its mirror as well where the arms are equal
            base = int((x == 0).sum())
            ways = math.comb(self.n, base)
            self.p = 1 if self.equal else (2 if 2 * base == self.n else 1) / ways
        else:
            self.p = 2 * stats.t.sf(abs(self.beta / self.se), self.df)

    def interval(self, level):
        half = self.se * stats.t.isf(level / 2, self.df)
        return [100 * math.expm1(b) for b in (self.beta - half, self.beta + half)]

    def verdict(self, level, found, delta):
        change = 100 * math.expm1(self.beta)
        direction = "REGRESSION" if self.beta > 0 else "IMPROVEMENT"
        if self.zero:
            return "EQUIVALENT" if self.equal or abs(change) < delta else direction if found else "INCONCLUSIVE"
        low, high = self.interval(level)
        if -delta <= low and high <= delta:
            return "EQUIVALENT"
        return direction if low > 0 or high < 0 else "INCONCLUSIVE"

    def is_futile(self, alpha, last, delta):
        """Neither verdict is likely at the last look, by what is known now."""
        if self.zero:
            return False
        last_se = self.se * math.sqrt(self.n / last)
        half = last_se * stats.t.isf(alpha / 2, self.df + last - self.n)
        sd = math.sqrt(self.se ** 2 - last_se ** 2)
        normal = stats.norm(self.beta, sd)
        found = 1 - (normal.cdf(half) - normal.cdf(-half))
        low, high = math.log1p(-delta / 100) + half, math.log1p(delta / 100) - half
        return found + max(0, normal.cdf(high) - normal.cdf(low)) < FUTILE


def step_down(p, boundary, found):
    """Holm's procedure among those not found yet, each against its boundary for alpha over how many are left."""
    level, changed = {}, True
    while changed:
        left, changed = [i for i in p if i not in found], False
        for i in left:
            level[i] = boundary[i][len(left) - 1]
            if p[i] <= level[i]:
                found.add(i)
                changed = True
    return level


class Walk:
    def __init__(self, job, seed):
        self.job, self.seed, self.outcome, self.found = job, seed, {}, set()
        self.stop, self.made = None, 0

    def boundaries(self, open_sets, look):
        """By set: the nominal p for alpha/1 … alpha/m."""
        job, m, out, known = self.job, len(self.job.sets), {}, {}
        for params in open_sets:
            boots, looks = job.schedule(params, look)
            if not looks or looks[-1][0] != len(boots):
                continue    # it cannot be tested at this look
            key = json.dumps([[b[:3] for b in boots], looks])
            least = [spent(job.alpha / (j + 1), looks[-1][1]) -
                     (spent(job.alpha / (j + 1), looks[-2][1]) if len(looks) > 1 else 0) for j in range(m)]
            if key not in known:
                p = numbers(ask([question(job, self.seed, params, look)])[0]) if len(known) < SIMULATED else [0] * m * len(looks)
                known[key] = [max(p[j * len(looks) + len(looks) - 1], least[j]) for j in range(m)]
            out[params] = known[key]
        return out, len(known)

    def look(self, k):
        job, last = self.job, k + 1 == len(self.job.pairs)
        open_sets = [s for s in job.sets if self.outcome.get(s, {}).get("stop") not in ("found", "equivalent")]
        boundary, schedules = self.boundaries(open_sets, k)
        fits = {s: Fit(job.schedule(s, k)[0]) for s in boundary}
        plain = [job.alpha / (j + 1) for j in range(len(job.sets))]
        # one that is equivalent is not rejected: it still counts among those that are left
        level = step_down({s: fits[s].p if s in fits else 1 for s in job.sets},
                          {s: boundary.get(s, plain) for s in job.sets}, self.found)
        for s in open_sets:
            one = self.outcome[s] = {"look": k + 1, "stop": None, "verdict": "INSUFFICIENT", "fit": fits.get(s), "level": level[s]}
            if s in fits:
                one["verdict"] = fits[s].verdict(level[s], s in self.found, job.delta)
                remaining = 2 * (job.pairs[-1] - job.pairs[k])
                one["stop"] = {"EQUIVALENT": "equivalent", "INCONCLUSIVE": None}.get(one["verdict"], "found")
                if not one["stop"] and not last and fits[s].is_futile(job.alpha, fits[s].n + remaining, job.delta):
                    one["stop"] = "futile"
            if not one["stop"] and last:
                one["stop"] = "max-boots"
        self.made = k + 1
        worst = ["equivalent", "found", "futile", "max-boots", None]
        self.stop = max((o["stop"] for o in self.outcome.values()), key=worst.index)
        return schedules

    def run(self):
        schedules = 0
        while not self.stop and self.made < len(self.job.pairs):
            schedules = max(schedules, self.look(self.made))
        return schedules


def compare(name, got, job, walk):
    check.equal(f"{name} looks", (got["look"], got["stop"]), (walk.made, walk.stop))
    for c in got["comparisons"]:
        own, what = walk.outcome[c["params"]], f"{name} {c['params']}"
        check.equal(f"{what} look and stop", (c["look"], c["stop"]), (own["look"], own["stop"]))
        check.equal(f"{what} verdict", c["verdict"], own["verdict"])
        check.equal(f"{what} early", c["early"], own["stop"] == "found" and own["look"] < len(job.pairs))
        if not own["fit"]:
            continue
        check.near(f"{what} level", 1 - c["ci_level"], own["level"], 1e-9, 1e-12)
        check.near(f"{what} Holm", c["p_holm"], min(1, own["fit"].p * job.alpha / own["level"]), 1e-6)
        if not own["fit"].zero:
            for key, bound in zip(("ci_low_pct", "ci_high_pct"), own["fit"].interval(own["level"])):
                check.near(f"{what} {key}", c[key], bound, 1e-6, 1e-9)


with tempfile.TemporaryDirectory(prefix="regrlab-oracle-") as folder:
    jobs, questions = [Job(i) for i in range(JOBS)], []
    for job in jobs:
        path = os.path.join(folder, f"{job.index}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([HEADER] + [",".join(map(str, row)) for row in job.rows]) + "\n")
        questions.append(f"looks {path} {job.alpha!r} {job.delta!r} {job.most} {PATHS}")
    stops, most = {}, 0
    for job, answer in zip(jobs, ask(questions)):
        result = json.loads(answer)
        walk = Walk(job, result["seed"])
        most = max(most, walk.run())
        compare(f"job {job.index}", result, job, walk)
        stops[f"{walk.stop} at look {walk.made}"] = stops.get(f"{walk.stop} at look {walk.made}", 0) + 1
print(", ".join(f"{count} {name}" for name, count in sorted(stops.items())), f"; up to {most} schedules at a look")
check.equal("more schedules than are simulated", most > SIMULATED, True)
check.equal("reasons seen", {name.split()[0] for name in stops} >= {"found", "equivalent", "futile", "max-boots"}, True)
check.equal("a seventh look seen", any(name.endswith("look 7") for name in stops), True)
check.finish()
