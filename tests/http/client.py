#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The command-line client against a daemon with a fake stage."""

import json
import os
import signal
import subprocess
import tempfile
import time

import lab as labs
from lab import regrlab


def test_from_submission_to_report():
    with labs.lab() as lab:
        out = regrlab(lab, "submit", "--benchmarks", "aging,pwrite", "--params", "aging.nproc=1,2", "--params",
                      "pwrite.size=1k", "--max-boots", 3, "--subject", "mm: boots=3 sleep=0.5", "--watch", "-",
                      text=labs.mbox().decode())
        lines = out.splitlines()
        assert lines[0].startswith("job 1: http://127.0.0.1:"), out
        assert any("measuring [" in line and "of 6 boots" in line for line in lines), out
        assert "job 1: done" in lines, out
        assert "How it was run" in out and "REGRESSION" in out, out
        spec = json.loads(regrlab(lab, "show", 1, "--json"))["spec"]
        assert spec["benchmarks"] == ["aging", "pwrite"] and spec["max_boots"] == 3, spec
        assert spec["params"] == ["aging.nproc=1,2", "pwrite.size=1k"], spec
        assert regrlab(lab, "report", 1).startswith("aging"), "the table comes first"
        assert json.loads(regrlab(lab, "report", 1, "--json"))["comparisons"]
        assert regrlab(lab, "report", 1, "--csv").startswith("job,arm,boot,"), "the header of samples.csv"


def test_files_of_a_series_and_a_configuration():
    with labs.lab() as lab, tempfile.TemporaryDirectory() as folder:
        paths = []
        for number in (1, 2):
            paths.append(os.path.join(folder, f"000{number}.patch"))
            with open(paths[-1], "wb") as f:
                f.write(labs.mbox("x").replace(b"[PATCH]", b"[PATCH %d/2]" % number).rstrip(b"\n"))
        config = os.path.join(folder, "config")
        with open(config, "w") as f:
            f.write("CONFIG_SMP=y\n")
        job = json.loads(regrlab(lab, "submit", "--json", "--benchmarks", "aging", "--config", "@" + config, *paths))
        spec = json.loads(regrlab(lab, "show", "--json", job["id"]))["spec"]
        assert spec["has_series"] and spec["has_config"], spec
        out = regrlab(lab, "submit", "--benchmarks", "aging", os.path.join(folder, "none"), status=1)
        assert "none: No such file or directory" in out, out


def test_key_gives_the_same_job():
    with labs.lab() as lab:
        argv = ("submit", "--head", "abc", "--benchmarks", "aging", "--key", "k1")
        first, second = regrlab(lab, *argv), regrlab(lab, *argv)
        assert first == second, (first, second)


def test_list_show_log_hosts():
    with labs.lab() as lab:
        for number in range(3):
            lab.wait(lab.new(f"boots=1 number {number}"))
        out = regrlab(lab, "list", "-n", 2)
        assert "number 2" in out and "number 0" not in out and "--cursor" in out, out
        cursor = out.rsplit(None, 1)[-1]
        assert "number 0" in regrlab(lab, "list", "--cursor", cursor)
        assert regrlab(lab, "list", "--state", "live") == ""
        assert "there is no state" in regrlab(lab, "list", "--state", "bogus", status=1)
        out = regrlab(lab, "show", 1)
        assert "state          done" in out and f"http://127.0.0.1:{lab.port}/jobs/1" in out, out
        assert "state" in regrlab(lab, "show", f"http://127.0.0.1:{lab.port}/jobs/1")
        log = regrlab(lab, "log", 1)
        assert log and log == regrlab(lab, "log", "--follow", 1)
        assert regrlab(lab, "log", "--from", 3, 1) == log[3:]
        assert regrlab(lab, "hosts").startswith("local: idle"), "one host"


def test_failed_job():
    with labs.lab() as lab:
        out = regrlab(lab, "submit", "--watch", "--head", "abc", "--benchmarks", "aging", "--subject",
                      "end=build-failed", status=3)
        assert "job 1: build-failed" in out and "The patched kernel does not build" in out, out
        assert "job 1: build-failed" in regrlab(lab, "watch", 1, status=3)
        assert "ended without a result" in regrlab(lab, "report", "--json", 1, status=1)


def test_cancel():
    with labs.lab() as lab:
        job = lab.new("hang=build")
        lab.wait(job, {"building"})
        watch = subprocess.Popen([labs.BUILD / "regrlab", "watch", "--server", f"http://127.0.0.1:{lab.port}/", str(job)],
                                 stdout=subprocess.PIPE, text=True)
        assert "cancelled" in regrlab(lab, "cancel", job)
        out, _ = watch.communicate(timeout=30)
        assert watch.returncode == 3 and f"job {job}: cancelled" in out, out
        lab.wait(job)
        regrlab(lab, "cancel", job)  # again: it is what was wanted
        done = lab.new("boots=1")
        lab.wait(done)
        assert "has ended already" in regrlab(lab, "cancel", done, status=1)


def test_watch_says_something_every_three_seconds_and_ends_at_once():
    with labs.lab() as lab:
        job = lab.new("hang=build")
        lab.wait(job, {"building"})
        watch = subprocess.Popen([labs.BUILD / "regrlab", "watch", str(job)], stdout=subprocess.PIPE, text=True,
                                 env={**os.environ, "REGRLAB_SERVER": f"http://127.0.0.1:{lab.port}"})
        times = [time.monotonic()]
        for _ in range(3):
            assert f"job {job}: building" in watch.stdout.readline()
            times.append(time.monotonic())
        assert max(b - a for a, b in zip(times, times[1:])) < 5, times
        watch.send_signal(signal.SIGINT)
        assert watch.wait(5) != 0
        regrlab(lab, "cancel", job)


def test_wrong_usage_and_no_lab():
    with labs.lab() as lab:
        for words in (["--server", "http://localhost:1"], ["--server=http://localhost:1"], ["--json"]):
            done = subprocess.run([labs.BUILD / "regrlab", *words, "list"], capture_output=True, text=True, timeout=20)
            assert done.returncode == 2 and f"options come after the command, such as regrlab list {words[0]}" in done.stderr, done
        assert "Usage:" in regrlab(lab, "--help") and "regrlab" in regrlab(lab, "--version")
        for command in ("submit", "watch", "report", "show", "list", "log", "cancel", "more", "hosts",
                        "calibrate", "analyze", "mail"):
            assert "Usage:" in regrlab(lab, "help", command), command
            assert "Usage:" in regrlab(lab, command, "--help"), command
        for argv in ((), ("bogus",), ("show",), ("show", "x"), ("show", "1", "2"), ("show", "--bogus", "1"),
                     ("submit", "--benchmarks", "aging"), ("watch", "-1"), ("watch", "0")):
            regrlab(lab, *argv, status=2)
        assert "no answer from" in regrlab(lab, "list", "--server", "http://127.0.0.1:1", status=1)
        assert "no address of a lab" in regrlab(lab, "list", "--server", "lab", status=1)
        assert "there is no job 99" in regrlab(lab, "show", 99, status=1)
        out = regrlab(lab, "submit", "--head", "abc", "--benchmarks", "none", status=1)
        assert "there is no benchmark 'none'; there are: aging, pwrite, readtwice" in out, out
        out = regrlab(lab, "submit", "--head", "abc", "--benchmarks", "aging", "--config", "none", status=1)
        assert "there is no kernel configuration profile 'none'; there are: " in out, out
        out = regrlab(lab, "submit", "--benchmarks", "aging", "-", text="no mail at all", status=1)
        assert "git format-patch" in out, out


def test_host_out_of_service():
    with labs.lab() as lab:
        regrlab(lab, "host", "drain", "local")
        assert json.loads(regrlab(lab, "hosts", "--json"))["hosts"][0]["drained"] is True
        regrlab(lab, "host", "resume", "local")
        assert json.loads(regrlab(lab, "hosts", "--json"))["hosts"][0]["drained"] is False
        assert "there is no host 'none'" in regrlab(lab, "host", "drain", "none", status=1)


if __name__ == "__main__":
    labs.main(globals())
