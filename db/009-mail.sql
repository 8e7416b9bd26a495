-- SPDX-License-Identifier: GPL-2.0-or-later
-- Mail that came in and asks for something, and mail that goes out.

CREATE TABLE mail_in (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	message_id TEXT NOT NULL UNIQUE,
	root TEXT NOT NULL,			-- Message-ID of the first mail of its thread
	received_ns INTEGER NOT NULL,
	sender TEXT NOT NULL,
	subject TEXT NOT NULL,
	list TEXT NOT NULL,			-- List-Id, or empty
	is_part INTEGER NOT NULL,		-- a patch or a cover letter
	-- testing: its job was made, and a report is owed
	state TEXT NOT NULL CHECK (state IN ('new', 'waiting', 'held', 'testing', 'done', 'refused')),
	reason TEXT NOT NULL,
	job INTEGER NOT NULL DEFAULT 0,		-- 0: none
	raw BLOB NOT NULL			-- of patches, empty after 90 days
) STRICT;
CREATE INDEX mail_in_whole ON mail_in (received_ns) WHERE is_part AND raw != x'';
CREATE INDEX mail_in_by_root ON mail_in (root);
CREATE INDEX mail_in_open ON mail_in (state, id) WHERE state IN ('new', 'waiting', 'held', 'testing');
CREATE INDEX mail_in_by_sender ON mail_in (sender, received_ns);

CREATE TABLE mail_out (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	about TEXT NOT NULL UNIQUE,		-- what it says, so that nothing is said twice
	queued_ns INTEGER NOT NULL,
	recipients TEXT NOT NULL,		-- addresses, a blank between them
	subject TEXT NOT NULL,
	message BLOB NOT NULL,
	-- sending: marked before it is handed over, and never again queued unless it surely was not taken
	state TEXT NOT NULL CHECK (state IN ('held', 'queued', 'sending', 'sent', 'failed', 'dropped')),
	attempts INTEGER NOT NULL DEFAULT 0,
	next_ns INTEGER NOT NULL DEFAULT 0,	-- not before
	changed_ns INTEGER NOT NULL,
	said TEXT NOT NULL DEFAULT ''		-- by the server, or why
) STRICT;
CREATE INDEX mail_out_open ON mail_out (state, next_ns, id) WHERE state IN ('held', 'queued', 'sending');
CREATE INDEX mail_out_sent ON mail_out (changed_ns) WHERE state IN ('sending', 'sent');

-- Who wants no mail: an address, or a List-Id.
CREATE TABLE mail_refusal (
	address TEXT PRIMARY KEY,
	time_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row while nothing is taken in and nothing goes out.
CREATE TABLE mail_stop (since_ns INTEGER NOT NULL) STRICT;

PRAGMA user_version = 9;
