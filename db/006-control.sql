-- SPDX-License-Identifier: GPL-2.0-or-later
-- Control arms: boots of the base kernel more, which are no part of the job's comparison.

ALTER TABLE boot ADD COLUMN control INTEGER NOT NULL DEFAULT 0;	-- 1: arm is 'base', and this is its control

PRAGMA user_version = 6;
