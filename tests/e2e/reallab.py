# SPDX-License-Identifier: GPL-2.0-or-later
"""A whole lab for end-to-end tests: the real daemon, the real stages, real kernels, real boots.

The caches (kernels, worktrees) are shared by all tests and kept between runs, so that the base is built once.
"""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
TREE = os.environ.get("REGRLAB_TREE", os.path.join(TOP, "state/trees/linux"))
CACHE = os.environ.get("REGRLAB_CACHE", os.path.join(TOP, "state/cache"))
FINAL = {"done", "apply-failed", "build-failed", "boot-failed", "infra-failed", "cancelled"}


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Lab:
    def __init__(self, **host):
        self.state = tempfile.mkdtemp(prefix="regrlab-e2e-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        os.chmod(self.state, 0o755)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.daemon = None
        host.setdefault("control_every", 0)     # a test that counts boots is not to be drawn
        host = "".join(f"{key}={value}\n" for key, value in host.items())
        with open(self.path("regrlab.conf"), "w") as f:
            f.write(f"""[daemon]
listen=127.0.0.1
port={self.port}
state_dir={self.state}/state
cache_dir={CACHE}
job_program={BUILD}/regrlab-job
benchmarks_dir={TOP}/jobs/benchmarks
configs_dir={TOP}/guest-image/configs
guest_image={BUILD}/guest.cpio
[tree linux]
path={TREE}
[host local]
{host}""")

    def add_host(self, name, uri, **keys):
        """Before the daemon is started."""
        with open(self.path("regrlab.conf"), "a") as f:
            f.write(f"[host {name}]\nuri={uri}\n" + "".join(f"{key}={value}\n" for key, value in keys.items()))

    def path(self, *parts):
        return os.path.join(self.state, *parts)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, value, trace):
        if kind:
            self.show()
        self.stop()
        self.sweep()
        if not os.environ.get("KEEP"):
            shutil.rmtree(self.state, ignore_errors=True)

    def start(self):
        self.daemon = subprocess.Popen([f"{BUILD}/regrlabd", "--config", self.path("regrlab.conf")],
                                       stdin=subprocess.DEVNULL, stdout=open(self.path("daemon.log"), "a"),
                                       stderr=subprocess.STDOUT)
        for _ in range(300):
            if self.daemon.poll() is not None:
                raise AssertionError("the daemon ended: " + open(self.path("daemon.log")).read())
            try:
                self.get("/healthz")
                return
            except OSError:
                time.sleep(.1)
        raise AssertionError("the daemon does not answer")

    def stop(self, how=signal.SIGTERM):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(how)
            self.daemon.wait(60)

    def qemus(self):
        """Process ids of this lab's QEMUs, from their command lines."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                line = open(f"/proc/{pid}/cmdline", "rb").read()
            except OSError:
                continue
            if line.startswith(b"qemu-system") or b"/qemu-system" in line.split(b"\0")[0]:
                if self.state.encode() in line:
                    found.append(int(pid))
        return found

    def sweep(self):
        for pid in self.qemus():
            os.kill(pid, signal.SIGKILL)

    def show(self):
        for name in ("daemon.log", "regrlab.conf"):
            sys.stderr.write(f"--- {name}\n{open(self.path(name)).read()[-4000:]}\n")
        jobs = self.path("state", "jobs")
        for job in sorted(os.listdir(jobs)) if os.path.isdir(jobs) else []:
            for name in ("log", "events.jsonl"):
                try:
                    with open(os.path.join(jobs, job, name), errors="replace") as f:
                        sys.stderr.write(f"--- job {job} {name}\n{f.read()[-3000:]}\n")
                except OSError:
                    pass

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=30) as answer:
            return answer.read()

    def api(self, path, method="GET", body=None, content_type=None):
        request = urllib.request.Request(self.url + "/api/v1" + path, body, method=method)
        if content_type:
            request.add_header("Content-Type", content_type)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as e:
            raise AssertionError(f"{method} {path}: {e.code} {e.read().decode(errors='replace')}") from e

    def submit(self, series, **fields):
        """Posts tests/series/SERIES.mbox (or the bytes given); returns the job's number."""
        if isinstance(series, str):
            with open(os.path.join(TOP, "tests/series", series + ".mbox"), "rb") as f:
                series = f.read()
        fields.setdefault("clock", "icount")
        fields.setdefault("profile", "quick")
        fields.setdefault("max_boots", 4)
        query = urllib.parse.urlencode(fields)
        return self.api("/jobs?" + query, "POST", series, "application/mbox")["id"]

    def post(self, fields):
        """A job without a series; returns its number."""
        return self.api("/jobs", "POST", json.dumps(fields).encode(), "application/json")["id"]

    def wait(self, job, timeout_s=1800, until=FINAL):
        end = time.monotonic() + timeout_s
        while time.monotonic() < end:
            answer = self.api(f"/jobs/{job}")
            if answer["state"] in until or answer["state"] in FINAL:
                return answer
            time.sleep(.3)
        raise AssertionError(f"job {job} is still {answer['state']} after {timeout_s} s: {answer.get('progress')}")

    def result(self, job, timeout_s=1800):
        """Waits for the job's end, which must be done; its comparisons by (benchmark, params), primary ones."""
        answer = self.wait(job, timeout_s)
        assert answer["state"] == "done", f"job {job} ended {answer['state']}: {answer}"
        result = self.api(f"/jobs/{job}/result")
        return {(c["benchmark"], c["params"]): c for c in result["comparisons"] if c["primary"]}


def base_kernel():
    """A bzImage of the tree's own commit, out of the cache or built by the stage."""
    run = tempfile.mkdtemp(prefix="regrlab-base-", dir=os.environ.get("TMPDIR", "/var/tmp"))
    spec = {"job": 1, "tree": "linux", "base": "HEAD", "head": "HEAD", "benchmarks": ["aging", "pwrite", "readtwice"]}
    place = {"tree": "linux", "tree_path": TREE, "tree_branch": "master", "cache_dir": CACHE,
             "benchmarks_dir": f"{TOP}/jobs/benchmarks", "configs_dir": f"{TOP}/guest-image/configs"}
    try:
        for name, value in (("spec.json", spec), ("place.json", place)):
            with open(f"{run}/{name}", "w") as f:
                json.dump(value, f)
        subprocess.run([f"{BUILD}/regrlab-job", "build", run], stdin=subprocess.DEVNULL, check=True)
        with open(f"{run}/events.jsonl") as f:
            events = [json.loads(line) for line in f]
        assert events[-1]["state"] == "built", events[-1]
        return next(e["kernel"] for e in events if e["type"] == "arm")
    finally:
        shutil.rmtree(run, ignore_errors=True)


def valid_boots(job):
    """How many boots of each arm counted."""
    return {arm: sum(1 for b in job["boots"] if b["valid"] and b["arm"] == arm) for arm in ("base", "patched")}


def print_table(title, comparisons):
    print(f"== {title}")
    for (benchmark, params), c in comparisons.items():
        interval = f"[{c['ci_low_pct']}, {c['ci_high_pct']}]"
        print(f"   {benchmark:10} {params:24} {c['base']:14.6g} {c['patched']:14.6g} {c['change_pct']:+8.3f} % "
              f"{interval} {c['verdict']}")
    sys.stdout.flush()
