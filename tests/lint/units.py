#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""systemd-analyze verify has nothing to say of our units, as they would be with the programs that were built."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from common import BUILD, TOP


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


def main():
    units = sorted(TOP.glob("deploy/systemd/*.service"))
    if not shutil.which("systemd-analyze"):
        print("there is no systemd-analyze")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bad = pathlib.Path(folder, "bad.service")
        bad.write_text("[Service]\nType=onshot\nExecStart=/nowhere/at-all\n")
        if not verify([bad])[0]:
            print("self-test: a bad unit was not caught")
            return 1
    status, text = verify(units)
    print(text or f"{len(units)} units")
    return 1 if status or text or not units else 0


sys.exit(main())
