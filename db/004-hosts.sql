-- SPDX-License-Identifier: GPL-2.0-or-later
-- Whether a host takes jobs, and when it came and went.

ALTER TABLE host ADD COLUMN drained INTEGER NOT NULL DEFAULT 0;

CREATE TABLE host_event (
	id INTEGER PRIMARY KEY,
	host TEXT NOT NULL,
	time_ns INTEGER NOT NULL,
	what TEXT NOT NULL,		-- up, down, drained, resumed
	message TEXT NOT NULL
) STRICT;
CREATE INDEX host_event_by_host ON host_event (host, id);

PRAGMA user_version = 4;
