#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The whole analysis of random jobs against a second implementation with numpy, scipy and statsmodels."""

import json
import math
import os
import random
import tempfile

from oracle import Comparison, ask, need_modules

need_modules("numpy", "scipy", "statsmodels")

import numpy as np  # noqa: E402
import statsmodels.api as sm  # noqa: E402
from scipy import stats  # noqa: E402

JOBS = 200
HEADER = "job,arm,boot,pair,host,clock,benchmark,params,run,pass,metric,unit,better,value,boot_start_ns,valid,reason"
rng = random.Random(99)
check = Comparison()


def make_job(index):
    """Rows of a job: several parameter sets, boots lost, passes lost, sometimes no noise at all."""
    pairs, runs, passes = rng.randint(3, 9), rng.randint(1, 5), rng.randint(1, 6)
    sd = rng.choice([0, .0005, .003, .01, .05])
    order = "".join(rng.choice(["AB", "BA"]) for _ in range(pairs))
    if index % 25 == 0:
        order = "".join(sorted(order))  # all of one arm first
    rows = []
    sets = [(f"nproc={2 ** i};lru=mglru", rng.choice([0, .004, .03, -.1])) for i in range(rng.randint(1, 5))]
    start = 1764540000 * 10**9
    for boot, arm in enumerate(order):
        start += rng.randint(8, 20) * 10**9
        lost = rng.random() < .05
        for params, effect in sets:
            level = 30 * math.exp(rng.gauss(0, sd) + (math.log1p(effect) if arm == "B" else 0) + sd * boot / 20)
            for run in range(1, runs + 1):
                run_level = level * math.exp(rng.gauss(0, sd / 2))
                for number in range(passes + 1):
                    if rng.random() < .002:
                        continue
                    value = run_level * math.exp(rng.gauss(0, sd / 4)) if number else run_level * 3
                    text = "" if number and rng.random() < .001 else repr(value)
                    rows.append([index + 1, "base" if arm == "A" else "patched", boot, boot // 2, "lab1", "tcg", "aging", params,
                                 run, number, "time", "ms", "lower", text, start, 0 if lost else 1, "panic" if lost else ""])
    rng.shuffle(rows)
    return rows


def summaries(rows):
    """(arm, start, value) of each boot that counts."""
    rows = [r for r in rows if r[15] and r[9] > 0]
    if not rows:
        return []
    passes = max(r[9] for r in rows)
    runs = len({r[8] for r in rows})
    boots = []
    for boot in sorted({r[2] for r in rows}):
        own = [r for r in rows if r[2] == boot]
        means = []
        for run in sorted({r[8] for r in own}):
            got = {r[9]: r[13] for r in own if r[8] == run}
            if set(got) == set(range(1, passes + 1)) and all(got.values()):
                means.append(np.mean([float(v) for v in got.values()]))
        if means and 2 * len(means) >= runs:
            boots.append((own[0][1] == "patched", own[0][14], float(np.median(means))))
    return boots


def fit(boots):
    x = np.array([b[0] for b in boots], float)
    y = np.log([b[2] for b in boots])
    t = np.array([b[1] - boots[0][1] for b in boots], float)
    columns = [np.ones(len(y)), x]
    if len(y) >= 4 and t.max() > t.min() and np.linalg.matrix_rank(np.column_stack([np.ones(len(y)), x, t / t.max()])) == 3:
        columns.append(t / t.max())
    return y, sm.OLS(y, np.column_stack(columns)).fit()


def exact_p(y, x):
    a, b = y[x], y[~x]
    if math.comb(len(y), len(a)) > 5e6:
        return None
    low, scale = y.min(), max(y.max() - y.min(), 1e-300)
    a, b = (np.round((v - low) / scale, 11) for v in (a, b))
    return stats.permutation_test((a, b), lambda p, q, axis=-1: np.round(np.abs(np.mean(p, axis=axis) - np.mean(q, axis=axis)), 10),
                                  vectorized=True, n_resamples=np.inf, alternative="greater").pvalue


def separated(boots):
    arms = [b[0] for b in boots]
    changes = sum(p != q for p, q in zip(arms, arms[1:]))
    return changes == 1 and arms.count(True) >= 2 and arms.count(False) >= 2


def wanted_results(rows, alpha, delta):
    """What we think of each parameter set: the numbers, then Holm, then the verdict."""
    out = {}
    for params in {r[7] for r in rows}:
        boots = summaries([r for r in rows if r[7] == params])
        count = [sum(b[0] == arm for b in boots) for arm in (False, True)]
        w = out[params] = {"boots": count, "p_decides": 1.0, "valid": not separated(boots)}
        w["testable"] = w["valid"] and min(count) >= 4
        if not w["valid"] or not min(count) or len(boots) < 3:
            continue
        y, model = fit(boots)
        w["y"], w["x"], w["model"] = y, np.array([b[0] for b in boots]), model
        w["exact"] = exact_p(y, w["x"])
        w["zero"] = model.df_resid >= 1 and math.sqrt(model.ssr / model.df_resid) <= 1e-12 * max(1, abs(y).max())
        w["equal"] = len(set(y)) == 1
        if w["testable"]:
            w["p_decides"] = w["exact"] if w["zero"] else model.pvalues[1]
    ordered = sorted(out, key=lambda k: out[k]["p_decides"])
    worst, level, going = 0, alpha, True
    for i, params in enumerate(ordered):
        w, left = out[params], len(ordered) - i
        worst = max(worst, min(1, left * w["p_decides"]))
        if going:
            level = alpha / left
        going = going and worst <= alpha
        w["holm"], w["level"] = worst, level
    for w in out.values():
        w["verdict"] = verdict(w, alpha, delta)
    return out


def verdict(w, alpha, delta):
    if not w["valid"]:
        return "INVALID"
    if not w["testable"]:
        return "INSUFFICIENT"
    beta = w["model"].params[1]
    direction = "REGRESSION" if beta > 0 else "IMPROVEMENT"
    if w["zero"]:
        if w["equal"] or abs(100 * math.expm1(beta)) < delta:
            return "EQUIVALENT"
        return direction if w["holm"] <= alpha else "INCONCLUSIVE"
    low, high = (100 * math.expm1(b) for b in w["model"].conf_int(w["level"])[1])
    w["interval"] = (low, high)
    if -delta <= low and high <= delta:
        return "EQUIVALENT"
    return direction if low > 0 or high < 0 else "INCONCLUSIVE"


def compare(index, got, w):
    name = f"job {index} {got['params']}"
    check.equal(f"{name} boots", [got["boots"]["base"], got["boots"]["patched"]], w["boots"])
    check.equal(f"{name} verdict", got["verdict"], w["verdict"])
    if "model" not in w:
        return
    model = w["model"]
    check.near(f"{name} change", got["change_pct"], 100 * math.expm1(model.params[1]), 1e-7, 1e-9)
    for arm, key in ((False, "base"), (True, "patched")):
        check.near(f"{name} {key}", got[key], math.exp(np.mean(w["y"][w["x"] == arm])), 1e-12)
    if w["exact"] is not None:
        check.near(f"{name} permutation", got["p_permutation"], w["exact"], 1e-9)
    if w["zero"]:
        check.equal(f"{name} no interval", (got["ci_low_pct"], got["ci_high_pct"]), (None, None))
    elif model.df_resid >= 1:
        check.near(f"{name} p", got["p"], model.pvalues[1], 1e-5)
        if w["testable"]:
            check.near(f"{name} Holm", got["p_holm"], w["holm"], 1e-5)
            check.near(f"{name} level", got["ci_level"], 1 - w["level"], 1e-12)
            check.near(f"{name} low", got["ci_low_pct"], w["interval"][0], 1e-6, 1e-8)
            check.near(f"{name} high", got["ci_high_pct"], w["interval"][1], 1e-6, 1e-8)


with tempfile.TemporaryDirectory(prefix="regrlab-oracle-") as folder:
    jobs, questions = [], []
    for i in range(JOBS):
        jobs.append(make_job(i))
        path = os.path.join(folder, f"{i}.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([HEADER] + [",".join(map(str, row)) for row in jobs[-1]]) + "\n")
        questions.append(f"analyse {path} 0.05 1")
    verdicts = {}
    for i, answer in enumerate(ask(questions)):
        expected = wanted_results(jobs[i], .05, 1)
        comparisons = json.loads(answer)["comparisons"]
        check.equal(f"job {i} sets", {c["params"] for c in comparisons}, set(expected))
        for comparison in comparisons:
            compare(i, comparison, expected[comparison["params"]])
            verdicts[comparison["verdict"]] = verdicts.get(comparison["verdict"], 0) + 1
print(", ".join(f"{count} {name}" for name, count in sorted(verdicts.items())))
check.equal("verdicts seen", len(verdicts), 6)
check.finish()
