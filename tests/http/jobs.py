# SPDX-License-Identifier: GPL-2.0-or-later
"""A job's life: states, cancelling at each of them, stages that die, hang or lie, a daemon that dies."""

import os
import signal
import sqlite3
import subprocess
import time

from lab import API, FINAL, Lab, lab, main


def delete(one, number):
    return one.call("DELETE", f"{API}/jobs/{number}")


def stages_running(one):
    """Process ids of stages that work in this lab's run directories."""
    found = subprocess.run(["pgrep", "-f", f"fake-job (build|measure) {one.state}"], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]


def starts(one, number, stage):
    try:
        return len(open(one.state / f"jobs/{number}/starts-{stage}").readlines())
    except FileNotFoundError:
        return 0


def test_done():
    with lab() as one:
        number = one.new("boots=2 passes=4")
        job = one.wait(number)
        assert job["state"] == "done", job
        assert job["host"] == "local" and len(job["boots"]) == 4 and job["progress"]["boots_done"] == 4
        assert job["arms"]["patched"]["incremental"] is True and job["created"] <= job["finished"]
        result = one.get(f"{API}/jobs/{number}/result")
        assert result.status == 200 and result.json()["comparisons"][0]["verdict"] == "REGRESSION"
        report = one.get(f"{API}/jobs/{number}/report.txt")
        assert report.status == 200 and report.headers["Content-Type"].startswith("text/plain")
        assert one.get(f"/jobs/{number}").status == 200
        lines = one.get(f"{API}/jobs/{number}/samples.csv").body.decode().split("\r\n")
        assert len(lines) == 1 + 16 + 1 and lines[0].startswith("job,arm,boot,pair,host,clock,benchmark,params,run,pass")
        assert lines[1].startswith(f"{number},base,0,0,local,icount,aging,nproc=1;lru=mglru,0,0,time,ms,lower,20,")
        samples = one.get(f"{API}/jobs/{number}/samples.json").json()
        written = [line for line in open(one.state / f"jobs/{number}/samples.jsonl")]
        assert len(samples) == len(written) == 16
        hosts = one.get(API + "/hosts").json()["hosts"]
        assert hosts[0]["boots_valid"] == 4 and hosts[0]["accelerator"] == "tcg" and hosts[0]["job"] is None


def test_marked():
    """A host that is not as its policy wants it: on the job's page, in its report, of the job, of the host."""
    with lab() as one:
        number = one.new("boots=1 turbo=on")
        job = one.wait(number)
        assert job["host_state"]["facts"][0]["value"] == "on" and job["host_state"]["require"] == "auto", job
        assert all(boot["machine"]["state"] == job["host_state"]["id"] for boot in job["boots"]), job
        assert one.get(f"{API}/jobs/{number}/result").json()["host_warnings"] == [
            "turbo is on <i>and</i> should be off (2 boots)"]
        page, report = (one.get(path).body.decode() for path in (f"/jobs/{number}", f"{API}/jobs/{number}/report.txt"))
        assert "<li>turbo is on &lt;i&gt;and&lt;/i&gt; should be off (2 boots)</li>" in page and "how the host was set" in page
        assert "  - turbo is on <i>and</i> should be off (2 boots)\n" in report, report
        host = one.get(API + "/hosts").json()["hosts"][0]
        assert host["policy"] == "warn" and host["require"] == "auto" and host["boots_disturbed"] == 0, host
        assert host["host_state"]["id"] == "0123456789ab" and host["host_state_ns"] > 0, host
        alone = one.get(f"{API}/hosts/{host['name']}").json()
        assert all(alone[name] == host[name] for name in ("policy", "require", "boots_disturbed", "host_state", "host_state_ns"))
        for path in ("/hosts", f"/hosts/{host['name']}"):
            assert "change: echo 1 &gt; no_turbo" in one.get(path).body.decode(), path


def test_failed_builds():
    with lab() as one:
        for state in ("apply-failed", "build-failed", "infra-failed"):
            number = one.new(f"end={state}")
            job = one.wait(number)
            assert job["state"] == state and job["reason"] == "fake" and job["failed_arm"] == "patched", job
            assert job["detail"]["hunk"] == "@@ -1 +1 @@" and "fake failure" in job["message"]
            result = one.get(f"{API}/jobs/{number}/result")
            assert result.status == 404 and result.error()["code"] == state
            page = one.get(f"/jobs/{number}")
            assert page.status == 200 and b"<script>alert" not in page.body
        done = one.new("boots=1")
        assert one.wait(done)["state"] == "done"


def test_not_ready():
    with lab() as one:
        number = one.new("hang=measure")
        one.wait(number, {"measuring"})
        result = one.get(f"{API}/jobs/{number}/result")
        assert result.status == 409 and result.error()["code"] == "measuring" and result.headers["Retry-After"]
        assert one.get(f"{API}/jobs/{number}/report.txt").status == 200
        assert one.get(f"{API}/jobs/{number}/samples.json").json() == []
        assert delete(one, number).status == 202
        assert one.wait(number)["state"] == "cancelled"


def test_cancel_everywhere():
    with lab() as one:
        building = one.new("hang=build")
        one.wait(building, {"building"})
        queued = one.new("boots=1")
        assert one.job(queued)["state"] == "queued" and one.job(queued)["queue_position"] == 1
        answer = delete(one, queued)
        assert answer.status == 200 and answer.json()["state"] == "cancelled"
        assert not os.path.exists(one.state / f"jobs/{queued}")
        assert delete(one, building).status == 202
        assert one.wait(building)["state"] == "cancelled"
        assert delete(one, building).status == 200  # again: the same

        measuring = one.new("hang=measure clock")
        one.wait(measuring, {"measuring"})
        waiting = one.new("boots=1", clock="kvm")
        one.wait(waiting, {"waiting-for-host", "queued"})
        assert delete(one, waiting).status == 200
        assert delete(one, measuring).status == 202
        assert one.wait(measuring)["state"] == "cancelled"
        done = one.new("boots=1")
        assert one.wait(done)["state"] == "done"
        assert delete(one, done).status == 409
        assert delete(one, 999).status == 404
        assert not stages_running(one)


def test_cancel_deaf():
    # timeout in runner.h: from SIGTERM to SIGKILL
    with lab() as one:
        number = one.new("hang=build deaf=1")
        one.wait(number, {"building"})
        while not starts(one, number, "build"):
            time.sleep(0.05)
        time.sleep(0.3)
        started = time.monotonic()
        delete(one, number)
        assert one.wait(number)["state"] == "cancelled"
        assert 5 < time.monotonic() - started < 15
        assert not stages_running(one)


def test_crash_and_resume():
    with lab() as one:
        number = one.new("crash=build:2 after=2 boots=1")
        job = one.wait(number)
        assert job["state"] == "done" and starts(one, number, "build") == 3, (job["message"], starts(one, number, "build"))
        number = one.new("crash=measure:1 after=10 boots=2")
        job = one.wait(number)
        assert job["state"] == "done" and starts(one, number, "measure") == 2
        assert [boot["boot"] for boot in job["boots"]] == [0, 1, 2, 3]
        assert len(one.get(f"{API}/jobs/{number}/samples.json").json()) == 12
        metrics = one.get("/metrics").body.decode()
        assert "regrlab_stages_crashed_total 3" in metrics, metrics


def test_crash_for_ever():
    with lab() as one:
        number = one.new("crash=build:99 loud=20000")
        job = one.wait(number)
        assert job["state"] == "infra-failed" and job["reason"] == "stage-died", job
        assert "signal 9" in job["message"] and "xxx" in job["message"] and len(job["message"]) < 2000
        assert 3 <= starts(one, number, "build") <= 4
        assert one.wait(one.new("boots=1"))["state"] == "done"


def test_lies():
    with lab() as one:
        for bad in ("samples", "boot-twice"):
            number = one.new(f"bad={bad} boots=2")
            job = one.wait(number)
            assert job["state"] == "infra-failed" and job["reason"] == "run-directory", (bad, job)
            assert len(job["boots"]) <= 1 and not stages_running(one)
            good = 3 * len(job["boots"])
            assert len(one.get(f"{API}/jobs/{number}/samples.json").json()) == good


def test_no_program():
    with lab(job_program="/nowhere/regrlab-job") as one:
        job = one.wait(one.new())
        assert job["state"] == "infra-failed" and job["reason"] == "cannot-start" and "/nowhere" in job["message"], job


def test_locked():
    with lab() as one:
        import fcntl
        number = one.new("hang=build")
        one.wait(number, {"building"})
        while not stages_running(one):
            time.sleep(0.05)
        for pid in stages_running(one):
            os.kill(pid, signal.SIGSTOP)
        # the daemon dies; its stopped stage cannot, and holds the lock
        one.process.kill()
        one.process.wait()
        one.process = None
        one.start()
        time.sleep(1)
        assert one.job(number)["state"] == "building"
        for pid in stages_running(one):
            os.kill(pid, signal.SIGCONT)
        time.sleep(3)
        assert one.job(number)["state"] == "building" and len(stages_running(one)) == 1
        delete(one, number)
        assert one.wait(number)["state"] == "cancelled"
        assert fcntl


def test_daemon_killed():
    with lab() as one:
        one.stop()
        one.start()
        first = one.new("sleep=0.3 boots=3 passes=5")
        for state, boots in (("building", 0), ("measuring", 2), ("measuring", 4)):
            end = time.monotonic() + 30
            while time.monotonic() < end:
                job = one.job(first)
                if job["state"] == state and len(job["boots"]) >= boots:
                    break
                time.sleep(0.02)
            one.process.kill()
            one.process.wait()
            one.process = None
            one.start()
        job = one.wait(first)
        assert job["state"] == "done" and [b["boot"] for b in job["boots"]] == list(range(6)), job
        assert len(one.get(f"{API}/jobs/{first}/samples.json").json()) == 30
        hosts = one.get(API + "/hosts").json()["hosts"]
        assert hosts[0]["boots_valid"] == 6
        assert starts(one, first, "measure") == 3
        # what is in the database is what was written
        db = sqlite3.connect(f"file:{one.state}/regrlab.db?mode=ro", uri=True)
        events = sum(1 for _ in open(one.state / f"jobs/{first}/events.jsonl"))
        assert db.execute("SELECT last_seq, samples FROM job").fetchone() == (events, 30)
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        db.close()


def damage(one, number, name, change):
    """What a bad disk does to a file while nobody looks; gives how often the stage had been started."""
    one.process.kill()
    one.process.wait()
    one.process = None
    while stages_running(one):
        time.sleep(0.05)
    path = one.state / f"jobs/{number}/{name}"
    before = starts(one, number, "measure")
    change(path)
    one.start()
    return before


def cut_in_half(path):
    os.truncate(path, path.stat().st_size // 2)


def spoil(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2:len(data) // 2 + 8] = b"\0" * 8
    path.write_bytes(data)


def test_damaged_run_directory():
    """What was taken in and is gone is a state with a name, and not a job begun anew."""
    for change in (cut_in_half, os.unlink):
        with lab() as one:
            number = one.new("sleep=0.2 boots=9")
            while len(one.wait(number, {"measuring"})["boots"]) < 2:
                time.sleep(0.05)
            before = damage(one, number, "events.jsonl", change)
            job = one.wait(number)
            assert job["state"] == "infra-failed" and job["reason"] == "run-directory", job
            assert "events.jsonl has" in job["message"], job["message"]
            assert starts(one, number, "measure") == before and not stages_running(one)
            assert one.wait(one.new("boots=1"))["state"] == "done"


def test_damaged_submission():
    """The files that came with a job are the database's: a spoilt copy is made again before anything is built from it."""
    with lab() as one:
        number = one.new("hang=measure")
        one.wait(number, {"measuring"})
        path = one.state / f"jobs/{number}/series.mbox"
        whole = path.read_bytes()
        for change in (cut_in_half, spoil, os.unlink):
            before = damage(one, number, "series.mbox", change)
            while starts(one, number, "measure") == before:
                time.sleep(0.05)
            assert path.read_bytes() == whole, change
        delete(one, number)
        one.wait(number)


def test_ended_while_no_daemon_ran():
    """A stage that came to its end after its daemon died is not started again."""
    with lab() as one:
        number = one.new("boots=1 sleep=0.5")
        one.wait(number, {"measuring"})
        for pid in stages_running(one):
            os.kill(pid, signal.SIGSTOP)
        one.process.kill()
        one.process.wait()
        one.process = None
        for pid in stages_running(one):
            os.kill(pid, signal.SIGKILL)
        run_dir = one.state / f"jobs/{number}"
        seq = sum(1 for _ in open(run_dir / "events.jsonl")) + 1
        with open(run_dir / "events.jsonl", "a") as f:
            f.write(f'{{"seq": {seq}, "time_ns": 1, "type": "end", "state": "boot-failed", "reason": "panic", '
                    '"message": "it was over", "arm": "patched", "detail": {}}\n')
        before = starts(one, number, "measure")
        one.start()
        job = one.wait(number)
        assert job["state"] == "boot-failed" and job["message"] == "it was over", job
        assert starts(one, number, "measure") == before


def test_stop_is_quick_and_resumable():
    with lab() as one:
        number = one.new("hang=build")
        one.wait(number, {"building"})
        while starts(one, number, "build") < 1:
            time.sleep(0.05)
        took = one.stop()
        assert took < 5, took
        assert not stages_running(one)
        one.start()
        assert one.job(number)["state"] == "building"
        end = time.monotonic() + 60
        while starts(one, number, "build") < 2 and time.monotonic() < end:
            time.sleep(0.05)
        assert starts(one, number, "build") == 2
        delete(one, number)
        assert one.wait(number)["state"] == "cancelled"


def test_cancel_asked_before_the_daemon_died():
    with lab() as one:
        number = one.new("hang=build deaf=1")
        one.wait(number, {"building"})
        while not stages_running(one):
            time.sleep(0.05)
        time.sleep(0.3)
        delete(one, number)
        one.process.kill()
        one.process.wait()
        one.process = None
        for pid in stages_running(one):
            os.kill(pid, signal.SIGKILL)
        one.start()
        assert one.wait(number)["state"] == "cancelled"


def test_priority_and_order():
    with lab() as one:
        running = one.new("hang=build")
        one.wait(running, {"building"})
        low = one.new("boots=1", priority=-5)
        first = one.new("boots=1")
        second = one.new("boots=1")
        high = one.new("boots=1", priority=5)
        positions = [one.job(n)["queue_position"] for n in (high, first, second, low)]
        assert positions == [1, 2, 3, 4], positions
        delete(one, running)
        jobs = [one.wait(n) for n in (high, first, second, low)]
        order = [open(one.state / f"jobs/{n}/events.jsonl").readline() for n in (high, first, second, low)]
        times = [int(line.split('"time_ns": ')[1].split(",")[0]) for line in order]
        assert times == sorted(times) and all(job["state"] == "done" for job in jobs)


def test_builds_and_measurements():
    """Beside a measurement of time nothing is built, beside a count of instructions it may be."""
    with lab() as one:
        timed = one.new("hang=measure", clock="tcg")
        one.wait(timed, {"measuring"})
        waiting = one.new("boots=1")
        time.sleep(0.7)
        assert one.job(waiting)["state"] == "queued"
        delete(one, timed)
        assert one.wait(waiting)["state"] == "done"

        counted = one.new("hang=measure", clock="icount")
        one.wait(counted, {"measuring"})
        built = one.new("boots=1", clock="icount")
        one.wait(built, {"waiting-for-host"})
        delete(one, counted)
        assert one.wait(built)["state"] == "done"

        # a build that runs keeps a measurement of time from its start
        timed = one.new("sleep=0.6", clock="kvm")
        one.wait(timed, {"building"})
        builds = one.new("hang=build")
        one.wait(timed, {"measuring"})
        assert one.job(builds)["state"] == "queued"
        delete(one, builds)
        one.wait(timed)
    with lab(hosts=("one", "two")) as one:
        first = one.new("hang=measure", clock="icount")
        second = one.new("hang=measure", clock="icount")
        hosts = {one.wait(n, {"measuring"})["host"] for n in (first, second)}
        assert hosts == {"one", "two"}
        for n in (first, second):
            delete(one, n)
            one.wait(n)


def test_hosts_that_fit():
    with lab(hosts=("plain",), extra="[host large]\nuri=test:///default\nlabels=big,numa\nmemory_mib=3000\n") as one:
        labelled = one.new("hang=measure", clock="icount", labels="numa")
        other = one.new("boots=1", clock="icount", labels="big")
        any_host = one.new("boots=1", clock="icount")
        assert one.wait(labelled, {"measuring"})["host"] == "large"
        assert one.wait(any_host)["host"] == "plain"
        assert one.job(other)["state"] in ("queued", "building", "waiting-for-host"), "large is busy"
        delete(one, labelled)
        assert one.wait(other)["host"] == "large"
        assert one.wait(one.new("boots=1", host="plain"))["host"] == "plain"
        for wrong, field in ({"host": "nowhere"}, "host"), ({"labels": "none-has-it"}, "labels"), \
                ({"host": "plain", "labels": "big"}, "labels"), \
                ({"host": "large", "params": "aging.memory_mib=4000"}, "benchmarks"):
            answer = one.submit(**wrong)
            assert answer.status == 422 and answer.error()["field"] == field, answer.body


def test_host_gone():
    one = Lab()
    try:
        one.start()
        number = one.new("hang=measure")
        one.wait(number, {"measuring"})
        one.stop()
        text = one.config.read_text()
        one.config.write_text(text.replace("[host local]", "[host elsewhere]"))
        one.start()
        end = time.monotonic() + 40
        while one.job(number)["host"] != "elsewhere":
            assert time.monotonic() < end, one.job(number)
            time.sleep(0.1)
        delete(one, number)
        one.wait(number)
        one.stop()
    finally:
        one.close()


def test_two_daemons():
    with lab() as one:
        second = subprocess.run([one.process.args[0], "--config", one.config], capture_output=True, text=True, timeout=20)
        assert second.returncode == 1 and "another regrlabd" in second.stderr, second.stderr
        assert one.get("/healthz").status == 200
        assert FINAL


main(globals())
