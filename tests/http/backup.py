# SPDX-License-Identifier: GPL-2.0-or-later
"""regrlabd --backup: made while jobs run, it becomes a lab that goes on where the other one was."""

import json
import shutil
import sqlite3
import subprocess
import time

from lab import API, BUILD, Lab, lab, main


def backup(one, path):
    return subprocess.run([BUILD / "regrlabd", "--config", one.config, "--backup", path], capture_output=True, text=True,
                          timeout=60)


def boots(one, number):
    return [(b["boot"], b["start_ns"]) for b in one.job(number)["boots"]]


def test_goes_on():
    with lab() as one, lab() as other:
        done = one.new("boots=1")
        one.wait(done)
        running = one.new("boots=6 sleep=0.2 passes=5")
        while len(one.wait(running, {"measuring"})["boots"]) < 3:
            time.sleep(0.05)
        queued = one.new("boots=1")
        answer = backup(one, one.dir / "backup")
        assert answer.returncode == 0 and not answer.stdout and not answer.stderr, answer
        had = boots(one, running)   # at least what the backup has
        assert one.wait(running)["state"] == "done", "the lab itself was disturbed"

        other.stop()
        shutil.rmtree(other.state)
        shutil.copytree(one.dir / "backup", other.state)
        other.start()
        for number in (done, running, queued):
            assert other.wait(number)["state"] == "done", number
        assert boots(other, running)[:3] == had[:3], "boots that were made are not made again"
        assert len(boots(other, running)) == 12
        assert other.get(f"{API}/jobs/{done}/samples.csv").body == one.get(f"{API}/jobs/{done}/samples.csv").body
        assert other.get(f"{API}/jobs/{done}/log").body == one.get(f"{API}/jobs/{done}/log").body
        assert other.get(f"{API}/jobs/{done}/artifacts/config-base").status == 200
        assert other.new("boots=1") > queued


def test_of_one_moment():
    """Backups while everything moves: each is a sound database, and no run directory has less than it."""
    with lab(hosts=("a", "b", "c")) as one:
        numbers = [one.new("boots=8 passes=50 sleep=0.02") for _ in range(3)]
        for n in range(6):
            path = one.dir / f"backup-{n}"
            assert backup(one, path).returncode == 0
            with sqlite3.connect(path / "regrlab.db") as db:
                assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
                rows = db.execute("SELECT id, last_seq, events_offset, samples_offset FROM job").fetchall()
            assert [row[0] for row in rows] == numbers
            for number, seq, events, samples in rows:
                if not seq:
                    continue
                data = (path / f"jobs/{number}/events.jsonl").read_bytes()
                assert len(data) >= events and len(data[:events].splitlines()) == seq
                lines = data[:data.rfind(b"\n") + 1].splitlines()
                counted = sum(e["samples"] for e in map(json.loads, lines) if e["type"] == "boot")
                file = path / f"jobs/{number}/samples.jsonl"
                assert (file.stat().st_size if file.exists() else 0) >= samples
                assert counted <= (file.read_bytes().count(b"\n") if file.exists() else 0)
            time.sleep(0.2)
        for number in numbers:
            assert one.wait(number)["state"] == "done"


def test_token_key():
    """Tokens are worth nothing without their key, so it goes along, for its owner alone."""
    with lab() as one, lab() as other:
        made = subprocess.run([BUILD / "regrlabd", "--config", one.config, "--new-admin-token"], check=True,
                              capture_output=True, text=True)
        assert backup(one, one.dir / "backup").returncode == 0
        copy = one.dir / "backup/token.key"
        assert copy.read_bytes() == (one.state / "token.key").read_bytes() and copy.stat().st_mode & 0o777 == 0o600
        other.stop()
        shutil.rmtree(other.state)
        shutil.copytree(one.dir / "backup", other.state)
        other.start()
        assert other.get(API + "/audit").status == 401
        assert other.get(API + "/audit", Authorization="Bearer " + made.stdout.strip()).status == 200


def test_refused():
    with lab() as one:
        full = one.dir / "full"
        full.mkdir()
        (full / "mine").write_text("x")
        answer = backup(one, full)
        assert answer.returncode == 1 and "is not empty" in answer.stderr and [p.name for p in full.iterdir()] == ["mine"]
        assert backup(one, one.log / "below-a-file").returncode == 1
    one = Lab()     # no lab yet
    try:
        answer = backup(one, one.dir / "backup")
        assert answer.returncode == 1 and "regrlab.db" in answer.stderr, answer
    finally:
        one.close()


def test_client():
    """regrlab backup: the daemon's program with the lab's configuration; --keep has the newest ones, and touches nothing else."""
    with lab() as one:
        done = one.new("boots=1")
        one.wait(done)

        def make(*args, status=0):
            made = subprocess.run([BUILD / "regrlab", "backup", *args], capture_output=True, text=True, timeout=60)
            assert made.returncode == status, made
            return made

        target = one.dir / "one"
        assert make("--config", one.config, target).stdout == f"{target}\n"
        assert sqlite3.connect(target / "regrlab.db").execute("SELECT count(*) FROM job").fetchone() == (1,)
        assert "is not empty" in make("--config", one.config, target, status=1).stderr
        folder = one.dir / "many"
        for name in ("20200101T000000Z", "20200102T000000Z", "20200103T000000Z-mine", "20200104T000000Z"):
            (folder / name).mkdir(parents=True)
            if name != "20200104T000000Z":
                (folder / name / "regrlab.db").touch()
        newest = make("--config", one.config, "--keep", "2", folder).stdout.strip()
        left = sorted(path.name for path in folder.iterdir())
        assert left == ["20200102T000000Z", "20200103T000000Z-mine", "20200104T000000Z", newest.rsplit("/", 1)[1]], left
        for args in ((), ("a", "b"), ("--keep", "-1", "a"), ("--nosuch", "a")):
            assert "see regrlab help backup" in make(*args, status=2).stderr
        assert make("--config", "/nowhere/x.conf", one.dir / "x", status=1).stderr.startswith("regrlabd: ")


main(globals())
