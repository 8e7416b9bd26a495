/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a folder can be written to. What fails on a full disk proves
 * nothing: daemon and stages ask before they believe a failure.
 */
#pragma once

#include <glib.h>

#define ROOM_MIN_BYTES	(16 * 1024 * 1024)	/* free; with less nothing is begun */

typedef enum {
	ROOM_OK,
	ROOM_FULL,
	ROOM_READONLY,
	ROOM_UNUSABLE,	/* not there, no rights */
} RoomState;

/* *ret_words, the caller's: a sentence with the folder's path; NULL if it is OK. */
RoomState room_probe(const char *folder, char **ret_words);

const char *room_state_name(RoomState state);	/* "ok", "full", "readonly", "unusable" */
