# SPDX-License-Identifier: GPL-2.0-or-later
# long
# timeout: 2400
"""Guests that lie, flood, stall and never end: each is bounded and named, and the job after them is as it was before.

A guest image of the test's own takes the place of the real one: its init does what a hostile kernel could do. Every
case is a job of one boot; what its stage used of memory and disk has limits, too.

  hostile-guest.py [CASE ...]
"""
import os
import subprocess
import sys
import time

from rundir import Job, boot_values, check_whole, qemus, workshop

MIB = 1 << 20
STAGE_MIB = 128         # resident, at any time of a stage; of what it freed a sanitizer is to keep little
os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "quarantine_size_mb=4"]))
RUN_DIR_MIB = 80        # the log's 64 and one console
DRIVER_MIB = 16         # what all cases together leave in the driver's folder, beside kernels
SAME_PCT = .5           # boots of one kernel lie within about .1 %
QEMU_SANDBOX = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"

# Stands for init: WHAT is replaced by what it does.
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

#define RUN "\"benchmark\":\"aging\",\"params\":\"nproc=1;lru=mglru\",\"run\":1"
#define SAMPLE "\"type\":\"sample\"," RUN ",\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"lower\""

static char nonce[33], text[2048];
static int port = -1, seq;

static void say(const char *members)
{
	char line[4096];
	int size = snprintf(line, sizeof line, "{\"nonce\":\"%s\",\"seq\":%d,%s}\n", nonce, seq++, members);

	if (write(port, line, size) != size)
		pause();
}

static void sample(int pass, const char *value)
{
	snprintf(text, sizeof text, SAMPLE ",\"pass\":%d,\"value\":%s", pass, value);
	say(text);
}

static void say_end(void)
{
	snprintf(text, sizeof text, "\"type\":\"end\",\"lines\":%d", seq);
	say(text);
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
	fd = open("/dev/ttyS0", O_WRONLY);
	WHAT
	for (;;)
		pause();
}
"""
HELLO = r'say("\"type\":\"hello\",\"kernel\":\"x\",\"hypervisor\":\"TCGTCGTCGTCG\",\"clocksource\":\"tsc\",\"cpus\":2");'
START = r'say("\"type\":\"start\"," RUN ",\"lru\":\"mglru\"");'
RUN_END = r'say("\"type\":\"run-end\"," RUN ",\"status\":0");'
LOG = r'say("\"type\":\"log\",\"text\":\"x\"");'
GOOD = HELLO + START + 'sample(0, "3");'   # what comes before the lie
CASES = {  # what init does, the reason it must end with, a word of the detail
    # it says nothing, or stops
    "no-hello": ("", "no-hello", "given up"),
    "off": ("reboot(RB_POWER_OFF);", "no-hello", "stopped before"),
    "resets": (HELLO + "usleep(300000); reboot(RB_AUTOBOOT);", "truncated", "1 lines"),
    "silent": (HELLO, "silent", "given up"),
    "silent-run": (HELLO + START, "silent", "aging"),
    "truncated": (HELLO + START + "usleep(300000); reboot(RB_POWER_OFF);", "truncated", "2 lines"),
    "exits": (HELLO + "usleep(300000); return 1;", "panic", "Attempted to kill init"),
    # it lies
    "nonce": (GOOD + f'memset(nonce, 48, 32); {LOG}', "protocol", "nonce"),
    "sequence": (GOOD + f"seq += 5; {LOG}", "protocol", "sequence"),
    "again": (GOOD + f"seq -= 1; {LOG}", "protocol", "sequence"),
    "nan": (GOOD + 'sample(1, "NaN");', "protocol", "malformed"),
    "infinite": (GOOD + 'sample(1, "1e999");', "protocol", "value"),
    "negative": (GOOD + 'sample(1, "-22.9");', "protocol", "value"),
    "zero": (GOOD + 'sample(1, "0");', "protocol", "value"),
    "twice": (GOOD + 'sample(0, "3");', "protocol", "duplicate"),
    "other-run": (HELLO + r'say("\"type\":\"start\",\"benchmark\":\"pwrite\",\"params\":\"lru=mglru\",\"run\":1,\"lru\":\"mglru\"");',
                  "protocol", "not-planned"),
    "other-metric": (GOOD + r'say("\"type\":\"sample\"," RUN ",\"pass\":1,\"metric\":\"speed\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":1");',
                     "protocol", "metric"),
    "early-end": (GOOD + "say_end();", "protocol", "not-planned"),
    "other-machine": (HELLO.replace("TCG", "KVM"), "protocol", "KVM"),
    "other-clock": (HELLO.replace("tsc", "jiffies"), "protocol", "jiffies"),
    "fewer-cpus": (HELLO.replace(":2", ":1"), "protocol", "1 CPUs"),
    # it does not stop
    "endless-line": (GOOD + 'for (;;) if (write(port, "xxxxxxxx", 8) < 0) pause();', "protocol", "oversized"),
    "flood": (HELLO + f"for (;;) {LOG}", "protocol", "oversized"),
    "wide-flood": (HELLO + r'memset(text, 1, 1500); for (int i = 0; i < 1500; i += 6) memcpy(text + i, "\\u0001", 6);'
                   r'char wide[2000]; snprintf(wide, sizeof wide, "\"type\":\"log\",\"text\":\"%.1500s\"", text); for (;;) say(wide);',
                   "protocol", "oversized"),
    "samples": (HELLO + START + 'for (int i = 0;; i++) sample(i, "3");', "protocol", "more than 4000 samples"),
    "drip": (HELLO + f"for (;;) {{ {LOG} usleep(400000); }}", "deadline", "given up"),
    "console": (HELLO + r'for (;;) dprintf(fd, "%d noise noise\n", seq++);', "silent", ""),
    "console-binary": (HELLO + 'memset(text, 0xfe, sizeof text); for (;;) if (write(fd, text, sizeof text) < 0) pause();', "silent", ""),
    "panic-lie": (GOOD + r'dprintf(fd, "\nKernel panic - not syncing: a lie\n");', "panic", "a lie"),
}
# Nothing of it can be told from an honest boot, but that its lines say whose they want to be; then it does not end.
CLAIM = r',\"job\":1,\"boot\":7,\"arm\":\"base\",\"host\":\"x\",\"valid\":false'
CLAIMS = (HELLO + START + rf'say(SAMPLE "{CLAIM},\"pass\":0,\"value\":3"); say(SAMPLE "{CLAIM},\"pass\":1,\"value\":4");'
          + RUN_END + "say_end(); for (;;) write(fd, nonce, 32);")


def newc(files):
    archive = b""
    for name, mode, data in (*files, ("TRAILER!!!", 0, b"")):
        fields = (1, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        archive += b"\0" * (-len(archive) % 4) + data
        archive += b"\0" * (-len(archive) % 4)
    return archive


def build_guest(name, what):
    source, program, image = (os.path.join(Job.work, f"{name}.{kind}") for kind in ("c", "init", "cpio"))
    with open(source, "w") as f:
        f.write(INIT.replace("WHAT", what))
    subprocess.run(["gcc", "-O1", "-static", "-o", program, source], check=True)
    with open(program, "rb") as f, open(image, "wb") as out:
        out.write(newc([("init", 0o100755, f.read())]))
    return image


def bytes_below(path):
    return sum(os.lstat(os.path.join(folder, name)).st_blocks * 512 for folder, _, names in os.walk(path) for name in names)


def hostile_job(name, what, boot_timeout_s=120):
    return Job(f"guest-{name}", image=build_guest(name, what), clock="tcg", params=["aging.nproc=1", "aging.timeout_s=5"],
               place={"boot_timeout_s": boot_timeout_s, "silence_timeout_s": 8})


def run_bounded(job):
    """Runs the job's stage; says how long it took, in seconds."""
    begin = time.monotonic()
    stage = job.start()
    _, status, used = os.wait4(stage.pid, 0)
    stage.returncode = os.waitstatus_to_exitcode(status)
    assert stage.returncode == 0, f"{job.name}: exited {stage.returncode}\n{job.text('log')[-3000:]}"
    assert used.ru_maxrss < STAGE_MIB * 1024, f"{job.name}: the stage had {used.ru_maxrss >> 10} MiB"
    disk = bytes_below(job.dir)
    assert disk < RUN_DIR_MIB * MIB, f"{job.name}: {disk >> 20} MiB in the run directory"
    for console in os.listdir(job.path("artifacts")):
        assert os.path.getsize(job.path("artifacts", console)) < 1.2 * MIB, console
    assert not qemus(), f"{job.name}: QEMU left behind"
    return time.monotonic() - begin, used.ru_maxrss >> 10, disk >> 10


def case(name):
    what, reason, word = CASES[name]
    job = hostile_job(name, what, 20 if reason in ("no-hello", "deadline") else 120)
    seconds, memory_mib, disk_kib = run_bounded(job)
    boot, end = job.events("boot")[-1], job.end()
    print(f"   {name:14} {boot['reason']:10} {seconds:5.1f} s {memory_mib:4} MiB {disk_kib:6} KiB  {boot['detail'][:90]}", flush=True)
    assert boot["reason"] == reason and word in boot["detail"], boot
    assert not boot["valid"] and (end["state"], end["reason"], end["detail"]["kind"]) == ("boot-failed", reason, reason), end
    # what came before the lie is believed no more than the lie
    assert reason != "protocol" or (boot["samples"] == 0 and not job.samples()), boot
    assert reason != "panic" or "Kernel panic" in end["detail"]["console"], end


def claims():
    """What a line says of job, boot and arm is not read; a guest that goes on after its end is ended."""
    job = hostile_job("claims", CLAIMS)
    run_bounded(job)
    check_whole(job)
    assert len(job.events("boot")) == 2 and all(boot["valid"] for boot in job.events("boot"))
    for sample in job.samples():
        assert sample["job"] == job.spec["job"] and sample["boot"] in (0, 1) and sample["valid"], sample
    assert [s["arm"] for s in job.samples()] == [b["arm"] for b in job.events("boot") for _ in range(2)]


def status_of(pid):
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip().split(":\t", 1) for line in f if ":\t" in line)


def confinement():
    """QEMU as it runs under the embedded driver: what SECURITY.md says of it."""
    job = hostile_job("confined", HELLO)
    stage = job.start()
    job.wait_for(qemus, "QEMU")
    pid = qemus()[0]
    job.wait_for(lambda: status_of(pid)["Seccomp"] == "2", "system call filter")
    status = status_of(pid)
    with open(f"/proc/{pid}/cmdline") as f:
        words = f.read().split("\0")
    networks = [os.readlink(f"/proc/{one}/ns/net") for one in (pid, os.getpid())]
    stage.wait()
    assert words[words.index("-sandbox") + 1] == QEMU_SANDBOX, words
    assert not any(word.startswith(("-net", "-nic", "-fsdev", "-virtfs")) or "virtio-net" in word for word in words), words
    if os.geteuid() == 0:
        assert networks[0] != networks[1], "QEMU has the machine's network"
        assert "runs as root" not in job.text("log"), job.text("log")
        assert "0" not in status["Uid"].split() and "0" not in status["Gid"].split(), status
    assert int(status["CapEff"], 16) == int(status["CapPrm"], 16) == 0, status
    print(f"   uid {status['Uid'].split()[0]}, filter {status['Seccomp']}, capabilities {status['CapEff']}, "
          f"no new privileges {status['NoNewPrivs']}, network {networks[0]} (here {networks[1]})", flush=True)


def driver_bytes():
    """What is in the embedded driver's folder beside the kernels that it keeps."""
    root = Job.work + "/libvirt"
    return bytes_below(root) - bytes_below(root + "/files")


def main():
    with workshop():
        calm = Job("before", max_boots=2).run()
        check_whole(calm)
        for name in sys.argv[1:] or CASES:
            case(name)
        confinement()
        claims()
        left = driver_bytes()
        assert left < DRIVER_MIB * MIB, f"{left >> 20} MiB in the driver's folder"
        after = Job("after", max_boots=2)
        after.set_spec(job=calm.spec["job"])
        check_whole(after.run())
        mine, other = boot_values(after), boot_values(calm)
        assert mine.keys() == other.keys()
        assert all(abs(mine[key] / other[key] - 1) * 100 < SAME_PCT for key in mine), (mine, other)
    print(f"{len(CASES)} guests; {left >> 10} KiB left in the driver's folder; the job after them is as the one before")


main()
