# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots the guest image under plain QEMU, without libvirt and without the lab: for tests and for looking at things.

    from guest_boot import Plan, boot
    result = boot(kernel, image, Plan().run("aging", "lru=mglru", 0, 60, "mglru", "/bin/aging --nproc 1 …"))

As a program: guest_boot.py KERNEL IMAGE PLAN-FILE prints what the guest sent (nonce and disk lines are added).
"""
import json
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import time

PORT = "org.regrlab.results.0"
HERE = os.path.dirname(os.path.abspath(__file__))
CMDLINE_FILE = os.path.join(HERE, "..", "..", "guest-image", "cmdline")


def recommended_cmdline():
    """The kernel command line of guest-image/cmdline for an emulated guest."""
    with open(CMDLINE_FILE, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    assert len(lines) == 2 and lines[1].startswith("emulated: "), lines
    return lines[0] + lines[1].removeprefix("emulated:")


def newc(name, data):
    """One file and the trailer as a cpio archive."""
    archive = b""
    for file_name, mode, content in ((name, 0o100644, data), ("TRAILER!!!", 0, b"")):
        encoded = file_name.encode() + b"\0"
        fields = (1, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + encoded
        archive += b"\0" * (-len(archive) % 4)
        archive += content
        archive += b"\0" * (-len(archive) % 4)
    return archive


class Plan:
    def __init__(self, disk=False, nonce=None):
        self.nonce = nonce or secrets.token_hex(16)
        self.disk = disk
        self.lines = []

    def run(self, benchmark, params, number, timeout_s, lru, command):
        self.lines.append(f"run {benchmark} {params} {number} {timeout_s} {lru} -- {command}")
        return self

    def text(self):
        head = ["regrlab-plan 1", f"nonce {self.nonce}"] + (["disk /dev/vda"] if self.disk else [])
        return "\n".join(head + self.lines) + "\n"


class Boot:
    """lines: the parsed JSON objects; console: text; wall_s, cpu_s: what QEMU took."""

    def __init__(self):
        self.lines, self.console, self.timed_out, self.status = [], "", False, None
        self.wall_s = self.cpu_s = 0.0

    def of_type(self, kind):
        return [line for line in self.lines if line["type"] == kind]

    def values(self, benchmark, metric, warm_up=False):
        return [line["value"] for line in self.of_type("sample")
                if line["benchmark"] == benchmark and line["metric"] == metric and (warm_up or line["pass"] > 0)]


def make_disk(path, size_mib=64):
    script = os.path.join(HERE, "..", "..", "guest-image", "make-disk")
    subprocess.run([script, path, str(size_mib)], check=True)


def command_line(directory, kernel, memory_mib=256, cpus=2, icount=True, disk=False, machine="pc", cmdline=None,
                 port=True, extra=()):
    argv = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
            "-machine", machine, "-accel", "tcg", "-cpu", "kvm64", "-smp", str(cpus), "-m", str(memory_mib),
            "-kernel", kernel, "-initrd", f"{directory}/initrd",
            "-append", cmdline if cmdline is not None else recommended_cmdline(),
            "-serial", f"file:{directory}/console"]
    if icount:
        argv += ["-icount", "shift=0,sleep=off", "-rtc", "base=2000-01-01T00:00:00,clock=vm"]
    if port:
        argv += ["-device", "virtio-serial-pci", "-chardev", f"file,id=results,path={directory}/results",
                 "-device", f"virtserialport,chardev=results,name={PORT}"]
    if disk:
        argv += ["-drive", f"if=none,id=disk,file={directory}/disk,format=raw,cache=unsafe",
                 "-device", "virtio-blk-pci,drive=disk"]
    return argv + list(extra)


def boot(kernel, image, plan, timeout_s=120, plan_text=None, **options):
    """Boots once. plan_text: send this instead of the plan's text. options: of command_line()."""
    result = Boot()
    with tempfile.TemporaryDirectory(prefix="guest-boot-") as directory:
        with open(f"{directory}/initrd", "wb") as initrd, open(image, "rb") as base:
            initrd.write(base.read())
            initrd.write(newc("plan", (plan_text if plan_text is not None else plan.text()).encode()))
        if plan.disk:
            make_disk(f"{directory}/disk")
        argv = command_line(directory, kernel, disk=plan.disk, **options)
        start = time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        try:
            result.status = process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            result.timed_out = True
            process.kill()
            process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        result.wall_s = time.monotonic() - start
        result.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        with open(f"{directory}/console", encoding="latin-1") as file:
            result.console = file.read()
        if os.path.exists(f"{directory}/results"):
            with open(f"{directory}/results", encoding="ascii") as file:
                text = file.read()
        else:
            text = "\n".join(line.strip()[len("@regrlab "):] for line in result.console.splitlines()
                             if line.startswith("@regrlab "))
        result.lines = [json.loads(line) for line in text.splitlines() if line]
    return result


def check_stream(result, plan):
    """The stream is whole: nonce and seq of every line, hello first, end last with the right count."""
    assert result.lines, result.console[-2000:]
    assert [line["seq"] for line in result.lines] == list(range(len(result.lines)))
    assert all(line["nonce"] == plan.nonce for line in result.lines)
    assert result.lines[0]["type"] == "hello"
    assert result.lines[-1]["type"] == "end", result.lines[-1]
    assert result.lines[-1]["lines"] == len(result.lines) - 1


def main():
    kernel, image, plan_file = sys.argv[1:4]
    with open(plan_file, encoding="ascii") as file:
        lines = file.read().splitlines()
    plan = Plan(disk="disk" in lines)
    plan.lines = [line for line in lines if line.startswith("run ")]
    result = boot(kernel, image, plan, timeout_s=600)
    for line in result.lines:
        print(json.dumps({name: value for name, value in line.items() if name != "nonce"}))
    print(result.console[-2000:], file=sys.stderr)
    print(f"{result.wall_s:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
