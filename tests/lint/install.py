#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make install puts there what it should, with the prefix that was asked for, and make uninstall takes all of it away."""

import pathlib
import subprocess
import sys
import tempfile

from common import BUILD, TOP

WANTED = ["bin/regrlabd", "bin/regrlab", "bin/regrlab-job", "bin/regrlab-host", "lib/regrlab/guest.cpio",
          "share/regrlab/benchmarks/aging.ini", "share/man/man1/regrlab.1", "share/man/man5/regrlab.conf.5",
          "share/man/man7/regrlab-api.7", "share/man/man8/regrlabd.8", "share/bash-completion/completions/regrlab",
          "lib/systemd/system/regrlabd.service", "lib/systemd/system/regrlabd.socket", "lib/sysusers.d/regrlab.conf",
          "share/doc/regrlab/regrlab.conf.example"]


def make(target, folder):
    done = subprocess.run(["make", "-s", f"BUILD={BUILD}", f"DESTDIR={folder}", "PREFIX=/opt/lab", target], cwd=TOP,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(folder, "opt/lab/share/regrlab/benchmarks/mine.ini")
        make("install", folder)
        missing = [name for name in WANTED if not pathlib.Path(folder, "opt/lab", name).is_file()]
        assert not missing, missing
        unit = pathlib.Path(folder, "opt/lab/lib/systemd/system/regrlabd.service").read_text()
        assert "ExecStart=/opt/lab/bin/regrlabd" in unit, unit
        kept.touch()
        make("uninstall", folder)
        left = [str(path) for path in pathlib.Path(folder).rglob("*") if not path.is_dir()]
        assert left == [str(kept)], left
        kept.unlink()
        make("install", folder)
        make("uninstall", folder)
        left = [path for path in pathlib.Path(folder).rglob("*regrlab*")]
        assert not left, left
    return 0


sys.exit(main())
