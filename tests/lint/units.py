#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""systemd-analyze verify has nothing to say of our units, as they would be with the programs that were built, and systemd-analyze
security finds none exposed to more than 2.0."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from common import BUILD, TOP

EXPOSURE_MAX = 2.0


def verify(paths):
    """What systemd says of units whose programs are in build/ instead of /usr/local/bin."""
    with tempfile.TemporaryDirectory() as folder:
        names = []
        for path in paths:
            text = path.read_text().replace("/usr/local/bin/", f"{BUILD}/")
            name = pathlib.Path(folder, path.name)
            name.write_text(text)
            names.append(str(name))
        done = subprocess.run(["systemd-analyze", "--man=no", "verify", *names], capture_output=True, text=True,
                              env={**os.environ, "SYSTEMD_LOG_LEVEL": "warning"})
        return done.returncode, done.stdout + done.stderr


def exposures(paths):
    """systemd's own judgement of each service: 0 is the safest, 10 the least."""
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            shutil.copy(path, folder)
            name = pathlib.Path(folder, path.name)
            done = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", str(name)],
                                  capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
            found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout)
            yield path.name, float(found[1]) if found else None


def main():
    units = sorted(path for path in TOP.glob("deploy/systemd/*.*") if path.suffix in (".service", ".socket", ".timer", ".slice"))
    services = [path for path in units if path.suffix == ".service"]
    if not shutil.which("systemd-analyze"):
        print("there is no systemd-analyze")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bad = pathlib.Path(folder, "bad.service")
        bad.write_text("[Service]\nType=onshot\nExecStart=/nowhere/at-all\n")
        if not verify([bad])[0]:
            print("self-test: a bad unit was not caught")
            return 1
        bad.write_text("[Service]\nExecStart=/bin/true\n")
        if not all(level and level > EXPOSURE_MAX for _, level in exposures([bad])):
            print("self-test: a unit that restricts nothing was not caught")
            return 1
    status, text = verify(units)
    if status or text or not services:
        print(text or "there are no units")
        return 1
    levels = dict(exposures(services))
    print(levels)
    return 1 if any(level is None or level > EXPOSURE_MAX for level in levels.values()) else 0


sys.exit(main())
