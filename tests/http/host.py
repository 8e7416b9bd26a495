#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""regrlab host check, prepare and restore: here, and by a fake ssh on a machine that is a folder."""

import contextlib
import os
import pathlib
import subprocess
import tempfile

import lab as labs

CPUS = 64
CPU_DIR = "sys/devices/system/cpu"

FAKE_SSH = """#!/bin/sh
# A fake ssh: "the other machine" is the folder {home}. What is in {mode} says how it goes.
for word in "$@"; do line=$word; done
printf '%s\\n' "$*" >> {log}
mode=$(cat {mode})
case $mode in
fail) echo "ssh: connect to host fast.example.org port 22: Connection refused" >&2; exit 255;;
full) case $line in umask*) exit 1;; esac;;
esac
cd {home} || exit 255
if [ "$mode" = interrupted ]; then case $line in *prepare*)
    sh -c "$line" & pid=$!
    until grep -q performance {halfway}; do kill -0 $pid 2>/dev/null || exit 99; done
    kill -9 $pid
    exit 255;;
esac; fi
exec sh -c "$line"
"""


class Machine:
    """A folder with a proc and a sys as an Intel machine has them, and the user's home there."""
    def __init__(self, folder):
        self.dir = pathlib.Path(folder)
        self.root, self.home = self.dir / "root", self.dir / "home"
        self.home.mkdir()
        self.ssh, self.mode, self.log = self.dir / "fake-ssh", self.dir / "mode", self.dir / "log"
        files = {f"{CPU_DIR}/online": f"0-{CPUS - 1}", f"{CPU_DIR}/intel_pstate/no_turbo": "0", f"{CPU_DIR}/intel_pstate/status": "active",
                 "sys/kernel/mm/ksm/run": "1", "proc/cpuinfo": "flags : fpu", "proc/loadavg": "0.10 0.10 0.10 1/2 3",
                 "proc/swaps": "Filename Type Size Used Priority", "proc/stat": "cpu0 1 0 0 9 0 0 0 0 0 0",
                 "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555", "proc/sys/kernel/osrelease": "6.12.1"}
        for cpu in range(CPUS):
            for name, text in (("governor", "powersave"), ("min_freq", "800000"), ("max_freq", "3600000")):
                files[f"{CPU_DIR}/cpu{cpu}/cpufreq/scaling_{name}"] = text
        for path, text in files.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text + "\n")
        halfway = self.root / CPU_DIR / f"cpu{CPUS // 2}/cpufreq/scaling_governor"
        self.ssh.write_text(FAKE_SSH.format(home=self.home, mode=self.mode, log=self.log, halfway=halfway))
        self.ssh.chmod(0o755)
        self.set("good")
        self.uri = f"qemu+ssh://root@fast.example.org:2222/system?command={self.ssh}"

    def set(self, mode):
        self.mode.write_text(mode)

    def files(self):
        return {str(path): path.read_text() for top in ("proc", "sys") for path in sorted((self.root / top).rglob("*")) if path.is_file()}

    def host(self, *arguments, where=None, status=0, server="http://127.0.0.1:9"):
        """regrlab host …; what it prints on both streams. Without where it is told of the machine by its URI."""
        argv = [labs.BUILD / "regrlab", "host", *arguments, *(["--host", self.uri] if where is None else where), "--root", self.root]
        done = subprocess.run(argv, env={**os.environ, "REGRLAB_SERVER": server}, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def calls(self):
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@contextlib.contextmanager
def machine():
    with tempfile.TemporaryDirectory(prefix="regrlab-host-") as folder:
        yield Machine(folder)


def value(text, fact):
    """The line of a fact in the table."""
    return next(line for line in text.splitlines() if line.startswith(fact))


def test_here_and_there_say_the_same():
    with machine() as one:
        here, there = one.host("check", where=(), status=1), one.host("check", status=1)
        assert here == there and "turbo is on and should be off.\n  echo 1 > " in there, (here, there)
        assert "CHANGE" in value(there, "turbo"), there
        calls = one.calls()
        assert len(calls) == 3 and "mkdir -p .cache/regrlab && cat > " in calls[1], calls
        assert all(call.startswith("-o BatchMode=yes -o ConnectTimeout=15 -p 2222 -- root@fast.example.org ") for call in calls), calls
        copies = list((one.home / ".cache/regrlab").iterdir())
        assert len(copies) == 1 and copies[0].read_bytes() == (labs.BUILD / "regrlab-host").read_bytes(), copies
        one.host("check", "--require", "ksm=on")
        assert len(one.calls()) == 1, "it is copied once"


def test_prepare_and_restore():
    with machine() as one:
        before = one.files()
        require = ("--require", "auto clocksource=any numa=any")
        out = one.host("prepare", *require)
        assert "no_turbo" in out, out
        after = one.files()
        changed = {path for path in before if before[path] != after[path]}
        assert len(changed) == CPUS + 2 and (one.root / CPU_DIR / "intel_pstate/no_turbo").read_text().strip() == "1", changed
        assert "as its policy wants it" in one.host("check", *require)
        one.host("restore")
        assert one.files() == before


def interrupt(one):
    """prepare, killed when half of the CPUs are set; what it says. Where it was quicker than the kill, it is done again."""
    for _ in range(20):
        one.set("interrupted")
        out = one.host("prepare", status=3)
        if CPUS // 2 < sum(text.strip() == "performance" for text in one.files().values()) < CPUS:
            return out
        one.set("good")
        one.host("restore")
    raise AssertionError("it was never interrupted")


def test_interrupted():
    with machine() as one:
        before = one.files()
        one.host("check", status=1)
        out = interrupt(one)
        assert "ssh to root@fast.example.org failed" in out and "prepare goes on where it stopped, restore puts everything back" in out, out
        one.set("good")
        one.host("restore")
        assert one.files() == before
        # and the other way: prepare goes on, and restore still knows what was before the first
        interrupt(one)
        one.set("good")
        one.host("prepare", status=1)   # some things are a person's
        assert sum(text.strip() == "performance" for text in one.files().values()) == CPUS
        one.host("restore")
        assert one.files() == before


def test_ssh_fails():
    with machine() as one:
        before = one.files()
        one.set("fail")
        for command in ("check", "prepare", "restore"):
            out = one.host(command, status=3)
            assert "Connection refused" in out and "ssh to root@fast.example.org failed" in out, out
            assert ("is on record" in out) == (command != "check"), out
        one.set("full")
        out = one.host("check", status=3)
        assert "regrlab-host cannot be copied to root@fast.example.org: it cannot be written there" in out, out
        one.ssh.unlink()
        assert "fake-ssh" in one.host("check", status=3)
        assert one.files() == before


def test_hosts_of_a_lab():
    """A name stands for what the lab knows of that host: its URI, its CPUs, what is required."""
    with machine() as one:
        extra = f"[host fast]\nuri={one.uri}\nvm_cpus=2-3\nrequire=turbo=off\n[host closed]\nuri=qemu+tcp://other.example.org/system\n"
        with labs.lab(extra=extra) as lab:
            server = f"http://127.0.0.1:{lab.port}"
            out = one.host("check", where=("--host", "fast"), server=server, status=1)
            assert "turbo is on and should be off" in out and "governor is" not in out, out
            assert any("--cpus" in call and "2-3" in call for call in one.calls())
            one.host("check", "--require", "ksm=on", where=("--host", "fast"), server=server)
            out = one.host("check", where=("--host", "closed"), server=server, status=3)
            assert "lets libvirt in and nothing else" in out, out
            assert "there is no" in one.host("check", where=("--host", "none"), server=server, status=3)
    with machine() as one:
        assert "127.0.0.1:9" in one.host("check", where=("--host", "fast"), status=3), "no lab, no host of that name"


def test_usage():
    with machine() as one:
        for words in (("bogus",), ("check", "fast"), ("drain",)):
            one.host(*words, where=(), status=2)
        assert "no URI" in one.host("check", where=("--host", "x y://"), status=3)
        assert "regrlab-host" in one.host("check", "--require", "bogus=1", where=(), status=2)
        done = subprocess.run([labs.BUILD / "regrlab", "help", "host"], capture_output=True, text=True, check=True)
        assert all(word in done.stdout for word in ("check", "prepare", "restore", "drain", "--host", "3 nothing could be done")), done.stdout


if __name__ == "__main__":
    labs.main(globals())
