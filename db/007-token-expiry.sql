-- SPDX-License-Identifier: GPL-2.0-or-later
-- Tokens that end by themselves.

ALTER TABLE token ADD COLUMN expires_ns INTEGER NOT NULL DEFAULT 0;	-- 0: never

PRAGMA user_version = 7;
