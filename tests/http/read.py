# SPDX-License-Identifier: GPL-2.0-or-later
"""Reading: the API's own description is true, lists, caching, streaming, files, and clients that behave badly."""

import csv
import io
import json
import os
import re
import socket
import sqlite3
import threading
import time

from lab import API, lab, main, mbox, multipart

SECURITY = {"Content-Security-Policy": "default-src 'self'", "X-Content-Type-Options": "nosniff"}
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


def test_openapi_walk():
    with lab() as one:
        number = one.new("boots=1")
        one.wait(number)
        document = one.get("/openapi.json").json()
        assert document == one.get(API + "/openapi.json").json() and document["openapi"].startswith("3.0")
        for path, operations in document["paths"].items():
            names = {"id": str(number), "name": "config-base" if "artifacts" in path else "local" if "hosts" in path else
                     "style.css"}
            real = re.sub(r"\{(\w+)\}", lambda found: names[found[1]], path)
            missing = re.sub(r"\{(\w+)\}", lambda found: {"id": "999", "name": "none.such"}[found[1]], path)
            documented = {method.upper() for method in operations}
            for method, operation in operations.items():
                check_operation(one, method.upper(), real, missing, operation, path)
            allowed = documented | ({"HEAD"} if "GET" in documented else set())
            for method in METHODS:
                if method in documented:
                    continue
                answer = one.call(method, real)
                assert answer.status == 405, (method, real, answer.status)
                assert set(answer.headers["Allow"].split(", ")) == allowed, (path, answer.headers["Allow"])
        # and what is not in it is not there
        for path in (API, API + "/", API + "/job", API + "/jobs/", API + "/jobs/0", API + "/jobs/x", API + "/jobs/-1",
                     API + "/jobs/1/", API + "/jobs/1/spec.json", API + "/jobs/99999999999999999999", "/job", "/index.html",
                     "/static/", "/favicon.ico", "/static/../lab", "//"):
            answer = one.get(path)
            assert answer.status == 404, (path, answer.status)
            kind = "application/json" if path.startswith("/api/") else "text/html"
            assert answer.headers["Content-Type"].startswith(kind), (path, answer.headers["Content-Type"])


def check_operation(one, method, real, missing, operation, path):
    responses = operation["responses"]
    good = [status for status in responses if status.startswith("2") or status == "303"]
    assert operation["summary"] and good, path
    if operation["security"][0]:  # a token's holder alone: access.py has some
        assert one.call(method, real).status == 403, path
        return
    if path.startswith(API + "/mail"):  # off: mail.py turns it on
        assert str(one.call(method, real).status) in {"409", "411"} & set(responses), path
        return
    if method == "POST" and "requestBody" not in operation:
        answer = one.call(method, real)
        assert str(answer.status) in responses, (real, answer.status, answer.body[:200])
        assert missing == real or one.call(method, missing).status == 404, missing
        return
    if method == "POST":
        body, kind = multipart([("benchmarks", "aging"), ("series", ("x", mbox()))])
        answer = one.call(method, real, body, {"Content-Type": kind})
        documented = set(operation["requestBody"]["content"])
        for kind in documented:
            assert one.call(method, real, b"?", {"Content-Type": kind}).status in (400, 422), kind
        properties = operation["requestBody"]["content"]["multipart/form-data"]["schema"]["properties"]
        for name in properties:
            answer2 = one.submit(fields=[(name, "\x01")], series=False, benchmarks=None)
            assert answer2.status == 422 and "unknown" not in answer2.error()["message"], (name, answer2.body)
    else:
        answer = one.call(method, real)
    if method == "DELETE":
        assert str(answer.status) in responses
        return
    assert str(answer.status) in good, (method, real, answer.status, answer.body[:200])
    kinds = set(responses[str(answer.status)]["content"])
    got = answer.headers["Content-Type"].split(";")[0]
    assert got in kinds or kinds == {"application/octet-stream"}, (path, got, kinds)
    for name, begin in SECURITY.items():
        assert answer.headers[name].startswith(begin), (path, name)
    if "{" in path:
        answer = one.call(method, missing)
        assert answer.status == 404 and "404" in responses, (missing, answer.status)
    if method != "GET":
        return
    head = one.call("HEAD", real)
    assert head.status == 200 and head.body == b"" and head.headers["Content-Type"] == one.get(real).headers["Content-Type"]
    if path.startswith(API) or path in ("/healthz", "/metrics", "/openapi.json"):
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query":
                value = {"verdict": "REGRESSION", "kernel": "1"}.get(parameter["name"], {"integer": "1", "string": "done"}[parameter["schema"]["type"]])
                answer = one.get(f"{real}?{parameter['name']}={value}")
                assert answer.status == 200, (real, parameter, answer.body)
                if parameter["schema"]["type"] == "integer":
                    assert one.get(f"{real}?{parameter['name']}=x").status == 400
        answer = one.get(real + "?nosuch=1")
        assert answer.status == 400 and answer.error()["code"] == "unknown-parameter", (real, answer.status)


def test_buttons():
    """What a page's forms do in an open lab: the job's page is next, and a page of another site may not press them."""
    with lab() as one:
        number = one.new("hang=measure")
        one.wait(number, states=("measuring",))
        page = one.get(f"/jobs/{number}").body.decode()
        assert f'<form method="post" action="/jobs/{number}/cancel">' in page
        refused = one.call("POST", f"/jobs/{number}/cancel", headers={"Origin": "http://evil.example.org"})
        assert refused.status == 403, refused.status
        answer = one.call("POST", f"/jobs/{number}/cancel", headers={"Origin": f"http://127.0.0.1:{one.port}"})
        assert answer.status == 303 and answer.headers["Location"] == f"/jobs/{number}", answer.status
        assert one.wait(number)["state"] == "cancelled"
        assert one.call("POST", f"/jobs/{number}/cancel").status == 303  # once more changes nothing
        done = one.new("boots=1")
        one.wait(done)
        answer = one.call("POST", f"/jobs/{done}/cancel")
        assert answer.status == 409 and answer.headers["Content-Type"].startswith("text/html")


def test_lists():
    with lab() as one:
        numbers = [one.new("boots=1", tree=("linux", "other")[n % 2], benchmarks=("aging", "pwrite", "aging,pwrite")[n % 3])
                   for n in range(6)]
        for number in numbers:
            one.wait(number)
        failed = one.new("end=build-failed")
        one.wait(failed)

        def ids(query):
            answer = one.get(f"{API}/jobs?{query}")
            assert answer.status == 200, answer.body
            return [job["id"] for job in answer.json()["jobs"]]

        newest = sorted(numbers + [failed], reverse=True)
        assert ids("") == newest
        assert ids("state=build-failed") == [failed] and ids("state=live") == []
        assert ids("tree=other") == [n for n in newest if n in numbers[1::2]]
        assert ids("benchmark=pwrite&state=done") == [n for n in newest if n in (numbers[1], numbers[2], numbers[4], numbers[5])]
        assert ids("benchmark=pwrite&tree=other&state=done") == [numbers[5], numbers[1]]
        assert ids("tree=%27%20OR%201--") == []
        assert ids("state=ended&limit=2") == newest[:2]
        assert ids("subject=boots&author=ann&verdict=REGRESSION&commit=bbbbbb") == sorted(numbers, reverse=True)
        assert ids("subject=boots%20nosuch") == ids("author=eve") == ids("verdict=EQUIVALENT") == ids("commit=cccccc") == []
        assert ids("subject=build-fail&state=ended") == [failed] and ids("subject=%22%20OR%20*%20NEAR(&state=live") == []
        assert ids("subject=end%20build&tree=linux&benchmark=aging&state=build-failed") == [failed]
        seen, cursor = [], None
        while True:
            page = one.get(f"{API}/jobs?limit=3" + (f"&cursor={cursor}" if cursor else "")).json()
            seen += [job["id"] for job in page["jobs"]]
            cursor = page["cursor"]
            if not cursor:
                break
            assert len(page["jobs"]) == 3
        assert seen == newest
        for query in ("limit=0", "limit=201", "limit=x", "cursor=0", "cursor=-1", "state=finished", "state=", "nosuch=1", "verdict=", "verdict=BAD",
                      "tree=%00", "tree=%ff"):
            answer = one.get(f"{API}/jobs?{query}")
            assert answer.status == 400, (query, answer.status)


def test_caching():
    with lab() as one:
        number = one.new("boots=1")
        one.wait(number)
        for path in (f"{API}/jobs/{number}", f"{API}/jobs/{number}/result", f"{API}/jobs/{number}/samples.csv",
                     "/static/style.css", "/openapi.json", API + "/jobs"):
            first = one.get(path)
            assert first.status == 200 and first.headers["ETag"], path
            again = one.get(path, **{"If-None-Match": f'"other", {first.headers["ETag"]}'})
            assert again.status == 304 and again.body == b"", path
            assert one.get(path, **{"If-None-Match": '"other"'}).status == 200


def test_log_and_artifacts():
    with lab() as one:
        number = one.new("boots=1 loud=100000")
        one.wait(number)
        whole = one.get(f"{API}/jobs/{number}/log")
        assert whole.status == 200 and len(whole.body) > 100000
        assert int(whole.headers["X-Next-Offset"]) == len(whole.body) and whole.headers["X-Job-State"] == "done"
        part = one.get(f"{API}/jobs/{number}/log?from=99990")
        assert part.body == whole.body[99990:]
        end = one.get(f"{API}/jobs/{number}/log?from={len(whole.body)}")
        assert end.body == b"" and end.headers["X-Next-Offset"] == str(len(whole.body))
        assert one.get(f"{API}/jobs/{number}/log?from=9999999999").body == b""
        for bad in ("-1", "x", "99999999999999999999", ""):
            assert one.get(f"{API}/jobs/{number}/log?from={bad}").status == 400, bad

        links = one.job(number)["links"]["artifacts"]
        assert links and all(one.get(link).status == 200 for link in links)
        folder = one.state / f"jobs/{number}/artifacts"
        os.symlink("/etc/passwd", folder / "passwd.txt")
        os.mkdir(folder / "folder")
        os.mkfifo(folder / "fifo")
        (folder / "page.html").write_text("<script>alert(1)</script>")
        (folder / ".hidden").write_text("x")
        (folder / "sp ace").write_text("x")
        for name in ("passwd.txt", "folder", "fifo", "..", ".", ".hidden", "..%2fspec.json", "%2e%2e%2fspec.json", "sp%20ace",
                     "config-base%00.txt", "a" * 200, "no.such"):
            answer = one.get(f"{API}/jobs/{number}/artifacts/{name}")
            assert answer.status == 404 or (name.startswith("config-base") and answer.status in (200, 400)), (name, answer.status)
        page = one.get(f"{API}/jobs/{number}/artifacts/page.html")
        assert page.headers["Content-Type"] == "application/octet-stream" and page.headers["Content-Disposition"] == "attachment"
        listed = one.job(number)["links"]["artifacts"]
        assert not any("passwd" in link or "hidden" in link or "fifo" in link for link in listed)
        # the whole folder as a link
        os.rename(folder, one.dir / "artifacts")
        os.symlink(one.dir / "artifacts", folder)
        assert one.get(f"{API}/jobs/{number}/artifacts/config-base").status == 404
        assert one.job(number)["links"]["artifacts"] == []


def test_other_sites():
    with lab() as one:
        body, kind = multipart([("benchmarks", "aging"), ("series", ("x", mbox()))])

        def post(**headers):
            headers["Content-Type"] = kind
            return one.call("POST", API + "/jobs", body, headers).status
        assert post(Origin="http://attacker.example.org") == 403
        assert post(Origin="null") == 403
        assert post(Origin=f"http://127.0.0.1:{one.port}") == 202
        assert one.get("/", Host="attacker.example.org").status == 421
        for host in ("localhost", "localhost:80", "127.0.0.1", "[::1]:8642", "127.0.0.2:1"):
            assert one.get("/", Host=host).status == 200, host
        assert one.call("DELETE", API + "/jobs/1", headers={"Origin": "http://attacker.example.org"}).status == 403


def fill(one, number, rows):
    """Many samples of one boot, put into the database as ingest would."""
    db = sqlite3.connect(one.state / "regrlab.db")
    measure = db.execute("SELECT id FROM measure").fetchone()[0]
    db.execute("DELETE FROM sample WHERE job = ?", (number,))
    db.executemany("INSERT INTO sample VALUES (?, ?, 0, ?, ?, ?, ?)",
                   ((number, n, measure, n // 1000, n % 1000, n / 7) for n in range(rows)))
    db.commit()
    db.close()


def memory_kib(one, name="VmRSS"):
    with open(f"/proc/{one.process.pid}/status") as f:
        return int(re.search(rf"{name}:\s+(\d+)", f.read())[1])


def test_streaming():
    rows = 400_000
    with lab() as one:
        number = one.new("boots=1")
        one.wait(number)
        one.stop()
        fill(one, number, rows)
        one.start()
        one.get(f"{API}/jobs/{number}")
        before = memory_kib(one)
        connection = one.connect(60)
        connection.request("GET", f"{API}/jobs/{number}/samples.csv")
        response = connection.getresponse()
        count, size, worst = 0, 0, 0.0
        while piece := response.read(1 << 20):
            count += piece.count(b"\n")
            size += len(piece)
            if size // (1 << 20) % 20 == 0:  # others are answered meanwhile
                started = time.monotonic()
                assert one.get("/healthz").status == 200
                worst = max(worst, time.monotonic() - started)
        assert count == rows + 1, count
        grown = memory_kib(one) - before
        print(f"    {size >> 20} MiB, memory grew by {grown} KiB, others waited {worst * 1000:.0f} ms at most")
        assert grown < 48 * 1024 and worst < 2
        connection.close()
        # a reader who leaves in the middle, and one who changes his mind
        for _ in range(3):
            s = socket.create_connection(("127.0.0.1", one.port))
            s.sendall(f"GET {API}/jobs/{number}/samples.json HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            s.recv(100000)
            s.close()
        assert one.get("/healthz").status == 200
        # values read back equal
        fill_few = one.get(f"{API}/jobs/{number}/samples.csv", Range="bytes=0-10")
        assert fill_few.status == 200
        reader = csv.DictReader(io.StringIO(fill_few.body[:200000].decode(), newline=""))
        for n, row in zip(range(1000), reader):
            assert float(row["value"]) == n / 7


def test_streaming_while_writing():
    """A slow reader sees the samples that there were when it began, and holds up nobody."""
    with lab() as one:
        number = one.new("boots=1")
        one.wait(number)
        one.stop()
        fill(one, number, 200_000)
        one.start()
        slow = socket.create_connection(("127.0.0.1", one.port))
        slow.sendall(f"GET {API}/jobs/{number}/samples.csv HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        slow.recv(1000)
        other = one.new("boots=2")
        assert one.wait(other)["state"] == "done"
        data = b""
        while piece := slow.recv(1 << 20):
            data += piece
        assert data.count(f"\r\n{number},base,0,".encode()) >= 199_000
        slow.close()


def test_keep_alive():
    with lab() as one:
        connection = one.connect()
        connection.connect()
        ours = connection.sock.getsockname()
        for n in range(50):
            body, kind = multipart([("benchmarks", "nothing"), ("series", ("x", mbox()))])
            for method, path, more in (("GET", "/healthz", {}), ("GET", "/nothing", {}), ("HEAD", "/", {}),
                                       ("POST", API + "/jobs", {"body": body, "headers": {"Content-Type": kind}})):
                connection.request(method, path, **more)
                response = connection.getresponse()
                response.read()
                assert connection.sock and connection.sock.getsockname() == ours, (n, method, path)
        connection.close()


def wakeups(one):
    with open(f"/proc/{one.process.pid}/status") as f:
        return sum(int(n) for n in re.findall(r"ctxt_switches:\s+(\d+)", f.read()))


def test_idle_connection_wakes_nobody():
    with lab(idle_timeout_s=5) as one:
        connection = one.connect()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        before = wakeups(one)
        time.sleep(2)
        assert wakeups(one) - before < 20, wakeups(one) - before
        # and is closed when its time is over
        connection.sock.settimeout(10)
        assert connection.sock.recv(1) == b""


def test_slow_clients():
    with lab(idle_timeout_s=2, request_timeout_s=3, connections_max=20) as one:
        def trickle(head):
            s = socket.create_connection(("127.0.0.1", one.port))
            s.settimeout(0.05)
            started = time.monotonic()
            s.sendall(head)
            while time.monotonic() - started < 15:
                try:
                    s.sendall(b"x")
                    time.sleep(0.5)
                    if s.recv(1000) == b"":
                        break
                except TimeoutError:
                    continue
                except OSError:
                    break
            s.close()
            times.append(time.monotonic() - started)
        times = []
        heads = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ",
                 f"POST {API}/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 9999\r\n\r\n".encode()]
        threads = [threading.Thread(target=trickle, args=(head,)) for head in heads * 4]
        for thread in threads:
            thread.start()
        for _ in range(10):
            started = time.monotonic()
            assert one.get("/healthz").status == 200
            assert time.monotonic() - started < 1
            time.sleep(0.1)
        for thread in threads:
            thread.join()
        assert max(times) < 9, times
        # more connections than there is room for: those too many wait, and are answered in the end
        crowd = [socket.create_connection(("127.0.0.1", one.port)) for _ in range(30)]
        started = time.monotonic()
        assert one.get("/healthz").status == 200
        assert time.monotonic() - started < 10
        for s in crowd:
            s.close()


def test_rubbish():
    with lab() as one:
        rubbish = [b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x00" * 1000, b"\x16\x03\x01\x02\x00\x01",
                   b"GET / HTTP/1.1\r\n\r\n", b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
                   b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 20000 + b"\r\n",
                   b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
                   b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                   b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                   b"GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n",
                   b"FROBNICATE / HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /%00%ff%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                   b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n"]
        for data in rubbish:
            with socket.create_connection(("127.0.0.1", one.port)) as s:
                s.settimeout(0.3)
                try:
                    s.sendall(data)
                    s.shutdown(socket.SHUT_WR)
                    while s.recv(65536):
                        pass
                except OSError:
                    pass
            assert one.get("/healthz").status == 200, data[:40]


def test_two_clients():
    with lab() as one:
        failures = []

        def client(which):
            try:
                numbers = [one.new(f"boots=1 who={which}") for _ in range(5)]
                for number in numbers:
                    assert one.wait(number)["spec"]["subject"].endswith(which)
            except Exception as e:
                failures.append(e)
        threads = [threading.Thread(target=client, args=(name,)) for name in ("a", "b")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures
        jobs = one.get(API + "/jobs").json()["jobs"]
        assert len(jobs) == 10 and all(job["state"] == "done" for job in jobs)


def test_metrics_and_health():
    with lab() as one:
        number = one.new("boots=1")
        one.wait(number)
        text = one.get("/metrics").body.decode()
        for line in text.splitlines():
            assert line.startswith("# ") or re.fullmatch(r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?\d+', line), line
        assert 'regrlab_jobs{state="done"} 1' in text and 'regrlab_host_boots{host="local",valid="1"} 2' in text
        health = one.get("/healthz").json()
        assert health["status"] == "ok" and health["disk_free_bytes"] > 0
        assert json.dumps(health)


main(globals())
