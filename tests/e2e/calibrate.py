# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""regrlab calibrate on real boots: what it stores of the host, and the quote that is made from it."""
import json
import os
import subprocess

from reallab import BUILD, Lab

BOOTS = 8

with Lab() as lab:
    environment = {**os.environ, "REGRLAB_SERVER": lab.url}
    out = subprocess.run([f"{BUILD}/regrlab", "calibrate", "--host", "local", "--benchmarks", "aging", "--params", "aging.nproc=1",
                          "--clock", "icount", "--profile", "quick", "--base", "HEAD", "--boots", str(BOOTS), "--json"],
                         env=environment, stdout=subprocess.PIPE, check=True)
    number = json.loads(out.stdout)["id"]
    job = lab.wait(number)
    assert job["state"] == "done", job
    assert job["arms"]["base"]["kernel_sha256"] == job["arms"]["patched"]["kernel_sha256"], job["arms"]
    host, = lab.api("/hosts")["hosts"]
    row, = host["calibrations"]
    print(json.dumps(row, indent=1))
    assert (row["benchmark"], row["params"], row["clock"], row["boots"], row["job"]) == \
        ("aging", "nproc=1;lru=mglru", "icount", BOOTS, number), row
    assert row["config_sha256"] == job["arms"]["base"]["config_sha256"]
    assert [e["boots_per_arm"] for e in row["effects"]] == [4, 10, 20]
    effects = [e["effect_pct"] for e in row["effects"]]
    assert effects == sorted(effects, reverse=True) and 0 <= effects[2] < 1, effects
    line, = host["false_alarms"]
    assert line["comparisons"] == 1 and line["fitness"] == "unknown", line

    quote = lab.api("/jobs?dry_run=1", "POST", json.dumps({
        "base": "HEAD", "head": "HEAD", "benchmarks": "aging", "params": "aging.nproc=1", "clock": "icount", "profile": "quick",
        "max_boots": 4}).encode(), "application/json")
    print(json.dumps(quote, indent=1))
    effect, = quote["effects"]
    assert effect["source"] == "calibration" and abs(effect["effect_pct"] - effects[0]) < 1e-9, effect
    assert quote["build"]["base"]["cached"] and quote["build"]["patched"]["cached"], quote["build"]
    assert quote["measure"]["seconds"] > 0 and quote["start"]["jobs_before"] == 0
print("ok")
