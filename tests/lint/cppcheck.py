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
    ["cppcheck", "--quiet", "--std=c11", "--library=gtk", "--library=gnu",
     "--enable=warning,portability,performance", "--inline-suppr", "--error-exitcode=1",
     f"-j{len(os.sched_getaffinity(0))}", f"--cppcheck-build-dir={cache}",
     # NULL is a pointer with every compiler that we know, also behind an ellipsis; of g_autofree, designated
     # initialisers, what && skips and that _exit() does not return cppcheck knows nothing (the sanitizers do)
     "--suppress=varFuncNullUB", "--suppress=memleak", "--suppress=leakNoVarFunctionCall",
     "--suppress=legacyUninitvar", "--suppress=uninitStructMember",
     "--suppress=nullPointerRedundantCheck", "--suppress=unmatchedSuppression",
     "-DG_GNUC_PRINTF(format,arguments)=", "-DG_DEFINE_QUARK(name,function)=", "-I.", "-Iguest-image", f"-I{BUILD}",
     "-D_GNU_SOURCE", "-DREGRLAB_PREFIX=\"\"", *paths], cwd=TOP).returncode)
