#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Dependencies point one way, as ARCHITECTURE.md says: who may include whose headers."""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

# folder: the folders of ours that its files may include headers of, beside their own
ALLOWED = {
    "jobs/spec": set(),
    "jobs/stats": {"jobs/spec"},
    "host": {"jobs/spec"},
    "db": {"jobs/spec", "jobs/stats"},
    "web": {"db", "jobs/spec", "jobs/stats"},
    "daemon": {"web", "db", "host", "jobs/spec", "jobs/stats"},
    "jobs": {"host", "jobs/spec", "jobs/stats"},
    "mail": {"jobs/spec"},
    "client": {"mail", "host", "jobs/spec", "jobs/stats"},
    "doc": {"daemon", "jobs/spec"},
    "guest-image": {"guest-image/lib"},
    "guest-image/lib": set(),
    "guest-image/tools": {"guest-image/lib"},
}
GENERATED = {"db/migrations.h", "web/static-files.h", "guest-image/cmdline.h"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def folder_of(path):
    return str(pathlib.PurePosixPath(path).parent)


def problems(path, text):
    """What is wrong with the includes of one file (path relative to the top)."""
    here = folder_of(path)
    for name in INCLUDE.findall(text):
        # headers of the guest are found beside the file or below guest-image
        there = folder_of(name)
        if there == "." and here.startswith("guest-image"):
            continue
        if here.startswith("guest-image") and not there.startswith("guest-image"):
            there = "guest-image/" + there
        if there == here or name in GENERATED:
            continue
        if there == ".":
            yield f'{path}: "{name}": write the path from the top folder'
        elif there not in ALLOWED.get(here, set()):
            yield f'{path}: includes "{name}", and {here}/ must not depend on {there}/'


def self_test():
    """A check that finds nothing is worth something only if it can find something."""
    bad = {
        "jobs/build.c": ["db/store.h", "web/html.h", "daemon/lab.h"],
        "jobs/spec/spec.c": ["jobs/stage.h", "jobs/stats/result.h", "db/db.h"],
        "jobs/stats/rank.c": ["jobs/child.h"],
        "db/db.c": ["daemon/lab.h", "web/html.h", "jobs/stage.h"],
        "web/html.c": ["daemon/http.h", "jobs/vm.h"],
        "daemon/main.c": ["jobs/stage.h", "client/remote.h"],
        "client/list.c": ["daemon/api.h", "db/store.h", "web/words.h", "jobs/stage.h"],
        "mail/trust.c": ["client/remote.h", "web/words.h", "db/store.h"],
        "guest-image/init.c": ["jobs/guest.h"],
    }
    good = {
        "daemon/main.c": ["web/html.h", "db/store.h", "jobs/spec/cpus.h", "daemon/lab.h"],
        "client/show.c": ["jobs/spec/text.h", "client/options.h"],
        "jobs/stats/rank.c": ["jobs/spec/sample.h"],
    }
    for path, names in bad.items():
        for name in names:
            if not list(problems(path, f'#include <glib.h>\n  # include "{name}"\n')):
                return f'self-test: {path} with "{name}" was not caught'
    for path, names in good.items():
        for name in names:
            for problem in problems(path, f'#include "{name}"\n'):
                return f"self-test: {problem}"
    return None


def main():
    failed = self_test()
    if failed:
        print(failed)
        return 1
    found, count = [], 0
    for folder in ALLOWED:
        for path in sorted((TOP / folder).glob("*.[ch]")):
            count += 1
            found += problems(path.relative_to(TOP).as_posix(), path.read_text())
    print("\n".join(found) if found else f"{count} files depend only on what they may")
    return 1 if found or not count else 0


sys.exit(main())
