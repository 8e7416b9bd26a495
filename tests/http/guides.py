# SPDX-License-Identifier: GPL-2.0-or-later
"""The guides' sh blocks, run as they are against a daemon, and the benchmark of doc/benchmark.md: built, run, taken by a lab."""

import json
import os
import pathlib
import re
import subprocess
import tempfile

from lab import API, BUILD, TOP, lab, main


def blocks(guide, language):
    found = re.findall(rf"^```{language}\n(.*?)^```", (TOP / "doc" / guide).read_text(), re.S | re.M)
    assert found, (guide, language)
    return found


def run_blocks(guide):
    """One shell for all of a guide's: later ones use what earlier ones set."""
    with lab() as one, tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, LAB=f"http://127.0.0.1:{one.port}", TMP=folder, PATH=f"{BUILD}:{os.environ['PATH']}")
        ran = subprocess.run(["bash", "-euo", "pipefail", "-c", "\n".join(blocks(guide, "sh"))], cwd=TOP, env=env,
                             capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        assert ran.returncode == 0 and ran.stdout.strip(), (guide, ran)


def test_administrator():
    run_blocks("administrator.md")


def test_submitter():
    run_blocks("submitter.md")


def test_benchmark():
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "fault.c"), pathlib.Path(folder, "fault")
        source.write_text(blocks("benchmark.md", "c")[0])
        subprocess.run(["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-Iguest-image",
                        "-o", program, source, BUILD / "guest/libguest.a", "-lm", "-pthread"], cwd=TOP, check=True)
        samples = pathlib.Path(folder, "samples")
        with open(samples, "wb") as out:
            subprocess.run([program, "--samples-fd", str(out.fileno()), "--size-mib", "4", "--passes", "3"], check=True,
                           pass_fds=(out.fileno(),), stdout=subprocess.DEVNULL)
        lines = [json.loads(line) for line in samples.read_text().splitlines()]
        assert [line["pass"] for line in lines] == [0, 1, 2, 3] and all(line["value"] > 0 for line in lines), lines
        assert all((line["metric"], line["unit"], line["better"]) == ("time", "ms", "lower") for line in lines), lines
        pathlib.Path(folder, "fault.ini").write_text(blocks("benchmark.md", "ini")[0])
        with lab(benchmarks_dir=folder) as one:
            answer = one.submit(head="abc", benchmarks="fault", profile="full", clock="kvm")
            assert answer.status == 202, answer.body
            sets = one.get(f"{API}/jobs?benchmark=fault").json()["jobs"]
            assert len(sets) == 1, sets


main(globals())
