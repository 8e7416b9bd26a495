# SPDX-License-Identifier: GPL-2.0-or-later
# long
"""A job's reproducer, run on the job's own kernels with nothing but QEMU, finds what the lab found; what it embeds is what was built."""
import json
import os
import re
import subprocess
import tempfile

from reallab import BUILD, Lab


def script(directory, *options):
    return subprocess.run(["sh", "reproduce.sh", *options], cwd=directory, check=True, text=True, timeout=1200,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


with Lab() as lab, tempfile.TemporaryDirectory(prefix="reproduce-", dir="/var/tmp") as here:
    job = lab.submit("demo-slower", benchmarks="aging", params="aging.nproc=1", max_boots=4)
    found = lab.result(job)
    (lab_figures,) = found.values()
    assert lab_figures["verdict"] == "REGRESSION", lab_figures

    text = lab.get(f"/jobs/{job}/reproduce.sh")
    assert text == lab.get(f"/api/v1/jobs/{job}/reproduce.sh")
    with open(f"{here}/reproduce.sh", "wb") as file:
        file.write(text)
    subprocess.run(["shellcheck", f"{here}/reproduce.sh"], check=True)

    with open(lab.path("state", "jobs", str(job), "events.jsonl")) as file:
        arms = {event["arm"]: event["kernel"] for event in map(json.loads, file) if event["type"] == "arm"}
    kernels = [arms["base"], arms["patched"]]
    output = script(here, "--kernels", *kernels, "--boots", "2")
    print(output)
    row = re.search(r"^ *(\S+) +(\S+) +([-+]\S+)% +\[(\S+)%, (\S+)%\] +aging nproc=1;lru=mglru: time in ms", output, re.M)
    assert row, output
    base, patched, change, low, high = map(float, row.groups())
    # icount: the same guest, image and command line count nearly the same instructions
    assert abs(base / lab_figures["base"] - 1) < .01, (base, lab_figures["base"])
    assert abs(patched / lab_figures["patched"] - 1) < .01, (patched, lab_figures["patched"])
    assert abs(change - lab_figures["change_pct"]) < 1, (change, lab_figures["change_pct"])
    assert low <= change <= high

    work = f"{here}/regrlab-job-{job}"
    assert sorted(name for name in os.listdir(work) if name.startswith("boot-")) == [f"boot-{i}" for i in range(4)]
    for arm in ("base", "patched"):
        with open(f"{work}/config-{arm}", "rb") as file:
            assert file.read() == lab.get(f"/api/v1/jobs/{job}/artifacts/config-{arm}")
    with open(f"{work}/series.mbox", "rb") as file:
        assert file.read() == lab.get(f"/api/v1/jobs/{job}/artifacts/series.mbox")
    # the lab's own statistics take its samples; two boots are too few for a verdict
    analysis = subprocess.run([f"{BUILD}/regrlab", "analyze", f"{work}/samples.csv"], check=True, text=True, stdout=subprocess.PIPE).stdout
    assert "INSUFFICIENT" in analysis, analysis

    # what the guest counted is kept with each boot, and compared
    assert b"vmstat." in lab.get(f"/api/v1/jobs/{job}/artifacts/boot-0-counters.csv")
    page = lab.get(f"/jobs/{job}").decode()
    assert "Counters that moved" in page and "Every boot" in page
print("ok")
