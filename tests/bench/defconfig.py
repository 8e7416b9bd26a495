# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 7200
"""The profile defconfig-kvm: built from nothing, patched, and booted by the lab, with all benchmarks.

It is a kernel like those of distributions, and takes its time; lab-min is what the other tests build.
"""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from reallab import Lab, valid_boots  # noqa: E402

BOOTS = 4

with Lab() as lab:
    started = time.monotonic()
    number = lab.submit("demo-slower", config="defconfig-kvm", benchmarks="aging,pwrite,readtwice", profile="quick",
                        clock="icount", max_boots=BOOTS, rule="fixed")
    job = lab.wait(number, 7000)
    assert job["state"] == "done", (job["state"], job["reason"], job["message"])
    assert valid_boots(job) == {"base": BOOTS, "patched": BOOTS}, job["boots"]
    for arm in ("base", "patched"):
        built = job["arms"][arm]
        print(f"{arm}: {'cached' if built['cached'] else '%.0f s' % built['build_s']}, {built['kernel_bytes'] / 1e6:.1f} MB")
    first = [(boot["first_sample_ns"] - boot["start_ns"]) / 1e9 for boot in job["boots"] if boot["valid"]]
    print(f"domain start to first sample: {min(first):.1f} to {max(first):.1f} s (clock icount, {len(first)} boots)")
    result = lab.result(number)
    for (benchmark, params), c in sorted(result.items()):
        print(f"{benchmark:10} {params:28} {c['change_pct']:+8.3f} % {c['verdict']}")
    # a change of the page-aging walk shows with this configuration, too, and in that benchmark alone
    for (benchmark, _), c in result.items():
        assert (c["verdict"] == "REGRESSION") == (benchmark == "aging"), (benchmark, c)
    print(f"ok: {time.monotonic() - started:.0f} s")
