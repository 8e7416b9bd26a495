# SPDX-License-Identifier: GPL-2.0-or-later
"""Ten jobs on three hosts, of which one loses its libvirtd and one its network in the middle of a boot.

Every job ends with the verdict that it has on a quiet host under icount; no boot counts twice; nothing of them is left.
"""
import pathlib
import sys
import time

import libvirtds
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from reallab import Lab, valid_boots

BOOTS = 4
FIELDS = {"benchmarks": "aging", "params": "aging.nproc=1 aging.size_mib=16 aging.passes=4", "max_boots": BOOTS,
          "rule": "fixed", "config": "lab-min"}
SERIES = ("demo-slower", "demo-nothing")
KEEP_S = 15     # a host is away until its jobs move


def findings(lab, job):
    """(verdict, change in per cent) of each comparison."""
    return {key: (c["verdict"], c["change_pct"]) for key, c in lab.result(job, 900).items()}


def check_findings(job, got, expected):
    """The same verdict and, to a fraction of a per cent, the same change: what counts instructions does not care where."""
    assert got.keys() == expected.keys(), (job, got, expected)
    for key, (verdict, change_pct) in got.items():
        assert verdict == expected[key][0] and abs(change_pct - expected[key][1]) < .5, (job, key, got[key], expected[key])


def host(lab, name):
    return next(h for h in lab.api("/hosts")["hosts"] if h["name"] == name)


def boots_on(lab, name, within_s=120):
    """Waits until a guest is at work there; the job's number."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        number = host(lab, name)["job"]
        job = lab.api(f"/jobs/{number}") if number else None
        if job and "boot " in job["progress"]["step"]:
            return number
        time.sleep(.1)
    raise AssertionError(f"nothing is booted on {name}")


def wait_for(what, true, within_s=120):
    end = time.monotonic() + within_s
    while not true():
        assert time.monotonic() < end, f"{what}: not within {within_s} s"
        time.sleep(.5)


def check_boots(job):
    numbers = [boot["boot"] for boot in job["boots"]]
    assert numbers == list(range(len(numbers))), numbers
    assert valid_boots(job) == {"base": BOOTS, "patched": BOOTS}, job["boots"]
    places = {boot["host"] for boot in job["boots"] if boot["valid"]}
    assert places == {job["host"]}, (places, job["host"])
    return sum(1 for boot in job["boots"] if boot["reason"] == "lost")


def main():
    lacks = libvirtds.missing()
    if lacks:
        print(f"skipped: this machine has no {lacks}")
        sys.exit(77)
    started = time.monotonic()
    with libvirtds.Hosts(3) as hosts, Lab() as lab:
        names = [f"remote-{h.number}" for h in hosts]
        lab.stop()
        with open(lab.path("regrlab.conf"), "a") as f:
            f.write("".join(f"[host {name}]\nuri={h.uri}\nlabels=remote\nmove_after_s={KEEP_S}\n"
                            for name, h in zip(names, hosts)))
        lab.start()
        quiet = {series: lab.submit(series, host="local", **FIELDS) for series in SERIES}
        expected = {series: findings(lab, job) for series, job in quiet.items()}
        print(f"on one quiet host: {expected}", flush=True)

        jobs = [(SERIES[i % 2], lab.submit(SERIES[i % 2], labels="remote", **FIELDS)) for i in range(10)]
        wait_for("all three hosts at work", lambda: all(host(lab, name)["job"] for name in names))
        boots_on(lab, names[0])
        hosts[0].kill_libvirtd()
        boots_on(lab, names[1])
        hosts[1].cut()
        print(f"{time.monotonic() - started:.0f} s: one libvirtd killed, one network cut", flush=True)
        for name in names[:2]:
            wait_for(f"{name} down", lambda name=name: host(lab, name)["state"] == "down")
        wait_for("the jobs' move", lambda: not any(
            lab.api(f"/jobs/{job}")["host"] in names[:2] for _, job in jobs
            if lab.api(f"/jobs/{job}")["state"] == "measuring"))
        print(f"{time.monotonic() - started:.0f} s: both are down, and nothing is measured there", flush=True)
        hosts[0].start_libvirtd()
        hosts[1].mend()

        lost = 0
        for series, job in jobs:
            check_findings(job, findings(lab, job), expected[series])
            lost += check_boots(lab.api(f"/jobs/{job}"))
        assert lost >= 1, "no boot was lost: nothing was tested"
        places = {lab.api(f"/jobs/{job}")["host"] for _, job in jobs}
        assert len(places) >= 2, places
        print(f"{time.monotonic() - started:.0f} s: ten jobs done on {sorted(places)}, {lost} boots lost", flush=True)

        for name in names:
            wait_for(f"{name} up again", lambda name=name: host(lab, name)["state"] == "idle")
            history = [event["what"] for event in lab.api(f"/hosts/{name}")["history"]]
            assert name == names[2] or history[:2] == ["up", "down"], (name, history)
        for h in hosts:
            assert h.domains() == [], (h.name, h.domains())
            left = [v for v in h.volumes() if not v.startswith("kept-")]
            assert not left, (h.name, left)
        # both kernels of each series and the image: once a host, however many boots
        kept = [len([v for v in h.volumes() if v.startswith("kept-")]) for h in hosts]
        assert max(kept) <= 4, kept
    print(f"ok: {time.monotonic() - started:.0f} s")


main()
