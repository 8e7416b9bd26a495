# SPDX-License-Identifier: GPL-2.0-or-later
"""The sweep: what no job owns is found and removed, what only looks like it is not; retention says before it bites."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
from lab import BUILD, lab, main  # noqa: E402

DAY = 86400
KEY = "a" * 64


class Place:
    """A state directory and a cache with things in them, and an order to sweep them."""

    def __init__(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="regrlab-sweep-"))
        self.state, self.cache = self.top / "state", self.top / "cache"
        for folder in (self.state / "jobs", self.cache / "kernels", self.cache / "worktrees", self.cache / "configs"):
            folder.mkdir(parents=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def make(self, path, days=0.0, size=100, **files):
        """A file, or with files a folder; unused for so many days."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if files:
            path.mkdir(exist_ok=True)
            for name, text in files.items():
                (path / name).write_text(text)
        elif not path.exists():
            path.write_bytes(b"x" * size)
        then = time.time() - days * DAY
        os.utime(path, (then, then), follow_symlinks=False)
        return path

    def sweep(self, **order):
        order = dict(dict(state_dir=str(self.state), cache_dir=str(self.cache), job_program=str(BUILD / "regrlab-job"),
                          last_job=9, live=[], kernels=[], hosts=[], grace_s=3600), **order)
        file = self.top / "order.json"
        file.write_text(json.dumps(order))
        done = subprocess.run([BUILD / "regrlab-job", "sweep", file], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done.stdout

    def all(self):
        return sorted(str(path.relative_to(self.top)) for top in (self.state, self.cache) for path in top.rglob("*"))


def test_orphans():
    with Place() as place:
        jobs = place.state / "jobs"
        gone = [
            place.make(jobs / "10", 1, events="x"),                         # of no job
            place.make(jobs / "3/samples.tmp", 1),                          # of a write that never ended
            place.make(place.state / "token.key.tmp", 1),
            place.make(place.cache / "kernels" / (KEY + ".tmp"), 1, bzImage="x"),
            place.make(place.cache / "configs/x.tmp", 1),
        ]
        place.make(place.cache / "kernels" / (KEY + ".lock"))
        deep = place.make(jobs / "11", 1, lock="")
        outside = place.make(place.top / "outside/precious", 1)
        (deep / "link").symlink_to(outside.parent)                          # is removed, what it leads to is not
        os.utime(deep, (time.time() - DAY,) * 2)
        gone.append(deep)
        kept = [
            place.make(jobs / "9", 400, events="x"),                        # a job's
            place.make(jobs / "12", 0, events="x"),                         # made just now: the order may be older
            place.make(jobs / "13x", 400, events="x"),                      # no number
            place.make(jobs / "0013", 400, events="x"),
            place.make(jobs / "notes", 400, events="x"),
            place.make(jobs / "14", 400),                                   # a file
            place.make(jobs / "3/new.tmp", 0),
            place.make(jobs / "4/live.tmp", 1),                             # of a job that lives
            place.make(jobs / "3/tmp.txt", 400),
            place.make(place.cache / "kernels" / ("b" * 63 + ".tmp"), 1, bzImage="x"),
            place.make(place.cache / "kernels" / ("c" * 64 + ".tmp"), 1, bzImage="x"),  # no lock
            place.make(place.cache / "kernels/mine.tmp", 400),
            place.make(place.cache / "other.tmp", 400),
            outside,
        ]
        held = place.make(jobs / "15", 1, lock="", events="x")              # somebody is at work in it
        os.utime(held, (time.time() - DAY,) * 2)
        with open(held / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            before = place.all()
            said = place.sweep(live=["4"], dry_run=True)
            assert place.all() == before, "a dry run removes nothing"
            assert all(f": {path}\n" in said for path in gone), said
            assert said.count("would-remove") == len(gone), said
            done = place.sweep(live=["4"])
            assert [line.split(" ", 1)[1] for line in done.splitlines() if line.startswith("remove")] == \
                   [line.split(" ", 1)[1] for line in said.splitlines() if line.startswith("would")]
        assert not [path for path in gone if os.path.lexists(path)]
        assert all(path.exists() for path in [*kept, held])
        assert "swept: 0 things" in place.sweep(live=["4", "15"])


def test_retention():
    with Place() as place:
        jobs = place.state / "jobs"
        for number, days in ((1, 40), (2, 20), (3, 1), (4, 50)):
            for name in ("events.jsonl", "samples.jsonl"):
                place.make(jobs / f"{number}/{name}", days)
            place.make(jobs / f"{number}/log", days, 600 * 1024)
            place.make(jobs / f"{number}/artifacts", days, console="x" * 1000)
            os.utime(jobs / f"{number}/artifacts", (time.time() - days * DAY,) * 2)
        place.sweep(live=["4"], logs_days=30, artifacts_days=10)
        have = {path for path in place.all() if path.count("/") == 3}
        assert have == {f"state/jobs/{n}/{name}" for n in range(1, 5) for name in ("events.jsonl", "samples.jsonl")} | \
            {"state/jobs/2/log", "state/jobs/3/log", "state/jobs/4/log", "state/jobs/3/artifacts", "state/jobs/4/artifacts"}, have
        place.sweep(live=["4"], logs_max_mib=1)     # two of 600 KiB are left of jobs that have ended: the older one goes
        assert not (jobs / "2/log").exists() and (jobs / "3/log").exists() and (jobs / "4/log").exists()


def test_kernels():
    with Place() as place:
        def kernel(digit, days):
            path = place.cache / "kernels" / (digit * 64)
            place.make(path.with_suffix(".lock"))
            path.mkdir()
            (path / "bzImage").write_bytes(b"x" * 700 * 1024)
            return place.make(path, days, meta="x")

        old, used, newer, new, busy = (kernel(d, days) for d, days in zip("abcde", (100, 99, 50, 0.01, 98)))
        with open(busy.with_suffix(".lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            place.sweep(kernels=[str(used / "bzImage")], kernels_days=90)
        assert not old.exists() and used.exists() and newer.exists() and new.exists() and busy.exists()
        place.sweep(kernels=[str(used / "bzImage")], kernels_max_mib=1)
        assert used.exists() and new.exists() and not newer.exists() and not busy.exists()


def test_worktrees():
    with Place() as place:
        def tree(name, days, ready=True):
            path = place.cache / "worktrees" / name
            for sub in ("src", "obj"):
                (path / sub).mkdir(parents=True)
                (path / sub / "file").write_text("x")
            (path / "lock").touch()
            if ready:
                (path / "ready").touch()
            os.utime(path, (time.time() - days * DAY,) * 2)
            return path

        old, new, half = tree("linux-0123456789ab.0", 40), tree("linux-next-0123456789ab.1", 2), tree("linux-ffffffffffff.0", 1, False)
        mine = tree("backup-of-linux", 400)
        busy = tree("linux-eeeeeeeeeeee.0", 40)
        with open(busy / "lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            place.sweep(worktrees_days=30)
        for path in (old, half):    # the lock stays, for who waits for it
            assert [p.name for p in path.iterdir()] == ["lock"], path
        assert all((path / "src/file").exists() for path in (new, mine, busy))
        assert "swept: 0 things" in place.sweep()


def test_links():
    if os.geteuid() != 0:
        print("    needs root for /run")
        return
    with Place() as place:
        def link(target, name=None):
            digest = hashlib.sha256(str(target).encode()).hexdigest()
            path = pathlib.Path("/run") / (name or f"rl-{digest[:8]}")
            path.symlink_to(target)
            os.utime(path, (time.time() - DAY,) * 2, follow_symlinks=False)
            return path

        gone = link(place.top / "no-such-state")
        kept = [link(place.state), link(place.top / "no-other", "rl-abcdef01"), link(place.top / "no-third", "rl-mine")]
        try:
            place.sweep()
            assert not os.path.lexists(gone) and all(os.path.lexists(path) for path in kept)
        finally:
            for path in [gone, *kept]:
                path.unlink(missing_ok=True)


def test_processes():
    """A stage whose daemon died; and one that somebody runs by hand, of this lab or of another."""
    with Place() as place:
        program = place.top / "fake-stage"
        run = f"{place.state}/jobs/1"

        # a shell whose script is missing ends at once: what is wanted is a process that stays
        stay = place.top / "build"
        stay.write_text("sleep 600\n")

        def staying(run_dir, **env):
            return subprocess.Popen([str(program), "build", run_dir], executable="/bin/sh", cwd=place.top,
                                    env=dict(os.environ, **env), start_new_session=True)
        alone = staying(run, REGRLAB_PARENT="1")
        kept = [staying(run), staying(run, REGRLAB_PARENT=str(os.getpid())), staying("/elsewhere/jobs/1", REGRLAB_PARENT="1")]
        try:
            time.sleep(.3)
            place.sweep(job_program=str(program), daemon_pid=os.getpid())
            assert alone.wait(10) == -signal.SIGKILL
            assert all(one.poll() is None for one in kept)
        finally:
            for one in [alone, *kept]:
                os.killpg(one.pid, signal.SIGKILL)
                one.wait()


def test_the_daemon_sweeps():
    """Soon after its start, from what its database says; and what it would do can be asked for."""
    with lab(extra="[retention]\nlogs_days=10\ngrace_s=60\n", job_program=BUILD / "regrlab-job") as one:
        one.stop()
        jobs = one.state / "jobs"
        orphan = jobs / "77"
        orphan.mkdir()
        (orphan / "events.jsonl").write_text("")
        os.utime(orphan, (time.time() - DAY,) * 2)
        asked = subprocess.run([BUILD / "regrlabd", "--config", one.config, "--retention-dry-run"], capture_output=True, text=True,
                               timeout=60)
        assert asked.returncode == 0 and "would-remove run-directory" in asked.stdout and str(orphan) in asked.stdout, asked
        assert orphan.exists()
        one.start()
        end = time.monotonic() + 60
        while orphan.exists():
            assert time.monotonic() < end, one.log.read_text()
            time.sleep(.1)


main(globals())
