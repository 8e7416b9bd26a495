# SPDX-License-Identifier: GPL-2.0-or-later
"""Hundreds of kills of daemon and stages, at each step of a job and at random moments.

The stages are fakes (tests/http/fake-job): they build and boot nothing, which makes a kill cheap. What is real is the
daemon, the database and the contract of the run directory. tests/e2e/kills.py does the same to real jobs.

  steps.py [--kills N] [--seed N]
"""
# timeout: 600

import argparse
import http.client
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../http"))
from lab import Lab, lab, mbox, multipart, API  # noqa: E402
from history import Growth, check_database, check_run, check_sound, events_of, read, whole_lines  # noqa: E402

HOSTS = tuple(f"host{n}" for n in range(6))
WORDS = "boots=8 passes=4 sleep=0.06"
BOOTS, PASSES = 16, 4


def stages(one):
    found = subprocess.run(["pgrep", "-f", f"fake-job (build|measure) {one.state}"], capture_output=True, text=True)
    return [int(pid) for pid in found.stdout.split()]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return 1
    except ProcessLookupError:
        return 0


def kill_daemon(one):
    one.process.kill()
    one.process.wait()
    one.process = None


def values(events, run_dir):
    """What a job measured, without times."""
    samples = [json.loads(line) for line in whole_lines(read(os.path.join(run_dir, "samples.jsonl"))).splitlines()]
    result = next(e["result"] for e in events if e["type"] == "result")
    return [(s["boot"], s["pair"], s["arm"], s["pass"], s["value"]) for s in samples], result


def check_done(one, number, boots, passes):
    run_dir = one.state / f"jobs/{number}"
    events = check_run(number, run_dir, boots)
    check_database(one.state / "regrlab.db", number, events, boots * passes)
    return values(events, run_dir)


def at_each_step():
    """Each event of a job, written whole or half, with and without the daemon: 13 steps, 4 ways."""
    kills, started = 0, time.monotonic()
    with lab(hosts=HOSTS) as one:
        calm = one.new("boots=1 passes=2")
        one.wait(calm)
        want = check_done(one, calm, 2, 2)
        steps = len(events_of(one.state / f"jobs/{calm}"))
        assert steps == 13, steps
        for how in ("daemon", "torn-daemon"):
            for step in range(1, steps + 1):
                number = one.new(f"boots=1 passes=2 die={how} die-at={step}")
                kills += 2
                one.process.wait(60)
                one.process = None
                one.start()
                assert one.wait(number)["state"] == "done"
                assert check_done(one, number, 2, 2) == want, (how, step)
        alone = []  # a stage alone is started again after a while: many at a time, and two that build
        for how in ("stage", "torn"):
            where = ["1,3,5", "2,4", *range(6, steps + 1)]
            alone += [one.new(f"boots=1 passes=2 die={how} die-at={n}") for n in where]
            kills += steps
        for number in alone:
            job = one.wait(number, within=200)
            assert job["state"] == "done", (number, job["state"], job["message"])
            assert check_done(one, number, 2, 2) == want, number
        one.stop()
        check_sound(one.state / "regrlab.db")
    print(f"at each of {steps} steps: {kills} kills in {time.monotonic() - started:.0f} s", flush=True)
    return kills


class Poster:
    """Posts jobs whose answer may get lost: then it asks again with the same key."""

    def __init__(self, one):
        self.one, self.jobs, self.unsure = one, {}, []

    def post(self, key):
        body, content_type = multipart([("benchmarks", "aging"), ("subject", WORDS), ("seed", "7"), ("series", ("x.mbox", mbox()))])
        try:
            answer = self.one.call("POST", API + "/jobs", body, {"Content-Type": content_type, "Idempotency-Key": key})
        except (OSError, http.client.HTTPException):
            self.unsure.append(key)
            return
        assert answer.status in (200, 202), answer.body
        number = answer.json()["id"]
        assert self.jobs.setdefault(key, number) == number, f"{key}: job {number}, and before {self.jobs[key]}"

    def settle(self):
        again, self.unsure = self.unsure, []
        for key in again:
            self.post(key)


def tear(rng, run_dir):
    """What a write that was cut short leaves."""
    for name in ("events.jsonl", "samples.jsonl"):
        if rng.random() < .3 and os.path.exists(run_dir / name):
            with open(run_dir / name, "ab") as f:
                f.write(b'{"seq": 9999, "job": 1, "type": "bo')


def lose_power(rng, one, growth):
    """Progress is not synced when it is written: what the database has not taken in yet may be gone."""
    with sqlite3.connect(one.state / "regrlab.db") as db:
        rows = db.execute("SELECT id, events_offset FROM job WHERE finished_ns = 0").fetchall()
    lost = 0
    for number, taken in rows:
        path = one.state / f"jobs/{number}/events.jsonl"
        data = whole_lines(read(path))
        lines = data.splitlines(keepends=True)
        assert len(data) >= taken, f"job {number}: the database has more than the file"
        if lines and len(data) - len(lines[-1]) >= taken and json.loads(lines[-1])["type"] == "progress" and rng.random() < .5:
            with open(path, "r+b") as f:
                f.truncate(len(data) - len(lines[-1]))
            growth.forget_tail(number, len(data) - len(lines[-1]))
            lost += 1
    return lost


def at_random(want_kills, seed):
    rng = random.Random(seed)
    kills = daemons = lost = posts = 0
    growth = Growth()
    one = Lab(hosts=HOSTS)
    try:
        one.start()
        poster = Poster(one)
        calm = one.new(WORDS, seed=7)
        one.wait(calm)
        want = check_done(one, calm, BOOTS, PASSES)
        while kills < want_kills:
            live = sum(1 for j in one.get(API + "/jobs?state=live").json()["jobs"])
            for _ in range(max(0, len(HOSTS) + 2 - live)):
                posts += 1
                poster.post(f"key-{posts}")
            time.sleep(rng.random() * .5)
            late = threading.Thread(target=poster.post, args=(f"key-{posts + 1}",))
            if rng.random() < .2:   # one whose answer may get lost
                posts += 1
                late.start()
                time.sleep(rng.random() * .03)
            victims = stages(one)
            if rng.random() < .25:      # stages alone
                kills += sum(kill(pid) for pid in victims if rng.random() < .5)
                join(late)
                poster.settle()
                continue
            kill_daemon(one)
            kills += 1
            daemons += 1
            kills += sum(kill(pid) for pid in victims if rng.random() < .8)
            join(late)
            while stages(one):  # those that were left alive end by themselves
                time.sleep(.02)
            for number in set(poster.jobs.values()):
                growth.look(number, one.state / f"jobs/{number}")
            lost += lose_power(rng, one, growth)
            for number in set(poster.jobs.values()):
                if not finished(one, number):
                    tear(rng, one.state / f"jobs/{number}")
            one.start()
            poster.settle()
        print(f"at random, seed {seed}: {kills} kills ({daemons} of the daemon), {lost} events lost with the power", flush=True)
        jobs = sorted(poster.jobs.values())
        assert len(set(jobs)) == posts, "a key has no job of its own"
        for number in jobs:
            job = one.wait(number, within=200)
            assert job["state"] == "done", (number, job["state"], job["message"])
            growth.look(number, one.state / f"jobs/{number}")
            assert check_done(one, number, BOOTS, PASSES) == want, number
        every, cursor = [], ""
        while cursor is not None:
            page = one.get(f"{API}/jobs?limit=200{cursor}").json()
            every += [j["id"] for j in page["jobs"]]
            cursor = f"&cursor={page['cursor']}" if page.get("cursor") else None
        assert sorted(every) == sorted([calm, *jobs]), "jobs that nobody asked for, or none where one was asked for"
        assert not stages(one)
        one.stop()
        check_sound(one.state / "regrlab.db")
        print(f"{len(jobs)} jobs, all done, all as the undisturbed one", flush=True)
    except BaseException:
        sys.stderr.write("---- the daemon's log ----\n" + one.log.read_text()[-6000:])
        raise
    finally:
        one.close()
    return kills


def join(thread):
    if thread.ident:
        thread.join()


def finished(one, number):
    with sqlite3.connect(one.state / "regrlab.db") as db:
        return db.execute("SELECT finished_ns FROM job WHERE id = ?", (number,)).fetchone()[0] > 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=130, help="at random moments; those at each step are 78 more")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    started = time.monotonic()
    kills = at_each_step() + at_random(args.kills, args.seed)
    print(f"{kills} kills of fake jobs in {time.monotonic() - started:.0f} s: nothing lost, nothing doubled")


main()
