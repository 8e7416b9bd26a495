# SPDX-License-Identifier: GPL-2.0-or-later
# long
# timeout: 1500
"""Where QEMU's threads and a build's processes really run, by the kernel's own account, sampled while both go on.

One CPU measures, the other does everything else. Every thread of every QEMU may run exactly where the plan that the boots
record has it; nothing of a build, nor the daemon, may run on the CPU that measures, or ever did. Where the emulator is on the
CPUs that build, no build begins.
"""
import os
import re
import sys
import time

from reallab import FINAL, Lab

MEASURING, OTHER = 1, 0


def read(path):
    """Empty: the process is gone."""
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


def cpus_of(text):
    cpus = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return cpus


def threads(pid):
    """(name, CPUs that it may run on, CPU that it ran on last) of each thread that still is."""
    found = []
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return found
    for tid in tids:
        status, stat = read(f"/proc/{pid}/task/{tid}/status"), read(f"/proc/{pid}/task/{tid}/stat")
        allowed = re.search(r"^Cpus_allowed_list:\s*(\S+)", status, re.M)
        state = re.search(r"^State:\s*(\S)", status, re.M)
        if allowed and stat and state[1] not in "ZX":
            last = int(stat.rpartition(")")[2].split()[36])     # field 39: processor
            found.append((re.search(r"^Name:\t(.*)$", status, re.M)[1], cpus_of(allowed[1]), last))
    return found


def runs_guest(pid):
    """Its first vCPU has worked for .2 s: it was let run, and before that all threads are put where they belong."""
    for stat in (read(f"/proc/{pid}/task/{tid}/stat") for tid in os.listdir(f"/proc/{pid}/task")):
        if "(CPU 0/" in stat:
            return sum(map(int, stat.rpartition(")")[2].split()[11:13])) >= 20      # fields 14 and 15: utime and stime
    return False


def descendants(top):
    """The process and all below it."""
    children, found, waiting = {}, [], [top]
    for pid in filter(str.isdigit, os.listdir("/proc")):
        stat = read(f"/proc/{pid}/stat")
        if stat:
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(pid))
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        waiting += children.get(pid, [])
    return found


def stages(lab, kind):
    """Process ids of the daemon's stages of that kind."""
    found = []
    for pid in descendants(lab.daemon.pid):
        words = read(f"/proc/{pid}/cmdline").split("\0")
        if len(words) > 1 and words[0].endswith("regrlab-job") and words[1] == kind:
            found.append(pid)
    return found


def series(text):
    """The sample series with a comment that no build before had, so that there is something to compile."""
    with open("tests/series/demo-slower.mbox") as f:
        mail = f.read()
    mark = "+/* entries in a row that are mapped, as the page table walks have seen them */\n"
    assert mark in mail
    return mail.replace(mark, f"+/* entries in a row that are mapped, {text} */\n").encode()


class Watch:
    def __init__(self, lab):
        self.lab, self.qemu, self.build, self.beside, self.names = lab, {}, 0, 0, set()

    def until(self, true, within_s=1200):
        end = time.monotonic() + within_s
        while not true():
            assert time.monotonic() < end, "it does not end"
            for _ in range(10):
                self.look()
                time.sleep(.05)

    def look(self):
        """One sample of everything."""
        qemus = [pid for pid in self.lab.qemus() if os.path.isdir(f"/proc/{pid}/task") and runs_guest(pid)]
        for pid in qemus:
            for name, allowed, last in threads(pid):
                self.qemu.setdefault(name, set()).add((tuple(sorted(allowed)), last))
        if any(allowed != {OTHER} for _, allowed, _ in threads(self.lab.daemon.pid)):
            time.sleep(.1)      # it goes where a stage is to begin, for a moment
            own = threads(self.lab.daemon.pid)
            assert all(allowed == {OTHER} for _, allowed, _ in own), ("the daemon", own)
        # what follows the guest, and what watches the host
        for stage in stages(self.lab, "measure") if qemus else ():
            for pid in descendants(stage):
                if read(f"/proc/{pid}/comm").startswith("regrlab"):
                    assert all(allowed == {OTHER} for _, allowed, _ in threads(pid)), (pid, threads(pid))
        for stage in stages(self.lab, "build"):
            for pid in descendants(stage):
                for name, allowed, last in threads(pid):
                    assert allowed == {OTHER} and last == OTHER, ("a build", pid, name, allowed, last)
                    self.build += 1
                    self.beside += bool(qemus)
                    self.names.add(name)


def plan_of(lab, job):
    """The placement that all boots of the job record; all of them so far have to count."""
    boots = lab.api(f"/jobs/{job}")["boots"]
    assert boots and all(boot["valid"] for boot in boots), boots
    plans = [boot["machine"]["placement"] for boot in boots]
    assert all(plan == plans[0] for plan in plans), plans
    return plans[0]


def check_threads(seen, plan):
    """Every thread is where the plan has it, and each kind of thread was seen."""
    kinds = set()
    for name, places in seen.items():
        kind = "vcpu" if name.startswith("CPU ") else "io" if name.startswith("IO iothread") else "emulator"
        number = int(re.match(r"CPU (\d+)/", name)[1]) if kind == "vcpu" else 0
        wanted = {plan["vcpus"][number]} if kind == "vcpu" else cpus_of(plan[kind])
        for allowed, last in places:
            assert set(allowed) == wanted and last in wanted, (name, allowed, last, wanted)
        kinds.add(kind)
    return kinds


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: this machine has one CPU")
        sys.exit(77)
    host = {"vm_cpus": MEASURING, "guest_cpus": 1, "policy": "warn", "require": "smt=any", "max_jitter_pct": 100,
            "max_steal_pct": 100, "boot_timeout_s": 300, "silence_timeout_s": 300}
    with Lab(other_cpus=OTHER, **host) as lab:
        lab.stop()
        with open(lab.path("regrlab.conf"), "a") as f:
            f.write("[host alone]\n" + "".join(f"{key}={value}\n" for key, value in host.items()) + f"[build]\ncpus={OTHER}\n")
        lab.start()
        fields = {"config": "lab-min", "clock": "tcg", "rule": "fixed"}
        # all of QEMU is on one CPU, the build has the other: they may go on at once. Measured as long as it is built
        watch = Watch(lab)
        first = lab.submit("demo-slower", benchmarks="aging", params="aging.nproc=1 aging.size_mib=16", max_boots=50, host="alone", **fields)
        lab.wait(first, until={"measuring"})
        second = lab.submit(series(f"{time.time_ns()}"), benchmarks="readtwice", max_boots=1, host="local", **fields)
        print(f"job {first} is measured, job {second} is built beside it", flush=True)
        watch.until(lambda: lab.api(f"/jobs/{second}")["state"] not in ("queued", "building"))
        print(f"{watch.build} samples of a build's threads ({', '.join(sorted(watch.names))}), {watch.beside} while a guest ran", flush=True)
        assert watch.beside > 30 and watch.names & {"cc1", "make", "ld"}, (watch.beside, watch.names)
        plan = plan_of(lab, first)
        assert (plan["vcpus"], plan["emulator"], len(plan["shortfalls"])) == ([MEASURING], str(MEASURING), 1), plan
        assert check_threads(watch.qemu, plan) == {"vcpu", "emulator"}, watch.qemu
        lab.api(f"/jobs/{first}", "DELETE")
        lab.wait(first)

        # the emulator is where builds run: none begins while time is measured
        watch = Watch(lab)
        lab.wait(second, until={"measuring"})
        third = lab.submit(series("again"), benchmarks="readtwice", max_boots=1, **fields)
        watch.until(lambda: lab.api(f"/jobs/{second}")["state"] in FINAL)
        job = lab.api(f"/jobs/{second}")
        assert job["state"] == "done", (job["state"], job["message"])
        assert watch.beside == 0, f"{watch.beside} samples of a build on a CPU of the guest's"
        lab.api(f"/jobs/{third}", "DELETE")
        plan = plan_of(lab, second)
        assert (plan["vcpus"], plan["emulator"], plan["shortfalls"]) == ([MEASURING], str(OTHER), []), plan
        # readtwice has a disk, and so a thread for it
        assert check_threads(watch.qemu, plan) == {"vcpu", "io", "emulator"}, watch.qemu
        print(f"threads: { {name: sorted(places) for name, places in watch.qemu.items()} }")
    print("ok")


main()
