#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""shellcheck, on every script that a shell runs."""

import subprocess
import sys

from common import TOP, files


def is_shell(path):
    with open(TOP / path, "rb") as script:
        line = script.readline()
    return line.startswith(b"#!") and (b"bash" in line or line.rstrip().endswith(b"/sh"))


paths = [path for path in files() if (TOP / path).is_file() and is_shell(path)]
print(*paths)
sys.exit(subprocess.run(["shellcheck", *paths], cwd=TOP).returncode if paths else 1)
