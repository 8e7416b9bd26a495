# SPDX-License-Identifier: GPL-2.0-or-later
"""What the oracle scripts share: asking the driver, comparing, and doing without a program that is not there."""

import math
import os
import shutil
import subprocess
import sys

DRIVER = os.path.join(os.environ.get("BUILD", "build"), "tests", "oracle-driver")


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print(f"{program} is not installed")
            sys.exit(77)


def need_modules(*names):
    for name in names:
        try:
            __import__(name)
        except ImportError:
            print(f"the Python module {name} is not installed for {sys.executable}")
            sys.exit(77)


def vector(values):
    values = list(values)
    return " ".join([str(len(values))] + [repr(float(x)) for x in values])


def ask(questions):
    """The driver's answers, each a line, to the questions."""
    run = subprocess.run([DRIVER], input="\n".join(questions) + "\n", capture_output=True, text=True, timeout=600)
    if run.returncode:
        sys.exit(f"the driver failed: {run.stderr[-2000:]}")
    answers = run.stdout.splitlines()
    assert len(answers) == len(questions), (len(answers), len(questions))
    return answers


def numbers(answer):
    return [float(x) for x in answer.split()]


class Comparison:
    """Counts what agrees and prints what does not."""

    def __init__(self):
        self.count = self.failures = 0

    def near(self, what, got, wanted, relative=1e-9, absolute=0.0):
        self.count += 1
        same = (math.isnan(got) and math.isnan(wanted)) or got == wanted
        if not same and not abs(got - wanted) <= max(relative * abs(wanted), absolute):
            self.failures += 1
            if self.failures <= 20:
                print(f"{what}: got {got!r}, wanted {wanted!r}")

    def equal(self, what, got, wanted):
        self.count += 1
        if got != wanted:
            self.failures += 1
            if self.failures <= 20:
                print(f"{what}: got {got!r}, wanted {wanted!r}")

    def finish(self):
        print(f"{self.count} figures compared, {self.failures} differ")
        sys.exit(1 if self.failures or not self.count else 0)
