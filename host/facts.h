/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a machine is like that measures: a table of facts, each with how it is
 * read, how it is compared with what a policy wants, how it is set, and what
 * a person does where it cannot be set. A fact has a value or is unknown with
 * a reason. What a virtual machine is told of hardware says nothing of the
 * hardware: there such a fact is unknown, whatever the files say.
 */
#pragma once

#include <glib.h>

/* The machine that is looked at. */
typedef struct {
	const char *root;	/* before every path; "": this machine. Borrowed */
	GArray *cpus;		/* int, ascending: the CPUs that measure */
	gboolean ask_no_programs;	/* versions that no file tells stay unknown */
	char *hypervisor;	/* what a virtual machine says it runs on; NULL: hardware */
} HostMachine;

/* cpus: list format, empty: all that are online. root and the errors' domain (SPEC_ERROR) as above. */
gboolean host_machine_init(HostMachine *machine, const char *root, const char *cpus, GError **error);
void host_machine_clear(HostMachine *machine);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostMachine, host_machine_clear)

typedef enum {
	HOST_RULE_NOTE,		/* recorded, cannot be wanted */
	HOST_RULE_WORD,		/* the value's first word is the wanted one, or one of several: "never|madvise" */
	HOST_RULE_MOST,		/* a number that is at most the wanted one */
	HOST_RULE_MEASURING,	/* a list of CPUs that has all that measure; wanted: "measuring" */
} HostRule;

/* A file and what is written into it. Both are the record's. */
typedef struct {
	char *path;	/* without the root */
	char *value;
} HostWrite;
void host_write_free(gpointer write);

typedef struct {
	const char *name;	/* in policies and JSON */
	const char *title;	/* for people */
	/* TRUE: *ret_value; FALSE: *ret_reason why it is unknown */
	gboolean (*read)(const HostMachine *machine, char **ret_value, char **ret_reason);
	HostRule rule;
	const char *standard;	/* wanted on hardware by policy "auto"; NULL: nothing */
	gboolean hardware;	/* a virtual machine cannot know it */
	gboolean moves;		/* changes by itself: told with each boot, not with the host's state */
	/* adds the HostWrites that make it so, none if it is so or cannot be; NULL: not for a program to change */
	void (*plan)(const HostMachine *machine, const char *wanted, GPtrArray *writes);
	const char *advice;	/* where plan adds nothing; {wanted} and {cpus} are filled in */
} HostFactRow;

/* In the order in which they are set. */
extern const HostFactRow host_facts[];
extern const gsize host_n_facts;

const HostFactRow *host_fact_row(const char *name);	/* NULL: no such fact */

/* The value, or FALSE and why it is unknown. */
gboolean host_fact_read(const HostFactRow *row, const HostMachine *machine, char **ret_value, char **ret_reason);
