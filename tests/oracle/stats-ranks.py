#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Methods on ranks against R: ties by the packages exactRankTests and coin, intervals by wilcox.test."""

import random
import subprocess
import sys

from oracle import Comparison, ask, need, numbers, vector

SETS = 300
SCRIPT = r"""
if (!requireNamespace("exactRankTests", quietly = TRUE) || !requireNamespace("coin", quietly = TRUE)) {
    cat("missing\n"); quit()
}
suppressWarnings(suppressMessages({ library(exactRankTests); library(coin) }))
lines <- readLines(file("stdin"))
show <- function(...) cat(sprintf("%.17g", c(...)), "\n")
for (line in lines) {
    f <- strsplit(line, " ")[[1]]
    v <- as.numeric(f[-1])
    n <- v[1]; a <- v[2:(n + 1)]; b <- v[(n + 3):length(v)]
    if (f[1] == "ties") {
        show(wilcox.exact(a, b, exact = TRUE)$p.value)
    } else if (f[1] == "coin") {
        d <- data.frame(y = c(a, b), g = factor(rep(c("a", "b"), c(length(a), length(b)))))
        show(pvalue(oneway_test(y ~ g, d, distribution = "exact")))
    } else if (f[1] == "shift") {
        w <- suppressWarnings(wilcox.test(b, a, conf.int = TRUE, exact = TRUE))
        show(w$estimate, w$conf.int, attr(w$conf.int, "conf.level"))
    } else if (f[1] == "signed") {
        show(suppressWarnings(wilcox.exact(a, b, paired = TRUE, exact = TRUE))$p.value)
    }
}
"""

need("Rscript")
rng = random.Random(7)
check = Comparison()


def ties(n):
    return [float(rng.randint(1, 5)) for _ in range(n)]


def smooth(n):
    return [rng.gauss(10, 2) for _ in range(n)]


sets = []
for i in range(SETS):
    sets.append(("ties", ties(rng.randint(3, 9)), ties(rng.randint(3, 9))))
    # coin counts with whole scores only: the values in thousandths
    sets.append(("coin", *([float(round(1000 * x)) for x in smooth(rng.randint(3, 8))] for _ in range(2))))
    sets.append(("shift", smooth(rng.randint(4, 25)), smooth(rng.randint(4, 25))))
    a = ties(rng.randint(4, 12))
    sets.append(("signed", a, ties(len(a))))

run = subprocess.run(["Rscript", "--vanilla", "-e", SCRIPT], capture_output=True, text=True, timeout=600,
                     input="\n".join(f"{kind} {vector(a)} {vector(b)}" for kind, a, b in sets) + "\n")
if run.stdout.startswith("missing"):
    print("the R packages exactRankTests and coin are not installed")
    sys.exit(77)
if run.returncode:
    sys.exit(run.stderr)
wanted = [numbers(line) for line in run.stdout.splitlines()]
assert len(wanted) == len(sets)

questions = {
    "ties": lambda a, b: f"mid-ranks {vector(a)} {vector(b)}",
    "coin": lambda a, b: f"permutation {vector(a)} {vector(b)}",
    "shift": lambda a, b: f"shift 0.05 {vector(a)} {vector(b)}",
    "signed": lambda a, b: "signed-rank " + vector(x - y for x, y in zip(a, b)),
}
for (kind, a, b), answer, value in zip(sets, ask([questions[kind](a, b) for kind, a, b in sets]), wanted):
    got = numbers(answer)
    for name, x, y in zip(("first", "low", "high"), got, value):
        check.near(f"{kind} {name} {a} {b}", x, y, 1e-9)
check.finish()
