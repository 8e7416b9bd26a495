#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The shell examples of the README run as they stand there, against a daemon with a fake stage."""

import os
import re
import subprocess

import lab as labs


def examples():
    text = (labs.TOP / "README.md").read_text()
    return re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)


def run(lab, example):
    env = {**os.environ, "LAB": f"http://127.0.0.1:{lab.port}"}
    done = subprocess.run(["sh", "-eu", "-c", example], env=env, cwd=labs.TOP, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, (example, done.returncode, done.stdout, done.stderr)
    return done.stdout


def test_examples():
    blocks = examples()
    assert len(blocks) == 3, f"{len(blocks)} examples: this test knows of three"
    with labs.lab() as lab:
        report = run(lab, blocks[0])
        assert report.startswith("aging") and "How it was run" in report, report
        more = run(lab, blocks[1])
        assert '"done"' in more and "job,arm,boot," in more and '"name": "local"' in more, more
        run(lab, blocks[2])


if __name__ == "__main__":
    labs.main(globals())
