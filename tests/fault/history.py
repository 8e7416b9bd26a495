# SPDX-License-Identifier: GPL-2.0-or-later
"""What must be true of a job whatever was killed while it ran: nothing lost, nothing doubled, nothing begun anew."""

import json
import os
import sqlite3

ONCE = {"source", "accelerator", "plan", "result"}


def read(path):
    try:
        with open(path, "rb") as f:
            return f.read()
    except FileNotFoundError:
        return b""


def whole_lines(data):
    return data[:data.rfind(b"\n") + 1]


class Growth:
    """The events of each job, looked at again and again: they only grow, so that no finished step is made again."""

    def __init__(self):
        self.seen = {}

    def look(self, job, run_dir):
        now = whole_lines(read(os.path.join(run_dir, "events.jsonl")))
        before = self.seen.get(job, b"")
        assert now.startswith(before), f"job {job}: events that were there are gone or changed"
        self.seen[job] = now

    def forget_tail(self, job, size):
        """A power failure took what was not synced."""
        self.seen[job] = self.seen.get(job, b"")[:size]


def events_of(run_dir):
    return [json.loads(line) for line in whole_lines(read(os.path.join(run_dir, "events.jsonl"))).splitlines()]


def check_run(job, run_dir, boots):
    """The run directory of a job that is done: each step once, in order."""
    events = events_of(run_dir)
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1)), f"job {job}: events are not 1, 2, 3 …"
    kinds = [e["type"] for e in events]
    for kind in ONCE:
        assert kinds.count(kind) == 1, f"job {job}: {kinds.count(kind)} events '{kind}'"
    assert [e["arm"] for e in events if e["type"] == "arm"] == ["base", "patched"], f"job {job}: arms"
    assert [e["state"] for e in events if e["type"] == "end"] == ["built", "done"], f"job {job}: ends"
    made = [e for e in events if e["type"] == "boot"]
    assert [e["boot"] for e in made] == list(range(len(made))), f"job {job}: boots are not 0, 1, 2 …"
    valid = [(e["pair"], e["arm"]) for e in made if e["valid"]]
    assert len(valid) == len(set(valid)) == boots, f"job {job}: {len(valid)} boots count, not {boots}: {valid}"
    lines = whole_lines(read(os.path.join(run_dir, "samples.jsonl"))).splitlines()
    assert len(lines) == sum(e["samples"] for e in made), f"job {job}: samples that no boot counts"
    numbers = [json.loads(line)["boot"] for line in lines]
    assert numbers == [e["boot"] for e in made for _ in range(e["samples"])], f"job {job}: samples of other boots"
    return events


def check_database(path, job, events, samples):
    """The database has what the run directory has."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        row = db.execute("SELECT state, last_seq, samples FROM job WHERE id = ?", (job,)).fetchone()
        assert row == ("done", len(events), samples), (job, row, len(events), samples)
        made = [(e["boot"], e["pair"], e["arm"], int(e["valid"])) for e in events if e["type"] == "boot"]
        kept = db.execute("SELECT boot, pair, arm, valid FROM boot WHERE job = ? ORDER BY boot", (job,)).fetchall()
        assert kept == made, (job, kept, made)
        count = db.execute("SELECT count(*), count(DISTINCT number) FROM sample WHERE job = ?", (job,)).fetchone()
        assert count == (samples, samples), (job, count)


def check_sound(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert not db.execute("PRAGMA foreign_key_check").fetchall()
