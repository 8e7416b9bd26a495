-- SPDX-License-Identifier: GPL-2.0-or-later
-- The host around each boot, and what is known of each host from its last one.

ALTER TABLE boot ADD COLUMN machine TEXT;	-- JSON: the event's member; null: of a release that had none

CREATE TABLE host_state (
	host TEXT NOT NULL PRIMARY KEY,
	json TEXT NOT NULL,			-- the last host-state event
	seen_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- disturbed boots are few, and are counted by host
CREATE INDEX boot_disturbed ON boot (host) WHERE reason = 'disturbed';

PRAGMA user_version = 5;
