/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which arm is booted next. Pure: everything follows from the seed and from
 * what the boots so far gave, so a stage that is started again goes on with
 * the very boot that an undisturbed one would have made.
 *
 * Boots come in pairs, one of each arm, in ABBA order: the first pair's order
 * is chosen by the seed, each further pair is the mirror of the one before.
 * A steady drift of the host then weighs on both arms alike.
 *
 * The order is run through in portions, the pairs up to a look. A boot that
 * failed is replaced within its portion: after the planned boots, the missing
 * halves of pairs are booted again, the earliest pair first. Where both arms
 * miss boots, their order goes on in the ABBA pattern. A replacement has the
 * pair of the boot it replaces and a boot number of its own. So every boot of
 * a pair below a look's is made before every boot of the pairs beyond. What
 * the lab itself lost is made again at once, in its place: kills leave the
 * order, and with it the result, as it would have been.
 *
 * A control boot is one of the base kernel more, in the middle of a pair:
 * ACB BCA ACB BCA. So base and control are in ABBA order too, and base and
 * patched as they were. A control boot that failed is not replaced, unless the
 * host was to blame, and is no failure of the base.
 */
#pragma once

#include <glib.h>

#include "jobs/spec/sample.h"

/* The host was noisy: nobody's failure, and replaced like one. */
#define SCHEDULE_DISTURBED "disturbed"
#define SCHEDULE_LOST		"lost"		/* its QEMU ended by itself */
#define SCHEDULE_MISPLACED	"misplaced"	/* its threads were not where they had to be */
#define SCHEDULE_EXCUSED	"host-down"	/* reason of a boot that its host took along: it is made again, and is nobody's failure */

/* One boot that was made. */
typedef struct {
	int pair;
	SampleArm arm;
	const char *reason;	/* empty: valid; else as in the boot event. Borrowed */
} ScheduleBoot;

/* "ABBA...": A base, B patched; 2 * pairs letters. The caller's. */
char *schedule_order(guint64 seed, int pairs);

/* The same order for so many pairs, which may be more; without control boots. */
char *schedule_extend(const char *order, int pairs);

/* An order with a control boot, C, in each of the first pairs. */
char *schedule_with_control(const char *order, int pairs);

/* Whether an order that was read can be gone by. */
gboolean schedule_order_is_sound(const char *order, int most_pairs);
int schedule_pairs(const char *order);

/*
 * The next boot on the way to complete the first `pairs` pairs of the order.
 * FALSE: they are complete. boots: GArray of ScheduleBoot in the order they
 * were made.
 */
gboolean schedule_next(const char *order, int pairs, const GArray *boots, int *ret_pair, SampleArm *ret_arm);

/* How many boots are still to be made for that if none fails. */
int schedule_left(const char *order, int pairs, const GArray *boots);

/* Such boots say nothing about a kernel. */
gboolean schedule_is_labs_fault(const char *reason);

/*
 * Has an arm failed for good? Then which, and the reason of its last failed
 * boot (borrowed from boots). An arm has failed when more than max_failed of
 * its boots failed, or, sooner, when its last two boots failed for the same
 * reason and it is plain whose fault it is: for the patched arm, the base
 * arm has a valid boot and the patched none; for the base arm, it has no
 * valid boot. Boots that were lost or misplaced are the lab's fault and count
 * only toward max_failed; disturbed ones do not count at all.
 */
gboolean schedule_failed(const GArray *boots, int max_failed, SampleArm *ret_arm, const char **ret_reason);
