# SPDX-License-Identifier: GPL-2.0-or-later
"""Run directories made here, and the stages that work in them: what the tests of the measure stage share."""
import collections
import json
import os
import signal
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager

from reallab import BUILD, CACHE, TOP, TREE, base_kernel


class Job:
    """A run directory."""
    work = None  # of all jobs
    kernel = None
    last = 100

    def __init__(self, name, image=f"{BUILD}/guest.cpio", place=(), **spec):
        Job.last += 1
        self.name, self.dir = name, os.path.join(self.work, name)
        self.spec = {"job": Job.last, "tree": "linux", "base": "", "head": "HEAD", "has_series": False,
                     "config": "lab-min", "has_config": False, "benchmarks": ["aging"], "params": ["aging.nproc=1"],
                     "profile": "quick", "clock": "icount", "max_boots": 1, "min_effect_pct": 1.0, "alpha": .05,
                     "priority": 0, "seed": "5", "notify": "", "subject": name, "author": "", **spec}
        self.place = {"tree": "linux", "tree_path": TREE, "tree_branch": "HEAD", "tree_remote": "", "cache_dir": CACHE,
                      "guest_image": image, "benchmarks_dir": f"{TOP}/jobs/benchmarks",
                      "configs_dir": f"{TOP}/guest-image/configs", "build_cpus": "", "build_jobs": 0,
                      "build_timeout_s": 3600, "host": "local", "host_uri": f"qemu:///embed?root={self.work}/libvirt",
                      "vm_cpus": "", "other_cpus": "", "guest_cpus": 2, "boot_timeout_s": 240, "silence_timeout_s": 120,
                      "max_failed_boots": 0, **dict(place)}
        os.makedirs(self.dir)
        self.set_spec()
        with open(self.path("place.json"), "w") as f:
            json.dump(self.place, f)
        if self.kernel:
            with open(self.path("events.jsonl"), "w") as f:
                for seq, arm in enumerate(("base", "patched"), 1):
                    f.write(json.dumps({"seq": seq, "time_ns": time.time_ns(), "type": "arm", "arm": arm,
                                        "kernel": self.kernel, "kernel_release": "x"}) + "\n")

    def set_spec(self, **members):
        self.spec.update(members)
        with open(self.path("spec.json"), "w") as f:
            json.dump(self.spec, f)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def start(self, stage="measure"):
        return subprocess.Popen([f"{BUILD}/regrlab-job", stage, self.dir], stdin=subprocess.DEVNULL)

    def run(self, stage="measure", status=0):
        got = self.start(stage).wait()
        assert got == status, f"{self.name}: {stage} exited {got}\n{self.text('log')[-3000:]}"
        return self

    def text(self, name):
        with open(self.path(name), errors="replace") as f:
            return f.read()

    def events(self, kind):
        lines = self.text("events.jsonl").splitlines(keepends=True)
        return [e for e in (json.loads(line) for line in lines if line.endswith("\n")) if e["type"] == kind]

    def end(self):
        return self.events("end")[-1]

    def samples(self):
        return [json.loads(line) for line in self.text("samples.jsonl").splitlines()]

    def wait_for(self, condition, what, timeout_s=300):
        limit = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < limit, f"{self.name}: no {what} after {timeout_s} s\n{self.text('log')[-3000:]}"
            time.sleep(.05)


def qemus():
    """Process ids of the QEMUs of this test."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read()
        except OSError:
            continue
        if b"qemu-system" in line.split(b"\0")[0] and Job.work.encode() in line:
            found.append(int(pid))
    return found


def check_whole(job):
    """The events and files of a job that was measured to its end agree."""
    assert job.end()["state"] == "done", (job.end(), job.text("log")[-3000:])
    events = [json.loads(line) for line in job.text("events.jsonl").splitlines()]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    boots = job.events("boot")
    assert [b["boot"] for b in boots] == list(range(len(boots)))
    samples = job.samples()
    counts = collections.Counter(s["boot"] for s in samples)
    for boot in boots:
        assert counts.get(boot["boot"], 0) == boot["samples"], boot
        assert boot["start_ns"] < boot["end_ns"], boot
        assert not boot["valid"] or boot["start_ns"] < boot["first_sample_ns"] < boot["end_ns"], boot
        assert os.path.exists(job.path("artifacts", f"boot-{boot['boot']}-console.txt"))
        for sample in (s for s in samples if s["boot"] == boot["boot"]):
            assert (sample["arm"], sample["pair"], sample["valid"]) == (boot["arm"], boot["pair"], boot["valid"])
    assert "<domain" in job.text("artifacts/domain.xml")
    assert not qemus(), "QEMU left behind"


def boot_values(job):
    """What each valid boot measured: (boot, run, pass, metric) to value."""
    return {(s["boot"], s["run"], s["pass"], s["metric"]): s["value"] for s in job.samples() if s["valid"]}


@contextmanager
def workshop():
    """A folder for jobs, and the kernel that they boot: $REGRLAB_KERNEL, or one that is built (or in the cache)."""
    Job.work = tempfile.mkdtemp(prefix="rl-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    os.chmod(Job.work, 0o755)
    try:
        Job.kernel = os.environ.get("REGRLAB_KERNEL") or base_kernel()
        yield
    finally:
        for pid in qemus():
            os.kill(pid, signal.SIGKILL)
        if not os.environ.get("KEEP"):
            shutil.rmtree(Job.work, ignore_errors=True)
