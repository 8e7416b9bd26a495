# SPDX-License-Identifier: GPL-2.0-or-later
"""Who may do what: every call of the API's own description with no token, a wrong one, and one of each role."""

import base64
import contextlib
import datetime
import itertools
import json
import os
import re
import sqlite3
import subprocess

from lab import API, BUILD, Lab, lab, main, mbox, multipart

ROLES = ["nobody", "read", "submit", "admin"]
JSON = {"Content-Type": "application/json"}
WRONG = "regrlab_1_" + "0" * 64


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def admin_token(one):
    done = subprocess.run([BUILD / "regrlabd", "--config", one.config, "--new-admin-token"], capture_output=True, text=True,
                          timeout=30)
    assert done.returncode == 0 and re.fullmatch(r"regrlab_\d+_[0-9a-f]{64}\n", done.stdout), done
    return done.stdout.strip()


def make(one, admin, role, name="a token", **limits):
    answer = one.call("POST", API + "/tokens", json.dumps({"name": name, "role": role, **limits}), {**JSON, **bearer(admin)})
    assert answer.status == 201, answer.body
    return answer.json()["token"]


def submit(one, token=None, subject="boots=1", **more):
    body, kind = multipart([("benchmarks", "aging"), ("subject", subject), ("series", ("x", mbox()))])
    return one.call("POST", API + "/jobs", body, {"Content-Type": kind, **(bearer(token) if token else {}), **more})


def fill_in(path, job):
    names = {"id": str(job), "name": "config-base" if "artifacts" in path else "style.css"}
    return re.sub(r"\{(\w+)\}", lambda found: names[found[1]], path)


def test_walk():
    """The description says who may, and it is so."""
    addresses = itertools.count(1)  # too many wrong tokens from one are not answered
    with lab(extra="[access]\nread_needs_token=yes\ntrusted_proxies=127.0.0.1\n") as one:
        admin = admin_token(one)
        tokens = {role: make(one, admin, role) for role in ROLES[1:]}
        job = submit(one, tokens["submit"]).json()["id"]
        document = one.get("/openapi.json").json()
        assert set(document["components"]["securitySchemes"]) == {"bearer", "basic"}
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                method, needed, real = method.upper(), operation["x-role"], fill_in(path, 999 if method == "delete" else job)
                what = (method, path, needed)
                schemes = [list(row) for row in operation["security"]]
                if needed == "anyone":
                    assert schemes == [[]] and one.call(method, real).status == 200, what
                    continue
                assert "401" in operation["responses"] and "403" in operation["responses"], what
                assert ["bearer"] in schemes and (["basic"] in schemes) == (method == "GET"), what
                for headers in ({}, bearer(WRONG), bearer("x"), {"Authorization": "Digest x"}):
                    answer = one.call(method, real, headers={**headers, "X-Forwarded-For": f"192.0.2.{next(addresses) % 256}"})
                    assert answer.status == 401 and answer.headers["WWW-Authenticate"], (what, answer.status)
                for role in ROLES[1:]:
                    answer = one.call(method, real, headers=bearer(tokens[role]))
                    may = ROLES.index(role) >= ROLES.index(needed)
                    assert (answer.status not in (401, 403)) == may, (what, role, answer.status, answer.body)
                basic = base64.b64encode(b"anybody:" + tokens["admin"].encode()).decode()
                answer = one.call(method, real, headers={"Authorization": f"Basic {basic}"})
                assert (answer.status == 401) == (method != "GET"), (what, answer.status)


def test_reading_is_open_and_changing_is_not():
    with lab() as one:
        assert submit(one).status == 202  # no token was ever made
        assert one.call("POST", API + "/tokens", "{}", JSON).status == 403
        assert one.get(API + "/audit").status == 403
        admin = admin_token(one)
        assert submit(one).status == 401 and one.get(API + "/jobs/1").status == 200
        assert one.call("DELETE", API + "/jobs/1").status == 401
        token = make(one, admin, "submit")
        assert submit(one, token).status == 202
        # a token that is revoked does not work, and the lab stays closed when none is left
        for number in (2, 1):
            assert one.call("DELETE", f"{API}/tokens/{number}", headers=bearer(admin)).status == 200, number
        assert submit(one, token).status == 401 and submit(one).status == 401
        assert one.call("DELETE", API + "/tokens/1", headers=bearer(admin)).status == 401
        one.stop()
        one.start()
        assert submit(one).status == 401


def test_tokens_expire():
    with lab(extra="[access]\ntoken_days=30\n") as one:
        admin = admin_token(one)
        names = {days: make(one, admin, "submit", f"{days} days", **({} if days is None else {"days": days})) for days in (None, 0, 7)}
        listed = {token["name"]: token for token in one.get(API + "/tokens", **bearer(admin)).json()["tokens"]}
        assert not listed["0 days"]["expires"] and not listed["regrlabd --new-admin-token"]["expires"], listed
        for name, days in (("None days", 30), ("7 days", 7)):
            made, ends = (datetime.datetime.fromisoformat(listed[name][key].replace("Z", "+00:00")) for key in ("created", "expires"))
            assert ends - made == datetime.timedelta(days), listed[name]
        for wrong in (-1, 36501, 1.5, "7"):
            answer = one.call("POST", API + "/tokens", json.dumps({"name": "x", "role": "read", "days": wrong}), {**JSON, **bearer(admin)})
            assert answer.status == 422 and answer.json()["error"]["field"] == "days", (wrong, answer.body)
        assert all(submit(one, token).status == 202 for token in names.values())
        one.stop()
        with contextlib.closing(sqlite3.connect(one.state / "regrlab.db")) as db, db:
            db.execute("UPDATE token SET expires_ns = created_ns + 1 WHERE name IN ('7 days', 'regrlabd --new-admin-token')")
        one.start()
        # one that has expired does not work, and the lab is as closed as before
        assert [submit(one, names[days]).status for days in (None, 0, 7)] == [202, 202, 401]
        assert submit(one).status == 401 and one.get(API + "/tokens", **bearer(admin)).status == 401
        one.stop()
        one.config.write_text(one.config.read_text().replace("listen=127.0.0.1", "listen=0.0.0.0").replace(
            "[access]\n", "[access]\nbehind_tls_proxy=yes\n").replace("[daemon]\n", "[daemon]\nurl=https://lab.example.org\n"))
        done = subprocess.run([BUILD / "regrlabd", "--config", one.config], capture_output=True, text=True, timeout=30)
        assert done.returncode != 0 and "nobody has a token" in done.stderr, done


def test_own_jobs_only():
    with lab() as one:
        admin = admin_token(one)
        ann, bob = make(one, admin, "submit", "ann"), make(one, admin, "submit", "bob")
        jobs = [submit(one, ann, "hang=build").json()["id"] for _ in range(3)]
        delete = [one.call("DELETE", f"{API}/jobs/{number}", headers=bearer(token)).status
                  for number, token in zip(jobs, (bob, ann, admin))]
        assert delete == [403, 200, 200], delete
        assert one.call("DELETE", f"{API}/jobs/{jobs[0]}", headers=bearer(ann)).status in (200, 202)
        # the same key of two tokens is two jobs
        keys = [submit(one, token, "hang=build", **{"Idempotency-Key": "k"}).json()["id"] for token in (ann, bob, ann)]
        assert keys[0] == keys[2] != keys[1], keys


def test_nothing_secret_at_rest():
    with lab() as one:
        admin = admin_token(one)
        token = make(one, admin, "submit")
        listed = one.get(API + "/tokens", **bearer(admin)).body
        assert b"regrlab_" not in listed and len(json.loads(listed)["tokens"]) == 2
        secrets = [text.rsplit("_", 1)[1].encode() for text in (admin, token)]
        one.stop()
        for path in (p for p in one.dir.rglob("*") if p.is_file()):
            data = path.read_bytes()
            assert not any(secret in data for secret in secrets), path
        key = one.state / "token.key"
        assert key.stat().st_mode & 0o777 == 0o600
        # with another key no token works: a copy of the database alone makes nobody an admin
        key.unlink()
        one.start()
        assert submit(one, token).status == 401
        one.stop()
        key.chmod(0o644)
        done = subprocess.run([BUILD / "regrlabd", "--config", one.config], capture_output=True, text=True, timeout=30)
        assert done.returncode == 1 and "chmod 600" in done.stderr, done
        key.chmod(0o600)
        one.start()


def test_limits_of_a_token():
    with lab() as one:
        admin = admin_token(one)
        slow = make(one, admin, "submit", requests_per_min=3, queue_max=0, hours_per_day=0)
        statuses = [one.get(API + "/jobs", **bearer(slow)) for _ in range(5)]
        assert [answer.status for answer in statuses] == [200, 200, 200, 429, 429]
        assert statuses[3].error()["code"] == "too-many-requests" and 0 < int(statuses[3].headers["Retry-After"]) <= 60
        assert one.get(API + "/jobs").status == 200  # nobody else is kept

        few = make(one, admin, "submit", queue_max=2)
        answers = [submit(one, few, "hang=build") for _ in range(3)]
        assert [answer.status for answer in answers] == [202, 202, 429], [answer.body for answer in answers]
        assert answers[2].error()["code"] == "token-queue-full" and answers[2].headers["Retry-After"]
        assert one.call("DELETE", f"{API}/jobs/{answers[1].json()['id']}", headers=bearer(few)).status in (200, 202)
        assert submit(one, few).status == 202
        assert submit(one, admin).status == 202

        short = make(one, admin, "submit", hours_per_day=1)
        db = sqlite3.connect(one.state / "regrlab.db")
        db.execute("INSERT INTO machine_time SELECT 'token ' || max(id), unixepoch() / 3600, 3600 * 1000000000 FROM token")
        db.commit()
        db.close()
        answer = submit(one, short)
        assert answer.status == 429 and answer.error()["code"] == "token-machine-time" and answer.headers["Retry-After"]


def test_turns_of_several():
    """A crowd of one's jobs does not keep another's, priority or not; who has used his time has to wait."""
    with lab() as one:
        admin = admin_token(one)
        ann, bob = make(one, admin, "submit"), make(one, admin, "submit", hours_per_day=8)
        running = submit(one, ann, "hang=build").json()["id"]
        one.wait(running, {"building"})
        crowd = [submit(one, ann, "boots=1").json()["id"] for _ in range(3)]
        own = submit(one, bob, "boots=1").json()["id"]
        positions = [one.job(number)["queue_position"] for number in (own, *crowd)]
        assert positions == [1, 2, 3, 4], positions
        assert one.get("/").body.index(b"/jobs/%d" % own) < one.get("/").body.index(b"/jobs/%d" % crowd[0])
        db = sqlite3.connect(one.state / "regrlab.db")
        db.execute("INSERT INTO machine_time VALUES ('token 3', unixepoch() / 3600, 8 * 3600 * 1000000000)")
        db.commit()
        one.call("DELETE", f"{API}/jobs/{running}", headers=bearer(admin))
        for number in crowd:
            assert one.wait(number)["state"] == "done"
        assert one.job(own)["state"] == "queued"
        db.execute("DELETE FROM machine_time WHERE submitter = 'token 3'")
        db.commit()
        db.close()
        # any job that ends makes the lab look again
        one.wait(submit(one, ann, "boots=1").json()["id"])
        assert one.wait(own)["state"] == "done"


def test_machine_time_is_counted():
    with lab() as one:
        token = make(one, admin_token(one), "submit")
        one.wait(submit(one, token, "boots=1 sleep=0.2").json()["id"])
        one.stop()
        rows = sqlite3.connect(one.state / "regrlab.db").execute("SELECT submitter, sum(ns) FROM machine_time GROUP BY 1").fetchall()
        assert [row[0] for row in rows] == ["token 2"] and 0.4e9 < rows[0][1] < 60e9, rows
        one.start()


def test_limit_without_a_token():
    with lab(extra="[access]\nrequests_per_min=5\n") as one:
        statuses = [one.get(API + "/jobs").status for _ in range(7)]
        assert statuses == [200] * 5 + [429] * 2, statuses
        assert one.get("/healthz").status == 200  # who watches over the lab is not kept


def test_guessing_is_slow():
    with lab() as one:
        admin = admin_token(one)
        statuses = {one.get(API + "/jobs", **bearer(WRONG)).status for _ in range(30)}
        assert statuses == {401}
        assert one.get(API + "/jobs", **bearer(WRONG)).status == 429
        assert one.get(API + "/tokens", **bearer(admin)).status == 200


def test_audit():
    with lab(extra="[access]\ntrusted_proxies=127.0.0.1\n") as one:
        admin = admin_token(one)
        token = make(one, admin, "submit", "ann's laptop")
        job = submit(one, token, "hang=build", **{"X-Forwarded-For": "203.0.113.1, 198.51.100.7"}).json()["id"]
        one.call("DELETE", f"{API}/jobs/{job}", headers=bearer(admin))
        assert submit(one, token, benchmarks="none", **{"Content-Type": "image/png"}).status == 415
        one.call("DELETE", API + "/tokens/2", headers=bearer(admin))
        assert one.get(API + "/audit", **bearer(token)).status == 401
        assert one.get(API + "/audit", **bearer(make(one, admin, "submit"))).status == 403
        entries = one.get(API + "/audit?limit=5", **bearer(admin)).json()
        found = [(entry["who"], entry["name"], entry["address"], entry["action"], entry["target"])
                 for entry in reversed(entries["entries"])]
        console = "regrlabd --new-admin-token"
        assert found == [
            ("token 1", console, "127.0.0.1", "token-create", "token 2, submit, ann's laptop"),
            ("token 2", "ann's laptop", "198.51.100.7", "submit", f"job {job}"),
            ("token 1", console, "127.0.0.1", "cancel", f"{API}/jobs/{job}"),
            ("token 1", console, "127.0.0.1", "token-revoke", "token 2"),
            ("token 1", console, "127.0.0.1", "token-create", "token 3, submit, a token")], found
        last = one.get(f"{API}/audit?cursor={entries['cursor']}", **bearer(admin)).json()
        assert [entry["who"] for entry in last["entries"]] == ["console"] and last["cursor"] is None
        assert f"audit: token 2 (ann's laptop) from 198.51.100.7: submit job {job}" in one.log.read_text()
        assert token not in one.log.read_text() and admin not in one.log.read_text()


def test_a_proxy_in_front():
    """Through a proxy nobody is local, and what the proxy says is believed only if it is ours."""
    with lab() as one:
        assert submit(one, **{"X-Forwarded-For": "198.51.100.7"}).status == 401
        assert submit(one, Via="1.1 proxy").status == 401
        assert submit(one).status == 202
    with lab(url="https://lab.example.org", extra="[access]\nbehind_tls_proxy=yes\n") as one:
        token = make(one, admin_token(one), "submit")
        assert submit(one).status == 401
        host = {"Host": "lab.example.org"}
        assert submit(one, token, Origin="https://lab.example.org", **host).status == 202
        assert submit(one, token, Origin="http://lab.example.org", **host).status == 403
        assert submit(one, token, Origin="https://lab.example.org:444", **host).status == 403
        answer = one.get("/", **host)
        assert answer.status == 200 and answer.headers["Strict-Transport-Security"]
        assert b"https://lab.example.org" in one.get(API + "/jobs/1/report.txt").body or b"https://lab" in answer.body


def test_other_sites_change_nothing():
    with lab() as one:
        for headers in ({"Origin": "http://attacker.example.org"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Sec-Fetch-Site": "same-site"}, {"Referer": "http://attacker.example.org/page"},
                        {"Referer": f"http://127.0.0.1.example.org:{one.port}/"}):
            for method, path in (("POST", "/jobs"), ("DELETE", "/jobs/1"), ("POST", "/tokens"), ("DELETE", "/tokens/1")):
                answer = one.call(method, API + path, headers=headers)
                assert answer.status == 403 and answer.error()["code"] == "cross-site", (headers, method, path, answer.body)
        # what a form of another site could send without asking first is no token either
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            answer = one.call("POST", API + "/tokens", "{}", {"Content-Type": kind, **bearer(admin_token(one))})
            assert answer.status == 415, (kind, answer.status)
        # a browser asks first, and gets no leave
        for path in ("/jobs", "/jobs/1", "/tokens", "/tokens/1"):
            answer = one.call("OPTIONS", API + path, headers={"Access-Control-Request-Method": "DELETE"})
            assert answer.status in (403, 405) and not answer.headers["Access-Control-Allow-Origin"]
        assert one.get(API + "/jobs").json()["jobs"] == []


def test_listening_elsewhere():
    def refused(words, status, **keys):
        other = Lab(listen="0.0.0.0", **keys)
        done = subprocess.run([BUILD / "regrlabd", "--config", other.config], capture_output=True, text=True, timeout=30)
        other.close()
        assert done.returncode == status and words in done.stderr, done
    tls = "[access]\nbehind_tls_proxy=yes\n"
    refused("behind_tls_proxy=yes", 2)
    refused("needs url", 2, extra=tls)
    refused("--new-admin-token", 1, extra=tls, url="https://lab.example.org")
    one = Lab(listen="0.0.0.0", extra=tls, url="https://lab.example.org")
    try:
        token = admin_token(one)
        one.start()
        assert submit(one).status == 401 and submit(one, token).status == 202
        assert one.get(API + "/jobs").status == 200
        assert one.get("/", Host="attacker.example.org").status == 421
        one.call("DELETE", API + "/jobs/1", headers=bearer(token))
        one.stop()
    finally:
        one.close()


def regrlab(one, *arguments, status=0, **env):
    environment = {**{k: v for k, v in os.environ.items() if k != "REGRLAB_TOKEN"}, "XDG_CONFIG_HOME": str(one.dir / "home"),
                   "REGRLAB_SERVER": f"http://127.0.0.1:{one.port}", **env}
    done = subprocess.run([BUILD / "regrlab", *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, (arguments, done)
    return done.stdout + done.stderr if status else done.stdout


def test_client():
    with lab() as one:
        file = one.dir / "admin"
        file.touch(0o600)
        file.write_text(admin_token(one) + "\n")
        assert "needs a token" in regrlab(one, "token", "list", status=1)
        text = regrlab(one, "token", "create", "ann", "--role", "submit", "--queue", 5, "--token-file", file).strip()
        assert text.startswith("regrlab_2_"), text
        listed = regrlab(one, "token", "list", "--token-file", file).splitlines()
        assert len(listed) == 2 and "submit  ann, made " in listed[1] and ", 5 jobs, 600 requests a minute" in listed[1], listed
        assert ", expires" not in listed[1], listed
        regrlab(one, "token", "create", "guest", "--days", 7, "--token-file", file)
        assert ", expires 2" in regrlab(one, "token", "list", "--token-file", file).splitlines()[2]
        assert "role submit" in regrlab(one, "token", "list", status=1, REGRLAB_TOKEN=text)
        argv = ("submit", "--head", "abc", "--benchmarks", "aging")
        assert "needs a token" in regrlab(one, *argv, status=1)
        assert "job 1" in regrlab(one, *argv, REGRLAB_TOKEN=text)
        standard = one.dir / "home/regrlab/token"
        standard.parent.mkdir(parents=True)
        standard.write_text(text)
        standard.chmod(0o644)
        assert "chmod 600" in regrlab(one, *argv, status=1)
        standard.chmod(0o600)
        assert "job 2" in regrlab(one, *argv)
        assert "without https" in regrlab(one, "list", "--server", "http://lab.example.org", status=1)
        assert regrlab(one, "token", "revoke", 2, "--token-file", file) == "token 2 is revoked\n"
        assert "does not work" in regrlab(one, *argv, status=1)
        assert "there is no token 9" in regrlab(one, "token", "revoke", 9, "--token-file", file, status=1)
        assert "no token in it" in regrlab(one, "list", status=1, REGRLAB_TOKEN="a\nb: c")
        for wrong in (("token",), ("token", "create"), ("token", "revoke", "x"), ("token", "burn")):
            regrlab(one, *wrong, status=2)


main(globals())
