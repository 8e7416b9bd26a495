# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
"""The daemon under load: a database of 100,000 jobs and 20 million samples, 500 clients, 100 MB of posts, clients that
drip or say nothing, and jobs whose events are taken in meanwhile. What it printed is in tests/bench/load.txt.

Daemon and polling clients get a higher priority than the rest, so that what is measured is the daemon and not who else
uses the machine; it needs root for that.
"""

import argparse
import multiprocessing
import os
import pathlib
import random
import re
import resource
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TOP / "tests/http"))

import crowd  # noqa: E402
import load_db  # noqa: E402
from lab import API, Lab, mbox, multipart  # noqa: E402


def prefer(pid, nice):
    try:
        os.setpriority(os.PRIO_PROCESS, pid, nice)
    except PermissionError:
        print("no right to set priorities: the figures are those of a busy machine")


def memory_mib(pid, name):
    with open(f"/proc/{pid}/status") as f:
        return int(re.search(rf"{name}:\s+(\d+)", f.read())[1]) / 1024


def series(kib):
    """Patches of at most 1 MiB."""
    count = -(-kib // 1024)
    text = b"Why it is done. " * (kib * 64 // count)
    return b"".join(mbox("boots=1").replace(b"[PATCH]", f"[PATCH {number}/{count}]".encode()).replace(b"Why it is done.", text)
                    for number in range(1, count + 1))


def post(one, total_mib, each_kib, results):
    """Series of that size until so much was sent; a refused one was sent, too."""
    body, kind = multipart([("benchmarks", "aging"), ("subject", "boots=1"), ("series", ("x", series(each_kib)))])
    prefer(0, 10)
    connection, statuses = one.connect(60), {}
    for _ in range(total_mib * 1024 // each_kib):
        try:
            answer = one.call("POST", API + "/jobs", body, {"Content-Type": kind}, connection)
            status = answer.status
        except OSError:
            connection, status = one.connect(60), "closed"
        statuses[status] = statuses.get(status, 0) + 1
        if status == 429:
            for job in one.get(API + "/jobs?state=queued&limit=200").json()["jobs"]:
                one.call("DELETE", f"{API}/jobs/{job['id']}")
        time.sleep(0.02 * each_kib / 100)
    results.put((f"posts of {each_kib} KiB", statuses))


def say_nothing(port, count, seconds, results):
    prefer(0, 10)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, max(count + 100, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))
    sockets = crowd.idle(port, count)
    time.sleep(seconds / 2)
    results.put((f"{count} idle connections", {"held half way through": crowd.still_open(sockets)}))
    time.sleep(seconds / 2)


def drip(port, count, seconds, results):
    prefer(0, 10)
    sockets = crowd.drips(port, count, crowd.drip_heads(API + "/jobs"))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        crowd.drip(sockets)
        time.sleep(0.5)
    results.put((f"{count} dripping clients", {"held at the end": crowd.still_open(sockets)}))


def measure(one, args, title, others):
    results = multiprocessing.Queue()
    processes = [multiprocessing.Process(target=target, args=(*rest, results)) for target, *rest in others]
    for process in processes:
        process.start()
    polls = crowd.Polls(one.port, lambda: f"{API}/jobs/{random.randint(1, args.jobs)}")
    polls.run(args.clients, 1.0, args.seconds)
    for process in processes:
        process.join()
    print(f"{title:<34}{len(polls.took_s):>8}{polls.quantile_ms(0.5):>9.2f}{polls.quantile_ms(0.99):>9.2f}"
          f"{polls.quantile_ms(0.999):>9.2f}{polls.took_s[-1] * 1000:>9.1f}{memory_mib(one.process.pid, 'VmRSS'):>8.1f}"
          f"{memory_mib(one.process.pid, 'VmHWM'):>8.1f}  {polls.statuses}", flush=True)
    while not results.empty():
        name, found = results.get()
        print(f"    {name}: {found}")
    return polls


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--samples", type=int, default=20_000_000)
    parser.add_argument("--clients", type=int, default=500)
    parser.add_argument("--seconds", type=int, default=30, help="of each row")
    args = parser.parse_args()
    one = Lab(connections_max=1000, queue_max=200, hosts=("one", "two"))
    stage = one.dir / "stage"  # without the daemon's priority
    stage.write_text(f'#!/bin/sh\nexec nice -n 30 {TOP}/tests/http/fake-job "$@"\n')
    stage.chmod(0o755)
    one.config.write_text(one.config.read_text().replace(f"job_program={TOP}/tests/http/fake-job", f"job_program={stage}"))
    try:
        one.start()
        one.wait(one.new("boots=4 passes=3"))
        one.stop()
        started = time.monotonic()
        counts = load_db.grow(one.state / "regrlab.db", args.jobs, args.samples)
        size = (one.state / "regrlab.db").stat().st_size >> 20
        print(f"database: {counts[0]} jobs, {counts[1]} samples, {size} MiB, made in {time.monotonic() - started:.0f} s")
        one.start()
        prefer(one.process.pid, -15)
        prefer(0, -10)
        print(f"{args.clients} clients, each asks for one of the jobs about once a second, {args.seconds} s a row\n"
              f"{'':<34}{'answers':>8}{'p50 ms':>9}{'p99 ms':>9}{'p99.9':>9}{'max':>9}{'RSS MiB':>8}{'peak':>8}  statuses")
        measure(one, args, "alone", [])
        busy = [one.new(f"boots=100 passes=20 sleep=0.5 number={n}", clock="icount") for n in range(2)]
        measure(one, args, "while events are taken in", [])
        measure(one, args, "and 100 MB of posts", [(post, one, 100, 100)])
        measure(one, args, "and 5 posts of 15 MiB", [(post, one, 15, 15 * 1024)] * 5)
        measure(one, args, "and 100 that drip", [(drip, one.port, 100, args.seconds)])
        measure(one, args, "and 10,000 that say nothing", [(say_nothing, one.port, 10_000, args.seconds)])
        polls = measure(one, args, "all of it at once", [
            (post, one, 100, 100), (drip, one.port, 100, args.seconds), (say_nothing, one.port, 10_000, args.seconds)])
        taken = sum(len(one.job(job)["boots"]) for job in busy)
        print(f"boots taken in meanwhile: {taken}")
        assert set(polls.statuses) == {200} and taken > 0
        one.stop()
    finally:
        one.close()


main()
