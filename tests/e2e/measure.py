# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 2400
"""regrlab-job measure on run directories made here: whole jobs, guests that misbehave, and stages that are killed.

The kernel is $REGRLAB_KERNEL, or one that `regrlab-job build` makes (or finds in the cache) first.
"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from reallab import BUILD, CACHE, TOP, TREE, base_kernel

# Stands for init in guests that misbehave: WHAT is replaced by what it does.
INIT = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <unistd.h>

static char nonce[33];
static int port = -1, seq;

static void say(const char *members)
{
	char line[512];
	int size = snprintf(line, sizeof line, "{\"nonce\":\"%s\",\"seq\":%d,%s}\n", nonce, seq++, members);

	if (write(port, line, size) != size)
		pause();
}

static void open_port(void)
{
	char path[300];
	struct dirent *entry;

	for (int i = 0; i < 400 && port < 0; i++, usleep(10000)) {
		DIR *dev = opendir("/dev");
		while ((entry = readdir(dev)))
			if (!strncmp(entry->d_name, "vport", 5) && snprintf(path, sizeof path, "/dev/%s", entry->d_name) > 0)
				port = open(path, O_RDWR);
		closedir(dev);
	}
}

int main(void)
{
	char plan[65536] = "";
	int fd;

	mkdir("/dev", 0755);
	mkdir("/proc", 0755);
	mount("dev", "/dev", "devtmpfs", 0, NULL);
	mount("proc", "/proc", "proc", 0, NULL);
	fd = open("/plan", O_RDONLY);
	if (fd < 0 || read(fd, plan, sizeof plan - 1) < 0)
		return 1;
	sscanf(strstr(plan, "nonce "), "nonce %32s", nonce);
	open_port();
	WHAT
	for (;;)
		pause();
}
"""
HELLO = r'say("\"type\":\"hello\",\"kernel\":\"x\",\"hypervisor\":\"TCGTCGTCGTCG\"");'
START = r'say("\"type\":\"start\",\"benchmark\":\"aging\",\"params\":\"nproc=1;lru=mglru\",\"run\":1,\"lru\":\"mglru\"");'
GUESTS = {  # what init does, the reason it must end with, a word of the detail
    "no-hello": ("", "no-hello", "given up"),
    "off": ("reboot(RB_POWER_OFF);", "no-hello", "stopped before"),
    "silent": (HELLO, "silent", "given up"),
    "silent-run": (HELLO + START, "silent", "aging"),
    "truncated": (HELLO + START + "usleep(300000); reboot(RB_POWER_OFF);", "truncated", "2 lines"),
    "exits": (HELLO + "usleep(300000); return 1;", "panic", "Attempted to kill init"),
    "liar": (HELLO + r'memset(nonce, 48, 32); say("\"type\":\"log\",\"text\":\"x\"");', "protocol", "nonce"),
    "endless-line": (HELLO + r'for (;;) if (write(port, "xxxxxxxx", 8) < 0) pause();', "protocol", "oversized"),
    "flood": (HELLO + r'for (;;) say("\"type\":\"log\",\"text\":\"flood\"");', "protocol", "oversized"),
    "other-machine": (HELLO.replace("TCG", "KVM"), "protocol", "KVM"),
    "console-flood": (HELLO + r'fd = open("/dev/ttyS0", O_WRONLY); for (;;) dprintf(fd, "%d noise noise\n", seq++);',
                      "silent", ""),
}


def newc(files):
    archive = b""
    for name, mode, data in (*files, ("TRAILER!!!", 0, b"")):
        fields = (1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += b"\0" * (-len(archive) % 4) + data
        archive += b"\0" * (-len(archive) % 4)
    return archive


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
        for file, content in (("spec.json", self.spec), ("place.json", self.place)):
            with open(self.path(file), "w") as f:
                json.dump(content, f)
        if self.kernel:
            with open(self.path("events.jsonl"), "w") as f:
                for seq, arm in enumerate(("base", "patched"), 1):
                    f.write(json.dumps({"seq": seq, "time_ns": time.time_ns(), "type": "arm", "arm": arm,
                                        "kernel": self.kernel, "kernel_release": "x"}) + "\n")

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


def whole_job():
    job = Job("whole", max_boots=2, clock="icount", place={"vm_cpus": "0-1", "other_cpus": "0"}).run()
    check_whole(job)
    accelerator, plan = job.events("accelerator")[0], job.events("plan")[0]
    assert (accelerator["accelerator"], accelerator["clock"]) == ("tcg", "icount"), accelerator
    assert plan["order"] in ("ABBA", "BAAB") and plan["boots_per_arm"] == 2, plan
    letters = "".join("A" if b["arm"] == "base" else "B" for b in job.events("boot"))
    assert letters == plan["order"], letters
    assert [b["pair"] for b in job.events("boot")] == [0, 0, 1, 1]
    assert job.events("boot")[0]["hello"]["hypervisor"] == "TCGTCGTCGTCG"
    assert "QEMU's threads and their CPUs" in job.text("log") and "/TCG 0-1" in job.text("log")
    comparison = job.events("result")[0]["result"]["comparisons"][0]
    assert comparison["benchmark"] == "aging" and comparison["clock"] == "icount", comparison
    assert comparison["boots"] == {"base": 2, "patched": 2}, comparison
    # the same kernel twice
    assert abs(comparison["change_pct"]) < 1, comparison
    for boot in job.events("boot"):
        print(f"   boot {boot['boot']}: first sample after {(boot['first_sample_ns'] - boot['start_ns']) / 1e9:.1f} s")
    # told to do it again it only says that it is done
    before = job.text("events.jsonl")
    job.run()
    assert job.text("events.jsonl") == before
    return job


def killed_stage(undisturbed):
    """kill -9 within a boot: the next stage ends the QEMU left behind and makes just the boots that are missing."""
    job = Job("killed", max_boots=2, place={"vm_cpus": "0-1", "other_cpus": "0"})
    job.spec.update(job=undisturbed.spec["job"], seed=undisturbed.spec["seed"])
    with open(job.path("spec.json"), "w") as f:
        json.dump(job.spec, f)
    stage = job.start()
    job.wait_for(lambda: len(job.events("boot")) == 1 and qemus(), "second boot")
    time.sleep(2)
    stage.kill()
    stage.wait()
    left = qemus()
    assert len(left) == 1, left
    first = job.events("boot")[0]
    with open(job.path("samples.jsonl"), "a") as f:  # what it was just writing
        f.write(json.dumps(job.samples()[0]) + '\n{"job":1,"ar')
    job.run()
    check_whole(job)
    assert left[0] not in qemus()
    assert job.events("boot")[0] == first and len(job.events("boot")) == 4
    assert len(job.events("accelerator")) == len(job.events("plan")) == 1
    mine, other = boot_values(job), boot_values(undisturbed)
    assert mine.keys() == other.keys()
    worst = max(abs(mine[key] / other[key] - 1) for key in mine)
    print(f"   largest difference of a sample from the undisturbed job's: {100 * worst:.4f} %")


def stopped_stage():
    """SIGTERM: the guest is ended at once, the stage goes on when started again."""
    job = Job("stopped")
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    time.sleep(.5)
    stage.send_signal(signal.SIGTERM)
    begin = time.monotonic()
    assert stage.wait() == 143
    assert time.monotonic() - begin < 8
    assert not qemus() and not job.events("end")
    check_whole(job.run())


def killed_qemu():
    """A QEMU that is killed is no finding about a kernel; its boot is made again."""
    job = Job("qemu", place={"max_failed_boots": 1})
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    time.sleep(.5)
    os.kill(qemus()[0], signal.SIGKILL)
    assert stage.wait() == 0
    check_whole(job)
    boots = job.events("boot")
    reasons = [b["reason"] for b in boots]
    # killed before it ran the guest it is simply started again
    assert reasons == ["lost", "", ""] or (reasons == ["", ""] and "once more" in job.text("log")), boots
    if reasons[0]:
        assert boots[2]["arm"] == boots[0]["arm"] and boots[2]["pair"] == 0
    job = Job("qemu-always")
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    while stage.poll() is None:
        for pid in qemus():
            os.kill(pid, signal.SIGKILL)
        time.sleep(.1)
    assert stage.returncode == 0
    # guest-lost: they ran guests; libvirt: they never came so far
    assert job.end()["state"] == "infra-failed" and job.end()["reason"] in ("guest-lost", "libvirt"), job.end()


def build_guest(name, what):
    source, program, image = (os.path.join(Job.work, f"{name}.{kind}") for kind in ("c", "init", "cpio"))
    with open(source, "w") as f:
        f.write(INIT.replace("WHAT", what))
    subprocess.run(["gcc", "-O1", "-static", "-o", program, source], check=True)
    with open(program, "rb") as f, open(image, "wb") as out:
        out.write(newc([("init", 0o100755, f.read())]))
    return image


def bad_guests():
    for name, (what, reason, word) in GUESTS.items():
        job = Job(f"guest-{name}", image=build_guest(name, what), clock="tcg", params=["aging.nproc=1", "aging.timeout_s=5"],
                  place={"boot_timeout_s": 20 if reason == "no-hello" else 120, "silence_timeout_s": 8})
        begin = time.monotonic()
        job.run()
        boot, end = job.events("boot")[-1], job.end()
        print(f"   {name:14} {boot['reason']:10} {time.monotonic() - begin:5.1f} s  {boot['detail'][:100]}")
        sys.stdout.flush()
        assert boot["reason"] == reason and word in boot["detail"], boot
        assert not boot["valid"] and not qemus()
        assert (end["state"], end["reason"], end["detail"]["kind"]) == ("boot-failed", reason, reason), end
        if reason == "panic":
            assert "Kernel panic" in end["detail"]["console"], end
    console = Job.work + "/guest-console-flood/artifacts/boot-0-console.txt"
    assert os.path.getsize(console) < 1200000


def fake_host(name, turbo_off):
    """A folder with a proc and sys in it that stand for those of a host; its steal is what steal() says."""
    root = os.path.join(Job.work, name)
    for path, text in (("sys/devices/system/cpu/online", "0-1"), ("proc/cpuinfo", "flags : fpu"), ("proc/1/comm", "init"),
                       ("sys/devices/system/cpu/intel_pstate/no_turbo", "1" if turbo_off else "0"),
                       ("proc/loadavg", "0.50 0.50 0.50 1/2 3"), ("proc/sys/kernel/osrelease", "6.1.0")):
        os.makedirs(os.path.dirname(f"{root}/{path}"), exist_ok=True)
        with open(f"{root}/{path}", "w") as f:
            f.write(text + "\n")
    steal(root, 0, 1000)
    return root


def steal(root, ticks, total):
    with open(f"{root}/proc/stat.new", "w") as f:
        f.write("".join(f"cpu{cpu} {total - ticks} 0 0 0 0 0 0 {ticks} 0 0\n" for cpu in range(2)))
    os.rename(f"{root}/proc/stat.new", f"{root}/proc/stat")


def host_policy():
    """strict does not measure and says what to change; warn marks; counted instructions do not care."""
    root = fake_host("turbo-host", False)
    place = {"vm_cpus": "0-1", "host_policy": "strict", "host_require": "turbo=off", "host_root": root}
    job = Job("strict", clock="tcg", place=place).run()
    end = job.end()
    assert (end["state"], end["reason"]) == ("infra-failed", "host-policy") and not job.events("boot"), end
    assert "turbo is on and should be off: echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo" in end["message"], end
    job = Job("strict-icount", clock="icount", place=place).run()
    check_whole(job)
    assert not job.events("result")[0]["result"]["host_warnings"]
    job = Job("warn", clock="tcg", place={**place, "host_policy": "warn"}).run()
    check_whole(job)
    states, boots = job.events("host-state"), job.events("boot")
    assert len(states) == 1 and {b["machine"]["state"] for b in boots} == {states[0]["id"]}, (states, boots)
    facts = {fact["name"]: fact for fact in states[0]["facts"]}
    assert facts["turbo"]["value"] == "on" and facts["turbo"]["holds"] is False and facts["governor"]["value"] is None
    assert facts["qemu"]["value"] and "load" not in facts and boots[0]["machine"]["now"]["load"] == "0.50", (facts, boots)
    assert all(boot["valid"] and boot["machine"]["warnings"][0]["fact"] == "turbo" for boot in boots), boots
    assert job.events("result")[0]["result"]["host_warnings"] == ["turbo is on and should be off (2 boots)"]
    closed = Job("closed", clock="tcg", place={**place, "host_policy": "strict", "host_root": root + "/none"}).run().end()
    assert closed["reason"] == "host-policy" and "turbo is unknown" in closed["message"], closed


def disturbed_boots():
    """A host whose hypervisor takes half of its time: one boot is replaced, as many as may be, the others are marked."""
    root = fake_host("noisy-host", True)
    job = Job("disturbed", clock="tcg", place={"vm_cpus": "0-1", "host_policy": "warn", "host_root": root, "max_steal_pct": 10,
                                               "max_disturbed_boots": 1, "noise_wait_s": 1})
    stage, ticks = job.start(), 0
    while stage.poll() is None:
        ticks += 10
        steal(root, ticks, 1000 + 2 * ticks)
        time.sleep(.05)
    assert stage.returncode == 0, job.text("log")[-3000:]
    check_whole(job)
    boots = job.events("boot")
    assert [boot["reason"] for boot in boots] == ["disturbed", "", ""], boots
    assert "the hypervisor took 50.0 % of the measuring CPUs' time during the boot (limit 10 %)" in boots[0]["detail"], boots[0]
    assert boots[2]["arm"] == boots[0]["arm"] and boots[2]["pair"] == boots[0]["pair"], boots
    assert [w["fact"] for w in boots[1]["machine"]["warnings"]] == ["noise", "disturbed"], boots[1]
    assert boots[1]["machine"]["noise"]["during"]["samples"] > 1, boots[1]
    result = job.events("result")[0]["result"]
    assert result["failures"]["failed"] == {"base": 0, "patched": 0}, result["failures"]
    assert len(result["host_warnings"]) == 2 and "before the boot" in result["host_warnings"][0], result["host_warnings"]
    assert [s["reason"] for s in job.samples() if not s["valid"]] == ["disturbed"] * boots[0]["samples"]


def no_kvm():
    if os.path.exists("/dev/kvm"):
        return
    job = Job("kvm", clock="kvm").run()
    end = job.end()
    assert (end["state"], end["reason"]) == ("infra-failed", "no-kvm") and "icount" in end["message"], end


def main():
    Job.work = tempfile.mkdtemp(prefix="rl-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    os.chmod(Job.work, 0o755)
    try:
        Job.kernel = os.environ.get("REGRLAB_KERNEL") or base_kernel()
        begin = time.monotonic()
        undisturbed = None
        tests = {"whole": whole_job, "killed-stage": lambda: killed_stage(undisturbed), "stopped-stage": stopped_stage,
                 "killed-qemu": killed_qemu, "bad-guests": bad_guests, "host-policy": host_policy, "disturbed": disturbed_boots, "no-kvm": no_kvm}
        wanted = sys.argv[1:] or list(tests)
        for name in wanted:
            print(f"== {name} (at {time.monotonic() - begin:.0f} s)")
            sys.stdout.flush()
            undisturbed = tests[name]() or undisturbed
    finally:
        for pid in qemus():
            os.kill(pid, signal.SIGKILL)
        if not os.environ.get("KEEP"):
            shutil.rmtree(Job.work, ignore_errors=True)
    print("ok")


if __name__ == "__main__":
    main()
