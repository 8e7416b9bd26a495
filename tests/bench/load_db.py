# SPDX-License-Identifier: GPL-2.0-or-later
"""A database like that of a lab that has run for years: one job that was really taken in, many times over."""

import pathlib
import re
import sqlite3

SEARCH = pathlib.Path(__file__).resolve().parent.parent.parent / "db/008-search.sql"
BOOTS = 8  # of a job, both arms


def grow(path, jobs, samples):
    """Copies job 1 until there are so many jobs and samples, in one transaction, without waiting for the disk."""
    each = samples // (jobs * BOOTS)
    db = sqlite3.connect(path, isolation_level=None)
    db.executescript("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF;"
                     "PRAGMA cache_size = -200000; BEGIN")
    db.execute("CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
               " SELECT i FROM n", (jobs,))
    columns = [row[1] for row in db.execute("PRAGMA table_info(job)")]
    changed = {"id": "n.i", "spec": "json_set(spec, '$.job', n.i, '$.subject', 'mm/part' || (n.i % 300) || ': change ' || n.i)", "submitter": "'token ' || (n.i % 50)"}
    db.execute(f"INSERT INTO job ({', '.join(columns)}) SELECT {', '.join(changed.get(c, c) for c in columns)}"
               " FROM n, job WHERE job.id = 1 ORDER BY n.i")
    db.execute("INSERT INTO document SELECT n.i, kind, json FROM n, document WHERE job = 1 ORDER BY n.i")
    db.execute("INSERT INTO job_file SELECT n.i, name, content FROM n, job_file WHERE job = 1 ORDER BY n.i")
    columns = [row[1] for row in db.execute("PRAGMA table_info(boot)")]
    db.execute(f"INSERT INTO boot ({', '.join(columns)}) SELECT {', '.join('n.i' if c == 'job' else c for c in columns)}"
               " FROM n, boot WHERE job = 1 ORDER BY n.i, boot")
    db.execute("CREATE TEMP TABLE k AS WITH RECURSIVE k(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM k WHERE i < ?)"
               " SELECT i FROM k", (each * BOOTS - 1,))
    db.execute("DELETE FROM sample")
    db.execute("INSERT INTO sample SELECT n.i, k.i, k.i / ?1, (SELECT min(id) FROM measure), 0, k.i % ?1, 20 + k.i / 7.0"
               " FROM (SELECT 1 AS i UNION ALL SELECT i FROM n) n CROSS JOIN k", (each,))
    db.execute("DELETE FROM job_index")
    db.execute(re.search(r"^INSERT INTO job_index .*?;$", SEARCH.read_text(), re.M | re.S)[0])
    db.execute("COMMIT")
    counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("job", "sample")]
    db.execute("PRAGMA journal_mode = WAL")
    db.close()
    return counts

