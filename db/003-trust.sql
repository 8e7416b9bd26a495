-- SPDX-License-Identifier: GPL-2.0-or-later
-- What the lab knows of its own reliability.

-- The false-alarm ledger: comparisons of a kernel with itself. One a job and
-- benchmark, because the parameter sets of one job share its boots.
CREATE TABLE ledger (
	job INTEGER NOT NULL REFERENCES job (id),
	benchmark TEXT NOT NULL,
	host TEXT NOT NULL,
	clock TEXT NOT NULL,
	source TEXT NOT NULL CHECK (source IN ('job', 'control')),
	sets INTEGER NOT NULL,		-- parameter sets that were tested together
	p REAL,				-- the smallest, adjusted for them
	alarm INTEGER NOT NULL,
	time_ns INTEGER NOT NULL,
	PRIMARY KEY (job, benchmark)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_by_host ON ledger (host, benchmark, clock, job);

-- What many boots of one kernel told of a host; the newest counts.
CREATE TABLE calibration (
	host TEXT NOT NULL,
	config_sha256 TEXT NOT NULL,
	clock TEXT NOT NULL,
	benchmark TEXT NOT NULL,
	params TEXT NOT NULL,
	job INTEGER NOT NULL REFERENCES job (id),
	time_ns INTEGER NOT NULL,
	json TEXT NOT NULL,
	PRIMARY KEY (host, config_sha256, clock, benchmark, params, job)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 3;
