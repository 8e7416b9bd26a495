# SPDX-License-Identifier: GPL-2.0-or-later
"""A daemon of its own for a test: a free loopback port, a state directory that goes away, and a fake stage."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("BUILD", TOP / "build"))
API = "/api/v1"
FINAL = {"done", "apply-failed", "build-failed", "boot-failed", "infra-failed", "cancelled"}

MBOX = """From 1111111111111111111111111111111111111111 Mon Sep 17 00:00:00 2001
From: Ann Author <ann@example.org>
Date: Mon, 2 Nov 2026 10:00:00 +0000
Subject: [PATCH] {subject}

Why it is done.

Signed-off-by: Ann Author <ann@example.org>
---
 mm/fake.c | 2 +-
 1 file changed, 1 insertion(+), 1 deletion(-)

diff --git a/mm/fake.c b/mm/fake.c
index 1111111..2222222 100644
--- a/mm/fake.c
+++ b/mm/fake.c
@@ -1,3 +1,3 @@
 int a;
-int b;
+int c;
 int d;
-- 
2.39.5

"""


def mbox(subject="mm: a change"):
    return MBOX.format(subject=subject).encode()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Answer:
    def __init__(self, response, body):
        self.status, self.headers, self.body = response.status, response.headers, body

    def json(self):
        return json.loads(self.body)

    def error(self):
        return self.json()["error"]


def multipart(fields):
    """fields: (name, value) or (name, (file name, bytes)); gives (body, content type)."""
    boundary = "----regrlab-test-boundary"
    parts = []
    for name, value in fields:
        disposition = f'Content-Disposition: form-data; name="{name}"'
        if isinstance(value, tuple):
            disposition += f'; filename="{value[0]}"\r\nContent-Type: application/octet-stream'
            value = value[1]
        if isinstance(value, str):
            value = value.encode()
        parts.append(f"--{boundary}\r\n{disposition}\r\n\r\n".encode() + value + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), f"multipart/form-data; boundary={boundary}"


class Lab:
    def __init__(self, job_program=None, hosts=("local",), extra="", **daemon):
        self.temporary = tempfile.TemporaryDirectory(prefix="regrlab-http-")
        self.dir = pathlib.Path(self.temporary.name)
        self.state = self.dir / "state"
        self.port = free_port()
        self.process = None
        self.log = self.dir / "daemon.log"
        keys = dict(listen="127.0.0.1", port=self.port, state_dir=self.state, cache_dir=self.dir / "cache",
                    job_program=job_program or TOP / "tests/http/fake-job", benchmarks_dir=TOP / "jobs/benchmarks",
                    configs_dir=TOP / "guest-image/configs", guest_image=self.dir / "guest.cpio")
        keys.update(daemon)
        (self.dir / "guest.cpio").write_bytes(b"a fake image")
        self.config = self.dir / "regrlab.conf"
        self.config.write_text(
            "[daemon]\n" + "".join(f"{k}={v}\n" for k, v in keys.items()) +
            f"[tree linux]\npath={self.dir}/linux\n[tree other]\npath={self.dir}/other\n" +
            "".join(f"[host {host}]\nuri=test:///default\n" for host in hosts) + extra)

    def start(self):
        # the sanitizer keeps freed memory for a while: little of it, or nothing can be said of memory
        env = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8")
        self.process = subprocess.Popen([BUILD / "regrlabd", "--config", self.config], stdin=subprocess.DEVNULL,
                                        stdout=self.log.open("a"), stderr=subprocess.STDOUT, env=env)
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise AssertionError(f"the daemon ended with {self.process.returncode}: {self.log.read_text()}")
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return self
            except OSError:
                time.sleep(0.02)
        raise AssertionError("the daemon does not listen")

    def stop(self, number=signal.SIGTERM, within=20):
        """Ends the daemon; how long it took. A clean end exits 0 (and so passes the sanitizers)."""
        if not self.process:
            return 0
        started = time.monotonic()
        self.process.send_signal(number)
        status = self.process.wait(within)
        self.process = None
        if number == signal.SIGTERM:
            assert status == 0, f"exit status {status}: {self.log.read_text()[-4000:]}"
        return time.monotonic() - started

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def call(self, method, path, body=None, headers=None, connection=None):
        own = connection or self.connect()
        own.request(method, path, body, headers or {})
        response = own.getresponse()
        answer = Answer(response, response.read())
        if not connection:
            own.close()
        return answer

    def get(self, path, **headers):
        return self.call("GET", path, headers=headers)

    def submit(self, fields=None, series=None, key=None, **more):
        """A form with a series (or head=); gives the answer."""
        values = {"benchmarks": "aging", **more}
        items = [(name, str(value)) for name, value in values.items() if value is not None]
        items += fields or []
        if series is not False and "head" not in more:
            items.append(("series", ("x.mbox", series or mbox())))
        body, content_type = multipart(items)
        headers = {"Content-Type": content_type}
        if key:
            headers["Idempotency-Key"] = key
        return self.call("POST", API + "/jobs", body, headers)

    def job(self, number):
        answer = self.get(f"{API}/jobs/{number}")
        assert answer.status == 200, answer.body
        return answer.json()

    def new(self, subject="mm: a change", **more):
        """Submits a job whose subject tells the fake stage what to do; gives its number."""
        answer = self.submit(subject=subject, **more)
        assert answer.status == 202, (answer.status, answer.body)
        return answer.json()["id"]

    def wait(self, number, states=FINAL, within=40):
        end = time.monotonic() + within
        while time.monotonic() < end:
            job = self.job(number)
            if job["state"] in states:
                return job
            time.sleep(0.05)
        raise AssertionError(f"job {number} is {job['state']}, not {states}; {self.log.read_text()[-2000:]}")

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.temporary.cleanup()


@contextlib.contextmanager
def lab(**options):
    one = Lab(**options)
    try:
        yield one.start()
        one.stop()
    except BaseException:
        if one.log.exists():
            sys.stderr.write("---- the daemon's log ----\n" + one.log.read_text()[-6000:])
        raise
    finally:
        one.close()


def regrlab(one, *arguments, text=None, status=0, env=None):
    """What the client prints, once it has exited as it should."""
    environment = {**os.environ, "REGRLAB_SERVER": f"http://127.0.0.1:{one.port}", **(env or {})}
    done = subprocess.run([BUILD / "regrlab", *map(str, arguments)], env=environment, input=text,
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    assert "\x1b" not in done.stdout, "an escape sequence of a stranger reached the terminal"
    return done.stdout if status == 0 or done.stdout else done.stderr


def main(tests):
    """Runs functions test_*; names on the command line choose."""
    chosen = [t for name, t in sorted(tests.items()) if name.startswith("test_") and callable(t)
              and (len(sys.argv) < 2 or name in sys.argv[1:])]
    failed = 0
    for test in chosen:
        started = time.monotonic()
        try:
            test()
            print(f"ok {test.__name__} {time.monotonic() - started:.1f} s", flush=True)
        except Exception:
            failed += 1
            print(f"FAILED {test.__name__}", flush=True)
            traceback.print_exc()
    sys.exit(1 if failed or not chosen else 0)
