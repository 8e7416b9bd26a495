# SPDX-License-Identifier: GPL-2.0-or-later
"""The full kill tests: 200 kills of real jobs (with a libvirtd), 1000 of fake ones.

It takes hours. The kills of real jobs are recorded in state/kills.json: started again, it goes on where it stopped.
"""
# timeout: 28800

import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent.parent

(TOP / "state").mkdir(exist_ok=True)
for script, args in (("fault/steps.py", ["--kills", "1000", "--seed", "2"]),
                     ("e2e/kills.py", ["--kills", "200", "--seed", "2", "--record", str(TOP / "state/kills.json"), "--libvirtd"])):
    subprocess.run([sys.executable, TOP / "tests" / script, *args], check=True)
