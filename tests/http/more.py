# SPDX-License-Identifier: GPL-2.0-or-later
"""Boots added to a job that is done: who may, what comes of it, and that nothing gets lost on the way."""

import os
import subprocess
import time

from lab import API, BUILD, Lab, lab, main

OPEN = "boots=2 verdict=INCONCLUSIVE"


def more(one, number, query="?boots=3"):
    return one.call("POST", f"{API}/jobs/{number}/more{query}")


def result(one, number):
    return one.get(f"{API}/jobs/{number}/result").json()


def events(one, number):
    with open(one.state / f"jobs/{number}/events.jsonl") as f:
        return f.read()


def test_more():
    with lab() as one:
        number = one.new(OPEN)
        assert one.wait(number)["state"] == "done"
        assert f'action="/jobs/{number}/more?boots=' in one.get(f"/jobs/{number}").body.decode()
        before = result(one, number)
        answer = more(one, number)
        assert answer.status == 202 and answer.json()["state"] in ("waiting-for-host", "measuring"), answer.body
        assert answer.json()["finished"] is None and answer.json()["spec"]["more_boots"] == 3
        job = one.wait(number)
        assert job["state"] == "done" and job["reason"] == "" and job["host"] == "local", job
        assert len(job["boots"]) == 10 and job["more"]["boots_per_arm"] == 5 and job["progress"]["boots_total"] == 10
        after = result(one, number)
        continuation = after.pop("continuation")
        assert after == before, "the result that there was stays as it was"
        assert continuation["rule"] == "open-ended" and continuation["comparisons"][0]["boots"] == {"base": 5, "patched": 5}
        assert len(one.get(f"{API}/jobs/{number}/samples.json").json()) == 30
        page = one.get(f"/jobs/{number}").body.decode()
        assert page.index("with the boots that were added") < page.index("Result as planned, before boots were added")
        assert "<h1" in page and "a fake continuation" in page
        report = one.get(f"{API}/jobs/{number}/report.txt").body.decode()
        assert report.index("a fake continuation") < report.index("a fake summary & nothing else"), report
        assert "a fake continuation" in one.get("/").body.decode()
        # decided now
        assert more(one, number).error()["code"] == "decided"


def test_again_and_again():
    with lab() as one:
        number = one.new(OPEN + " then=INCONCLUSIVE")
        one.wait(number)
        for total in (3, 5):
            assert more(one, number, f"?boots={total - 2 if total == 3 else 2}").status == 202
            job = one.wait(number)
            assert len(job["boots"]) == 2 * total, job
        assert result(one, number)["continuation"]["comparisons"][0]["boots"]["base"] == 5
        assert events(one, number).count('"type": "more"') == 2
        assert more(one, number, "?boots=398").error()["code"] == "too-many"
        assert one.job(number)["state"] == "done"


def test_refused():
    with lab() as one:
        decided, failed = one.new("boots=1"), one.new("end=build-failed")
        busy = one.new("hang=measure")
        one.wait(decided), one.wait(failed), one.wait(busy, {"measuring"})
        for number, query, status, code in (
                (decided, "?boots=2", 409, "decided"), (failed, "?boots=2", 409, "not-done"), (busy, "?boots=2", 409, "not-done"),
                (99, "?boots=2", 404, "not-found"), (decided, "", 400, "malformed"), (decided, "?boots=0", 400, "malformed"),
                (decided, "?boots=401", 400, "malformed"), (decided, "?boots=x", 400, "malformed"),
                (decided, "?boots=2&more=1", 400, "unknown-parameter")):
            answer = more(one, number, query)
            assert answer.status == status and answer.error()["code"] == code, (number, query, answer.body)
        assert one.get(f"{API}/jobs/{decided}/more").status == 405
        one.call("DELETE", f"{API}/jobs/{busy}")
        one.wait(busy)


def test_failure_leaves_the_result():
    """A job that has a result stays done, whatever comes of what was added."""
    with lab() as one:
        number = one.new(OPEN + " more=fails")
        one.wait(number)
        before = result(one, number)
        assert more(one, number).status == 202
        job = one.wait(number)
        assert job["state"] == "done" and job["reason"] == "panic" and job["message"] == "the patched kernel fails", job
        assert result(one, number) == before
        assert "could not all be made (panic): the patched kernel fails" in one.get(f"/jobs/{number}").body.decode()
        assert "the patched kernel fails" in one.get(f"{API}/jobs/{number}/report.txt").body.decode()


def test_cancelled():
    with lab() as one:
        number = one.new(OPEN + " sleep=0.3")
        one.wait(number)
        before = result(one, number)
        assert more(one, number).status == 202
        end = time.monotonic() + 30
        while len(one.job(number)["boots"]) < 6 and time.monotonic() < end:
            time.sleep(0.05)
        assert one.call("DELETE", f"{API}/jobs/{number}").status == 202
        job = one.wait(number)
        assert job["state"] == "done" and job["reason"] == "cancelled" and 6 <= len(job["boots"]) < 10, job
        assert result(one, number) == before
        # the boots that were made are not lost: they count in the next
        assert more(one, number, "?boots=2").status == 202
        job = one.wait(number)
        assert job["state"] == "done" and job["reason"] == "" and "continuation" in result(one, number), job


def test_daemon_killed():
    with lab() as one:
        number = one.new(OPEN + " sleep=0.2")
        one.wait(number)
        before = result(one, number)
        assert more(one, number).status == 202
        for boots in (4, 6, 8):
            end = time.monotonic() + 30
            while len(one.job(number)["boots"]) < boots and time.monotonic() < end:
                time.sleep(0.02)
            one.process.kill()
            one.process.wait()
            one.process = None
            one.start()
        job = one.wait(number)
        assert job["state"] == "done" and [b["boot"] for b in job["boots"]] == list(range(10)), job
        after = result(one, number)
        assert after.pop("continuation")["rule"] == "open-ended" and after == before
        assert events(one, number).count('"type": "more"') == 1


def test_its_own_host():
    """Added boots are made where the others were, or not at all."""
    one = Lab(hosts=("local", "other"))
    try:
        one.start()
        number = one.new(OPEN)
        host = one.wait(number)["host"]
        other = {"local": "other", "other": "local"}[host]
        blocker = one.new("hang=measure")
        one.wait(blocker, {"measuring"})
        assert more(one, number).status == 202
        if one.job(blocker)["host"] == host:
            time.sleep(1)
            assert one.job(number)["state"] == "waiting-for-host", "the other host is idle, but is not its own"
        one.call("DELETE", f"{API}/jobs/{blocker}")
        job = one.wait(number)
        assert job["state"] == "done" and {b["host"] for b in job["boots"]} == {host}, job
        again = one.new(OPEN)
        gone = one.wait(again)["host"]
        one.stop()
        text = one.config.read_text()
        one.config.write_text(text.replace(f"[host {gone}]", "[host elsewhere]"))
        one.start()
        assert more(one, again).error()["code"] == "host-gone"
        assert other != host and one.job(again)["state"] == "done"
        one.stop()
    finally:
        one.close()


def test_client():
    with lab() as one:
        number = one.new(OPEN)
        one.wait(number)
        env = {**os.environ, "REGRLAB_SERVER": f"http://127.0.0.1:{one.port}"}

        def regrlab(*args):
            return subprocess.run([BUILD / "regrlab", *args], env=env, capture_output=True, text=True, timeout=60)

        assert regrlab("more", str(number)).returncode == 2
        answer = regrlab("more", str(number), "--boots", "3")
        assert answer.returncode == 0 and "measured again" in answer.stdout, answer
        one.wait(number)
        answer = regrlab("report", str(number))
        assert "a fake continuation" in answer.stdout, answer.stdout
        answer = regrlab("more", str(number), "--boots", "3")
        assert answer.returncode == 1 and "is decided" in answer.stderr, answer


if __name__ == "__main__":
    main(globals())
