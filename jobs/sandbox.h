/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sandbox of the stages' programs: bubblewrap with namespaces of its own,
 * a read-only system, the folders that a view names and nothing else, a
 * system call filter and resource limits. SECURITY.md says what it is for.
 *
 * Run by root, bubblewrap makes the namespaces with root's rights and the
 * program runs as an unprivileged user (place.build_user); run by anybody
 * else, it makes a user namespace and the program keeps the user.
 */
#pragma once

#include "jobs/child.h"
#include "jobs/spec/place.h"

#define SANDBOX_TMP_MIB		1024	/* of /tmp, which is memory */
#define SANDBOX_SHM_MIB		64	/* of /dev/shm */
#define SANDBOX_FILES		1000000	/* in its writable folders */
#define SANDBOX_OUTPUT_MIB	256	/* what a program may print */
#define SANDBOX_MAX_BINDS	24

typedef struct Sandbox Sandbox;

/* A file or folder of the host that a program sees. Borrowed. */
typedef struct {
	const char *path;	/* absolute */
	const char *at;		/* where it is seen; NULL: at path */
	gboolean writable;
} SandboxBind;

/* What a program sees besides the system. Zero: nothing. */
typedef struct {
	SandboxBind binds[SANDBOX_MAX_BINDS];
	gsize n;
	gboolean network;	/* git fetch: the network, and the rights of the stage's own user */
} SandboxView;

/* What does not fit is left out: the program then does not find it. */
void sandbox_view_add(SandboxView *view, const char *path, const char *at, gboolean writable);

/* CHILD_ERROR_SANDBOX, with what to do about it, if it cannot be set up here. */
Sandbox *sandbox_new(const JobPlace *place, GError **error);
void sandbox_free(Sandbox *sandbox);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sandbox, sandbox_free)

/* What a person can do about what bubblewrap said: a sentence. */
const char *sandbox_advice(const char *words);

/* child_run() of spec in the sandbox. */
gboolean sandbox_run(Sandbox *sandbox, const ChildSpec *spec, const SandboxView *view, ChildResult *ret_result, GError **error);

/*
 * Gives a folder and everything in it, but what links lead to, to the user
 * that programs run as. For folders that no program has had yet, or had
 * read-only.
 */
gboolean sandbox_give(Sandbox *sandbox, const char *path, GError **error);

/* A folder for a program to write in: made if it is not there, and given. */
gboolean sandbox_make_folder(Sandbox *sandbox, const char *path, GError **error);
