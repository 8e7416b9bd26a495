#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The warnings of the second compiler, as errors; the first one's are those of every build."""

import sys

from common import check_each, compiler_flags, files, flags_of

flags = compiler_flags()
sys.exit(check_each("clang", files("*.c"), lambda path: ["clang", "-fsyntax-only", *flags_of(path, flags), path]))
