# SPDX-License-Identifier: GPL-2.0-or-later
"""The README's sh blocks that use curl, run as they are against a daemon; each command must be answered well."""

import os
import re
import subprocess

from lab import TOP, lab, main


def blocks():
    text = (TOP / "README.md").read_text()
    return [block for block in re.findall(r"^```sh\n(.*?)^```", text, re.S | re.M) if re.search(r"\bcurl ", block)]


def test_curl_examples():
    found = blocks()
    assert found, "the README has no curl example"
    with lab() as one:
        done = one.new("boots=1", clock="icount")  # job 1, which examples may talk of
        one.wait(done)
        env = dict(os.environ, LAB=f"http://127.0.0.1:{one.port}", JOB=str(done))
        for block in found:
            ran = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=TOP, env=env, capture_output=True,
                                 text=True, timeout=120, stdin=subprocess.DEVNULL)
            assert ran.returncode == 0, f"{block}\n---- exit status {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr}"
            assert ran.stdout.strip(), f"{block}\n---- printed nothing"
            print(f"    {len(re.findall('curl ', block))} calls: well answered")


main(globals())
