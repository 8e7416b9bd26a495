# SPDX-License-Identifier: GPL-2.0-or-later
# long
# timeout: 1500
"""A job is cancelled at each of its steps: soon, whatever the step still had to do, and nothing of it goes on.

The daemon, git, make, the guests are real; the tree is a small one of the test's own, whose Makefile copies a real kernel and
can be made slow, so that a cancel meets the step that it is for.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

from reallab import CACHE, FINAL, TOP, Lab, base_kernel

STEP_S = 300        # how long a slow step would take
SOON_S = 15         # after it was asked: the stage has 8 s to let go of what would outlive it
PATCHES = 150
MAKEFILE = """\
all: bzImage
tinyconfig:
\tprintf 'CONFIG_64BIT=y\\n' > $(O)/.config
olddefconfig:
\ttrue
bzImage:
\tmkdir -p $(O)/arch/x86/boot $(O)/include/config
\tsh pace
\techo 6.12.0-copied > $(O)/include/config/kernel.release
\ttouch $(O)/vmlinux $(O)/System.map
\tcp image $(O)/arch/x86/boot/bzImage
"""
SLOW = f"sleep {STEP_S}.25 & sleep {STEP_S}.25\n"


class Tree:
    def __init__(self, path, kernel):
        self.path = path
        os.makedirs(path)
        self.git("init", "-q", "-b", "main")
        shutil.copy(kernel, f"{path}/image")
        self.commit("quick", Makefile=MAKEFILE, pace="true\n")
        self.git("branch", "slow")
        self.git("checkout", "-q", "slow")
        self.commit("slow", pace=SLOW)
        self.git("checkout", "-q", "main")

    def git(self, *args):
        return subprocess.run(["git", "-C", self.path, "-c", "user.name=Tess", "-c", "user.email=tess@example.org", *args],
                              check=True, capture_output=True, text=True).stdout

    def commit(self, subject, **files):
        for name, text in files.items():
            with open(f"{self.path}/{name}", "w") as f:
                f.write(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def series(self, *commits):
        """Patches that the tree does not keep."""
        for number, files in enumerate(commits):
            self.commit(f"mm: change {number + 1}", **files)
        mails = self.git("format-patch", f"-{len(commits)}", "--stdout")
        self.git("reset", "-q", "--hard", f"HEAD~{len(commits)}")
        return mails.encode()


def alive(lab):
    """Command lines of what runs for the lab, but the daemon and its looks at hosts."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                line = f.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        of_lab = lab.state in line and "regrlabd" not in line and "regrlab-job look" not in line
        if of_lab or f"sleep {STEP_S}.25" in line:
            found.append(line)
    return found


def reaches(lab, job, step, within_s=300):
    """Waits for the step; FALSE: the job is past it."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        answer = lab.api(f"/jobs/{job}")
        if answer["state"] in FINAL:
            return False
        if answer["progress"] and step in answer["progress"]["step"]:
            return True
        time.sleep(.01)
    raise AssertionError(f"job {job} does not reach '{step}': {answer}")


def cancel_at(lab, name, job, step, after_s=0.0):
    assert reaches(lab, job, step), f"{name}: job {job} was past '{step}'"
    time.sleep(after_s)
    begin = time.monotonic()
    lab.api(f"/jobs/{job}", "DELETE")
    answer = lab.wait(job, SOON_S, {"cancelled"})
    assert answer["state"] == "cancelled", (name, answer["state"], answer["message"])
    took = time.monotonic() - begin
    end = time.monotonic() + 5     # init may have some to reap
    while alive(lab) and time.monotonic() < end:
        time.sleep(.05)
    assert not alive(lab), (name, alive(lab))
    print(f"{name:20} {took:5.1f} s after it was asked, at '{answer['progress']['step']}'", flush=True)


def main():
    kernel = base_kernel()
    with tempfile.TemporaryDirectory(prefix="regrlab-cancel-", dir="/var/tmp") as work:
        os.chmod(work, 0o755)
        tree = Tree(f"{work}/tree", kernel)
        benchmarks = shutil.copytree(f"{TOP}/jobs/benchmarks", f"{work}/benchmarks")
        with open(f"{benchmarks}/aging.ini") as f:
            lines = ["needs=\n" if line.startswith("needs=") else line for line in f]
        with open(f"{benchmarks}/aging.ini", "w") as f:
            f.writelines(lines)
        os.mkdir(f"{work}/configs")
        with open(f"{work}/configs/lab-min.config", "w") as f:
            f.write("# base: tinyconfig\nCONFIG_EXTRA=y\n")
        lab = Lab(boot_timeout_s=240)
        with open(lab.path("regrlab.conf")) as f:
            text = f.read()
        for old, new in ((f"cache_dir={CACHE}", f"cache_dir={work}/cache"), (f"benchmarks_dir={TOP}/jobs/benchmarks", f"benchmarks_dir={benchmarks}"),
                         (f"configs_dir={TOP}/guest-image/configs", f"configs_dir={work}/configs"), ("[tree linux]\npath=", f"[tree linux]\npath={tree.path}\nbranch=main\n#")):
            assert old in text, old
            text = text.replace(old, new)
        with open(lab.path("regrlab.conf"), "w") as f:
            f.write(text)
        one = {"benchmarks": "aging", "params": "aging.nproc=1 aging.size_mib=16 aging.passes=4", "base": "main"}
        quick = tree.series({"note": "x\n"})
        with lab:
            many = tree.series(*({f"file-{n}": "x\n"} for n in range(PATCHES)))
            cancel_at(lab, "git am", lab.submit(many, **one), "applying the series", .2)
            cancel_at(lab, "make of base", lab.submit(quick, **{**one, "base": "slow"}), "base kernel", 2)
            cancel_at(lab, "make of patched", lab.submit(tree.series({"pace": SLOW}), **one), "patched kernel", 2)
            cancel_at(lab, "opening the host", lab.submit(quick, **one), "opening the host")
            cancel_at(lab, "first boot", lab.submit(quick, **one), "boot 1 ", 1)
            job = lab.submit(quick, **one)
            cancel_at(lab, "third boot", job, "boot 3 ", .5)
            assert len(lab.api(f"/jobs/{job}")["boots"]) == 2
            waits, next_one = lab.submit(tree.series({"pace": SLOW}), **one), lab.submit(quick, **one)
            assert reaches(lab, waits, "patched kernel")
            lab.api(f"/jobs/{next_one}", "DELETE")     # one that has not begun
            assert lab.wait(next_one, SOON_S)["state"] == "cancelled"
            cancel_at(lab, "while another waits", waits, "patched kernel")
            # and the lab goes on
            assert lab.wait(lab.submit(quick, **{**one, "max_boots": 2}), 300)["state"] == "done"
    print("ok")


main()
