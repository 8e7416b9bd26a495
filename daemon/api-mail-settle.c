/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of a mail, and what is said about it: both, or neither. */
#include "daemon/api-mail.h"

#include "daemon/answer.h"

static gboolean is_state(const char *text)
{
	static const char *const states[] = { "new", "waiting", "held", "testing", "done", "refused", NULL };

	return g_strv_contains(states, text);
}

typedef struct {
	char *from, *state, *reason, *refuse;	/* refuse: who wants no more mail */
	char *about, *recipients, *subject, *message;	/* of an answer; message empty: none */
	gboolean public;	/* it goes beyond who asked */
	gint64 job;
} Outcome;

#define OUTCOME(member) #member, .offset = G_STRUCT_OFFSET(Outcome, member)
static const Member outcome_members[] = {
	{ OUTCOME(from), .kind = MEMBER_STRING, .max = 16, .check = is_state, .allowed = "a state of a mail" },
	{ OUTCOME(state), .kind = MEMBER_STRING, .max = 16, .check = is_state, .allowed = "a state of a mail" },
	{ OUTCOME(reason), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ OUTCOME(refuse), .kind = MEMBER_STRING, .max = API_MAIL_ADDRESS_MAX },
	{ OUTCOME(about), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ OUTCOME(recipients), .kind = MEMBER_STRING, .max = 64 * 1024 },
	{ OUTCOME(subject), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ OUTCOME(message), .kind = MEMBER_STRING, .max = API_MAIL_RAW_MAX },
	{ OUTCOME(public), .kind = MEMBER_BOOL },
	{ OUTCOME(job), .kind = MEMBER_INT64, .min = 0, .max = 9e15 },
};

static void outcome_clear(Outcome *outcome)
{
	members_clear(outcome_members, G_N_ELEMENTS(outcome_members), outcome);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outcome, outcome_clear)

/* Those that want no mail left out; the caller's. */
static char *willing(const char *recipients, char **refusals)
{
	g_auto(GStrv) words = g_strsplit(recipients, " ", -1);
	g_autoptr(GString) left = g_string_new(NULL);

	for (char **word = words; *word; word++)
		if (**word && !g_strv_contains((const char *const *)refusals, *word))
			g_string_append_printf(left, "%s%s", left->len ? " " : "", *word);
	return g_string_free(g_steal_pointer(&left), FALSE);
}

static gboolean is_moderated(const Lab *lab, const Outcome *outcome, const char *list)
{
	g_auto(GStrv) open_lists = g_strsplit_set(lab->config->mail_open_lists, ", ", -1);

	return outcome->public && lab->config->mail_moderate &&
	       !(*list && g_strv_contains((const char *const *)open_lists, list));
}

static gboolean queue_answer(Lab *lab, const Outcome *outcome, const char *list, GError **error)
{
	g_auto(GStrv) refusals = NULL;
	g_autoptr(StoreMailOut) out = g_new0(StoreMailOut, 1);
	gboolean is_new;
	gsize size;

	if (!*outcome->message)
		return TRUE;
	if (!store_mail_refusals(lab->db, &refusals, error))
		return FALSE;
	out->about = g_strdup(outcome->about);
	out->queued_ns = lab->now_ns();
	out->recipients = willing(outcome->recipients, refusals);
	out->subject = g_strdup(outcome->subject);
	guchar *data = g_base64_decode(outcome->message, &size);
	out->message = g_bytes_new_take(data, size);
	out->state = g_strdup(!*out->recipients			? "dropped" :
			      is_moderated(lab, outcome, list) ? "held" :
								 "queued");
	out->said = g_strdup(*out->recipients ? "" : "nobody wants it");
	return store_mail_out_add(lab->db, out, &is_new, error);
}

static gboolean settle(Lab *lab, const StoreMailIn *mail, const Outcome *outcome, GError **error)
{
	return (!*outcome->refuse || store_mail_refuse(lab->db, outcome->refuse, lab->now_ns(), error)) &&
	       queue_answer(lab, outcome, mail->list, error) &&
	       store_mail_in_set(lab->db, mail->id, outcome->state, outcome->reason, outcome->job ? outcome->job : mail->job, error);
}

void api_mail_in_set(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreMailIn) mail = api_mail_find(request, lab, match);
	g_auto(Outcome) outcome = { 0 };
	GError *error = NULL;

	char **const strings[] = { &outcome.from, &outcome.state, &outcome.reason, &outcome.refuse, &outcome.about,
				   &outcome.recipients, &outcome.subject, &outcome.message };
	api_mail_empty(strings, G_N_ELEMENTS(strings));
	if (!mail || !api_mail_body(request, outcome_members, G_N_ELEMENTS(outcome_members), &outcome))
		return;
	if (!*outcome.state || !*outcome.from)
		answer_error(request, 422, "invalid", "state", "what becomes of a mail is from a state, to a state");
	else if (!g_str_equal(outcome.from, mail->state))
		answer_error(request, 409, "not-so", "from", "mail %" G_GINT64_FORMAT " is %s", mail->id, mail->state);
	else if (!settle(lab, mail, &outcome, &error))
		answer_trouble(request, 0, error);
	else if (!http_answered(request))
		answer_json(request, 200, json_object_new());
}
