-- SPDX-License-Identifier: GPL-2.0-or-later
-- Who may do what, and who did it.

-- Never deleted: once there was a token, the lab is not open to everybody again.
CREATE TABLE token (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	name TEXT NOT NULL,
	role TEXT NOT NULL CHECK (role IN ('read', 'submit', 'admin')),
	hash TEXT NOT NULL,			-- HMAC-SHA256 of the secret, in hex
	queue_max INTEGER NOT NULL,		-- of each limit, 0 is none
	requests_per_min INTEGER NOT NULL,
	hours_per_day INTEGER NOT NULL,
	created_ns INTEGER NOT NULL,
	revoked_ns INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE audit (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	time_ns INTEGER NOT NULL,
	who TEXT NOT NULL,			-- as job.submitter
	name TEXT NOT NULL,			-- of the token
	address TEXT NOT NULL,
	action TEXT NOT NULL,
	target TEXT NOT NULL
) STRICT;

-- 'token 3', or the address of who submitted without one.
ALTER TABLE job ADD COLUMN submitter TEXT NOT NULL DEFAULT '';
CREATE INDEX job_live_by_submitter ON job (submitter) WHERE finished_ns = 0;

-- How long stages ran for a submitter, by the hour in which they ended.
CREATE TABLE machine_time (
	submitter TEXT NOT NULL,
	hour INTEGER NOT NULL,
	ns INTEGER NOT NULL,
	PRIMARY KEY (submitter, hour)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 2;
