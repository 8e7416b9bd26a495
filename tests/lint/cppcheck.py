#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cppcheck, with what it knows of GLib."""

import os
import subprocess
import sys

from common import BUILD, TOP, files

paths = [path for path in files("*.c") if not path.startswith("tests/")]
cache = BUILD / "lint" / "cppcheck"
cache.mkdir(parents=True, exist_ok=True)
sys.exit(subprocess.run(
    ["cppcheck", "--quiet", "--std=c11", "--library=gtk", "--library=gnu", "--enable=warning,portability,performance",
     "--inline-suppr", "--error-exitcode=1", f"-j{len(os.sched_getaffinity(0))}", f"--cppcheck-build-dir={cache}",
     # NULL is a pointer with every compiler that we know, also behind an ellipsis
     "--suppress=varFuncNullUB", "--suppress=unmatchedSuppression", "-DG_GNUC_PRINTF(format,arguments)=", "-I.", "-Iguest-image", f"-I{BUILD}",
     "-D_GNU_SOURCE", "-DREGRLAB_PREFIX=\"\"", *paths], cwd=TOP).returncode)
