# SPDX-License-Identifier: GPL-2.0-or-later
"""Kills at random moments of real jobs: daemon, stages, git and make, QEMU; kernels are built and booted.

Each job is killed at some of its moments and must end like one that nobody disturbed: every step once, every pair of
boots once, under icount the same verdict and the same figures but for what boots of one kernel differ by.

  kills.py [--kills N] [--seed N] [--record FILE] [--libvirtd]

With --libvirtd the jobs are measured on a host that has one, in namespaces of its own (root), and it is a victim, too. With a record each finished job is a line of FILE, and a run that is started again goes on where the last one stopped.
"""
# timeout: 1200

import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import time

from reallab import FINAL, Lab

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fault"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
import libvirtds  # noqa: E402
from history import Growth, check_database, check_run, check_sound, events_of  # noqa: E402

SAME_PCT = .5       # boots of one kernel lie within about .1 % here
KILLS_A_JOB = 14    # then it may come to its end
MEAN_S = 4          # between two kills: some boots are to get through
FIELDS = {"benchmarks": "aging", "params": "aging.nproc=1", "seed": "7", "max_boots": "3"}
BOOTS = 6     # one that is made again comes last: with two pairs one arm could then come before the other


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().decode(errors="replace").split("\0")
    except OSError:
        return []


def children(pid):
    """Every process below one, however deep."""
    below, found = collections.defaultdict(list), []
    for line in subprocess.run(["ps", "-e", "-o", "ppid=,pid="], capture_output=True, text=True).stdout.splitlines():
        parent, child = map(int, line.split())
        below[parent].append(child)
    ahead = [pid]
    while ahead:
        ahead += below[ahead[0]]
        found += below[ahead.pop(0)]
    return found


def qemus_of(host):
    """Process ids, as they are here, of what runs in the namespaces of a host."""
    space, found = os.readlink(f"/proc/{host.inside()}/ns/pid"), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "qemu-system" in command(pid)[0] and os.readlink(f"/proc/{pid}/ns/pid") == space:
                found.append(int(pid))
        except (OSError, IndexError):
            continue
    return found


def qemus(lab, host):
    return lab.qemus() + (qemus_of(host) if host else [])


def victims(lab, host):
    """What runs now, by kind."""
    found = {"daemon": [lab.daemon.pid], "qemu": qemus(lab, host), "stage": [], "program": [], "libvirtd": []}
    if host and found["qemu"]:   # while it is at work
        found["libvirtd"].append(host.libvirtd.pid)
    for pid in children(lab.daemon.pid):
        words = command(pid)
        if len(words) > 2 and words[0].endswith("regrlab-job") and lab.state in words[2]:
            found["stage"].append(pid)
        elif words and words[0].rsplit("/", 1)[-1] in ("git", "make", "gcc", "bwrap", "ld", "rm"):
            found["program"].append(pid)
    return {kind: pids for kind, pids in found.items() if pids}


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


class Killer:
    def __init__(self, lab, host, rng):
        self.lab, self.host, self.rng, self.count = lab, host, rng, collections.Counter()
        self.crashes = 0    # of stages and their programs since the daemon was started or the job moved on

    def strike(self):
        kinds = victims(self.lab, self.host)
        if self.crashes >= 2:   # a third one in a row would be the job's own fault, and end it
            kinds.pop("stage", None)
        kind = self.rng.choice(sorted(kinds))
        pid = self.rng.choice(kinds[kind])
        if kind == "daemon":
            self.lab.stop(signal.SIGKILL)
            if self.rng.random() < .3:  # and what else there is, as when a machine stops
                self.count["qemu"] += sum(kill(qemu) for qemu in kinds.get("qemu", ()))
            self.count["daemon"] += 1
            self.crashes = 0
            self.lab.start()
        elif kind == "libvirtd":
            self.host.kill_libvirtd()
            if self.rng.random() < .5:
                self.count["qemu"] += sum(kill(qemu) for qemu in kinds["qemu"])
            time.sleep(self.rng.random() * 3)
            self.host.start_libvirtd()
            self.count["libvirtd"] += 1
        elif kill(pid):
            self.count[kind] += 1
            self.crashes += kind == "stage"


def check_same(calm, disturbed):
    assert calm.keys() == disturbed.keys(), (calm, disturbed)
    for key, one in calm.items():
        other = disturbed[key]
        assert one["verdict"] == other["verdict"] and one["boots"] == other["boots"], (one, other)
        for arm in ("base", "patched"):
            for a, b in zip(one["boot_values"][arm], other["boot_values"][arm], strict=True):
                assert abs(a / b - 1) * 100 < SAME_PCT, (one, other)


def disturb(lab, host, rng, kills, growth):
    """One job with so many kills; gives them by kind, and the job's number."""
    killer = Killer(lab, host, rng)
    job = lab.submit("demo-slower", **FIELDS, **({"host": "remote"} if host else {}))
    run_dir = lab.path("state", "jobs", str(job))
    seen = 0
    while sum(killer.count.values()) < kills:
        time.sleep(min(rng.expovariate(1 / MEAN_S), 4 * MEAN_S))
        answer = lab.api(f"/jobs/{job}")
        if answer["state"] in FINAL:
            break
        growth.look(job, run_dir)
        moved = sum(e["type"] != "progress" for e in events_of(run_dir))
        if moved != seen:
            killer.crashes, seen = 0, moved
        killer.strike()
    return killer.count, job


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=KILLS_A_JOB)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record")
    parser.add_argument("--libvirtd", action="store_true")
    args = parser.parse_args()
    if args.libvirtd and libvirtds.missing():
        print(f"skipped: this machine has no {libvirtds.missing()}")
        sys.exit(77)
    with libvirtds.Hosts(int(args.libvirtd)) as hosts:
        kill_jobs(args, hosts[0] if hosts else None)


def kill_jobs(args, host):

    total, number = collections.Counter(), 0
    if args.record and os.path.exists(args.record):
        with open(args.record) as f:
            for line in f:
                total.update(json.loads(line)["kills"])
                number += 1
        print(f"from {args.record}: {sum(total.values())} kills in {number} jobs")
    lab = Lab(max_failed_boots=1000)    # QEMUs are killed more often than a host would be believed
    if host:
        lab.add_host("remote", host.uri, max_failed_boots=1000)
    with lab:
        calm = lab.result(lab.submit("demo-slower", **FIELDS))
        growth = Growth()
        while sum(total.values()) < args.kills:
            rng = random.Random(f"{args.seed}/{number}")
            started = time.monotonic()
            count, job = disturb(lab, host, rng, min(KILLS_A_JOB, args.kills - sum(total.values())), growth)
            answer = lab.wait(job, 900)
            run_dir = lab.path("state", "jobs", str(job))
            growth.look(job, run_dir)
            assert answer["state"] == "done", f"job {job} ended {answer['state']}: {answer['message']}"
            check_same(calm, lab.result(job))
            events = check_run(job, run_dir, BOOTS)
            samples = sum(e["samples"] for e in events if e["type"] == "boot")
            check_database(lab.path("state", "regrlab.db"), job, events, samples)
            total.update(count)
            number += 1
            words = ", ".join(f"{n} {kind}" for kind, n in sorted(count.items()))
            print(f"job {job}: {sum(count.values())} kills ({words}) in {time.monotonic() - started:.0f} s, as undisturbed",
                  flush=True)
            if args.record:
                with open(args.record, "a") as f:
                    f.write(json.dumps({"seed": args.seed, "number": number, "kills": count}) + "\n")
        assert not qemus(lab, host), "QEMU left behind"
        lab.stop()
        check_sound(lab.path("state", "regrlab.db"))
    print(f"{sum(total.values())} kills of real jobs ({dict(total)}) in {number} jobs: nothing lost, nothing doubled")


main()
