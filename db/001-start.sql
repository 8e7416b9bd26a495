-- SPDX-License-Identifier: GPL-2.0-or-later
-- Jobs, what came with them, what was measured. Times are nanoseconds of
-- CLOCK_REALTIME, 0 is "not yet". JSON is kept as the text that was read.

CREATE TABLE job (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	state TEXT NOT NULL,
	tree TEXT NOT NULL,
	priority INTEGER NOT NULL,
	spec TEXT NOT NULL,
	reason TEXT NOT NULL DEFAULT '',
	message TEXT NOT NULL DEFAULT '',
	failed_arm TEXT NOT NULL DEFAULT '',
	host TEXT NOT NULL DEFAULT '',
	cancel_asked INTEGER NOT NULL DEFAULT 0,
	created_ns INTEGER NOT NULL,
	started_ns INTEGER NOT NULL DEFAULT 0,
	finished_ns INTEGER NOT NULL DEFAULT 0,
	-- how far the run directory has been taken in
	last_seq INTEGER NOT NULL DEFAULT 0,
	events_offset INTEGER NOT NULL DEFAULT 0,
	samples_offset INTEGER NOT NULL DEFAULT 0,
	samples INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX job_by_state ON job (state, id);
CREATE INDEX job_by_tree ON job (tree, id);
CREATE INDEX job_by_turn ON job (state, priority DESC, id);
CREATE INDEX job_live ON job (id) WHERE finished_ns = 0;

CREATE TABLE job_benchmark (
	benchmark TEXT NOT NULL,
	job INTEGER NOT NULL REFERENCES job (id),
	PRIMARY KEY (benchmark, job)
) STRICT, WITHOUT ROWID;

-- Kept true by triggers, so that a count costs the same with ten jobs and a million.
CREATE TABLE job_count (
	state TEXT NOT NULL PRIMARY KEY,
	jobs INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TRIGGER job_count_insert AFTER INSERT ON job BEGIN
	INSERT INTO job_count VALUES (new.state, 1)
		ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_update AFTER UPDATE OF state ON job WHEN old.state <> new.state BEGIN
	UPDATE job_count SET jobs = jobs - 1 WHERE state = old.state;
	INSERT INTO job_count VALUES (new.state, 1)
		ON CONFLICT (state) DO UPDATE SET jobs = jobs + 1;
END;
CREATE TRIGGER job_count_delete AFTER DELETE ON job BEGIN
	UPDATE job_count SET jobs = jobs - 1 WHERE state = old.state;
END;

-- series.mbox, config
CREATE TABLE job_file (
	job INTEGER NOT NULL REFERENCES job (id),
	name TEXT NOT NULL,
	content BLOB NOT NULL,
	PRIMARY KEY (job, name)
) STRICT;

-- The last event of each kind: progress, source, accelerator, plan, result, end, arm-base, arm-patched.
CREATE TABLE document (
	job INTEGER NOT NULL REFERENCES job (id),
	kind TEXT NOT NULL,
	json TEXT NOT NULL,
	PRIMARY KEY (job, kind)
) STRICT;

CREATE TABLE idempotency (
	key TEXT NOT NULL PRIMARY KEY,
	digest TEXT NOT NULL,
	job INTEGER NOT NULL REFERENCES job (id),
	created_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_ns);

CREATE TABLE boot (
	job INTEGER NOT NULL REFERENCES job (id),
	boot INTEGER NOT NULL,
	pair INTEGER NOT NULL,
	arm TEXT NOT NULL CHECK (arm IN ('base', 'patched')),
	host TEXT NOT NULL,
	clock TEXT NOT NULL,
	valid INTEGER NOT NULL,
	reason TEXT NOT NULL,
	detail TEXT NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL,
	first_sample_ns INTEGER NOT NULL,
	hello TEXT,
	PRIMARY KEY (job, boot)
) STRICT, WITHOUT ROWID;

-- What is known of a host from the boots on it.
CREATE TABLE host (
	name TEXT NOT NULL PRIMARY KEY,
	accelerator TEXT NOT NULL DEFAULT '',
	qemu_version TEXT NOT NULL DEFAULT '',
	libvirt_version TEXT NOT NULL DEFAULT '',
	boots_valid INTEGER NOT NULL DEFAULT 0,
	boots_failed INTEGER NOT NULL DEFAULT 0,
	last_boot_ns INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What a sample measures, said once: with tens of millions of samples a row of theirs has to be short.
CREATE TABLE measure (
	id INTEGER PRIMARY KEY,
	benchmark TEXT NOT NULL,
	params TEXT NOT NULL,
	metric TEXT NOT NULL,
	unit TEXT NOT NULL,
	better TEXT NOT NULL,
	UNIQUE (benchmark, params, metric, unit, better)
) STRICT;
CREATE TABLE sample (
	job INTEGER NOT NULL,
	number INTEGER NOT NULL,	-- the line of samples.jsonl, 0 first
	boot INTEGER NOT NULL,
	measure INTEGER NOT NULL REFERENCES measure (id),
	run INTEGER NOT NULL,
	pass INTEGER NOT NULL,
	value REAL,			-- null: missing
	PRIMARY KEY (job, number),
	FOREIGN KEY (job, boot) REFERENCES boot (job, boot)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
