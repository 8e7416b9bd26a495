# SPDX-License-Identifier: GPL-2.0-or-later
"""POST /jobs: every form of it, every limit and its status, idempotency."""

import json

from lab import API, Lab, lab, main, mbox, multipart

JSON = {"Content-Type": "application/json"}


def post(one, body, headers, query=""):
    return one.call("POST", API + "/jobs" + query, body, headers)


def test_forms():
    with lab() as one:
        form = one.submit(subject="a=b", params="aging.nproc=1,8")
        assert form.status == 202, form.body
        answer = form.json()
        assert answer["state"] == "queued" and answer["links"]["page"] == f"/jobs/{answer['id']}"
        assert form.headers["Location"] == f"{API}/jobs/{answer['id']}"

        raw = post(one, mbox("mm: raw"), {"Content-Type": "text/plain"}, "?benchmarks=aging&max_boots=3&tree=linux")
        assert raw.status == 202, raw.body
        job = one.job(raw.json()["id"])
        assert job["spec"]["subject"] == "mm: raw" and job["spec"]["author"] == "Ann Author <ann@example.org>"
        assert job["spec"]["max_boots"] == 3 and job["spec"]["tree"] == "linux"
        for kind in ("application/mbox", "message/rfc822", "text/plain; charset=utf-8", "Application/MBOX"):
            assert post(one, mbox(), {"Content-Type": kind}, "?benchmarks=aging").status == 202, kind

        body = {"series": mbox().decode(), "benchmarks": ["aging", "pwrite"], "params": ["aging.nproc=1"],
                "max_boots": 2, "min_effect": 0.5, "clock": "icount", "priority": -3}
        answer = post(one, json.dumps(body), JSON)
        assert answer.status == 202, answer.body
        spec = one.job(answer.json()["id"])["spec"]
        assert spec["benchmarks"] == ["aging", "pwrite"] and spec["min_effect_pct"] == 0.5
        assert spec["priority"] == -3 and spec["clock"] == "icount" and spec["params"] == ["aging.nproc=1"]

        head = post(one, json.dumps({"base": "v6.12", "head": "topic", "benchmarks": "aging"}), JSON)
        assert head.status == 202, head.body
        job = one.job(head.json()["id"])
        assert job["spec"]["head"] == "topic" and job["spec"]["subject"] == "topic"

        repeated = one.submit(fields=[("benchmarks", "pwrite"), ("config", ("my.config", "CONFIG_A=y\n"))])
        assert repeated.status == 202, repeated.body
        spec = one.job(repeated.json()["id"])["spec"]
        assert spec["benchmarks"] == ["aging", "pwrite"] and spec["has_config"]


def large(lines):
    """A form whose series has a long message."""
    series = mbox().replace(b"Why it is done.", b"Why it is done.\n" * lines)
    return multipart([("benchmarks", "aging"), ("series", ("x", series))])


def test_while_a_large_series_is_read():
    """Others are answered; who goes away meanwhile, or asks with it for what cannot be, disturbs nobody."""
    body, kind = large(20_000)
    refused, _ = multipart([("benchmarks", "nothing"), ("series", ("x", b"no mail\n" * 20_000))])
    with lab() as one:
        gone = one.connect()
        gone.request("POST", API + "/jobs", body, {"Content-Type": kind})
        gone.close()
        for _ in range(3):
            connections = [one.connect() for _ in range(4)]
            for number, connection in enumerate(connections):
                connection.request("POST", API + "/jobs", refused if number == 2 else body, {"Content-Type": kind})
            assert one.get(API + "/healthz").status == 200
            statuses = []
            for connection in connections:
                response = connection.getresponse()
                response.read()
                statuses.append(response.status)
                connection.request("GET", API + "/jobs")   # on the same connection
                assert connection.getresponse().read()
            assert statuses == [202, 202, 422, 202], statuses
        # one that the daemon has and has not answered yet when it is told to end
        last = one.connect()
        last.request("POST", API + "/jobs", body, {"Content-Type": kind})
        one.stop()
        one.start()
        # what came in last, and went away before it, may be there or not
        assert len(one.get(API + "/jobs").json()["jobs"]) in range(9, 12)


def test_refused():
    with lab() as one:
        def invalid(field, status=422, **fields):
            answer = one.submit(**fields)
            assert answer.status == status, (fields, answer.status, answer.body)
            assert answer.error()["field"] == field, (fields, answer.error())
            assert answer.error()["message"]

        invalid("benchmarks", benchmarks="nothing")
        invalid("benchmarks", benchmarks="../aging")
        invalid("benchmarks", benchmarks=None)
        invalid("benchmarks", benchmarks="aging,aging")
        invalid("params", params="aging.colour=red")
        invalid("params", params="pwrite.size=1k")
        invalid("tree", tree="nowhere")
        invalid("tree", tree="../../etc")
        invalid("config", config="no-such-profile")
        invalid("config", config="../lab-min")
        invalid("clock", clock="sundial")
        invalid("max_boots", max_boots="0")
        invalid("max_boots", max_boots="many")
        invalid("max_boots", max_boots="1e9")
        invalid("min_effect_pct", min_effect="0")
        invalid("priority", priority="11")
        invalid("base", base="--upload-pack=/bin/sh")
        invalid("notify", notify="nobody")
        invalid("colour", colour="red")
        invalid("job", job="7")
        invalid("series", series=b"no mail at all")
        invalid("series", series=mbox().replace(b"mm/fake.c", b"../fake.c"))
        invalid("series", series=mbox().replace(b"[PATCH]", b"[PATCH 1/2]"))
        invalid("series", fields=[("series", ("x", b""))], series=False)
        invalid("series", fields=[("series", ("x", mbox()))])
        invalid("series", series=False)
        invalid("head", fields=[("head", "topic")])
        invalid("config", fields=[("config", ("c", b"CONFIG_A=y\n" * 100000))])
        invalid("subject", fields=[("subject", "x" * 600)])
        invalid("subject", fields=[("subject", b"\xff\xfe".decode("latin-1").encode("latin-1"))])
        assert one.get(API + "/jobs").json()["jobs"] == []


def test_malformed():
    with lab() as one:
        cases = [
            (b"{", JSON), (b"[]", JSON), (b"", JSON), (b"[" * 100000, JSON), (b'{"a":' * 50000, JSON),
            (b"{\"series\": \"\xff\"}", JSON),
            (b"x", {"Content-Type": "multipart/form-data"}),
            (b"x", {"Content-Type": "multipart/form-data; boundary=a"}),
            (b"--a\r\n", {"Content-Type": "multipart/form-data; boundary=a"}),
            (b"--a\r\n\r\nx\r\n--a--", {"Content-Type": "multipart/form-data; boundary=a"}),
            (b"--a\r\nX: " + b"y" * 10000, {"Content-Type": "multipart/form-data; boundary=a"}),
        ]
        for body, headers in cases:
            answer = post(one, body, headers)
            assert answer.status == 400, (body[:40], answer.status, answer.body)
            assert answer.error()["code"] == "malformed"
        many = multipart([("params", "aging.nproc=1")] * 200)
        assert post(one, many[0], {"Content-Type": many[1]}).status == 422
        assert post(one, b"x", {"Content-Type": "image/png"}).status == 415
        assert post(one, b"x", {"Content-Type": "application/x-www-form-urlencoded"}).status == 415
        assert post(one, b"x", {}).status == 415
        # without a body, and without saying so
        connection = one.connect()
        connection.putrequest("POST", API + "/jobs")
        connection.endheaders()
        assert connection.getresponse().status == 411
        connection.close()
        for key in ("", "x" * 200, "a\tb"):
            body, kind = multipart([("benchmarks", "aging")])
            assert post(one, body, {"Content-Type": kind, "Idempotency-Key": key}).status == 400, key


def test_too_large():
    with lab(max_body_mib=1) as one:
        small = one.submit()
        assert small.status == 202
        for size in (1024 * 1024 + 1, 3 * 1024 * 1024):
            answer = post(one, b"x" * size, {"Content-Type": "text/plain"})
            assert answer.status == 413, answer.status
            assert answer.error()["code"] == "too-large"
        # announced only: refused before any of it is sent
        connection = one.connect()
        connection.putrequest("POST", API + "/jobs")
        connection.putheader("Content-Type", "text/plain")
        connection.putheader("Content-Length", str(10**12))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
        # in chunks, which announce nothing
        connection = one.connect()
        connection.request("POST", API + "/jobs", iter([b"x" * 65536] * 40), {"Content-Type": "text/plain"},
                           encode_chunked=True)
        assert connection.getresponse().status == 413
        connection.close()
        # a chunked body of the right size is taken
        body, kind = multipart([("benchmarks", "aging"), ("series", ("x", mbox()))])
        connection = one.connect()
        connection.request("POST", API + "/jobs", iter([body[:100], body[100:]]), {"Content-Type": kind},
                           encode_chunked=True)
        assert connection.getresponse().status == 202
        connection.close()
        # where no body belongs
        assert one.call("DELETE", API + "/jobs/1", b"x" * 10).status == 413


def test_queue_full():
    with lab(queue_max=2) as one:
        first = one.new("hang=build")
        second = one.new("hang=build")
        answer = one.submit()
        assert answer.status == 429 and int(answer.headers["Retry-After"]) > 0
        assert answer.error()["code"] == "queue-full"
        one.call("DELETE", f"{API}/jobs/{second}")
        assert one.submit().status == 202
        one.call("DELETE", f"{API}/jobs/{first}")


def test_idempotency():
    with lab() as one:
        first = one.submit(key="k-1", subject="sleep=0.1")
        again = one.submit(key="k-1", subject="sleep=0.1")
        assert (first.status, again.status) == (202, 202)
        assert first.json()["id"] == again.json()["id"]
        # the same in another encoding is the same
        body = {"series": mbox().decode(), "benchmarks": ["aging"], "subject": "sleep=0.1"}
        other = post(one, json.dumps(body), dict(JSON, **{"Idempotency-Key": "k-1"}))
        assert other.json()["id"] == first.json()["id"], other.body
        conflict = one.submit(key="k-1", subject="sleep=0.2")
        assert conflict.status == 409 and conflict.error()["field"] == "Idempotency-Key"
        assert one.submit(key="k-2", subject="sleep=0.1").json()["id"] != first.json()["id"]
        assert len(one.get(API + "/jobs").json()["jobs"]) == 2
        one.wait(first.json()["id"])
        one.stop()
        one.start()
        assert one.submit(key="k-1", subject="sleep=0.1").json()["id"] == first.json()["id"]


def test_hostile_strings():
    nasty = '<script>alert(1)</script>" onload="x&amp;\u202e\u0000'.replace("\u0000", "")
    with lab() as one:
        series = mbox(nasty).replace(b"Ann Author", b"A\x07nn <b>")
        answer = one.submit(series=series, benchmarks="aging")
        assert answer.status in (202, 422), answer.body
        number = one.new(nasty + " boots=1")
        one.wait(number)
        for path in ("/", f"/jobs/{number}"):
            page = one.get(path)
            assert page.status == 200, page.body
            assert page.body.count(b"<script") == 1 and b"<script>" not in page.body  # one, a file of ours
            assert b'" onload="' not in page.body
        assert one.job(number)["spec"]["subject"].startswith("<script>")
        assert one.get(f"{API}/jobs/{number}/report.txt").status == 200
        # a mail without a known charset, with control characters in its subject
        odd = mbox("mm: =?utf-8?q?a=0Ab=00c=1b=5b31m?=")
        answer = one.submit(series=odd)
        assert answer.status in (202, 422)
        if answer.status == 202:
            subject = one.job(answer.json()["id"])["spec"]["subject"]
            assert not any(ord(c) < 32 for c in subject), repr(subject)


main(globals())
