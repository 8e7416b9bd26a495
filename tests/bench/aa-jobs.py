#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 7200
"""Jobs that change nothing, through a whole lab, and what its ledger of false alarms says of them afterwards.

    tests/bench/aa-jobs.py [--clock icount] [--jobs 20] [--boots 4] [--benchmarks aging] [--params P]
                           [--noise-wait S] [--save FILE]

Both arms of each job are the tree's own commit. Of N such jobs about 5 % raise a false alarm; the run fails where there
are more than the host's limit (jobs/stats/ledger.h). --save appends the table, with the command that made it.
"""
import argparse
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

from reallab import Lab  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clock", default="icount")
    parser.add_argument("--jobs", type=int, default=20)
    parser.add_argument("--boots", type=int, default=4, help="an arm")
    parser.add_argument("--benchmarks", default="aging")
    parser.add_argument("--params", default="", help="as in a job, such as aging.nproc=8")
    parser.add_argument("--noise-wait", default="60", help="seconds that a boot waits at most for a quiet host")
    parser.add_argument("--save", help="append the table to this file")
    return parser.parse_args()


def job_line(job, comparisons):
    changes = "  ".join(f"{params} {c['change_pct']:+.3f} % p {1 if c['p_holm'] is None else c['p_holm']:.3f} {c['verdict']}"
                        for (_, params), c in sorted(comparisons.items()))
    return f"  job {job:3}  {changes}"


def ledger_lines(host):
    yield "  benchmark  clock   comparisons  alarms  expected  limit  host"
    for line in host["false_alarms"]:
        yield (f"  {line['benchmark']:10} {line['clock']:7} {line['comparisons']:11}  {line['alarms']:6}  "
               f"{line['alarms_expected']:8.1f}  {line['limit']:5}  {line['fitness']}")


def main():
    wanted = arguments()
    lines = []
    with Lab(noise_wait_s=wanted.noise_wait) as lab:
        jobs = []
        for _ in range(wanted.jobs):
            fields = {"base": "HEAD", "head": "HEAD", "clock": wanted.clock, "profile": "quick",
                      "benchmarks": wanted.benchmarks, "params": wanted.params, "max_boots": str(wanted.boots)}
            jobs.append(lab.post(fields))
        for job in jobs:
            lines.append(job_line(job, lab.result(job, 7200)))
            print(lines[-1], flush=True)
        host = lab.api("/hosts")["hosts"][0]
        page = lab.get("/hosts").decode()
    table = list(ledger_lines(host))
    print("\n".join(table))
    assert host["false_alarms"], "no job went into the ledger"
    for line in host["false_alarms"]:
        assert line["comparisons"] == wanted.jobs, line
        assert line["alarms"] <= line["limit"], line
        assert f'<th scope="row">{line["benchmark"]}</th><td>{line["clock"]}</td><td class="n">{line["comparisons"]}</td>' in page
    if wanted.save:
        command = shlex.join(["tests/bench/aa-jobs.py", *sys.argv[1:]])
        with open(wanted.save, "a", encoding="utf-8") as f:
            f.write("\n".join([f"$ {command}", *lines, *table, "", ""]))


main()
