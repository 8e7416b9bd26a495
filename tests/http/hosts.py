#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Hosts taken out of service and back, jobs that leave them, and several comparisons at once on one."""

import json
import subprocess
import time

from lab import API, BUILD, lab, main


def host(one, name):
    answer = one.get(f"{API}/hosts/{name}")
    assert answer.status == 200, answer.body
    return answer.json()


def tell(one, name, what, status=200):
    answer = one.call("POST", f"{API}/hosts/{name}/{what}")
    assert answer.status == status, (answer.status, answer.body)
    return answer.json()


def wait_for(one, name, state, within=20):
    end = time.monotonic() + within
    while host(one, name)["state"] != state:
        assert time.monotonic() < end, (name, host(one, name)["state"], state)
        time.sleep(.05)


def place(one, job):
    return json.loads((one.state / f"jobs/{job}/place.json").read_text())


def test_drain_and_resume():
    with lab(hosts=("a", "b")) as one:
        running = one.new("hang=measure", host="a", clock="icount")
        one.wait(running, {"measuring"})
        assert tell(one, "a", "drain")["state"] == "draining"
        assert tell(one, "a", "drain")["drained"] is True, "once more changes nothing"
        waits = one.new("boots=1", host="a", clock="icount")
        elsewhere = one.wait(one.new("boots=1", clock="icount"))
        assert (elsewhere["state"], elsewhere["host"]) == ("done", "b"), elsewhere
        one.wait(waits, {"waiting-for-host"})
        # what is measured runs on until somebody ends it; the host takes nothing else
        assert one.job(running)["state"] == "measuring" and host(one, "a")["jobs"] == [running]
        assert one.call("DELETE", f"{API}/jobs/{running}").status in (200, 202)
        one.wait(running)
        wait_for(one, "a", "drained")
        # a new daemon knows
        one.stop()
        one.start()
        assert host(one, "a")["state"] == "drained" and one.job(waits)["state"] == "waiting-for-host"
        assert tell(one, "a", "resume")["drained"] is False
        assert one.wait(waits)["host"] == "a"
        # the newest first
        history = [event["what"] for event in host(one, "a")["history"]]
        assert history[0] == "resumed" and history.count("resumed") == 1 and history[-1] == "drained", history
        tell(one, "none", "drain", 404)
        for word, state in (("drain", "drained"), ("resume", "idle")):
            done = subprocess.run([BUILD / "regrlab", "host", word, "b", "--server", f"http://127.0.0.1:{one.port}"],
                                  capture_output=True, text=True, check=True)
            assert done.stdout == f"b is {state}\n", done.stdout
        page = one.get("/hosts/a").body.decode()
        assert "drained" in page and "resumed" in page, page


def test_job_leaves_a_drained_host_whole():
    """A job that was begun there begins anew elsewhere when its host has been away for long; its boots there count no more."""
    extra = "".join(f"[host {name}]\nuri=test:///{name}\nmove_after_s=1\n" for name in "ab")
    with lab(hosts=(), extra=extra) as one:
        job = one.new("boots=3 sleep=0.4")
        first = one.wait(job, {"measuring"})["host"]
        while not one.job(job)["boots"]:
            time.sleep(.05)
        tell(one, first, "drain")
        one.stop()
        one.start()
        ended = one.wait(job)
        assert ended["state"] == "done" and {first, ended["host"]} == {"a", "b"}, ended
        assert {boot["host"] for boot in ended["boots"] if boot["valid"]} == {ended["host"]}, ended["boots"]


def replicate(one, subject, count=2):
    answer = one.submit(subject=subject, replicate=count)
    assert answer.status == 202, answer.body
    return [job["id"] for job in answer.json()["replicas"]["jobs"]]


def test_replicate():
    """The same on several hosts: each its own job and verdict, and beside it whether they agree."""
    with lab(hosts=("a", "b", "c")) as one:
        same, other = replicate(one, "boots=4"), replicate(one, "boots=4 away@b=1", 3)
        assert same == [1, 2] and other == [3, 4, 5], (same, other)
        jobs = [one.wait(job) for job in same + other]
        assert {job["host"] for job in jobs[:2]} < {"a", "b", "c"} and len({job["host"] for job in jobs[:2]}) == 2
        assert sorted(job["host"] for job in jobs[2:]) == ["a", "b", "c"]
        agree, differ = one.job(same[1])["replicas"], one.job(other[0])["replicas"]
        assert agree == one.job(same[0])["replicas"] and agree["results"] == 2
        assert [c["agreement"] for c in agree["comparisons"]] == ["agree"], agree
        assert [c["agreement"] for c in differ["comparisons"]] == ["differ"] and differ["comparisons"][0]["hosts"] == 3
        page, report = (one.get(path).body.decode() for path in (f"/jobs/{other[1]}", f"{API}/jobs/{other[1]}/report.txt"))
        assert differ["summary"] in page and differ["summary"] in report and f'href="/jobs/{other[0]}"' in page
        assert one.job(one.new("boots=1"))["replicas"] is None


def test_replicate_refused():
    with lab(hosts=("a", "b"), extra="[host big]\nuri=test:///default\nlabels=big\n") as one:
        for wrong in ({"replicate": 4}, {"replicate": 2, "labels": "big"}, {"replicate": 2, "host": "a"}, {"replicate": 0},
                      {"replicate": 17}):
            answer = one.submit(**wrong)
            assert answer.status == 422 and answer.error()["field"] == "replicate", answer.body
        assert one.get(f"{API}/jobs").json()["jobs"] == [], "nothing was taken of any of them"
        # the same key, the same jobs
        first, again = (one.submit(subject="boots=1", replicate=2, key="twice").json() for _ in range(2))
        assert [job["id"] for job in again["replicas"]["jobs"]] == [job["id"] for job in first["replicas"]["jobs"]] == [1, 2]
        assert len(one.get(f"{API}/jobs").json()["jobs"]) == 2


def test_several_at_once():
    """As many as the host has slots, each told which one is its own; a slot that is free is taken again."""
    extra = "[host wide]\nuri=test:///default\nslots=2\nvm_cpus=2-5\n"
    with lab(hosts=(), extra=extra) as one:
        jobs = [one.new("hang=measure", clock="icount") for _ in range(3)]
        for job in jobs[:2]:
            one.wait(job, {"measuring"})
        one.wait(jobs[2], {"waiting-for-host"})
        assert host(one, "wide")["slots"] == 2 and sorted(host(one, "wide")["jobs"]) == sorted(jobs[:2])
        places = [place(one, job) for job in jobs[:2]]
        assert [p["slots"] for p in places] == [2, 2] and {p["slot"] for p in places} == {0, 1}, places
        one.call("DELETE", f"{API}/jobs/{jobs[0]}")
        one.wait(jobs[0])
        one.wait(jobs[2], {"measuring"})
        while place(one, jobs[2])["host"] != "wide":
            time.sleep(.05)
        assert place(one, jobs[2])["slot"] == places[0]["slot"], "the slot that became free"


if __name__ == "__main__":
    main(globals())
