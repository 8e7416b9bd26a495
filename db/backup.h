/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A copy of a database that may be in use: SQLite's backup interface, in one
 * read transaction, so that the copy is of one moment and nobody is kept from
 * writing. For a process of its own: it takes as long as the disk does.
 */
#pragma once

#include "db/db.h"

/* to must not exist. The copy is checked, synced and needs no other file. */
gboolean db_backup(const char *from, const char *to, GError **error);
