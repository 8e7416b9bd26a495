#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What no file may have in it, and what each must have."""

import re
import sys

from common import TOP, files

LONG = 400            # lines of a C file: it is said
TOO_LONG = 500        # and this is an error
TOO_LONG_TEST = 800   # lists of cases
NO_LICENSE_LINE = re.compile(r"(^|/)(COPYING|README|cmdline|\.gitignore)$|\.(md|mbox|eml|json|jsonl|csv|txt|bin|dat)$"
                             r"|^deploy/debian/(changelog|control|copyright|not-installed|source/format|[a-z-]+\.(install|lintian-overrides))$"
                             r"|^tests/(fuzz/corpus|golden|series|unit/data|oracle/data)/")

# what, in which files, and why not
FORBIDDEN = [
    (r"\b(system|popen|strcpy|strcat|sprintf|vsprintf|strtok|gets|alloca|tmpnam|mktemp)\s*\(", r"\.[ch]$",
     "a function that is banned here"),
    (r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b", r"\.([ch]|py|sql|css|inc)$|^Makefile$|^deploy/", "work that is not finished"),
    (r"(^|[^\w.])/(wo" r"rk|fa" r"rm|ho" r"me/\w)[/\w]*|bash_" r"jobs", r".", "a path of some machine"),
    (r"(?<!^--)[ \t]+$", r"\.([ch]|py|sql|css|inc|md|ini|config)$|^Makefile$|^deploy/", "blanks at a line's end"),
    (r"\r$", r"\.([ch]|py|sql|css|inc|md|ini|config)$", "a carriage return"),
]


def problems(path, text):
    if not NO_LICENSE_LINE.search(path) and "SPDX-License-Identifier: GPL-2.0-or-later" not in text[:400]:
        yield f"{path}: no line SPDX-License-Identifier: GPL-2.0-or-later at its top"
    rules = [(re.compile(what), why) for what, where, why in FORBIDDEN if re.search(where, path)]
    for number, line in enumerate(text.split("\n"), 1):
        for what, why in rules:
            if what.search(line):
                yield f"{path}:{number}: {why}: {line.strip()[:80]}"
    lines = text.count("\n")
    most = TOO_LONG_TEST if path.startswith("tests/") else TOO_LONG
    if path.endswith((".c", ".h")) and lines > most:
        yield f"{path}: {lines} lines, and {most} are the most"


def self_test():
    spdx = "/* SPDX-License-Identifier: GPL-2.0-or-later */\n"
    for text in ("int x;\n", spdx + "\tstrcpy (a, b);\n", spdx + "/* TO" "DO: all */\n", spdx + "open(\"/wo" "rk/x\");\n",
                 spdx + "int a; \n", spdx + "int a;\n" * 501):
        if not list(problems("jobs/x.c", text)):
            return f"self-test: not caught: {text[-60:]!r}"
    found = list(problems("jobs/x.c", spdx + "g_string_printf(x); /* framework/paths, subsystem() */\n"))
    return f"self-test: {found}" if found else None


def main():
    failed = self_test()
    if failed:
        print(failed)
        return 1
    found = []
    for path in files():
        try:
            text = (TOP / path).read_text()
        except (UnicodeDecodeError, IsADirectoryError):
            continue  # no text: corpora of fuzzers
        if path.startswith(("tests/fuzz/corpus/", "tests/series/")) or path == "COPYING":
            continue
        found += problems(path, text)
        if path.endswith((".c", ".h")) and not path.startswith("tests/") and LONG < text.count("\n") <= TOO_LONG:
            print(f"{path}: {text.count(chr(10))} lines, which is long")
    print("\n".join(found))
    return 1 if found else 0


sys.exit(main())
