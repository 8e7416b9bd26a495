# SPDX-License-Identifier: GPL-2.0-or-later
"""Many clients, and such that want no answer: nobody is kept waiting, and memory has a limit. tests/bench/load.py is
the long form, with times."""

import concurrent.futures
import re
import resource
import time

import crowd
from lab import API, lab, main, mbox, multipart

resource.setrlimit(resource.RLIMIT_NOFILE, (4096, max(4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])))


def metric(one, name):
    return int(re.search(rf"^{name} (\d+)", one.get("/metrics").body.decode(), re.M)[1])


def test_five_hundred_clients():
    with lab(connections_max=600) as one:
        number = one.new("boots=1")
        one.wait(number)
        polls = crowd.Polls(one.port, lambda: f"{API}/jobs/{number}")
        polls.run(500, 1.0, 4)
        assert set(polls.statuses) == {200} and polls.statuses[200] >= 500, polls.statuses
        assert polls.reconnects == 0 and metric(one, "regrlab_http_evicted_total") == 0


def test_idle_ones_make_room():
    with lab(connections_max=100, idle_timeout_s=60) as one:
        silent = crowd.idle(one.port, 1500)
        for _ in range(20):
            assert one.get("/healthz").status == 200
        assert crowd.still_open(silent) <= 100 and metric(one, "regrlab_http_evicted_total") >= 1400
        # who has asked before keeps its connection for longer than who never did
        connection = one.connect()
        assert one.call("GET", "/healthz", connection=connection).status == 200
        ours = connection.sock.getsockname()
        more = crowd.idle(one.port, 300)
        time.sleep(0.5)
        assert one.call("GET", "/healthz", connection=connection).status == 200
        assert connection.sock.getsockname() == ours
        for s in silent + more:
            s.close()


def test_dripping_clients_make_room():
    with lab(connections_max=60, request_timeout_s=60) as one:
        slow = crowd.drips(one.port, 58, crowd.drip_heads(API + "/jobs"))
        for _ in range(10):
            crowd.drip(slow)
            answers = [one.get("/healthz").status for _ in range(5)]
            assert answers == [200] * 5
            assert one.submit(benchmarks="none").status == 422
        more = crowd.drips(one.port, 60, crowd.drip_heads(API + "/jobs")[1:])
        assert one.get("/healthz").status == 200
        for s in slow + more:
            s.close()


def memory_mib(one, name):
    with open(f"/proc/{one.process.pid}/status") as f:
        return int(re.search(rf"{name}:\s+(\d+)", f.read())[1]) / 1024


def test_a_hundred_megabytes():
    """Bodies of all clients together have a limit; who comes too much is told to come again."""
    body, kind = multipart([("benchmarks", "aging"), ("series", ("x", mbox().replace(
        b"Why it is done.", b"Why it is done. " * 600_000)))])
    with lab() as one:
        one.get("/healthz")

        def post(_):
            answer = one.call("POST", API + "/jobs", body, {"Content-Type": kind})
            assert answer.status != 503 or answer.headers["Retry-After"] and answer.error()["code"] == "busy"
            return answer.status
        with concurrent.futures.ThreadPoolExecutor(11) as pool:
            statuses = list(pool.map(post, range(11)))
        assert len(body) * 11 > 100_000_000 and set(statuses) <= {422, 503} and 422 in statuses, statuses
        print(f"    {statuses}, memory {memory_mib(one, 'VmRSS'):.0f} MiB, {memory_mib(one, 'VmHWM'):.0f} at most")
        assert one.get("/healthz").status == 200
        # afterwards there is room again
        assert post(0) == 422 and one.submit().status == 202


main(globals())
