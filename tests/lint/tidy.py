#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 1800
"""clang-tidy with the checks of .clang-tidy."""

import sys

from common import check_each, compiler_flags, files, flags_of

flags = [flag for flag in compiler_flags() if flag != "-Werror"]
paths = [path for path in files("*.c") if not path.startswith("tests/")]
sys.exit(check_each("tidy", paths, lambda path: ["clang-tidy", "--quiet", path, "--", *flags_of(path, flags)],
                    cached=True))
