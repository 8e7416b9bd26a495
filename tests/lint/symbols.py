#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""No two files of the library define the same name: the linker would quietly take the first."""

import collections
import subprocess
import sys

from common import BUILD

library = BUILD / "libregrlab.a"
out = subprocess.run(["nm", "--extern-only", "--defined-only", "-A", str(library)], check=True, capture_output=True,
                     text=True).stdout
places = collections.defaultdict(set)
for line in out.splitlines():
    where, _, rest = line.rpartition(":")
    words = rest.split()
    if len(words) == 3 and not words[2].startswith("__"):
        places[words[2]].add(where.rpartition(":")[2])
twice = {name: sorted(members) for name, members in places.items() if len(members) > 1}
for name, members in sorted(twice.items()):
    print(f"{name} is defined in {' and in '.join(members)}")
print(f"{len(places)} names")
sys.exit(1 if twice or not places else 0)
