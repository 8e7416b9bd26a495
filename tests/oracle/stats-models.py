#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Group-sequential designs against R's rpact, and variance components against the mixed models of its nlme.

rpact knows the normal distribution only: looks at 24 to 60 pairs of boots, eight apart, come near enough to it. In balanced data whose
estimates are all positive the analysis of variance and REML say the same.
"""

import random
import subprocess
import sys

from oracle import Comparison, ask, need, numbers, vector

PATHS = 200000
BOUNDARY = .05      # of a nominal p: what the paths and the degrees of freedom leave open
SCRIPT = r"""
if (!requireNamespace("rpact", quietly = TRUE) || !requireNamespace("nlme", quietly = TRUE)) {
    cat("missing\n"); quit()
}
suppressWarnings(suppressMessages({ library(rpact); library(nlme) }))
show <- function(...) cat(sprintf("%.17g", c(...)), "\n")
for (line in readLines(file("stdin"))) {
    f <- strsplit(line, " ")[[1]]
    v <- as.numeric(f[-1])
    if (f[1] == "design") {
        d <- getDesignGroupSequential(kMax = length(v) - 1, alpha = v[1], sided = 2, typeOfDesign = "asP",
                                      informationRates = v[-1])
        show(d$alphaSpent, 2 * d$stageLevels)
    } else if (f[1] == "nested") {
        shape <- v[1:3]
        d <- data.frame(y = v[-(1:4)], boot = factor(rep(1:shape[1], each = shape[2] * shape[3])),
                        run = factor(rep(1:(shape[1] * shape[2]), each = shape[3])))
        fit <- lme(y ~ 1, d, random = ~ 1 | boot/run, control = lmeControl(opt = "optim", reltol = 1e-12))
        s <- as.numeric(VarCorr(fit)[, "Variance"])
        show(s[!is.na(s)])
    }
}
"""

need("Rscript")
rng = random.Random(11)
check = Comparison()


def nested(boots, runs, passes):
    y = []
    for _ in range(boots):
        boot = rng.gauss(5, 2)
        for _ in range(runs):
            run = boot + rng.gauss(0, 1)
            y += [run + rng.gauss(0, .5) for _ in range(passes)]
    return y


designs, sets = [], []
for _ in range(12):
    pairs = sorted(rng.sample(range(24, 56, 8), rng.randint(1, 4))) + [60]
    designs.append((rng.choice([.05, .05, .1]), pairs))
for _ in range(60):
    shape = rng.randint(6, 14), rng.randint(3, 6), rng.randint(3, 8)
    sets.append((shape, nested(*shape)))

lines = [f"design {alpha} " + " ".join(repr(p / 60) for p in pairs) for alpha, pairs in designs]
lines += [f"nested {' '.join(map(str, shape))} {vector(y)}" for shape, y in sets]
run = subprocess.run(["Rscript", "--vanilla", "-e", SCRIPT], capture_output=True, text=True, timeout=600,
                     input="\n".join(lines) + "\n")
if run.stdout.startswith("missing"):
    print("the R packages rpact and nlme are not installed")
    sys.exit(77)
if run.returncode:
    sys.exit(run.stderr)
wanted = [numbers(line) for line in run.stdout.splitlines()]
assert len(wanted) == len(lines), (len(wanted), len(lines))

order = [0, 1, 1, 0] * 30
questions = [f"boundary {i + 1} {PATHS} {alpha} 1 {vector(2 * p for p in pairs)} {vector(p / 60 for p in pairs)} {vector(order)} "
             f"{vector([7e9] * len(order))}" for i, (alpha, pairs) in enumerate(designs)]
for (alpha, pairs), answer, value in zip(designs, ask(questions), wanted):
    for k, got in enumerate(numbers(answer)):
        check.near(f"nominal p at {pairs[k]} of 60 pairs, alpha {alpha}", got, value[len(pairs) + k], BOUNDARY)
answers = ask([f"anova {' '.join(map(str, shape))} {vector(y)}" for shape, y in sets])
for (shape, _), answer, value in zip(sets, answers, wanted[len(designs):]):
    got = numbers(answer)[3:]
    if min(got) <= 0:
        continue    # REML goes another way at the edge
    for name, mine, theirs in zip(("boots", "runs", "passes"), got, value):
        check.near(f"variance of {name} in {shape}", mine, theirs, 2e-3)   # its optimizer stops so near
check.finish()
