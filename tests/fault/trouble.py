# SPDX-License-Identifier: GPL-2.0-or-later
"""Full disks, read-only file systems, no descriptors: each has a name while it lasts, and no job is lost by it."""

import os
import resource
import subprocess
import sys
import time

if os.environ.get("REGRLAB_OWN_MOUNTS") != "1":
    if os.geteuid() != 0:
        print("needs root to mount small disks")
        sys.exit(77)
    os.environ["REGRLAB_OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.argv])

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
from lab import API, Lab, main  # noqa: E402

SIZE = "40m"


def mount(path, options=f"size={SIZE}"):
    path.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "regrlab-test", path], check=True)


def remount(path, options):
    subprocess.run(["mount", "-o", f"remount,{options}", path], check=True)


def fill(path):
    """All but some MiB of it, which is less than a lab wants."""
    free = os.statvfs(path)
    with open(path / "filler", "wb") as f:
        f.write(b"\0" * (free.f_bavail * free.f_frsize - 4 * 1024 * 1024))


def health(one):
    answer = one.get("/healthz")
    return answer.status, answer.json()


def wait_for(one, names, status):
    end = time.monotonic() + 40
    while True:
        code, answer = health(one)
        have = {trouble["name"] for trouble in answer["troubles"]}
        if have == set(names):
            break
        assert time.monotonic() < end, answer
        time.sleep(.3)
    assert answer["status"] == status and code == (503 if status == "failing" else 200), answer
    assert all(trouble["message"] and trouble["since_ns"] > 0 for trouble in answer["troubles"])
    page = one.get("/").body.decode()
    assert all(name in page for name in names) and ("in trouble" in page) == bool(names)
    metrics = one.get("/metrics").body.decode()
    assert all(f'regrlab_trouble{{name="{name}"}} 1' in metrics for name in names)


class Small(Lab):
    """A lab one of whose folders is a small disk."""

    def __init__(self, what, **options):
        super().__init__(**options)
        self.disk = {"jobs": self.state / "jobs", "state": self.state, "cache": self.dir / "cache", "tmp": self.dir / "tmp"}[what]
        mount(self.disk)

    def __enter__(self):
        before = os.environ.get("TMPDIR")
        (self.dir / "tmp").mkdir(exist_ok=True)
        os.environ["TMPDIR"] = str(self.dir / "tmp")
        try:
            return self.start()
        finally:
            os.environ.pop("TMPDIR")
            if before:
                os.environ["TMPDIR"] = before

    def __exit__(self, kind, *_):
        if kind:
            sys.stderr.write(self.log.read_text()[-4000:])
        else:
            self.stop()
        if self.process:
            self.process.kill()
            self.process.wait()
        subprocess.run(["umount", "-l", self.disk], check=True)
        self.close()


def full(what, name):
    with Small(what) as one:
        wait_for(one, [], "ok")
        running = one.new("boots=6 sleep=0.3")
        one.wait(running, {"measuring"})
        fill(one.disk)
        wait_for(one, [name], "troubled")
        waiting = one.new("boots=1")
        time.sleep(1)
        assert one.job(waiting)["state"] == "queued" and one.job(running)["state"] in ("measuring", "done")
        (one.disk / "filler").unlink()
        wait_for(one, [], "ok")
        for number in (running, waiting):
            job = one.wait(number)
            assert job["state"] == "done", job


def test_run_directories_full():
    full("jobs", "run-directory-full")


def test_cache_full():
    full("cache", "cache-full")


def test_tmp_full():
    full("tmp", "tmp-full")


def test_stage_on_a_full_disk():
    """Not a byte is left while a stage writes: it dies again and again, and the job goes on from its last boot."""
    with Small("jobs") as one:
        number = one.new("boots=4 passes=50 sleep=0.2")
        while len(one.wait(number, {"measuring"})["boots"]) < 2:
            time.sleep(.05)
        free = os.statvfs(one.disk)
        with open(one.disk / "filler", "wb", buffering=0) as f:
            try:
                while f.write(b"\0" * free.f_frsize):
                    pass
            except OSError:
                pass
        wait_for(one, ["run-directory-full"], "troubled")
        time.sleep(8)   # long enough for three deaths
        had = [(b["boot"], b["start_ns"]) for b in one.job(number)["boots"]]
        assert one.job(number)["state"] == "measuring" and len(had) < 8
        (one.disk / "filler").unlink()
        job = one.wait(number)
        assert job["state"] == "done", job
        assert [(b["boot"], b["start_ns"]) for b in job["boots"]][:len(had)] == had


def test_read_only():
    with Small("jobs") as one:
        before = one.new("boots=1")
        one.wait(before)
        remount(one.disk, "ro")
        wait_for(one, ["run-directory-readonly"], "troubled")
        waiting = one.new("boots=1")
        time.sleep(1)
        assert one.job(waiting)["state"] == "queued"
        assert one.get(f"{API}/jobs/{before}/log").status == 200    # reading goes on
        remount(one.disk, "rw")
        wait_for(one, [], "ok")
        assert one.wait(waiting)["state"] == "done"


def test_database_full():
    with Small("state") as one:
        with open(one.disk / "filler", "wb", buffering=0) as f:
            try:
                while f.write(b"\0" * 4096):
                    pass
            except OSError:
                pass
        wait_for(one, ["database-full", "run-directory-full"], "troubled")
        (one.disk / "filler").unlink()
        wait_for(one, [], "ok")
        assert one.wait(one.new("boots=1"))["state"] == "done"


def test_descriptors():
    with Small("jobs") as one:
        used = len(os.listdir(f"/proc/{one.process.pid}/fd"))
        old = resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, (used + 12, old[1]))
        wait_for(one, ["descriptors-exhausted"], "troubled")
        number = one.new("boots=1")
        time.sleep(1)
        assert one.job(number)["state"] == "queued"
        resource.prlimit(one.process.pid, resource.RLIMIT_NOFILE, old)
        wait_for(one, [], "ok")
        assert one.wait(number)["state"] == "done"


main(globals())
